"""The charts: Vega-Lite specifications, built with altair from tables of cells.

A chart holds no rows of its own. It names the data set `cells`, which the page carries once per
problem, in columns, and the page's script fills in; problems alike share their specifications.
Colours come from the theme that the script passes, so that a chart follows the reader's light or
dark setting.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from altair.utils.schemapi import debug_mode

from harness.report.axes import BYTES, SECONDS, Align, layered, least_range, log_axis
from harness.report.far_controls import ABOVE, BELOW, at_the_edge, far_controls
from harness.report.pareto import front_layers
from harness.report.scores import Score
from harness.report.theme import GREY

HEIGHT = 240
FEW_AREA = 14
"""Of a mark that is the mean of fewer seeds than others of its chart, in square pixels."""
_EDGES: dict[str, dict[str, Any]] = {
    ABOVE: {"arrow": "\u2191", "x": 4, "y": 8, "align": "left"},
    BELOW: {"arrow": "\u2193", "x": 4, "y": HEIGHT - 8, "align": "left"},
}
BESIDE = {"train": "predict", "predict": "train"}
"""One axis of time within a data set."""
_DODGE = 0.5
_PICKED = "indexof(picked, datum.method) >= 0"
_GREYED = {"test": f"!({_PICKED})", "value": GREY}


def chart_data(
    cells: pd.DataFrame, budgets: Sequence[str], methods: Sequence[str]
) -> dict[str, list[Any]]:
    """Turn the cells of one problem into columns, as the charts read them.

    Parameters
    ----------
    cells : pandas.DataFrame
        Of one problem, as in `Tables.cells`.
    budgets : sequence of str
        The problem's budgets in the order of its axis.
    methods : sequence of str
        Those of the study that are not controls: each has its own place beside the others.
    """
    centre = (len(methods) - 1) / 2
    shift = cells["method"].map({m: (i - centre) / len(methods) for i, m in enumerate(methods)})
    place = cells["budget"].map({budget: i for i, budget in enumerate(budgets)})
    kinds = budget_kinds(budgets)
    controls = sorted(set(cells.loc[cells["control"], "method"]))
    data = {
        "method": list(cells["method"]),
        "control": [bool(value) for value in cells["control"]],
        # names of controls that lie close stand on either side
        "left": [method in controls[::-2] for method in cells["method"]],
        "budget": list(cells["budget"]),
        "kind": [kinds[budget] for budget in cells["budget"]],
        "place": [int(value) for value in place],
        "x": rounded(place + _DODGE * shift.fillna(0)),
        "ok": [f"{k} of {n}" for k, n in zip(cells["n_ok"], cells["n"], strict=True)],
        **seed_stretches(cells["method"], place, cells["n_scored"]),
        **far_controls(cells),
    }
    figures = {"mean": "mean", "low": "ci_low", "high": "ci_high"}
    figures |= {"train": "train_s", "predict": "predict_s", "peak": "peak_bytes"}
    figures |= {"bytes": "budget_bytes"}
    data |= {short: rounded(cells[name]) for short, name in figures.items()}
    for short in ("train", "predict", "peak"):  # what a logarithm cannot show is a gap in a line
        data[short] = [value if value and value > 0 else None for value in data[short]]
    return data


def seed_stretches(
    methods: pd.Series, places: pd.Series, seeds: pd.Series
) -> dict[str, list[Any]]:
    """Tell apart the means of one chart that are over different numbers of seeds.

    Parameters
    ----------
    methods, places, seeds : pandas.Series
        Of each mark: its method, where it stands along the line, seeds behind its mean.

    Returns
    -------
    dict
        `stretch`: a number that changes along a method's line wherever the number of seeds does,
        so that a line of one stretch joins means over equally many; `few`: whether a mark has
        fewer seeds than the most of its chart.
    """
    marks = list(zip(methods, places, seeds, strict=True))
    most, stretch = max(seeds, default=0), [0] * len(marks)
    order = sorted(range(len(marks)), key=lambda at: marks[at][:2])
    for before, mark in itertools.pairwise(order):
        if marks[before][0] == marks[mark][0]:
            stretch[mark] = stretch[before] + int(marks[before][2] != marks[mark][2])
    return {"stretch": stretch, "few": [bool(0 < number < most) for number in seeds]}


def rounded(values: pd.Series) -> list[float | None]:
    """Five digits are more than a chart shows, and half the bytes of all of them."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values]


