"""Mean ranks over data sets as a chart: who leads, and who cannot be told from the best.

It says what a critical-difference diagram says, with the test that the report uses: against the
best method, corrected by Holm, which has no one difference that is critical for all methods.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from harness.report.answers import SIGNIFICANCE
from harness.report.axes import layered
from harness.report.charts import hollow, number
from harness.report.theme import GREY, NAME_AXIS

ROW = 17


@debug_mode(False)
def mean_rank_chart(part: pd.DataFrame, looks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Draw the mean ranks of one family and budget, best on top.

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
    y = alt.Y("method:N", sort=list(part["method"]), title=None, axis=names)
    scale = alt.Scale(domain=[0.7, int(part["n_methods"].iloc[0]) + 0.3], nice=False)
    places = alt.Axis(format="d", tickMinStep=1)
    x = {
        end: alt.X(f"{field}:Q", title="mean rank (1 is best)", scale=scale, axis=places)
        for end, field in (("mean", "mean_rank"), ("least", "min_rank"), ("band", "low"))
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
    level = part.loc[~(part["p_holm"] < SIGNIFICANCE), "mean_rank"]
    if part["p_holm"].notna().any():
        span = alt.Chart(alt.Data(values=[{"low": level.min(), "high": level.max()}]))
        band = span.mark_rect(color=GREY, opacity=0.2).encode(x["band"], x2="high:Q")
        layers.insert(0, band)
    return {**layered(layers), "height": {"step": ROW}}
