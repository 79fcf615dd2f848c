"""Pareto fronts of score against what it cost: measured peak, and seconds of training.

A mark is on the front if no other has at least its score for at most its cost. The front is one of
means: what of its steps is more than chance is said by `trade_offs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import numpy as np
import pandas as pd

from harness.report.scores import Score

if TYPE_CHECKING:
    from harness.report.tables import Tables

COSTS = {"peak": "peak_bytes", "train": "train_s"}
"""By what the charts call them."""
NORMALISED = Score("normalised", True, frozenset(), "normalised score")
"""Of several data sets together: 1 is the best mean of a data set, 0 the worst."""


def on_front(cells: pd.DataFrame, cost: str, scores: Mapping[str, Score]) -> pd.Series:
    """Tell which cells of each problem are on its front, over all budgets.

    Parameters
    ----------
    cells : pandas.DataFrame
        As in `Tables.cells`. Controls, cells with failed seeds and cells of no known cost are not
        on a front, nor do they keep others from it.
    cost : str
        A column of `cells`: "peak_bytes" or "train_s".
    scores : mapping of str to Score

    Returns
    -------
    pandas.Series of bool
        With the index of `cells`. Of equal marks all are on it.
    """
    whole = ~cells["control"] & (cells["n_scored"] > 0) & (cells["n_scored"] == cells["n"])
    known = cells[whole & (cells[cost] > 0)]
    sign = known["problem"].map({name: _sign(score) for name, score in scores.items()})
    marks = pd.DataFrame({"problem": known["problem"], "cost": known[cost].astype("float64")})
    marks["worth"] = sign * known["mean"]
    marks = marks.sort_values(["problem", "cost", "worth"], ascending=[True, True, False])
    reached = marks.groupby("problem")["worth"].cummax()
    before = reached.groupby(marks["problem"]).shift()
    first = ~(marks["worth"] <= before)
    # equal marks follow each other: what the first of them is, all are
    front = first.groupby([marks["problem"], marks["cost"], marks["worth"]]).transform("any")
    return front.astype(bool).reindex(cells.index, fill_value=False)


def _sign(score: Score) -> int:
    return 1 if score.greater_is_better else -1


def front_columns(cells: pd.DataFrame, score: Score) -> dict[str, list[Any]]:
    """Turn the fronts of one problem into columns, as the charts read them.

    Returns
    -------
    dict
        Of each cost: `front_...`, whether a mark is on the front, and `name_...`, where the name
        of its method stands ("above", "below"; "" without): once a run of marks of one method.
    """
    found: dict[str, list[Any]] = {}
    for short, column in COSTS.items():
        front = on_front(cells, column, dict.fromkeys(cells["problem"].unique(), score))
        order = cells.loc[front].sort_values(column, kind="stable")
        names = pd.Series("", cells.index)
        new = order["method"] != order["method"].shift()
        named = order.index[new]
        names[named] = ["above" if place % 2 else "below" for place in range(len(named))]
        found |= {f"front_{short}": list(map(bool, front)), f"name_{short}": list(names)}
    return found


def front_layers(base: alt.Chart, cost: str, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Draw a front as a step line, and the names of methods at its marks.

    Parameters
    ----------
    base : altair.Chart
        Names its data.
    cost : {"peak", "train"}
    x, y : altair.X, altair.Y
        Of the cost and the score.
    """
    marks = base.transform_filter(f"datum.front_{cost}")
    line = marks.mark_line(interpolate="step-after", strokeWidth=5, opacity=0.22)
    sides: list[tuple[str, Literal["bottom", "top"], int]] = [
        ("above", "bottom", -3),
        ("below", "top", 4),
    ]
    names = [
        base.transform_filter(f"datum.name_{cost} == '{place}'")
        .mark_text(align="left", baseline=side, dx=6, dy=dy, fontSize=11)
        .encode(x, y, text="method:N")
        for place, side, dy in sides
    ]
    return [line.encode(x, y, order=alt.Order(f"{cost}:Q")), *names]


def over_data_sets(tables: Tables, scores: Mapping[str, Score]) -> dict[str, pd.DataFrame]:
    """Average scores and costs over the data sets of each family that has two or more.

    A score is scaled to its data set: 1 is the best mean of any method at any budget, 0 the worst;
    a cell with failed seeds counts 0. Costs are geometric means over the data sets on which a
    method finished.

    Returns
    -------
    dict of str to pandas.DataFrame
        By family, the columns of `Tables.cells` that charts are made of, a row a method and budget
        that every data set of the family has; `n_ok` of `n` data sets finished every seed.
    """
    cells = tables.cells[~tables.cells["control"]]
    sign = cells["problem"].map({name: _sign(score) for name, score in scores.items()})
    whole = (cells["n_scored"] > 0) & (cells["n_scored"] == cells["n"])
    worth = (sign * cells["mean"]).where(whole)
    by = worth.groupby(cells["problem"])
    least, most = by.transform("min"), by.transform("max")
    scaled = ((worth - least) / (most - least).where(most > least)).where(most > least, 1.0)
    cells = cells.assign(scaled=scaled.where(whole, 0.0), whole=whole)
    for name in COSTS.values():
        cells[f"log_{name}"] = np.log(cells[name].astype("float64").where(cells[name] > 0))
    found = {}
    for family, mine in cells.groupby("family", sort=False):
        problems = mine["problem"].nunique()
        if mine["dataset"].nunique() < 2 or mine["method"].nunique() < 2:
            continue
        # a data set with several numbers of labeled points counts once
        of_one = mine.groupby(["budget", "method", "dataset"], sort=False).agg(
            problems=("problem", "size"),
            scaled=("scaled", "mean"),
            whole=("whole", "min"),
            budget_bytes=("budget_bytes", "max"),
            **{name: (f"log_{name}", "mean") for name in COSTS.values()},
        )
        table = of_one.groupby(["budget", "method"], sort=False).agg(
            problems=("problems", "sum"),
            mean=("scaled", "mean"),
            n=("scaled", "size"),
            n_ok=("whole", "sum"),
            budget_bytes=("budget_bytes", "max"),
            **{name: (name, "mean") for name in COSTS.values()},
        )
        table = table[table["problems"] == problems].reset_index()
        for name in COSTS.values():
            table[name] = np.exp(table[name])
        table[["ci_low", "ci_high", "predict_s"]] = np.nan
        table["n_scored"] = table["n_ok"]
        found[family] = table.assign(problem=family, control=False, truth=False)
    return found
