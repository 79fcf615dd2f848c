"""A study beside kept rows of another run, seed by seed: the same trials, scored twice.

A trial of one run and a trial of the other are a pair if data set, numbers of points, budget,
label of the method and seed are the same: then split and draws are the same, and what differs is
the method's version, the machine or the library. Equal bits are told from equal means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.errors import HarnessError
from harness.report.answers import decimals
from harness.report.results import number_of
from harness.report.rows import IDENTIFIERS
from harness.report.statistics import MIN_PAIRS, half_width, holm, p_of_moments
from harness.study.budget import parse_budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.report.scores import Score

CELL = [name for name in IDENTIFIERS if name != "seed"]


def compare_rows(
    ours: pd.DataFrame, theirs: pd.DataFrame, metrics: Mapping[tuple[str, str], str], where: str
) -> pd.DataFrame:
    """Compare two runs of the same trials, a row a cell that both have.

    Parameters
    ----------
    ours, theirs : pandas.DataFrame
        As from `kept_rows` and `read_rows`.
    metrics : mapping of (data set, task) to str
        What each data set is compared by.
    where : str
        The file of `theirs`, for messages.

    Returns
    -------
    pandas.DataFrame
        CELL, `metric`, `n` (pairs of which both ended ok), `n_equal` (pairs whose scores are the
        same to the last bit), `unpaired` (seeds that one run alone has, or that failed in one of
        them), `ours` and `theirs` (means over the pairs), `difference` (ours less theirs) with
        `ci_low` and `ci_high` (95 %, of the paired differences), `p` of the paired t-test and
        `p_holm`, adjusted over all rows of the table.

    Raises
    ------
    HarnessError
        If no trial is in both.
    """
    sides = [_scored(rows, metrics) for rows in (ours, theirs)]
    both = pd.concat([rows[_PLACE] for rows in sides], ignore_index=True)
    cell, n_cells = number_of(both, _PLACE)
    seed, seeds = pd.factorize(pd.concat([rows["seed"] for rows in sides], ignore_index=True))
    first, second = np.split(cell * len(seeds) + seed, [len(ours)])
    trials, mine, other = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    a, b = sides[0]["score"].to_numpy()[mine], sides[1]["score"].to_numpy()[other]
    of = trials // len(seeds)
    scored = ~(np.isnan(a) | np.isnan(b))
    table = _figures(of[scored], a[scored], b[scored], n_cells)
    in_either = np.bincount(cell, minlength=n_cells) - np.bincount(of, minlength=n_cells)
    table["unpaired"] = in_either - table["n"]
    places = both.iloc[np.unique(cell, return_index=True)[1]].reset_index(drop=True)
    budgets = pd.Series(sides[0]["budget"].to_numpy(), cell[: len(ours)])
    table["budget"] = budgets[~budgets.index.duplicated()].reindex(table.index)
    table = places.join(table)[table["n"] > 0].sort_values(_PLACE, ignore_index=True)
    if table.empty:
        message = "has no trial in common with the study that ended ok in both: data set, numbers"
        raise HarnessError(f"{where}: {message} of points, budget, method and seed must agree")
    table["metric"] = [metrics[key] for key in zip(table["dataset"], table["task"], strict=True)]
    table["p_holm"] = holm(table["p"])
    return table[[*CELL, "metric", *_FIGURES, "p_holm"]]


_PLACE = ["dataset", "n_labeled", "n_unlabeled", "n_test", "limit", "method", "task"]
_FIGURES = ["n", "n_equal", "unpaired", "ours", "theirs", "difference", "ci_low", "ci_high", "p"]


def _limit(text: str) -> str:
    budget = parse_budget(text)
    return f"{budget.bytes} {budget.size}"


def _scored(rows: pd.DataFrame, metrics: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """Take what names a trial, and its score by the metric of its data set if it ended ok."""
    score = pd.Series(np.nan, rows.index)
    problem, _ = number_of(rows, ["dataset", "task"])
    first = rows.iloc[np.unique(problem, return_index=True)[1]]
    wanted = [metrics.get(key) for key in zip(first["dataset"], first["task"], strict=True)]
    for metric in {name for name in wanted if name in rows}:
        mine = np.array([name == metric for name in wanted])[problem]
        score[mine] = rows.loc[mine, metric]
    limits = {text: _limit(text) for text in rows["budget"].unique()}
    named = rows[[*IDENTIFIERS, "task"]]
    score = score.where(rows["outcome"] == "ok")
    return named.assign(limit=rows["budget"].map(limits), score=score)


def _figures(cell: np.ndarray, ours: np.ndarray, theirs: np.ndarray, n_cells: int) -> pd.DataFrame:
    """Sum up the pairs of each cell."""

    def mean(values: np.ndarray) -> np.ndarray:
        return np.bincount(cell, values, minlength=n_cells) / np.where(n, n, np.nan)

    n = np.bincount(cell, minlength=n_cells)
    differences = ours - theirs
    difference = mean(differences)
    squares = np.bincount(cell, (differences - difference[cell]) ** 2, minlength=n_cells)
    half = half_width(np.sqrt(squares / np.maximum(n - 1, 1)), n)
    return pd.DataFrame(
        {
            "n": n,
            "n_equal": np.bincount(cell[differences == 0], minlength=n_cells),
            "ours": mean(ours),
            "theirs": mean(theirs),
            "difference": difference,
            "ci_low": difference - half,
            "ci_high": difference + half,
            "p": p_of_moments(n, difference, squares),
        }
    )


def paired_lines(table: pd.DataFrame, scores: Mapping[str, Score]) -> list[dict[str, Any]]:
    """Write a comparison line by line.

    Parameters
    ----------
    table : pandas.DataFrame
        As from `compare_rows`.
    scores : mapping of str to Score
        By metric: which way is better.
    """
    return [
        {
            "data set": row.dataset,
            "labeled": f"{int(row.n_labeled):,}",
            "budget": row.budget,
            "method": row.method,
            "metric": row.metric,
            "pairs": f"{row.n}",
            "ours": f"{row.ours:.4f}",
            "theirs": f"{row.theirs:.4f}",
            "difference": _difference(row),
            "it says": _words(row, scores[row.metric].greater_is_better),
        }
        for row in table.itertuples()
    ]


def _difference(row: Any) -> str:
    half = (row.ci_high - row.ci_low) / 2
    if half != half:
        return f"{row.difference:+.4f}"
    digits = max(4, decimals(row.difference, half))
    return f"{row.difference:+.{digits}f} ± {half:.{digits}f}"


def _words(row: Any, greater_is_better: bool) -> str:
    if row.n_equal == row.n:
        return "equal to the last bit"
    if row.n < MIN_PAIRS:
        return f"cannot tell: fewer than {MIN_PAIRS} pairs"
    if not row.p_holm < 0.05:
        return "no difference shown"
    return "better" if (row.difference > 0) == greater_is_better else "worse"