@dataclass(frozen=True)
class Axes:
    """What the charts of a problem depend on; problems of equal axes share their specifications.

    Attributes
    ----------
    score : Score
        What the problem is judged by.
    budgets : tuple of (str, float)
        Text and bytes (None without), in the order of the axis.
    logarithmic : bool
        Whether the scores span so many decades that only a logarithm shows them.
    """

    score: Score
    budgets: tuple[tuple[str, float | None], ...]
    logarithmic: bool


def axes_of(score: Score, cells: pd.DataFrame, budgets: Sequence[str]) -> Axes:
    """Read off the axes from the cells of one problem."""
    limits: dict[str, float] = {}
    for text, limit in cells[["budget", "budget_bytes"]].itertuples(index=False, name=None):
        limits[text] = float(np.fmax(limits.get(text, np.nan), limit))
    mean = cells["mean"].dropna()
    low = np.fmin(mean.min(), cells["ci_low"].min())
    most = 100 if score.greater_is_better else 10  # of an error, the ratio is what matters
    wide = bool(len(mean) and low > 0 and mean.max() / mean.min() > most)
    known = ((text, limits[text]) for text in budgets)
    return Axes(score, tuple((text, b if b == b else None) for text, b in known), wide)


def budget_kinds(budgets: Iterable[str]) -> dict[str, str]:
    """Return what each budget counts: "landmarks", or "" for bytes.

    No limit is one of bytes, unless all the others count the same.
    """
    kinds = {text: text.partition(" ")[2] for text in budgets if text != "none"}
    last = next(iter(kinds.values())) if len(set(kinds.values())) == 1 else ""
    return {text: kinds.get(text, last) for text in budgets}


def budget_words(budgets: Sequence[str]) -> tuple[str, list[str]]:
    """Return title and labels of an axis of budgets: counts alone if all are of one kind."""
    kinds = set(budget_kinds(budgets).values())
    words = ["no limit" if text == "none" else text for text in budgets]
    if len(kinds) > 1:
        return "budget", words
    (kind,) = kinds
    return kind or "memory budget", [text.removesuffix(f" {kind}") for text in words]


