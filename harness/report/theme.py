"""How the page and its charts look alike: colours of both schemes, and the marks of methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Okabe and Ito's colours without the two that vanish on one of the grounds; lighter for the dark.
PALETTES = {
    "light": ["#0072B2", "#D55E00", "#009E73", "#B5569B", "#C98500", "#3FA0DB"],
    "dark": ["#4C9FE6", "#F07F3C", "#2FC79A", "#DB8FC4", "#EDB33B", "#9AD4F5"],
}
INKS = {
    "light": {
        **{"ink": "#1d2127", "soft": "#5c6570", "line": "#d9dde2", "ground": "#ffffff"},
        "alert": "#ad4800",
    },
    "dark": {
        **{"ink": "#e6e9ed", "soft": "#a3acb7", "line": "#363c44", "ground": "#16191d"},
        "alert": "#f07f3c",
    },
}
GREY = "#8a929c"
"""Controls and methods that are not picked: it reads on both grounds."""
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [1, 3]]
NAME_AXIS: dict[str, Any] = {
    "labelLimit": 190,
    "labelExpr": "length(datum.label) > 30"
    " ? slice(datum.label, 0, 13) + '…' + slice(datum.label, -15) : datum.label",
}
"""How the names of methods stand beside a chart: long ones lose their middle.

Vega would cut them at 190 pixels, some 30 letters, and variants mostly differ at the end.
"""
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]


def shortened(name: str, most: int = 45) -> str:
    """Take the middle out of a name of more letters than two lines above a small chart hold."""
    kept = (most - 1) // 2
    return name if len(name) <= most else f"{name[:kept]}…{name[-kept:]}"


def styles(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Give each method a colour, a dash and a shape of its own.

    Returns
    -------
    dict
        Method -> {"colour": number in the palette, "dash": list, "shape": str, "hollow": bool}.
        Colour with dash tells apart 36 methods, colour with shape 42, and all three more; every
        second round of the palette is drawn hollow, for charts without lines.
    """
    n = len(PALETTES["light"])
    return {
        method: {
            "colour": i % n,
            "dash": DASHES[(i // n) % len(DASHES)],
            "shape": SHAPES[i % len(SHAPES)],
            "hollow": i // n % 2 == 1,
        }
        for i, method in enumerate(methods)
    }


def theme(scheme: str) -> dict[str, Any]:
    """Vega-Lite configuration of the "light" or the "dark" scheme."""
    inks = INKS[scheme]
    text = {"labelColor": inks["soft"], "titleColor": inks["soft"]}
    return {
        "background": "transparent",
        "font": "system-ui, sans-serif",
        "range": {"category": PALETTES[scheme]},
        "view": {"stroke": None},
        "legend": {"labelColor": inks["soft"], "titleColor": inks["soft"]},
        "axis": text
        | {
            "gridColor": inks["line"],
            "domainColor": inks["line"],
            "tickColor": inks["line"],
            "titleFontWeight": "normal",
            "labelFontSize": 11,
            "titleFontSize": 11,
        },
        # a label near an end of its axis would be cut off by the edge of a small chart
        "axisX": {"labelFlush": 16},
        "line": {"color": inks["ink"]},
        "point": {"color": inks["ink"]},
        "rule": {"color": inks["ink"]},
        "text": {"color": inks["soft"], "fontSize": 10},
    }
