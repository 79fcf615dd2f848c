"""Every method beside the best one of its problem and budget, seed by seed, for all at once.

A study may have thousands of answers. Each is a handful of numbers, and what one table a time
costs is many times the arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from harness.report.statistics import TIE_DECIMALS, half_width, holm, p_of_moments

if TYPE_CHECKING:
    from harness.report.results import Results
    from harness.report.scores import Score


class PairedScores:
    """The scores of a study by cell and seed, sorted once, to set cells side by side.

    Parameters
    ----------
    results : Results
    scores : mapping of str to Score
        The primary metric of each problem.
    """

    def __init__(self, results: Results, scores: Mapping[str, Score]) -> None:
        self._rows = rows = _primary(results, scores)
        self.n_cells = int(results.cells["cell"].max()) + 1
        self._cell, self._score = rows["cell"].to_numpy(), rows["score"].to_numpy()
        seed, seeds = pd.factorize(rows["seed"])
        self._n_seeds = len(seeds)
        self._trial = self._cell * self._n_seeds + seed
        self._order = np.argsort(self._trial, kind="stable")
        self._seed = seed

    def trials(self) -> pd.DataFrame:
        """Return `cell`, `seed` and `score` of every trial that has one."""
        return self._rows

    def against(self, rivals: pd.Series) -> pd.DataFrame:
        """Compare cells with others, paired over the seeds that both finished.

        Parameters
        ----------
        rivals : pandas.Series
            Cells, indexed by the cells that are compared with them. One compared with itself has
            no pairs.

        Returns
        -------
        pandas.DataFrame
            With the index of `rivals`: `pairs`, `difference` (mean, cell minus rival; NaN without
            a pair), `half` (half the width of its 95 % interval; NaN below two pairs), `ties`
            (pairs of equal scores) and `p` of the paired t-test.
        """
        rival = np.full(self.n_cells, -1)
        rival[rivals.index.to_numpy()] = rivals.to_numpy()
        n, mean, squares, ties = self._moments(rival)
        with np.errstate(invalid="ignore", divide="ignore"):
            std = np.sqrt(squares / np.where(n > 1, n - 1, np.nan))
        found = {"pairs": n, "difference": mean, "half": half_width(std, n), "ties": ties}
        table = pd.DataFrame(found | {"p": p_of_moments(n, mean, squares)})
        return table.reindex(rivals.index)

    def _moments(self, rival: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return, of each cell and its rival: pairs, mean, squared deviations, equal scores."""
        cell, score = self._cell, self._score
        others = np.flatnonzero((rival[cell] >= 0) & (rival[cell] != cell))
        wanted = rival[cell[others]] * self._n_seeds + self._seed[others]
        place = np.searchsorted(self._trial, wanted, sorter=self._order)
        place = self._order[np.minimum(place, len(self._order) - 1)]
        both = self._trial[place] == wanted
        others, place = others[both], place[both]
        differences, own = score[others] - score[place], cell[others]
        n = np.bincount(own, minlength=self.n_cells)
        with np.errstate(invalid="ignore"):
            mean = np.bincount(own, differences, minlength=self.n_cells) / n
        squares = np.bincount(own, (differences - mean[own]) ** 2, minlength=self.n_cells)
        equal = np.round(differences, TIE_DECIMALS) == 0
        ties = np.bincount(own, equal, minlength=self.n_cells).astype(int)
        return n, mean, squares, ties


def compare_with_best(paired: PairedScores, cells: pd.DataFrame) -> pd.DataFrame:
    """Compare every method with the best of its problem and budget, corrected by Holm.

    Parameters
    ----------
    paired : PairedScores
    cells : pandas.DataFrame
        `Tables.cells`, in the order of ranks. Controls and cells without a score are not compared.

    Returns
    -------
    pandas.DataFrame
        With the index of `cells`, the columns of `PairedScores.against` and `p_holm`, adjusted
        over the methods of the problem and budget. The best itself, and what is not compared, has
        no pairs.
    """
    compared = cells[~cells["control"] & (cells["n_scored"] > 0)]
    group = [compared["problem"], compared["budget"]]
    best = compared["cell"].groupby(group, sort=False).transform("first")
    found = paired.against(best.set_axis(compared["cell"])).set_axis(compared.index)
    found.loc[compared["cell"] == best, "p"] = np.nan
    found["p_holm"] = _adjusted(found["p"], best)
    found = found.reindex(cells.index)
    found["pairs"], found["ties"] = found["pairs"].fillna(0), found["ties"].fillna(0)
    return found


def _primary(results: Results, scores: Mapping[str, Score]) -> pd.DataFrame:
    """Take cell, seed and score of the trials that have one, by the metric of their problem."""
    rows = results.cells
    problem, known = pd.factorize(rows["problem"])
    values = np.full(len(rows), np.nan)
    metrics = np.array([scores[name].name for name in known], dtype=object)
    for metric in dict.fromkeys(metrics):
        mine = (metrics == metric)[problem]
        values[mine] = results.column(metric).to_numpy(float)[mine]
    values[(rows["outcome"] != "ok").to_numpy()] = np.nan
    table = pd.DataFrame({"cell": rows["cell"], "seed": rows["seed"], "score": values})
    return table[~np.isnan(values)]


def _adjusted(p: pd.Series, group: pd.Series) -> pd.Series:
    """Adjust by Holm within groups, which follow each other."""
    made = np.full(len(p), np.nan)
    values, numbers = p.to_numpy(), group.to_numpy()
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(p)][: len(starts)], strict=True):
        made[start:end] = holm(values[start:end])
    return pd.Series(made, p.index)
