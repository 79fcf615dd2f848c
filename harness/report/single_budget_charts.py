"""The charts of a study of one budget: a row a method, under its own name.

Against a single budget there is no curve to draw. What is left to compare are the methods, so they
stand one below the other, in the same order in every chart, and can be read without a legend.
"""

from __future__ import annotations

import functools
from typing import Any

import altair as alt

from harness.report.axes import BYTES, SECONDS, Align, least_range, log_axis
from harness.report.charts import BESIDE, Axes, Charts
from harness.report.far_controls import ABOVE, BELOW, at_the_edge
from harness.report.theme import GREY, NAME_AXIS, styles

ROW = 17
"""Pixels a method."""

_EDGES: dict[str, dict[str, Any]] = {
    BELOW: {"arrow": "\u2190", "x": 0, "y": -6, "align": "left"},
    ABOVE: {"arrow": "\u2192", "x": "width", "y": -6, "align": "right"},
}


@functools.lru_cache(maxsize=256)
def specifications(
    axes: Axes, methods: tuple[str, ...], single: bool = False
) -> dict[str, dict[str, Any]]:
    """Every chart of a problem, by kind; built once for all problems of equal axes.

    Parameters
    ----------
    axes : Axes
    methods : tuple of str
        Those of the study that are not controls, in the order of their `styles`.
    single : bool, default False
        Whether the study has one budget only.
    """
    return (SingleBudgetCharts if single else Charts)(axes, styles(methods)).all()


class SingleBudgetCharts(Charts):
    """Builds the same kinds of charts as `Charts`, with methods where budgets would stand."""

    mark_area = 60

    def score_against_budget(self) -> dict[str, Any]:
        """Score with intervals; controls are grey lines down all rows, far ones are named."""
        axis = alt.Axis(tickCount=5, labelOverlap="greedy", labelSeparation=6)
        x = alt.X("mean:Q", scale=self._score_scale(), title=self._score_title(), axis=axis)
        scored = self._base().transform_filter("!datum.control")
        controls = self._base().transform_filter(
            "datum.control && controls && isValid(datum.mean) && datum.far == ''"
        )
        low = alt.X("low:Q", title=self._score_title(), axis=axis)
        bars = scored.mark_rule(strokeWidth=1.6).encode(
            low, self._rows(), x2="high:Q", **self._strokes()
        )
        sides: list[tuple[str, Align, int]] = [("true", "left", -3), ("false", "right", 3)]
        names = [
            controls.transform_filter(f"datum.left == {left}")
            .mark_text(align=align, dx=dx, color=GREY)
            .encode(x, y=alt.value(-6), text="method:N")
            for left, align, dx in sides
        ]
        return self._rows_of(
            controls.mark_rule(color=GREY, strokeDash=[3, 3], strokeWidth=1.2).encode(x),
            *names,
            *at_the_edge(self._base(), _EDGES),
            bars,
            self._points(scored, x),
            least_range(scored, "mean", x, self.axes.logarithmic),
        )

    def time_against_budget(self, stage: str) -> dict[str, Any]:
        """Seconds of "train" or "predict"."""
        title = {"train": "training time (tune + fit)", "predict": "prediction time"}[stage]
        x = alt.X(f"{stage}:Q", title=title, **log_axis("x", SECONDS))
        base = self._base().transform_filter("!datum.control")
        return self._rows_of(
            self._points(base, x), least_range(base, stage, x, beside=BESIDE[stage])
        )

    def peak_against_budget(self) -> dict[str, Any]:
        """Largest measured peak; the budget, if it is one of bytes, is a grey line."""
        x = alt.X("peak:Q", title="peak memory (bytes)", **log_axis("x", BYTES))
        ((_, limit),) = self.axes.budgets
        line = alt.Chart(alt.Data(values=[{"peak": limit}])).mark_rule(color=GREY, strokeWidth=2.5)
        used = self._base().transform_filter("!datum.control")
        return self._rows_of(
            *([line.encode(x)] if limit else []),
            self._points(used, x),
            least_range(used, "peak", x),
        )

    def _rows(self) -> alt.Y:
        axis = alt.Axis(grid=True, ticks=False, domain=False, **NAME_AXIS)
        return alt.Y("method:N", title=None, scale=self._scale(), axis=axis)

    def _points(self, base: alt.Chart, x: alt.X) -> alt.Chart:
        _, points = self._lines(base, x, self._rows(), alt.Order("place:Q"))
        return points

    def _rows_of(self, *layers: alt.Chart) -> dict[str, Any]:
        return {**self._finish(*layers), "height": ROW * len(self.looks)}
