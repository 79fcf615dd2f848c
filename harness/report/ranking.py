"""The critical-difference diagram (Demsar 2006): mean ranks, and what no test tells apart.

Methods stand in rows under their names, which are long, and groups that differ by less than
Nemenyi's critical difference are joined by bars beside them. Failures have the last ranks.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from harness.report.axes import layered
from harness.report.charts import hollow, number
from harness.report.statistics import MIN_PAIRS, cliques, critical_difference
from harness.report.theme import GREY, NAME_AXIS

ROW = 17
TITLE = "mean rank (1 is best)"


@debug_mode(False)
def critical_difference_diagram(
    part: pd.DataFrame, looks: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Draw the mean ranks of one family and budget, best on top.

    Bars and the critical difference are there from MIN_PAIRS data sets on.

    Parameters
    ----------
    part : pandas.DataFrame
        The rows of `Tables.ranks` of one family and budget.
    looks : dict
        `styles` of all methods of the study that are not controls.
    """
    columns = ["method", "mean_rank", "min_rank", "max_rank", "wins", "failed", "p_holm"]
    values = [
        {key: number(value) for key, value in row.items()}
        for row in part[columns].to_dict("records")
    ]
    base = alt.Chart(alt.Data(values=values))
    names = alt.Axis(ticks=False, domain=False, **NAME_AXIS)
    methods = list(part["method"])
    # an order of its own: bars have other names for what stands here
    rows = alt.Scale(domain=methods)
    y = alt.Y("method:N", sort=None, scale=rows, title=None, axis=names)
    n_methods, n_datasets = (int(part[name].iloc[0]) for name in ("n_methods", "n_datasets"))
    difference, groups = math.nan, []
    if n_datasets >= MIN_PAIRS and n_methods > 1:
        difference = critical_difference(n_methods, n_datasets)
        groups = cliques(part["mean_rank"], difference)
    beside = n_methods + 0.4
    step = 0.035 * n_methods
    scale = alt.Scale(domain=[0.7, beside + step * len(groups)], nice=False)
    ticks = list(range(1, n_methods + 1))
    places = alt.Axis(format="d", values=ticks, labelOverlap=True)
    x = {
        end: alt.X(f"{field}:Q", title=TITLE, scale=scale, axis=places)
        for end, field in (("mean", "mean_rank"), ("least", "min_rank"))
    }
    tooltip = [
        alt.Tooltip("method:N"),
        alt.Tooltip("mean_rank:Q", title="mean rank", format=".2f"),
        alt.Tooltip("min_rank:Q", title="best rank", format="~g"),
        alt.Tooltip("max_rank:Q", title="worst rank", format="~g"),
        alt.Tooltip("wins:Q", title="first on"),
        alt.Tooltip("failed:Q", title="failed on"),
        alt.Tooltip("p_holm:Q", title="p (Holm)", format=".2~g"),
    ]
    colour: dict[str, Any] = {"legend": None, "scale": alt.Scale(domain=list(looks))}
    shapes = alt.Scale(domain=list(looks), range=[look["shape"] for look in looks.values()])
    layers = [
        base.mark_rule(color=GREY, opacity=0.6, strokeWidth=2).encode(
            x["least"], y, x2="max_rank:Q"
        ),
        base.mark_point(size=80, opacity=1).encode(
            x["mean"],
            y,
            tooltip=tooltip,
            color=alt.Color("method:N", **colour),
            fill=alt.Fill("method:N", condition=hollow(looks), **colour),
            shape=alt.Shape("method:N", legend=None, scale=shapes),
        ),
    ]
    bars = [
        {"x": beside + step * (place + 0.5), "first": methods[first], "last": methods[last]}
        for place, (first, last) in enumerate(groups)
    ]
    if bars:
        of_group = alt.Chart(alt.Data(values=bars))
        layers.append(
            of_group.mark_rule(strokeWidth=4, tooltip=None).encode(
                alt.X("x:Q", scale=scale, title=TITLE),
                alt.Y("first:N", sort=None, scale=rows, title=None),
                y2="last:N",
            )
        )
    if difference < n_methods - 0.7:
        told = alt.Chart(alt.Data(values=[{"low": 1, "high": 1 + difference}]))
        ends = alt.X("low:Q", scale=scale, title=TITLE)
        above = alt.value(-9)
        layers += [
            told.mark_rule(strokeWidth=2, tooltip=None).encode(ends, x2="high:Q", y=above),
            told.mark_text(align="left", dx=6, text=f"CD {difference:.2f}").encode(
                alt.X("high:Q", scale=scale, title=TITLE), y=above
            ),
        ]
    return {**layered(layers), "height": ROW * len(part)}
