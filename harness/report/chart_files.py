"""The charts of a report as files of their own, for papers and slides: PDF, SVG or PNG."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vl_convert

from harness.errors import HarnessError, unknown_name
from harness.files import write_whole
from harness.report import theme
from harness.report.figures import make_figures
from harness.report.pairs import PairedScores
from harness.report.profiles import make_profiles, profile_chart
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.tables import make_tables

OF_A_PROBLEM = ("score", "score_peak", "score_time", "train", "predict", "peak")
KINDS = (*OF_A_PROBLEM, "rank", "profile", "planned")
"""What is drawn; the name of a file begins with its kind."""

_WIDTH = 420
_BY_METHOD = ("color", "strokeDash", "shape")
_FONT = "Arial, Liberation Sans, sans-serif"
_NO_FILL = "white"
_PNG_SCALE = 3.0
"""Pixels for a pixel of the page: 300 dots an inch at the width of a column."""

_CONVERTERS: dict[str, Callable[[dict[str, Any]], str | bytes]] = {
    "pdf": vl_convert.vegalite_to_pdf,
    "svg": vl_convert.vegalite_to_svg,
    "png": lambda spec: vl_convert.vegalite_to_png(spec, scale=_PNG_SCALE),
}


@dataclass(frozen=True)
class ChartFile:
    """One chart: the kind, what it is of ("" for the whole study), and all that draws it."""

    kind: str
    of: str
    spec: dict[str, Any]

    @property
    def stem(self) -> str:
        """Name of its file, without the ending."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{self.kind}-{self.of}" if self.of else self.kind)


def write_charts(
    directory: Path,
    folder: Path,
    form: str = "pdf",
    metric: str | None = None,
    kinds: Collection[str] = (),
    datasets: Collection[str] = (),
) -> list[Path]:
    """Write the charts of a study's report to files.

    Parameters
    ----------
    directory : Path
        Of the study's results.
    folder : Path
        Gets the files.
    form : {"pdf", "svg", "png"}, default "pdf"
    metric : str, optional
        As in `write_report`.
    kinds, datasets : collection of str, default ()
        Of `KINDS`, and what the page calls data sets; all where none is named.

    Returns
    -------
    list of Path

    Raises
    ------
    HarnessError
        If a kind or a data set is unknown, the results cannot be read, or a file not be written.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise unknown_name("chart", kind, KINDS)
    convert = _CONVERTERS[form]
    charts = list(_charts(directory, metric))
    drawn = dict.fromkeys(chart.of for chart in charts if chart.kind in OF_A_PROBLEM)
    for name in datasets:
        if name not in drawn:
            raise unknown_name("data set with a chart", name, drawn)
    written = []
    for chart in charts:
        if (not kinds or chart.kind in kinds) and (not datasets or chart.of in datasets):
            path = folder / f"{chart.stem}.{form}"
            write_whole(convert(chart.spec), path)
            written.append(path)
    if not written:
        raise HarnessError(f"{directory}: has no chart of kind {', '.join(kinds)}")
    return written


def _charts(directory: Path, metric: str | None) -> Iterator[ChartFile]:
    results = read_results(directory)
    scores = choose_scores(results, metric)
    tables = make_tables(results, scores)
    figures = make_figures(results, scores, tables, every_metric=False)
    specs, data = figures["specs"], figures["data"]

    def chart(kind: str, of: str, name: str, key: str | None = None) -> ChartFile:
        rows = [] if key is None else _as_rows(data[key])
        return ChartFile(kind, of, _standing_alone(specs[name], rows, figures))

    for one in figures["over"]:
        for kind in ("score_peak", "score_time"):
            yield chart(kind, one["family"], f"{kind}-{one['key']}", one["key"])
    for problem in figures["drawn"]:
        if problem["scored"]:
            for kind in OF_A_PROBLEM:
                name = f"{kind}-{problem['axes']}"
                yield chart(kind, problem["name"], name, problem["id"])
    for ranking in figures["rankings"]:
        yield chart("rank", f"{ranking['family']}-{ranking['budget']}", ranking["spec"])
    profiles = make_profiles(PairedScores(results, scores), tables.cells, scores)
    for i, profile in enumerate(profiles):
        spec = profile_chart(profile, figures["looks"])
        of = str(i + 1) if len(profiles) > 1 else ""
        yield ChartFile("profile", of, _standing_alone(spec, [], figures))
    if "planned" in specs:
        yield chart("planned", "", "planned")


def _as_rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _standing_alone(
    spec: dict[str, Any], rows: list[dict[str, Any]], figures: dict[str, Any]
) -> dict[str, Any]:
    """Give a chart of the page what stands around it there: data, choices, colours, a legend."""
    alone = copy.deepcopy(spec)
    for param in alone.get("params", ()):
        chosen = {"picked": figures["picked"], "controls": True}
        if param["name"] in chosen:
            param["value"] = chosen[param["name"]]
    if alone.get("width") == "container":
        alone["width"] = _WIDTH
    if rows:
        alone["datasets"] = {"cells": rows}
        if not figures["single"]:  # where names stand beside the rows
            drawn = {row["method"] for row in rows}
            _add_legend(alone, [m for m in figures["picked"] if m in drawn], figures["looks"])
    alone["config"] = theme.theme("light") | {"background": "white", "font": _FONT}
    return alone


def _add_legend(spec: dict[str, Any], methods: list[str], looks: dict[str, Any]) -> None:
    """Have the marks of methods explained below the chart, hollow ones as hollow."""
    legend = {"title": None, "orient": "bottom", "columns": 4, "values": methods}
    colours = theme.PALETTES["light"]
    fills = [_NO_FILL if look["hollow"] else colours[look["colour"]] for look in looks.values()]
    for part in _parts(spec):
        encoding = part.get("encoding", {})
        for name in _BY_METHOD:
            channel = encoding.get(name)
            if channel and channel.get("field") == "method":
                channel["legend"] = legend | {"symbolOpacity": 1}
        if "fill" in encoding and encoding.get("shape", {}).get("field") == "method":
            scale = {"domain": list(looks), "range": fills}
            encoding["fill"] |= {"field": "method", "type": "nominal", "scale": scale}
            encoding["fill"]["legend"] = legend | {"symbolOpacity": 1}


def _parts(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield spec
    for part in spec.get("layer", ()):
        yield from _parts(part)
