"""Intervals, ranks and paired tests for scores that were measured over seeds.

Everything takes plain arrays or DataFrames and knows nothing of records, so that it can be checked
against closed forms. What is compared in a study is always the same split scored by several
methods, hence the tests are paired; whatever is tested more than once is corrected by Holm.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr, stdtr, stdtrit

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

CONFIDENCE = 0.95
MIN_PAIRS = 5
"""Fewer pairs than this are not tested: a t-interval over four is wider than three standard
deviations either way, and a reader would take "not significant" for "equal"."""
TIE_DECIMALS = 10
"""Scores that agree to so many are a tie: one method computed in two ways differs by less."""


class Interval(NamedTuple):
    """A mean and its confidence interval.

    Attributes
    ----------
    mean, low, high : float
        `low` and `high` are NaN for fewer than two values: one seed has no spread.
    std : float
        Sample standard deviation (n - 1); NaN for fewer than two values.
    n : int
        Values that are not NaN.
    """

    mean: float
    low: float
    high: float
    std: float
    n: int


def half_width(std: ArrayLike, n: ArrayLike, confidence: float = CONFIDENCE) -> np.ndarray:
    """Half the width of Student's t interval of a mean.

    t_{1 - (1 - confidence) / 2, n - 1} * std / sqrt(n), elementwise.

    Parameters
    ----------
    std : array-like
        Sample standard deviations (n - 1).
    n : array-like of int, broadcast with `std`
        Number of values behind each.
    confidence : float, default 0.95

    Returns
    -------
    numpy.ndarray
        NaN where n < 2.
    """
    std, n = np.broadcast_arrays(np.asarray(std, float), np.asarray(n, float))
    enough = np.where(n >= 2, n, np.nan)
    return stdtrit(enough - 1, 0.5 + confidence / 2) * std / np.sqrt(enough)


def mean_interval(values: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Mean of the values that are not NaN, with Student's t interval.

    Parameters
    ----------
    values : array-like, shape (n,)
    confidence : float, default 0.95
    """
    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    n = len(known)
    mean = float(known.mean()) if n else math.nan
    std = float(known.std(ddof=1)) if n > 1 else math.nan
    half = float(half_width(std, n, confidence))
    return Interval(mean, mean - half, mean + half, std, n)


def welch_half_width(
    components: Iterable[tuple[float, float]], confidence: float = CONFIDENCE
) -> float:
    """Half the width of an interval whose variance is a sum of estimates (Welch-Satterthwaite).

    t_{1 - (1 - confidence) / 2, f} u with u^2 = sum u_i^2 and f = u^4 / sum(u_i^4 / f_i), as in
    the Guide to the Expression of Uncertainty in Measurement (JCGM 100:2008, G.4.1).

    Parameters
    ----------
    components : iterable of (float, float)
        Of each, its variance u_i^2 and its degrees of freedom f_i; infinity where it is known.
    confidence : float, default 0.95

    Returns
    -------
    float
        0 if all variances are.
    """
    variances, freedoms = np.array(list(components), float).T
    total = variances.sum()
    if not total > 0:
        return 0.0
    spread = float(np.sum((variances / total) ** 2 / freedoms))
    quantile = stdtrit(1 / spread if spread else math.inf, 0.5 + confidence / 2)
    return float(quantile * math.sqrt(total))


def ranks(scores: ArrayLike, greater_is_better: bool = True) -> np.ndarray:
    """Rank methods within each block: 1 is best, ties share their average, failures come last.

    Parameters
    ----------
    scores : array-like, shape (n_blocks, n_methods)
        A block is what the methods have in common: a data set, or a seed. NaN is a failure; the
        failures of a block tie for its last places.
    greater_is_better : bool, default True

    Returns
    -------
    numpy.ndarray, shape (n_blocks, n_methods)
        Each row sums to n_methods (n_methods + 1) / 2.
    """
    import pandas as pd

    scores = np.atleast_2d(np.asarray(scores, float))
    losses = np.round(-scores if greater_is_better else scores, TIE_DECIMALS)
    worst = np.where(np.isnan(losses), np.inf, losses)
    return pd.DataFrame(worst).rank(axis=1).to_numpy()


def holm(p_values: ArrayLike) -> np.ndarray:
    """Adjust p-values for having been looked at together (Holm 1979, step down).

    Parameters
    ----------
    p_values : array-like, shape (m,)
        NaN entries were not tested: they stay NaN and do not count.

    Returns
    -------
    numpy.ndarray, shape (m,)
        The i-th smallest becomes max over j <= i of (m - j + 1) p_(j), at most 1.
    """
    p = np.asarray(p_values, float)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def paired_p(differences: ArrayLike) -> np.ndarray:
    """Two-sided p-values of the paired t-test that a mean difference is zero.

    Parameters
    ----------
    differences : array-like, shape (n_seeds,) or (n_seeds, n_methods)
        Of two methods on the same seeds; NaN where a pair is incomplete.

    Returns
    -------
    numpy.ndarray, shape () or (n_methods,)
        NaN for fewer than `MIN_PAIRS` differences. Where all are alike, t is not defined: 1 if
        they are zero, else the sign test's 2^(1 - n).
    """
    differences = np.asarray(differences, float)
    present = ~np.isnan(differences)
    n = present.sum(axis=0)
    mean = np.where(present, differences, 0).sum(axis=0) / np.maximum(n, 1)
    squares = np.where(present, (differences - mean) ** 2, 0).sum(axis=0)
    return p_of_moments(n, mean, squares)


