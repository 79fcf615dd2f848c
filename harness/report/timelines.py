"""Memory over time: sampled pictures of one trial of each block, joined with the rows they are of.

Pictures are an extra: a report without them, or with some of them, is a whole report. A picture
whose trial is not among the rows is not shown.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from harness.errors import DamagedFileError
from harness.files import read_json
from harness.report.axes import BYTES, layered
from harness.report.theme import GREY
from harness.sandbox.timeline import thin
from harness.units import format_bytes, format_duration

if TYPE_CHECKING:
    from harness.report.results import Results

TIMELINES = "timelines.json"
STAGES = ("load", "tune", "fit", "predict")
FEWEST = 4
"""Samples below which a curve would be drawn from the gaps between them."""
MOST_LOOKED_AT = 100_000
"""Rows whose names are in memory together."""
MOST_PANELS = 1000
"""Pictures on a page; the file beside it has all of them."""
_MOST = 40
_OPEN = 24
_FAR = 3
_HEIGHT = 120


@dataclass(frozen=True)
class _Picture:
    """One panel: what the script draws, and what stands above it."""

    method: str
    told: str
    few: str
    drawn: dict[str, Any] | None


def make_timelines(results: Results) -> dict[str, Any]:
    """Arrange the pictures of a study: by problem, then by budget, a panel a method.

    Returns
    -------
    dict
        `problems` (list of {"name", "groups": [{"budget", "panels", "without"}], "open"}),
        `budgets` (those with a picture, in order), `shown` (the one shown first), `drawn` (what
        the script draws, by number), `spec`, `stages`, and `note` (what is missing, in words).
    """
    pictures, broken = _read(results)
    ran = results.cells[results.cells["outcome"] != "infeasible"]
    names = _pictured(results, pictures)
    rows = ran[ran.index.isin(names.index)]
    rows = rows.assign(fingerprint=names)
    peaks = (f"{stage}_peak_bytes" for stage in STAGES)
    rows = rows.assign(**{name: results.column(name)[rows.index] for name in peaks})
    rows = rows.drop_duplicates("fingerprint", keep="last")
    drawn: list[dict[str, Any]] = []
    counts = rows["budget"].value_counts()
    budgets = [text for text in results.budgets if text in counts]
    shown = max(budgets, key=lambda text: counts[text]) if budgets else None
    problems = []
    left = 0
    for problem, mine in rows.groupby("problem", sort=False):
        if len(drawn) >= MOST_PANELS:
            left += len(mine)
            continue
        groups = []
        for budget in budgets:
            here = mine[mine["budget"] == budget].drop_duplicates("method")
            panels = []
            for row in here.to_dict("records"):
                panel = _picture(row, pictures[row["fingerprint"]])
                number = len(drawn)
                if panel.drawn:
                    drawn.append(panel.drawn)
                panels.append({"panel": panel, "number": number if panel.drawn else None})
            groups.append({"budget": budget, "panels": panels})
        problems.append({"name": problem, "groups": groups})
    return {
        "problems": problems,
        "budgets": budgets,
        "shown": shown,
        "open": counts.get(shown, 0) <= _OPEN,
        "drawn": drawn,
        "spec": memory_over_time(),
        "stages": [stage for stage in STAGES if any(stage in d["stages"] for d in drawn)],
        "note": _missing(ran, rows, broken, left),
    }


def _pictured(results: Results, pictures: dict[str, Any]) -> pd.Series:
    """Return the fingerprints of trials that have a picture; of all they are many bytes."""
    parts = (results.column("fingerprint", some) for some in results.parts(MOST_LOOKED_AT))
    return pd.concat([names[names.isin(pictures)] for names in parts])


def _read(results: Results) -> tuple[dict[str, dict[str, Any]], int]:
    """Read pictures by the fingerprint of their trial, and count those that make no sense."""
    path = results.directory / TIMELINES
    if not path.exists():
        return {}, 0
    try:
        found = read_json(path, list)
    except DamagedFileError:
        return {}, 1
    pictures, broken = {}, 0
    for entry in found:
        try:
            samples = [(float(at), int(size)) for at, size in entry["samples"]]
            stages = {
                str(name): (float(began), float(ended))
                for name, (began, ended) in entry["stages"].items()
            }
            if not all(map(math.isfinite, itertools.chain(*samples, *stages.values()))):
                raise ValueError
            pictures[str(entry["fingerprint"])] = {"samples": samples, "stages": stages}
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            broken += 1
    return pictures, broken


def _picture(row: dict[str, Any], picture: dict[str, Any]) -> _Picture:
    samples = thin(picture["samples"], _MOST)
    peak, limit = _number(row["peak_bytes"]), _number(row["budget_bytes"])
    ended = max([at for at, _ in samples] + [end for _, end in picture["stages"].values()] + [0])
    told = [f"peak {format_bytes(peak)}" if peak is not None else "peak not known"]
    if limit is not None:
        told[0] += f" of {row['budget']}"
    told.append(format_duration(ended))
    if row["outcome"] != "ok":
        told.append(str(row["outcome"]).replace("_", " "))
    if len(samples) < FEWEST:
        many = "1 sample" if len(samples) == 1 else f"{len(samples) or 'no'} samples"
        return _Picture(row["method"], ", ".join(told), f"Too short to draw: {many}.", None)
    most = max([size for _, size in samples] + [peak or 0])
    near = limit is not None and limit <= _FAR * most
    # the kernel's mark has no moment, only a stage in which it was set
    marks = {name: _number(row.get(f"{name}_peak_bytes")) or -1 for name in STAGES}
    inside = [name for name in picture["stages"] if marks.get(name, -1) >= 0]
    where = max(inside, key=marks.__getitem__, default=None)
    drawn = {
        "s": [round(at, 4) for at, _ in samples],
        "b": [float(f"{size:.4g}") for _, size in samples],
        "stages": {name: span for name, span in picture["stages"].items() if name in STAGES},
        "peak": peak,
        "span": picture["stages"].get(where, (0, ended)),
        "limit": limit if near else None,
    }
    return _Picture(row["method"], ", ".join(told), "", drawn)


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _missing(ran: pd.DataFrame, rows: pd.DataFrame, broken: int, left: int) -> str:
    """Say which cells ran and have no picture."""
    without = ran["cell"].nunique() - rows["cell"].nunique()
    words = []
    if rows.empty:
        words.append("No picture was kept.")
    elif without:
        cell = "cell" if without == 1 else "cells"
        words.append(f"{without:,} {cell} (data set, budget and method) have no picture here.")
    if left:
        words.append(f"Pictures of {left:,} further trials are in timelines.json alone.")
    if broken:
        words.append(f"{broken:,} could not be read.")
    return " ".join(words)


@functools.cache
@debug_mode(False)
def memory_over_time() -> dict[str, Any]:
    """Build the one specification of all panels.

    The page's script fills in `samples` (s, b), `stages` (stage, from, to) and `marks` (kind,
    from, to, b; null for the ends of the whole width).
    """
    seconds = alt.Axis(
        tickCount=4, grid=False, labelExpr=_SECONDS, labelOverlap=True, labelSeparation=8
    )
    size = alt.Axis(tickCount=4, labelExpr=BYTES)
    x = alt.X("s:Q", title=None, axis=seconds, scale=alt.Scale(nice=False, zero=False))
    y = alt.Y("b:Q", title=None, axis=size, scale=alt.Scale(zero=True, nice=True))
    shades = (
        alt.Chart(alt.NamedData("stages"))
        .mark_rect(opacity=0.2)
        .encode(
            x=alt.X("from:Q", title=None, axis=seconds, scale=alt.Scale(nice=False, zero=False)),
            x2="to:Q",
            color=alt.Color("stage:N", legend=None, scale=alt.Scale(domain=list(STAGES))),
            tooltip=[alt.Tooltip("stage:N"), alt.Tooltip("from:Q"), alt.Tooltip("to:Q")],
        )
    )
    marks = alt.Chart(alt.NamedData("marks"))
    budget = (
        marks.transform_filter("datum.kind == 'budget'")
        .mark_rule(color=GREY, strokeWidth=2.5)
        .encode(y=y)
    )
    peak = (
        marks.transform_filter("datum.kind == 'peak'")
        .mark_rule(strokeWidth=3, strokeDash=[2, 2])
        .encode(x=alt.X("from:Q", title=None), x2="to:Q", y=y)
    )
    # the dots show where samples are; line and bar take the ink of the reader's scheme
    curve = alt.Chart(alt.NamedData("samples")).mark_line(
        strokeWidth=1.3, point=alt.OverlayMarkDef(size=10)
    )
    layers = (shades, budget, curve.encode(x, y), peak)
    return {**layered(layers), "height": _HEIGHT}


_SECONDS = (
    "domain('x')[1] < 1 "
    "? format(datum.value * 1000, '~g') + ' ms' : format(datum.value, '~g') + ' s'"
)
