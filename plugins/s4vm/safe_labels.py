"""Labels that are no worse than a machine's, whichever of several candidates is the truth."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

MOST_PATTERNS = 512
"""Variables of the program: the most frequent patterns. Points of others stay as the baseline."""


def gains(labels: np.ndarray, candidates: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """Return how many more points are right than of the baseline, for each candidate as truth.

    Parameters
    ----------
    labels, baseline : ndarray of shape (u,)
        +1 or -1.
    candidates : ndarray of shape (t, u)

    Returns
    -------
    ndarray of shape (t,)
    """
    right: np.ndarray = np.count_nonzero(candidates == labels, axis=1)
    return right - np.count_nonzero(candidates == baseline, axis=1)


def safe_labels(
    candidates: np.ndarray, baseline: np.ndarray, scores: np.ndarray, risk: float
) -> np.ndarray:
    """Return labels with the largest least improvement over the baseline, among all candidates.

    The improvement is the number of points that are gained, less `risk` times those that are lost,
    if a candidate is the truth (Li & Zhou 2015, equations 6 to 9). It is linear in the labels, so
    its least value is raised by a linear program over [-1, 1]. Points on which all candidates and
    the baseline agree in the same way are one variable: the program has as many as there are
    patterns, and few of them are not whole at its solution. Of such a pattern the points that the
    machine is least sure of change. Labels whose least improvement is not above 0 are given up for
    the baseline.

    Parameters
    ----------
    candidates : ndarray of shape (t, u), int8
        +1 or -1.
    baseline : ndarray of shape (u,), int8
    scores : ndarray of shape (u,)
        Of the machine: how sure it is.
    risk : float
        lambda, at least 1: then labels are right as often as the baseline, whichever candidate is
        true.

    Returns
    -------
    ndarray of shape (u,), int8
    """
    found: np.ndarray = baseline.astype(np.int8)
    # where all agree with the baseline there is nothing to gain
    open_points = np.flatnonzero((candidates != baseline).any(axis=0))
    if not open_points.size:
        return found
    patterns, of_point, counts = np.unique(
        np.vstack([candidates[:, open_points], found[open_points]]),
        axis=1,
        return_inverse=True,
        return_counts=True,
    )
    order = np.lexsort((np.abs(scores[open_points]), of_point.ravel()))
    starts = np.cumsum(counts) - counts
    # a point that stays is neither gained nor lost
    frequent = np.argsort(-counts, kind="stable")[:MOST_PATTERNS]
    patterns, counts, starts = patterns[:, frequent], counts[frequent], starts[frequent]
    t, known = patterns[:-1].astype(np.float64), patterns[-1].astype(np.float64)
    # a point is gained by (1 + y t) / 2 where t differs from the baseline, lost by (1 - y t) / 2
    slopes = counts * ((1 + risk) * t + (risk - 1) * known) / 4
    offsets = ((1 - risk) * counts.sum() - (1 + risk) * (t @ (counts * known))) / 4
    # least improvement theta: theta - slopes'y <= offsets
    left = np.column_stack([-slopes, np.ones(len(t))])
    bounds = [*[(-1.0, 1.0)] * len(known), (None, None)]
    solved = linprog([*[0.0] * len(known), -1.0], left, offsets, bounds=bounds, method="highs")
    if solved.x is None:
        return found
    changed = np.rint(counts * np.abs(solved.x[:-1] - known) / 2).astype(np.intp)
    labels = found.copy()
    for start, many in zip(starts, changed, strict=True):
        labels[open_points[order[start : start + many]]] *= -1
    worst = _improvements(labels, candidates, baseline, risk).min()
    return labels if worst > 0 else found


def _improvements(
    labels: np.ndarray, candidates: np.ndarray, baseline: np.ndarray, risk: float
) -> np.ndarray:
    """Return points gained less `risk` times those lost, for each candidate as truth."""
    gained = np.count_nonzero((candidates == labels) & (candidates != baseline), axis=1)
    lost = np.count_nonzero((candidates != labels) & (candidates == baseline), axis=1)
    found: np.ndarray = gained - risk * lost
    return found
