"""While it learns: the points of fits that were paused at checkpoints, as a table and as curves.

A fit that has ended stays where it is: at a later checkpoint, which the fit of another seed still
came to, it counts with its end. A trial that was stopped counts as far as it came.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd
from altair.utils.schemapi import debug_mode

from harness.errors import HarnessError
from harness.report.axes import SECONDS, least_range, log_axis
from harness.report.charts import Axes, Charts, rounded, seed_stretches
from harness.report.metric_bounds import within_range
from harness.report.results import CELL, TRIALS
from harness.report.statistics import half_width

if TYPE_CHECKING:
    from harness.report.results import Results
    from harness.report.scores import Score

ERROR = "diagnostic_error"
_DECADES = 100
_KEYS = ["dataset", "task", "n_labeled", "budget", "method", "seed"]
_FIGURES = ["fit_cpu_s", "fit_s"]


def checkpoint_table(results: Results) -> pd.DataFrame:
    """Put every point of every curve in a row.

    Returns
    -------
    pandas.DataFrame
        `problem`, `control`, what names the trial, `outcome`, `cpu`, `step` (NaN for one without
        steps), `ended` (whether it is the end of the fit), `fit_cpu_s`, `fit_s`, a column a
        metric, a column `diagnostic_...` a diagnostic, and `reason` where a point has no score.
        Empty if the study has no checkpoints.

    Raises
    ------
    HarnessError
        If a row's points are not what the workflow writes.
    """
    rows = []
    points = results.column("checkpoints").dropna()
    if points.empty:
        return pd.DataFrame()
    further = {"checkpoints": points, "fingerprint": results.column("fingerprint")[points.index]}
    for trial in results.cells.loc[points.index].assign(**further).to_dict("records"):
        known = {name: trial[name] for name in ("problem", "control", *_KEYS, "outcome", "cpu")}
        try:
            points = json.loads(trial["checkpoints"])
            for number, reached in enumerate(points, start=1):
                found = {f"diagnostic_{k}": v for k, v in reached["diagnostics"].items()}
                rows.append(
                    known
                    | {name: reached[name] for name in ("step", *_FIGURES)}
                    | {"ended": trial["outcome"] == "ok" and number == len(points)}
                    | {"reason": reached.get("reason", "")}
                    | reached.get("scores", {})
                    | found
                )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            where = f"{results.directory / TRIALS}: checkpoints of {trial['fingerprint']}"
            raise HarnessError(f"{where} cannot be read: {error!r}") from None
    table = pd.DataFrame(rows)
    if table.empty:
        return table
    metrics = [name for name in results.metrics if name in table]
    diagnostics = sorted(name for name in table if name.startswith("diagnostic_"))
    numbers = ["step", *_FIGURES, *metrics, *diagnostics]
    table[numbers] = table[numbers].astype(float)
    return table[["problem", "control", *_KEYS, "outcome", "ended", *numbers, "reason", "cpu"]]


def anytime_tables(points: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Name the table that stands as CSV beside the page; none without points."""
    if points.empty:
        return {}
    counts = dict.fromkeys(("step", "seed", "n_labeled"), "Int64")
    return {"checkpoints": points.drop(columns=["problem", "control"]).astype(counts)}


