"""Is the storage model honest? Measured over planned peaks, drawn, and who went over budget."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode

from harness.report.axes import layered
from harness.report.charts import number
from harness.report.tables import HONEST
from harness.report.theme import GREY, NAME_AXIS, PALETTES


@debug_mode(False)
def measured_over_planned(honesty: pd.DataFrame) -> dict[str, Any]:
    """Measured over planned peak per method: range, middle half and median over its trials.

    A trial that was stopped by the limit has no peak of its own, so their number stands beside.
    """
    low, high = HONEST
    data = honesty.assign(honest=honesty["median"].between(low, high))
    values = [
        {key: number(value) for key, value in row.items()} for row in data.to_dict("records")
    ]
    every = alt.Chart(alt.Data(values=values))
    base = every.transform_filter("isValid(datum.median)")
    methods = list(data["method"])
    rows: dict[str, Any] = {"scale": alt.Scale(domain=methods), "title": None}
    y = alt.Y("method:N", axis=None, **rows)
    wide = data["max"].max() / max(data["min"].min(), 1e-9) > 20
    scale = alt.Scale(type="log", nice=True) if wide else alt.Scale(zero=True, nice=True)
    x = alt.X("median:Q", title="measured peak / planned peak", scale=scale)
    tooltip = [alt.Tooltip("method:N"), alt.Tooltip("n:Q", title="trials ok")] + [
        alt.Tooltip(f"{name}:Q", format=".3~g") for name in ("min", "q25", "median", "q75", "max")
    ]
    tooltip.append(alt.Tooltip("over_budget:Q", title="over budget"))
    tooltip.append(alt.Tooltip("phase:N", title="planned peak in"))
    band = (
        alt.Chart(alt.Data(values=[{"low": low, "high": high}]))
        .mark_rect(opacity=0.13, color=PALETTES["light"][2])
        .encode(x=alt.X("low:Q", title="measured peak / planned peak"), x2="high:Q")
    )
    one = alt.Chart(alt.Data(values=[{"one": 1}])).mark_rule(color=GREY).encode(x="one:Q")
    inside = {"test": "datum.honest", "value": PALETTES["light"][2]}
    colour = alt.ColorValue(PALETTES["light"][1], condition=inside)
    names = alt.Y("method:N", axis=alt.Axis(**NAME_AXIS), **rows)
    beside = alt.Y("method:N", axis=_words_beside(data), **rows)
    layers = [
        band,
        one,
        base.mark_rule(color=GREY).encode(y=y, x=alt.X("min:Q"), x2="max:Q"),
        base.mark_bar(height=6, color=GREY).encode(y=y, x=alt.X("q25:Q"), x2="q75:Q"),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            y=y, x=x, color=colour, tooltip=tooltip
        ),
        *(
            every.mark_point(opacity=0, tooltip=None).encode(y=axis, x=alt.value(0))
            for axis in (names, beside)
        ),
    ]
    # layers share one axis of rows otherwise: names on the left or words on the right
    resolve = {"axis": {"y": "independent"}}
    return {**layered(layers), "height": 20 * len(honesty), "resolve": resolve}


def _words_beside(honesty: pd.DataFrame) -> alt.Axis | None:
    """Let the phase of the planned peak stand on the right, and how many were over budget."""
    words, over = {}, []
    for row in honesty.itertuples():
        told = [row.phase] if row.phase else []
        if row.over_budget:
            told.append(f"{row.over_budget} over budget")
            over.append(row.method)
        words[row.method] = "; ".join(told)
    if not any(words.values()):
        return None
    warned = {"test": f"indexof({json.dumps(over)}, datum.value) >= 0"}
    return alt.Axis(
        orient="right",
        labelExpr=f"{json.dumps(words)}[datum.value] || ''",
        labelColor={"condition": {**warned, "value": PALETTES["light"][1]}, "value": GREY},
        labelFontWeight={"condition": {**warned, "value": "bold"}, "value": "normal"},
        labelLimit=260,
        grid=False,
        ticks=False,
        domain=False,
    )
