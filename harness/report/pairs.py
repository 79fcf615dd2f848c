"""Every method beside the best one of its problem and budget, seed by seed, for all at once.

A study may have thousands of answers. Each is a handful of numbers, and what one table a time
costs is many times the arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from harness.report.statistics import TIE_DECIMALS, holm, p_of_moments

if TYPE_CHECKING:
    from harness.report.results import Results
    from harness.report.scores import Score


def compare_with_best(
    results: Results, scores: Mapping[str, Score], cells: pd.DataFrame
) -> pd.DataFrame:
    """Compare every method with the best of its problem and budget, corrected by Holm.

    Parameters
    ----------
    results : Results
    scores : mapping of str to Score
        The primary metric of each problem.
    cells : pandas.DataFrame
        `Tables.cells`, in the order of ranks. Controls and cells without a score are not compared.

    Returns
    -------
    pandas.DataFrame
        With the index of `cells`: `pairs` (seeds that both finished), `difference` (mean, method
        minus best; NaN without a pair), `ties` (pairs of equal scores), `p` of the paired t-test
        and `p_holm`, adjusted over the methods of the problem and budget. The best itself, and
        what is not compared, has no pairs.
    """
    compared = cells[~cells["control"] & (cells["n_scored"] > 0)]
    group = [compared["problem"], compared["budget"]]
    best = compared["cell"].groupby(group, sort=False).transform("first")
    rival = pd.Series(-1, range(int(results.cells["cell"].max()) + 1))
    rival[compared["cell"]] = best.to_numpy()
    n, mean, squares, ties = _moments(_primary(results, scores), rival.to_numpy())
    p = p_of_moments(n, mean, squares)
    found = pd.DataFrame({"pairs": n, "difference": mean, "ties": ties, "p": p})
    found = found.reindex(cells["cell"]).set_axis(cells.index)
    found.loc[compared.index[compared["cell"] == best], "p"] = np.nan
    found["p_holm"] = _adjusted(found["p"].loc[compared.index], best).reindex(cells.index)
    return found


def _primary(results: Results, scores: Mapping[str, Score]) -> pd.DataFrame:
    """Take cell, seed and score of the trials that have one, by the metric of their problem."""
    rows = results.cells
    problem, known = pd.factorize(rows["problem"])
    values = np.full(len(rows), np.nan)
    metrics = np.array([scores[name].name for name in known], dtype=object)
    for metric in dict.fromkeys(metrics):
        mine = (metrics == metric)[problem]
        values[mine] = rows[metric].to_numpy(float)[mine]
    values[(rows["outcome"] != "ok").to_numpy()] = np.nan
    table = pd.DataFrame({"cell": rows["cell"], "seed": rows["seed"], "score": values})
    return table[~np.isnan(values)]


def _moments(
    rows: pd.DataFrame, rival: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return, of each cell and its rival: pairs, mean, squared deviations, equal scores."""
    cell = rows["cell"].to_numpy()
    seed, seeds = pd.factorize(rows["seed"])
    score = rows["score"].to_numpy()
    trial = cell * len(seeds) + seed
    order = np.argsort(trial, kind="stable")
    others = np.flatnonzero((rival[cell] >= 0) & (rival[cell] != cell))
    wanted = rival[cell[others]] * len(seeds) + seed[others]
    place = np.minimum(np.searchsorted(trial, wanted, sorter=order), len(order) - 1)
    place = order[place]
    both = trial[place] == wanted
    others, place = others[both], place[both]
    differences, own = score[others] - score[place], cell[others]
    n = np.bincount(own, minlength=len(rival))
    with np.errstate(invalid="ignore"):
        mean = np.bincount(own, differences, minlength=len(rival)) / n
    squares = np.bincount(own, (differences - mean[own]) ** 2, minlength=len(rival))
    equal = np.round(differences, TIE_DECIMALS) == 0
    return n, mean, squares, np.bincount(own, equal, minlength=len(rival)).astype(int)


def _adjusted(p: pd.Series, group: pd.Series) -> pd.Series:
    """Adjust by Holm within groups, which follow each other."""
    made = np.full(len(p), np.nan)
    values, numbers = p.to_numpy(), group.to_numpy()
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(p)][: len(starts)], strict=True):
        made[start:end] = holm(values[start:end])
    return pd.Series(made, p.index)