def make_anytime(
    results: Results,
    scores: Mapping[str, Score],
    points: pd.DataFrame,
    looks: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """Arrange the curves of a study: by problem, then by budget.

    Parameters
    ----------
    results : Results
    scores : mapping of str to Score
        The primary metric of each problem.
    points : pandas.DataFrame
        As from `checkpoint_table`.
    looks : dict
        `styles` of all methods of the study that are not controls.

    Returns
    -------
    dict
        `problems` (list of {"name", "groups": [{"budget", "cells", "score", "error"}]}),
        `budgets`, `shown` (the one shown first), what the page's script draws: `data` and
        `specs`; and `uneven`, whether a chart has means over different numbers of seeds. No
        problems if there is nothing to draw.
    """
    drawn = points[~points["control"]] if len(points) else points
    arranged: dict[str, Any] = {
        **{"problems": [], "budgets": [], "shown": None, "data": {}, "specs": {}},
        "uneven": False,
    }
    if drawn.empty:
        return arranged
    counts = drawn["budget"].value_counts()
    arranged["budgets"] = [text for text in results.budgets if text in counts]
    arranged["shown"] = max(arranged["budgets"], key=counts.__getitem__)
    numbers: dict[Axes, int] = {}
    for problem, mine in drawn.groupby("problem", sort=False):
        groups = []
        for budget in arranged["budgets"]:
            here = mine[mine["budget"] == budget]
            curves = _curves(here, scores[problem].name)
            axes = Axes(scores[problem], (), _spans_decades(curves[["mean", "low"]]))
            cells = f"anytime-{len(arranged['data'])}"
            arranged["data"][cells] = _columns(curves)
            arranged["uneven"] |= any(arranged["data"][cells]["few"])
            if axes not in numbers:
                numbers[axes] = len(numbers)
                charts = AnytimeCharts(axes, looks)
                arranged["specs"][f"anytime-{numbers[axes]}"] = charts.score_while_learning()
                arranged["specs"][f"error-{numbers[axes]}"] = charts.error_while_learning()
            groups.append(
                {
                    "budget": budget,
                    "cells": cells,
                    "score": f"anytime-{numbers[axes]}" if curves["mean"].notna().any() else None,
                    "error": f"error-{numbers[axes]}" if curves["error"].notna().any() else None,
                }
            )
        arranged["problems"].append({"name": problem, "groups": groups})
    return arranged


def _curves(points: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Average the trials of each method, checkpoint by checkpoint.

    Errors span decades and are averaged as logarithms, so that on their axis the mean lies in the
    middle of its interval; a zero has no place there and is left out.
    """
    rows = []
    for (_, _, method), mine in points.groupby(CELL, sort=False):
        trials = [trial for _, trial in mine.groupby("seed")]
        pauses = sorted(set(mine.loc[~mine["ended"], "step"]))
        for place, pause in enumerate((*pauses, None)):
            reached = [row for trial in trials if (row := _at(trial, pause)) is not None]
            if not reached:
                continue
            at = pd.DataFrame(reached)
            mean, *ends = _interval(at[metric] if metric in at else at["step"] * np.nan)
            low, high = within_range(metric, ends)
            error = at[ERROR].where(at[ERROR] > 0) if ERROR in at else at["step"] * np.nan
            rows.append(
                {
                    "method": method,
                    "step": f"{pause:.0f}" if pause is not None else "end of the fit",
                    "place": place,
                    "once": not pauses,
                    "seeds": f"{len(reached)} of {len(trials)}",
                    "n": len(reached),
                    "x": at["fit_cpu_s"].mean(),
                    **{"mean": mean, "low": low, "high": high},
                    **dict(
                        zip(
                            ("error", "error_low", "error_high"),
                            np.exp(_interval(np.log(error))),
                            strict=True,
                        )
                    ),
                }
            )
    names = ["method", "step", "place", "once", "seeds", "n", "x", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=[*names, "error", "error_low", "error_high"])


def _at(trial: pd.DataFrame, pause: float | None) -> pd.Series | None:
    """Find where a trial was at a checkpoint (None: at its end); None if it never came there."""
    last = trial.iloc[-1]
    if last["ended"] and (pause is None or last["step"] <= pause):
        return last
    found = trial[trial["step"] == pause]
    return None if found.empty else found.iloc[0]


def _interval(values: pd.Series) -> tuple[float, float, float]:
    mean = values.mean()
    half = float(half_width(values.std(), values.count()))
    return mean, mean - half, mean + half


def _spans_decades(values: pd.DataFrame) -> bool:
    return bool(values.min().min() > 0 and values["mean"].max() / values["mean"].min() > _DECADES)


def _columns(curves: pd.DataFrame) -> dict[str, list[Any]]:
    positive = curves.assign(x=curves["x"].where(curves["x"] > 0))
    columns = {
        name: rounded(positive[name]) if pd.api.types.is_float_dtype(kind) else list(curves[name])
        for name, kind in positive.dtypes.items()
    }
    return columns | seed_stretches(curves["method"], curves["place"], curves["n"])


class AnytimeCharts(Charts):
    """Builds the charts of curves; what they draw are the columns of `make_anytime`'s data."""

    @debug_mode(False)
    def score_while_learning(self) -> dict[str, Any]:
        """Score against CPU seconds of the fit; a method of one point stays at its score."""
        scaled = {"scale": self._score_scale()}
        return self._curves_of("mean", "low", "high", self._score_title(), scaled)

    @debug_mode(False)
    def error_while_learning(self) -> dict[str, Any]:
        """Diagnostic `error` against CPU seconds of the fit."""
        axis = log_axis("y", "format(datum.value, datum.value < 1e-3 ? '~e' : '.2~g')")
        return self._curves_of("error", "error_low", "error_high", "error (log scale)", axis)

    def _curves_of(
        self, field: str, low: str, high: str, title: str, scaled: Mapping[str, Any]
    ) -> dict[str, Any]:
        x = alt.X("x:Q", title="CPU time of the fit", **log_axis("x", SECONDS))
        y = alt.Y(f"{field}:Q", title=title, **scaled)
        base = self._base().transform_filter(f"isValid(datum.x) && isValid(datum.{field})")
        spread = base.transform_filter(f"isValid(datum.{low})")
        ends = {"y": alt.Y(f"{low}:Q", title=title, **scaled), "y2": f"{high}:Q"}
        strokes = self._strokes()
        band = spread.transform_filter("!datum.once").mark_area(strokeWidth=0, tooltip=None)
        whisker = spread.transform_filter("datum.once").mark_rule()
        stays = base.transform_filter("datum.once").mark_rule(strokeDash=[1, 3], strokeWidth=1.4)
        return self._finish(
            band.encode(x, detail=["method:N", "stretch:N"], **ends, **self._strokes(0.16)),
            stays.encode(x, y, x2=alt.value("width"), **strokes),
            whisker.encode(x, **ends, **strokes),
            *self._lines(base, x, y, alt.Order("place:Q")),
            least_range(base, "x", x),
            *([least_range(base, "mean", y, self.axes.logarithmic)] if field == "mean" else []),
        )

    def _tooltip(self) -> list[alt.Tooltip]:
        return [
            alt.Tooltip("method:N"),
            alt.Tooltip("step:N"),
            alt.Tooltip("seeds:N"),
            alt.Tooltip("x:Q", title="fit, CPU s", format=".3~g"),
            alt.Tooltip("mean:Q", title=self.score.label, format=".4~g"),
            alt.Tooltip("low:Q", title="from (95 %)", format=".4~g"),
            alt.Tooltip("high:Q", title="to (95 %)", format=".4~g"),
            alt.Tooltip("error:Q", format=".3~g"),
        ]
