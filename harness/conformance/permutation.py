"""Permutation equivariance: rows in another order must give the same predictions in that order.

The rows come sorted by class, so that a method which treats the first rows differently shows it.
Without random_state the predictions must agree. With it, single fits draw other rows in another
order; what must agree is their distribution over random states. The null hypothesis that order
does not matter is then tested by a permutation test (Fisher 1935; Phipson & Smyth 2010): runs
on both orders are exchangeable under it, whatever the method computes. Most methods are as far
from it after half of the runs as their chance explains: they are let go then, which can only
lower the share of those that are blamed wrongly.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.conformance.behaviour import SOLVER_SHARE, takes_random_state
from harness.conformance.problems import Problem, fitted, predictions
from harness.plugin.method import Method

LOOKS = (1, 4, 8)
"""Random states for each order after which the runs are looked at. The last look has 12,870 ways
to split its 16 runs, enough for the level below.
"""

RELABELINGS = 2000
LEVEL = 0.001
LET_GO = 0.2
"""A look before the last lets a method go at a p-value above this."""

_PAIRS = 400


def is_permutation_equivariant(method: Method, problem: Problem) -> str:
    """Fit on the rows as they are and shuffled, and compare what is said of the same points."""
    order = np.random.default_rng(1).permutation(len(problem.X))
    shuffled = replace(problem, X=problem.X[order], y=problem.y[order])
    looks = LOOKS if takes_random_state(method) else LOOKS[:1]
    given: list[np.ndarray] = []
    permuted: list[np.ndarray] = []
    for runs in looks:
        done = len(given)
        given += [_said(method, problem, None, seed) for seed in range(done, runs)]
        # a second set of seeds: with the first, pairs of runs would share their draws
        others = range(looks[-1] + done, looks[-1] + runs)
        permuted += [_said(method, shuffled, order, seed) for seed in others]
        advice = _judged(np.array(given), np.array(permuted), runs == looks[-1])
        if not advice:
            return ""
    return advice


def _judged(as_given: np.ndarray, permuted: np.ndarray, is_last: bool) -> str:
    """Return advice on the runs so far, or at least that more are needed; empty if none are."""
    gap = np.abs(as_given.mean(axis=0) - permuted.mean(axis=0))
    spread = float(as_given.std()) or 1.0
    rounding = 1e-6 * float(np.abs(as_given).max())
    differing = float(np.mean(gap > SOLVER_SHARE * spread + rounding))
    if not differing:
        return ""
    runs = len(as_given)
    mend = "let nothing depend on the order of rows (no 'first m rows', no labeled-first)"
    if runs == 1:
        return (
            f"{differing:.0%} of its predictions changed by more than {SOLVER_SHARE:.0%} of their "
            f"spread, at most by {gap.max() / spread:.2g} spreads, when rows were shuffled; {mend}"
        )
    p = _p_value(as_given, permuted)
    if p >= (LEVEL if is_last else LET_GO):
        return ""
    return (
        f"the mean prediction over {runs} random states changed by up to {gap.max() / spread:.2g} "
        f"spreads when rows were shuffled (p = {p:.2g} in a permutation test, allowed is "
        f"{LEVEL:g}); {mend}, and draw rows at random"
    )


def _said(method: Method, problem: Problem, order: np.ndarray | None, seed: int) -> np.ndarray:
    """Return predictions as one vector, those of the points of fit in the original order."""
    found = predictions(fitted(method, problem, seed), problem)
    parts = []
    for name, values in sorted(found.items()):
        if name.endswith("labels") and f"{name.split()[0]} scores" in found:
            continue
        if name.startswith("seen") and order is not None:
            values = values[np.argsort(order)]
        parts.append(_same_cluster(values) if problem.task == "clustering" else values.ravel())
    return np.concatenate(parts).astype(np.float64)


def _same_cluster(labels: np.ndarray) -> np.ndarray:
    """Say of a sample of pairs whether they share a cluster: numbers of clusters mean nothing."""
    i, j = np.random.default_rng(2).integers(len(labels), size=(2, _PAIRS))
    return labels[i] == labels[j]


def _p_value(first: np.ndarray, second: np.ndarray) -> float:
    """Share of relabelings of the runs whose means are as far apart as those observed."""
    runs = np.concatenate([first, second])
    signs = np.repeat([1.0, -1.0], [len(first), len(second)])
    rng = np.random.default_rng(3)
    others = rng.permuted(np.tile(signs, (RELABELINGS, 1)), axis=1)
    relabeled = np.vstack([signs, others])
    # squared distance between means, from the runs' Gram matrix alone
    centered = runs - runs.mean(axis=0)
    distances = np.einsum(
        "ri,ij,rj->r", relabeled, centered @ centered.T, relabeled, optimize=True
    )
    as_far = np.count_nonzero(distances[1:] >= distances[0] * (1 - 1e-9))
    return (1 + as_far) / (1 + RELABELINGS)