def hollow(looks: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Write the condition under which a point is not filled."""
    methods = json.dumps([method for method, look in looks.items() if look["hollow"]])
    return {"test": f"indexof({methods}, datum.method) >= 0", "value": "transparent"}


class Charts:
    """Builds the specifications for one kind of axes.

    Parameters
    ----------
    axes : Axes
    looks : mapping
        `styles` of all methods of the study that are not controls.
    """

    mark_area = 42
    """Of a point, in square pixels."""

    def __init__(self, axes: Axes, looks: dict[str, dict[str, Any]]) -> None:
        self.axes = axes
        self.score = axes.score
        self.budgets = [text for text, _ in axes.budgets]
        self.kinds = list(budget_kinds(self.budgets).values())
        self.looks = looks

    @debug_mode(False)  # validating each part takes as long as all the rest of a report
    def all(self) -> dict[str, dict[str, Any]]:
        """Every chart of a problem, by kind."""
        return {
            "score": self.score_against_budget(),
            "score_peak": self.score_against("peak"),
            "score_time": self.score_against("train"),
            "train": self.time_against_budget("train"),
            "predict": self.time_against_budget("predict"),
            "peak": self.peak_against_budget(),
        }

    def score_against_budget(self) -> dict[str, Any]:
        """Score with intervals; controls grey, far ones named at the edge."""
        score = alt.Y("mean:Q", scale=self._score_scale(), title=self._score_title())
        x = self._budget_axis()
        base = self._base()
        scored = base.transform_filter("!datum.control")
        controls = base.transform_filter(
            "datum.control && controls && isValid(datum.mean) && datum.far == ''"
        ).transform_joinaggregate(first="min(place)", last="max(place)", groupby=["method"])
        across = controls.transform_filter("datum.first == datum.last")
        last = len(self.budgets) - 1
        ends: list[tuple[str, int, str, Align, int]] = [
            ("first", 0, "true", "left", -20),
            ("last", last, "false", "right", 20),
        ]
        names = [
            controls.transform_filter(f"datum.place == datum.{end} && datum.left == {left}")
            .transform_calculate(x=f"datum.first == datum.last ? {place} : datum.{end}")
            .mark_text(align=align, dx=dx, dy=-6, color=GREY)
            .encode(x, score, text="method:N")
            for end, place, left, align, dx in ends
        ]
        bars = scored.mark_rule().encode(
            x, y=alt.Y("low:Q", title=self._score_title()), y2="high:Q", **self._strokes()
        )
        return self._finish(
            *self._between_kinds(),
            across.mark_rule(color=GREY, strokeDash=[3, 3], strokeWidth=1.2).encode(score),
            controls.mark_line(color=GREY, strokeDash=[3, 3], strokeWidth=1.2).encode(
                x, score, detail=["method:N", "stretch:N"]
            ),
            *names,
            *self._lines(scored, x, score, alt.Order("place:Q")),
            *at_the_edge(base, _EDGES),
            least_range(scored, "mean", score, self.axes.logarithmic),
            bars,
        )

    def score_against(self, cost: str) -> dict[str, Any]:
        """Score against the measured "peak" or seconds to "train", with the Pareto front."""
        score = alt.Y("mean:Q", scale=self._score_scale(), title=self._score_title())
        title, label = {
            "peak": ("measured peak (bytes)", BYTES),
            "train": ("training time (tune + fit)", SECONDS),
        }[cost]
        x = alt.X(f"{cost}:Q", title=title, **log_axis("x", label))
        base = self._base().transform_filter("!datum.control")
        line, *names = front_layers(base, cost, x, score)
        return self._finish(
            line,
            *self._lines(base, x, score, alt.Order("place:Q")),
            *names,
            least_range(base, "mean", score, self.axes.logarithmic),
            least_range(base, cost, x, beside=BESIDE.get(cost, "")),
        )

    def time_against_budget(self, stage: str) -> dict[str, Any]:
        """Seconds of "train" or "predict" against the budget."""
        title = {"train": "training time (tune + fit)", "predict": "prediction time"}[stage]
        y = alt.Y(f"{stage}:Q", title=title, **log_axis("y", SECONDS))
        base = self._base().transform_filter("!datum.control")
        lines = self._lines(base, self._budget_axis(), y, alt.Order("place:Q"))
        return self._finish(
            *self._between_kinds(), *lines, least_range(base, stage, y, beside=BESIDE[stage])
        )

    def peak_against_budget(self) -> dict[str, Any]:
        """Largest measured peak against the budget, with the line peak = budget."""
        y = alt.Y(
            "peak:Q",
            title="peak memory (bytes)",
            **log_axis("y", BYTES),
        )
        base = self._base()
        used = base.transform_filter("!datum.control")
        given = [
            {"x": i + side, "peak": limit, "place": i}
            for i, (_, limit) in enumerate(self.axes.budgets)
            if limit is not None
            for side in (-0.4, 0.4)
        ]
        x = self._budget_axis()
        line = (
            alt.Chart(alt.Data(values=given))
            .mark_line(color=GREY, strokeWidth=2.5)
            .encode(x, y, detail="place:N")
        )
        layers = self._lines(used, x, y, alt.Order("place:Q"))
        return self._finish(*self._between_kinds(), *([line] if given else []), *layers)

    def _base(self) -> alt.Chart:
        return alt.Chart(alt.NamedData("cells"))

    def _finish(self, *layers: alt.Chart) -> dict[str, Any]:
        params = [
            {"name": "picked", "value": list(self.looks)},
            {"name": "controls", "value": True},
        ]
        return {**layered(layers), "height": HEIGHT, "params": params}

    def _lines(
        self, base: alt.Chart, x: alt.X, y: alt.Y, order: alt.Order
    ) -> tuple[alt.Chart, alt.Chart]:
        dash = alt.StrokeDash(
            "method:N", legend=None, scale=self._scale([s["dash"] for s in self.looks.values()])
        )
        shape = alt.Shape(
            "method:N", legend=None, scale=self._scale([s["shape"] for s in self.looks.values()])
        )
        # A mean of 30 seeds and one of 2 are not two points of a curve.
        detail = ["method:N", "stretch:N"]
        # Ten landmarks are neither less nor more than 20 MB: a line from one to the other says
        # nothing.
        if len(set(self.kinds)) > 1:
            detail.append("kind:N")
        lines = base.mark_line(strokeWidth=1.6).encode(
            x, y, strokeDash=dash, order=order, detail=detail, **self._strokes()
        )
        fill = alt.Fill(
            "method:N",
            legend=None,
            scale=self._scale(),
            condition=[hollow(self.looks), _GREYED],
        )
        size = alt.SizeValue(self.mark_area, condition={"test": "datum.few", "value": FEW_AREA})
        points = base.mark_point(strokeWidth=1.4).encode(
            x, y, shape=shape, size=size, tooltip=self._tooltip(), fill=fill, **self._strokes()
        )
        return lines, points

    def _scale(self, values: list[Any] | None = None) -> alt.Scale:
        if values is None:
            return alt.Scale(domain=list(self.looks))
        return alt.Scale(domain=list(self.looks), range=values)

    def _strokes(self, opacity: float = 1) -> dict[str, Any]:
        # Channels rather than `alt.condition`: its plain dicts are validated at a second a chart.
        faint = {"test": f"!({_PICKED})", "value": 0.22 * opacity}
        return {
            "color": alt.Color("method:N", legend=None, scale=self._scale(), condition=_GREYED),
            "opacity": alt.OpacityValue(opacity, condition=faint),
        }

    def _tooltip(self) -> list[alt.Tooltip]:
        return [
            alt.Tooltip("method:N"),
            alt.Tooltip("budget:N"),
            alt.Tooltip("mean:Q", title=self.score.label, format=".4~g"),
            alt.Tooltip("low:Q", title="from (95 %)", format=".4~g"),
            alt.Tooltip("high:Q", title="to (95 %)", format=".4~g"),
            alt.Tooltip("ok:N", title="seeds ok"),
            alt.Tooltip("train:Q", title="training, s", format=".3~g"),
            alt.Tooltip("predict:Q", title="prediction, s", format=".3~g"),
            alt.Tooltip("peak:Q", title="largest peak, bytes", format=".3~s"),
        ]

    def _budget_axis(self) -> alt.X:
        last = len(self.budgets) - 1
        title, labels = budget_words(self.budgets)
        return alt.X(
            "x:Q",
            title=title,
            scale=alt.Scale(domain=[-0.5, last + 0.5], nice=False, zero=False),
            axis=alt.Axis(
                values=list(range(last + 1)),
                labelExpr=f"{json.dumps(labels)}[datum.value]",
                grid=False,
                labelOverlap=True,
            ),
        )

    def _between_kinds(self) -> list[alt.Chart]:
        """Draw what parts the budgets of one kind from those of the next."""
        pairs = enumerate(itertools.pairwise(self.kinds))
        ends = [{"x": place + 0.5} for place, (kind, following) in pairs if kind != following]
        rule = alt.Chart(alt.Data(values=ends)).mark_rule(color=GREY, opacity=0.5, tooltip=None)
        return [rule.encode(self._budget_axis())] if ends else []

    def _score_title(self) -> str:
        way = "higher" if self.score.greater_is_better else "lower"
        log = ", log scale" if self.axes.logarithmic else ""
        return f"{self.score.label} ({way} is better{log})"

    def _score_scale(self) -> alt.Scale:
        if self.axes.logarithmic:
            # to the next power of ten would leave most of an axis empty
            return alt.Scale(type="log", nice=False, padding=8)
        return alt.Scale(zero=False, nice=True)


def number(value: Any) -> Any:
    """Turn a figure into what JSON can hold, with five digits; None for what is no number."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.5g}") if np.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
