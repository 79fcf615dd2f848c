"""Pareto fronts of score against what it cost: measured peak, and seconds of training.

A mark is on the front if no other has at least its score for at most its cost. The front is one of
means: what of its steps is more than chance is said by `trade_offs`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd

from harness.report.scores import Score

if TYPE_CHECKING:
    from harness.report.tables import Tables

COSTS = {"peak": "peak_bytes", "train": "train_s"}
"""By what the charts call them."""
_SPANNED = {"peak_bytes": ("peak_bytes",), "train_s": ("train_s", "predict_s")}
"""What an axis of a cost shows: seconds of training and of prediction have one axis."""
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
    sign = signs(known, scores)
    marks = pd.DataFrame({"problem": known["problem"], "cost": known[cost].astype("float64")})
    marks["worth"] = sign * known["mean"]
    marks = marks.sort_values(["problem", "cost", "worth"], ascending=[True, True, False])
    reached = marks.groupby("problem")["worth"].cummax()
    before = reached.groupby(marks["problem"]).shift()
    first = ~(marks["worth"] <= before)
    # equal marks follow each other: what the first of them is, all are
    front = first.groupby([marks["problem"], marks["cost"], marks["worth"]]).transform("any")
    return front.astype(bool).reindex(cells.index, fill_value=False)


def signs(cells: pd.DataFrame, scores: Mapping[str, Score]) -> pd.Series:
    """Return 1 for each cell whose score is better the higher it is, and -1 for the others."""
    known = {name: 1 if score.greater_is_better else -1 for name, score in scores.items()}
    return cells["problem"].map(known).astype("int64")


def with_fronts(cells: pd.DataFrame, scores: Mapping[str, Score]) -> pd.DataFrame:
    """Add to cells whether they are on the front of each cost, as `front_peak` and `front_train`.

    At once for all problems: a study may have thousands.
    """
    found = {f"front_{short}": on_front(cells, cost, scores) for short, cost in COSTS.items()}
    return cells.assign(**found)


def front_columns(cells: pd.DataFrame) -> dict[str, list[Any]]:
    """Turn the fronts of one problem into columns, as the charts read them.

    Parameters
    ----------
    cells : pandas.DataFrame
        Of one problem, as from `with_fronts`.

    Returns
    -------
    dict
        Of each cost: `front_...`, whether a mark is on the front, and `name_...`, how many pixels
        below the mark the name of its method stands (None without): once a run of marks of one
        method, where it hides no other name; `left_...`, whether to the left of the mark.
    """
    found: dict[str, list[Any]] = {}
    method, mean = cells["method"].to_numpy(), cells["mean"].to_numpy("float64")
    known = ~cells["control"].to_numpy(bool) & ~np.isnan(mean)
    for short, column in COSTS.items():
        front = cells[f"front_{short}"].to_numpy(bool)
        cost = cells[column].to_numpy("float64")
        order = np.flatnonzero(front)[np.argsort(cost[front], kind="stable")]
        runs = itertools.groupby(order.tolist(), method.__getitem__)
        named = [next(of_one) for _, of_one in runs]
        drawn = known & (cost > 0)
        spanned = cells.loc[drawn, list(_SPANNED[column])].to_numpy("float64").ravel()
        x = _pixels(np.log(cost[named]), np.log(spanned[spanned > 0]), _CHART[0])
        y = _CHART[1] - _pixels(mean[named], mean[drawn], _CHART[1])
        placed = zip(named, _places_of_names(x, y, method[named]), strict=True)
        places: dict[int, tuple[int | None, bool]] = dict(placed)
        of_cells = [places.get(at, (None, False)) for at in range(len(cells))]
        found |= {
            f"front_{short}": list(map(bool, front)),
            f"name_{short}": [down for down, _ in of_cells],
            f"left_{short}": [left for _, left in of_cells],
        }
    return found


_CHART = (250.0, 190.0)
"""Pixels of a small chart: names that are clear of each other there are in a larger one."""
_LETTER, _LINE, _ASIDE = 6.0, 11, 6.0


def _places_of_names(x: np.ndarray, y: np.ndarray, names: np.ndarray) -> list[tuple[int, bool]]:
    """Place names from left to right, each as near its mark as earlier ones leave room."""
    taken: list[tuple[float, float, float]] = []
    places = []
    for mark, height, name in zip(x.tolist(), y.tolist(), names, strict=True):
        width = _LETTER * len(name)
        outside = mark + _ASIDE + width > _CHART[0]
        left = mark - _ASIDE - width if outside else mark + _ASIDE
        right = left + width
        shifts = [side * (_LINE * step - 2) for step in range(1, 6) for side in (-1, 1)]
        for shift in shifts:
            at = height + shift
            clear = all(
                right < start or end < left or abs(at - other) >= _LINE
                for start, end, other in taken
            )
            if clear and at < _CHART[1]:
                break
        else:
            shift = shifts[0]
        taken.append((left, right, height + shift))
        places.append((int(shift), bool(outside)))
    return places


def _pixels(values: np.ndarray, drawn: np.ndarray, most: float) -> np.ndarray:
    if not len(values):
        return values
    low, high = drawn.min(), drawn.max()
    return (values - low) / (high - low if high > low else 1.0) * most


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
    named = base.transform_filter(f"isValid(datum.name_{cost})")
    names = named.mark_text(
        baseline="middle",
        align=alt.ExprRef(f"datum.left_{cost} ? 'right' : 'left'"),
        dx=alt.ExprRef(f"datum.left_{cost} ? -{_ASIDE} : {_ASIDE}"),
        dy=alt.ExprRef(f"datum.name_{cost}"),
    )
    order = alt.Order(f"{cost}:Q")
    return [line.encode(x, y, order=order), names.encode(x, y, text="method:N")]


def over_data_sets(tables: Tables, scores: Mapping[str, Score]) -> dict[str, pd.DataFrame]:
    """Average scores and costs over the data sets of each family that has two or more.

    A score is scaled to its data set: 1 is the best mean of any method at any budget, 0 the worst;
    a cell with failed seeds counts 0. Costs are geometric means over the data sets on which a
    method finished.

    Returns
    -------
    dict of str to pandas.DataFrame
        By family, the columns of `Tables.cells` that charts are made of, a row a method and budget
        that every data set of the family has; `n_ok` of `n` data sets finished every seed. No
        family is there of which nothing is on all data sets.
    """
    cells = tables.cells[~tables.cells["control"]]
    sign = signs(cells, scores)
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
        if table.empty:  # each data set has methods of its own
            continue
        for name in COSTS.values():
            table[name] = np.exp(table[name])
        table[["ci_low", "ci_high", "predict_s"]] = np.nan
        # failures have counted already
        table["n_scored"] = table["n"]
        found[family] = table.assign(problem=family, control=False, truth=False)
    return found