def p_of_moments(n: ArrayLike, mean: ArrayLike, squares: ArrayLike) -> np.ndarray:
    """Two-sided p-values of the paired t-test, as `paired_p`, from sums over the pairs.

    Parameters
    ----------
    n : array-like of int
        Pairs.
    mean : array-like
        Of the differences.
    squares : array-like
        Sum of the squared deviations from the mean.
    """
    n, mean, squares = np.asarray(n), np.asarray(mean, float), np.asarray(squares, float)
    error = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))
    alike = error <= 1e-12 * np.abs(mean)
    t = np.abs(mean) / np.where(alike, 1, error)
    p = 2 * stdtr(np.maximum(n - 1, 1), -t)
    p = np.where(alike, np.where(mean == 0, 1, 2.0 ** (1 - n)), p)
    return np.where(n < MIN_PAIRS, np.nan, p)


def compare_with(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Compare every method with one of them, paired over seeds, corrected by Holm.

    Parameters
    ----------
    scores : pandas.DataFrame
        A row a seed, a column a method; NaN where there is no score. A pair counts where both
        have one.
    reference : str
        The column that the others are compared with.

    Returns
    -------
    pandas.DataFrame
        Indexed by method: `n` pairs, mean `difference` (method minus reference), `p`, and `p_holm`
        adjusted over all the methods compared here.
    """
    import pandas as pd

    others = scores.columns.drop(reference)
    differences = scores[others].to_numpy(float) - scores[[reference]].to_numpy(float)
    n = (~np.isnan(differences)).sum(axis=0)
    mean = np.nansum(differences, axis=0) / np.where(n > 0, n, np.nan)
    p = paired_p(differences)
    return pd.DataFrame({"n": n, "difference": mean, "p": p, "p_holm": holm(p)}, index=others)


def compare_mean_ranks(mean_ranks: ArrayLike, n_blocks: int) -> np.ndarray:
    """Holm-adjusted p-values that each method's mean rank equals the best one's.

    z = (R_i - R_best) / sqrt(k (k + 1) / (6 N)), referred to the normal distribution (Demsar 2006,
    section 3.2.2, with the best method in the place of the control).

    Parameters
    ----------
    mean_ranks : array-like, shape (k,)
    n_blocks : int
        N, the data sets that were averaged over.

    Returns
    -------
    numpy.ndarray, shape (k,)
        NaN for the best itself, and throughout for fewer than `MIN_PAIRS` data sets.
    """
    mean_ranks = np.asarray(mean_ranks, float)
    k = len(mean_ranks)
    p = np.full(k, np.nan)
    if n_blocks >= MIN_PAIRS and k > 1:
        z = (mean_ranks - mean_ranks.min()) / math.sqrt(k * (k + 1) / (6 * n_blocks))
        p = 2 * ndtr(-z)
        p[np.argmin(mean_ranks)] = np.nan
    return holm(p)


@functools.cache
def _studentized_range(p: float, n_methods: int) -> float:
    # takes longer to import than the rest of a report, and a quarter of a second each
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(p, n_methods, math.inf))


def critical_difference(n_methods: int, n_blocks: int, alpha: float = 0.05) -> float:
    """Return Nemenyi's critical difference of two mean ranks.

    q_alpha sqrt(k (k + 1) / (6 N)), with q_alpha the quantile of the studentized range of k
    groups and infinite degrees of freedom over sqrt(2) (Demsar 2006, section 3.2.2).

    Parameters
    ----------
    n_methods : int
        k, 2 or more.
    n_blocks : int
        N, the data sets that were averaged over.
    alpha : float, default 0.05
    """
    quantile = _studentized_range(1 - alpha, n_methods) / math.sqrt(2)
    return float(quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks)))


def cliques(mean_ranks: ArrayLike, difference: float) -> list[tuple[int, int]]:
    """Group mean ranks that differ by no more than a critical difference.

    Parameters
    ----------
    mean_ranks : array-like, shape (k,)
        Ascending.
    difference : float

    Returns
    -------
    list of (int, int)
        First and last place of each group of two or more that lies in no larger one.
    """
    ranks_ = np.asarray(mean_ranks, float)
    ends = np.searchsorted(ranks_, ranks_ + difference + 1e-9, "right") - 1
    return [
        (first, int(last))
        for first, last in enumerate(ends)
        if last > first and (first == 0 or ends[first - 1] < last)
    ]
