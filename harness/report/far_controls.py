"""Controls that lie far from all methods: named at the edge of a chart, not drawn to scale.

Chance at 0.5 would press methods between 0.97 and 0.98 into one line. What a control bounds is
then a figure beside an arrow, and the axis belongs to the methods.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from harness.report.axes import Align
from harness.report.theme import GREY

NEAR = 0.5
"""Of the span of all methods: a control not farther from them is drawn."""

BELOW, ABOVE = "below", "above"


def far_controls(cells: pd.DataFrame) -> dict[str, list[Any]]:
    """Tell which controls of one problem are far from its methods.

    Parameters
    ----------
    cells : pandas.DataFrame
        Of one problem, as in `Tables.cells`.

    Returns
    -------
    dict
        `far`: for each row "below" or "above" if it is of a control all of whose means lie there,
        else ""; `edge`: in the first row of a side the names and means of its controls, else None.
    """
    methods = cells[~cells["control"]]
    low = np.fmin(methods["mean"].min(), methods["ci_low"].min())
    high = np.fmax(methods["mean"].max(), methods["ci_high"].max())
    far = pd.Series("", cells.index)
    edge = pd.Series(None, cells.index, dtype=object)
    room = NEAR * (high - low)
    if room > 0:
        means = cells[cells["control"]].groupby("method")["mean"].agg(["min", "max"])
        beyond = {
            BELOW: means.index[means["max"] < low - room],
            ABOVE: means.index[means["min"] > high + room],
        }
        for side, names in beyond.items():
            rows = cells.index[cells["control"] & cells["method"].isin(names)]
            far[rows] = side
            if len(rows):
                edge[rows[0]] = ", ".join(_named(name, *means.loc[name]) for name in names)
    told = [text if isinstance(text, str) else None for text in edge]
    return {"far": list(far), "edge": told}


def _named(name: str, least: float, most: float) -> str:
    few, many = f"{least:.2g}", f"{most:.2g}"
    return f"{name} {few}" if few == many else f"{name} {few} to {many}"


def at_the_edge(base: alt.Chart, sides: dict[str, dict[str, Any]]) -> list[alt.Chart]:
    """Name far controls where their side of a chart ends.

    Parameters
    ----------
    base : altair.Chart
        Of cells, with the columns of `far_controls`.
    sides : mapping
        For "below" and "above": `arrow` that points there, `x` and `y` in pixels, and `align`.
    """
    layers = []
    for side, place in sides.items():
        align: Align = place["align"]
        asked = f"controls && datum.far == '{side}' && isValid(datum.edge)"
        layers.append(
            base.transform_filter(asked)
            .transform_calculate(told=f"'{place['arrow']} ' + datum.edge")
            .mark_text(align=align, color=GREY)
            .encode(x=alt.value(place["x"]), y=alt.value(place["y"]), text="told:N")
        )
    return layers
