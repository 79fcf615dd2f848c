"""Is the storage model honest? Measured over planned peaks, drawn."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from harness.report.axes import layered
from harness.report.charts import number
from harness.report.looks import GREY, NAME_AXIS, PALETTES
from harness.report.tables import HONEST


@debug_mode(False)
def measured_over_planned(honesty: pd.DataFrame) -> dict[str, Any]:
    """Measured over planned peak per method: range, middle half and median over its trials."""
    low, high = HONEST
    data = honesty.assign(honest=honesty["median"].between(low, high))
    values = [
        {key: number(value) for key, value in row.items()} for row in data.to_dict("records")
    ]
    base = alt.Chart(alt.Data(values=values))
    y = alt.Y("method:N", sort=list(data["method"]), title=None, axis=alt.Axis(**NAME_AXIS))
    wide = data["max"].max() / max(data["min"].min(), 1e-9) > 20
    scale = alt.Scale(type="log", nice=True) if wide else alt.Scale(zero=True, nice=True)
    x = alt.X("median:Q", title="measured peak / planned peak", scale=scale)
    tooltip = [alt.Tooltip("method:N"), alt.Tooltip("n:Q", title="trials")] + [
        alt.Tooltip(f"{name}:Q", format=".3~g") for name in ("min", "q25", "median", "q75", "max")
    ]
    band = (
        alt.Chart(alt.Data(values=[{"low": low, "high": high}]))
        .mark_rect(opacity=0.13, color=PALETTES["light"][2])
        .encode(x=alt.X("low:Q", title="measured peak / planned peak"), x2="high:Q")
    )
    one = alt.Chart(alt.Data(values=[{"one": 1}])).mark_rule(color=GREY).encode(x="one:Q")
    inside = {"test": "datum.honest", "value": PALETTES["light"][2]}
    colour = alt.ColorValue(PALETTES["light"][1], condition=inside)
    layers = [
        band,
        one,
        base.mark_rule(color=GREY).encode(y=y, x=alt.X("min:Q"), x2="max:Q"),
        base.mark_bar(height=6, color=GREY).encode(y=y, x=alt.X("q25:Q"), x2="q75:Q"),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            y=y, x=x, color=colour, tooltip=tooltip
        ),
    ]
    return {**layered(layers), "height": {"step": 20}}
