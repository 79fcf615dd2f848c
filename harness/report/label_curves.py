"""Against labels: what more labeled points buy, and what training on more points costs.

Drawn where a data set was run at three numbers of labeled points or more. Each budget has charts
of its own, unless every number of labeled points has one budget only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from harness.report.axes import SECONDS, least_range, log_axis
from harness.report.charts import Axes, Charts, axes_of, rounded, seed_stretches
from harness.report.tables import charted
from harness.report.times import of_usual_cpu

if TYPE_CHECKING:
    from harness.report.scores import Score
    from harness.report.tables import Tables

LEAST_COUNTS = 3
"""Numbers of labeled points that make a curve."""

_SPREAD = 1.1
"""Between the first method and the last at one number of labeled points, as a factor."""


def make_label_curves(
    scores: Mapping[str, Score], tables: Tables, looks: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Arrange the curves of a study.

    Parameters
    ----------
    scores : mapping of str to Score
        The primary metric of each problem.
    tables : Tables
    looks : dict
        `styles` of all methods of the study that are not controls.

    Returns
    -------
    dict
        `curves` (list of {"name", "dataset", "budget", "cells", "score", "train"}), and what the
        page's script draws: `data` and `specs`; `uneven`, whether any of them has means over
        different numbers of seeds. No curves if there is nothing to draw.
    """
    arranged: dict[str, Any] = {"curves": [], "data": {}, "specs": {}, "uneven": False}
    cells = of_usual_cpu(charted(tables.cells))
    cells = cells[~cells["control"] & (cells["task"] != "clustering")]
    numbers: dict[Axes, int] = {}
    for name, budget, mine in _groups(cells):
        axes = axes_of(scores[mine["problem"].iloc[0]], mine, [])
        if axes not in numbers:
            numbers[axes] = len(numbers)
            charts = LabelCharts(axes, looks)
            arranged["specs"][f"labels-{numbers[axes]}"] = charts.score_against_labels()
            arranged["specs"][f"label-time-{numbers[axes]}"] = charts.time_against_labels()
        key = f"labels-{len(arranged['curves'])}"
        arranged["data"][key] = _columns(mine, list(looks))
        arranged["uneven"] |= any(arranged["data"][key]["few"])
        drawn = {"score": f"labels-{numbers[axes]}", "train": f"label-time-{numbers[axes]}"}
        of = {"name": name, "dataset": mine["dataset"].iloc[0], "budget": budget}
        arranged["curves"].append({**of, "cells": key, **drawn})
    return arranged


def _groups(cells: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Gather the cells of one pair of charts, under the name of data set and budget.

    No budget where each number of labeled points has its own.
    """
    groups = []
    for dataset, mine in cells.groupby("dataset", sort=False):
        follows = mine.groupby("n_labeled")["budget"].nunique().max() == 1
        parts = [("", mine)] if follows else mine.groupby("budget", sort=False)
        for budget, part in parts:
            if part["n_labeled"].nunique() >= LEAST_COUNTS and part["mean"].notna().any():
                limit = "no limit" if budget == "none" else budget
                name = f"{dataset}, {limit}" if budget else str(dataset)
                groups.append((name, str(budget), part))
    return groups


def _columns(cells: pd.DataFrame, methods: list[str]) -> dict[str, list[Any]]:
    # several problems of one number of labeled points: the first, as in the study
    cells = cells.drop_duplicates(["n_labeled", "method"]).sort_values("n_labeled", kind="stable")
    shift = cells["method"].map(methods.index) / max(1, len(methods) - 1) - 0.5
    train = cells["train_s"].where(cells["train_s"] > 0)
    figures = {"mean": cells["mean"], "low": cells["ci_low"], "high": cells["ci_high"]}
    figures |= {"train": train, "predict": cells["predict_s"], "peak": cells["peak_bytes"]}
    return {
        "method": list(cells["method"]),
        "budget": list(cells["budget"]),
        "labeled": [int(count) for count in cells["n_labeled"]],
        "x": rounded(cells["n_labeled"] * _SPREAD**shift),
        "ok": [f"{k} of {n}" for k, n in zip(cells["n_ok"], cells["n"], strict=True)],
        **seed_stretches(cells["method"], cells["n_labeled"], cells["n_scored"]),
        **{name: rounded(values) for name, values in figures.items()},
    }


class LabelCharts(Charts):
    """Builds the charts of curves; what they draw are the columns of `make_label_curves`' data."""

    @debug_mode(False)
    def score_against_labels(self) -> dict[str, Any]:
        """Score against the number of labeled points, with intervals."""
        title = self._score_title()
        score = alt.Y("mean:Q", scale=self._score_scale(), title=title)
        bars = (
            self._base()
            .mark_rule()
            .encode(self._labels(), y=alt.Y("low:Q", title=title), y2="high:Q", **self._strokes())
        )
        return self._finish(
            *self._lines(self._base(), self._labels(), score, alt.Order("labeled:Q")),
            least_range(self._base(), "mean", score, self.axes.logarithmic),
            bars,
        )

    @debug_mode(False)
    def time_against_labels(self) -> dict[str, Any]:
        """Seconds of training against the number of labeled points."""
        y = alt.Y("train:Q", title="training time (tune + fit)", **log_axis("y", SECONDS))
        return self._finish(
            *self._lines(self._base(), self._labels(), y, alt.Order("labeled:Q")),
            least_range(self._base(), "train", y),
        )

    def _labels(self) -> alt.X:
        return alt.X("x:Q", title="labeled points", **log_axis("x", "format(datum.value, ',')"))

    def _tooltip(self) -> list[alt.Tooltip]:
        return [alt.Tooltip("labeled:Q", format=","), *super()._tooltip()]
