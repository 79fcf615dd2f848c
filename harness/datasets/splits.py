"""Which points are labeled, unlabeled and held out: the same for every method.

A split depends on the targets, the labeled count, the evaluation and the seed alone. The test
points are drawn first, so that a learning curve over labeled counts is scored on the same points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from harness.datasets.sizes import rules_of, split_sizes
from harness.errors import HarnessError


class Split(NamedTuple):
    """Row numbers of each part: int64, increasing, no row in two parts."""

    labeled: np.ndarray
    unlabeled: np.ndarray
    test: np.ndarray


def split(
    y: np.ndarray,
    task: str,
    n_labeled: int | float,
    evaluation: str | Mapping[str, Any],
    seed: np.random.SeedSequence | np.random.Generator | int,
    dataset: str = "",
) -> Split:
    """Divide the points of a data set.

    Parameters
    ----------
    y : ndarray (n,)
        Class numbers, or the targets of a regression.
    task : str
        "regression" is never stratified.
    n_labeled : int or float
        Labeled points: a count, or a share of all points (0 < share < 1).
    evaluation : "transductive" or mapping
        Transductive: everything else is unlabeled and scored, `test` is empty. A mapping holds
        `test` (count or share, default 0.2) of points that training never sees,
        `unlabeled_per_labeled` (at most so many unlabeled points, default all that are left) and
        `stratified` (default true); or `transductive` (true) and `stratified`.
    seed : SeedSequence, Generator or int
    dataset : str, default ""
        Its name, for messages.

    Returns
    -------
    Split
        Stratified: every class has its share of each part up to rounding, and at least one labeled
        point. Otherwise each part is drawn uniformly, and a class may have no labeled point.

    Raises
    ------
    HarnessError
        If the parts do not fit, or a classification set has fewer than two classes.
    """
    y = np.asarray(y)
    rules = rules_of(evaluation)
    classes = np.unique(y) if task != "regression" else np.empty(0)
    if task != "regression" and len(classes) < 2:
        where = f"data set {dataset!r}: " if dataset else ""
        raise HarnessError(f"{where}all points are of one class; at least two are needed")
    sizes = split_sizes(len(y), len(classes), n_labeled, evaluation, dataset)
    rng = np.random.default_rng(seed)
    if task != "regression" and rules["stratified"]:
        groups = [np.flatnonzero(y == label) for label in classes]
        kept = 1
    else:
        groups = [np.arange(len(y))]
        kept = 0
    for group in groups:
        rng.shuffle(group)
    counts = np.array([len(group) for group in groups])
    test = _allocate(sizes.n_test, counts, counts - kept, 0 * counts)
    left = counts - test
    labeled = _allocate(sizes.n_labeled, counts, left, np.full_like(counts, kept))
    left = left - labeled
    unlabeled = _allocate(sizes.n_unlabeled, left, left, 0 * counts)
    ends = np.cumsum([test, labeled, unlabeled], axis=0)
    starts = ends - [test, labeled, unlabeled]

    def part(which: int) -> np.ndarray:
        taken = zip(groups, starts[which], ends[which], strict=True)
        return np.sort(np.concatenate([group[start:end] for group, start, end in taken]))

    return Split(labeled=part(1), unlabeled=part(2), test=part(0))


def _allocate(total: int, weights: np.ndarray, most: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Share a total among groups by weight, within bounds (method of largest remainders)."""
    share = weights * (total / max(1, weights.sum()))
    taken = np.clip(np.floor(share).astype(np.int64), least, most)
    while taken.sum() != total:
        step = 1 if taken.sum() < total else -1
        free = taken < most if step > 0 else taken > least
        taken[np.argmax(np.where(free, step * (share - taken), -np.inf))] += step
    return taken
