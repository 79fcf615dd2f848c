"""Axes that several charts share: how they are scaled, labeled and kept from showing noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt

BYTES = "format(datum.value, '.3~s') + 'B'"
Align = Literal["left", "center", "right"]
SECONDS = (
    "datum.value < 1 ? format(datum.value * 1000, '.3~g') + ' ms' "
    ": format(datum.value, ',.6~g') + ' s'"
)


def layered(layers: Sequence[alt.Chart]) -> dict[str, Any]:
    """Join layers into one specification as wide as its place on the page."""
    # Joined here: `alt.layer` copies every layer several times, half of the time a report took.
    drawn = [layer.to_dict(validate=False) for layer in layers]
    aside = ("$schema", "config")  # the page's script says the one and brings the other
    inner = [{key: spec[key] for key in spec if key not in aside} for spec in drawn]
    return {"width": "container", "layer": inner}


def log_axis(channel: str, label: str) -> dict[str, Any]:
    """Lay out a logarithmic axis whose labels are written by a Vega expression."""
    # Beyond a decade, only ticks that lead with 1, 2 or 5: the others crowd a logarithmic axis.
    leading = "datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9))"
    shown = (
        f"(domain('{channel}')[1] / domain('{channel}')[0] < 10"
        f" || indexof(['1.00', '2.00', '5.00'], format({leading}, '.2f')) >= 0)"
    )
    opacity = {"condition": {"test": shown, "value": 1}, "value": 0}
    axis = alt.Axis(
        labelExpr=f"{shown} ? {label} : ''",
        gridOpacity=opacity,
        tickOpacity=opacity,
        labelOverlap="greedy",
        labelSeparation=6,
    )
    return {"scale": alt.Scale(type="log", nice=False, padding=8), "axis": axis}


def least_range(
    base: alt.Chart,
    field: str,
    channel: alt.X | alt.Y,
    logarithmic: bool = True,
    beside: str = "",
) -> alt.Chart:
    """Draw nothing, but keep an axis from showing the digits of a difference that is none.

    An axis shows at least a factor of four in time, and of a score its intervals or 2 %.

    Parameters
    ----------
    base : altair.Chart
        Names its data.
    field : str
        What the axis shows: "mean" for a score.
    channel : altair.X or altair.Y
    logarithmic : bool, default True
    beside : str, default ""
        A further field that the axis spans, so that charts of either have the same.
    """
    beside = beside or field
    judged = "true" if field == "mean" else "false"
    ends = (
        (
            "min(datum.least, sqrt(datum.least * datum.most) / 2)",
            "max(datum.most, sqrt(datum.least * datum.most) * 2)",
        )
        if logarithmic
        else (
            "min(datum.least, (datum.least + datum.most) / 2 - 0.01 * abs(datum.most))",
            "max(datum.most, (datum.least + datum.most) / 2 + 0.01 * abs(datum.most))",
        )
    )
    x_or_y = "x" if isinstance(channel, alt.X) else "y"
    spread = (
        base.transform_filter(f"isValid(datum.{field}) || isValid(datum.{beside})")
        .transform_calculate(
            one=f"isValid(datum.{field}) ? datum.{field} : datum.{beside}",
            other=f"isValid(datum.{beside}) ? datum.{beside} : datum.{field}",
        )
        .transform_calculate(
            from_=f"{judged} && isValid(datum.low) ? datum.low : min(datum.one, datum.other)",
            to=f"{judged} && isValid(datum.high) ? datum.high : max(datum.one, datum.other)",
        )
        .transform_aggregate(least="min(from_)", most="max(to)")
        .transform_filter("isValid(datum.least)")
        .transform_calculate(low=ends[0], high=ends[1])
    )
    low = channel.copy()
    low.shorthand = "low:Q"
    return spread.mark_rule(opacity=0, tooltip=None).encode(
        **{x_or_y: low, f"{x_or_y}2": "high:Q"}
    )
