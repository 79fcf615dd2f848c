"""Which points are labeled, unlabeled and held out: the same for every method.

A split depends on the targets, the labeled count, the evaluation and the seed alone. The test
points are drawn first, so that a learning curve over labeled counts is scored on the same points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from harness.datasets.sizes import OFFICIAL, rules_of, split_sizes
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
    n_train: int | None = None,
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
    evaluation : "transductive", "official" or mapping
        Transductive: everything else is unlabeled and scored, `test` is empty. Official: the test
        part is that of the data set, all points after `n_train`. A mapping holds `test` (count,
        share or "official", default 0.2) of points that training never sees,
        `unlabeled_per_labeled` (at most so many unlabeled points, default all that are left) and
        `stratified` (default true); or `transductive` (true) and `stratified`.
    seed : SeedSequence, Generator or int
    dataset : str, default ""
        Its name, for messages.
    n_train : int or None, default None
        Points of the official training part, which come first.

    Returns
    -------
    Split
        Stratified: every class has its share of each part up to rounding, and at least one labeled
        point. Otherwise each part is drawn uniformly, and a class may have no labeled point.

    Raises
    ------
    HarnessError
        If the parts do not fit, a classification set has fewer than two classes, or there is no
        official test part.
    """
    y = np.asarray(y)
    rules = rules_of(evaluation)
    classes = np.unique(y) if task != "regression" else np.empty(0)
    if task != "regression" and len(classes) < 2:
        where = f"data set {dataset!r}: " if dataset else ""
        raise HarnessError(f"{where}all points are of one class; at least two are needed")
    sizes = split_sizes(len(y), len(classes), n_labeled, evaluation, dataset, n_train)
    rng = np.random.default_rng(seed)
    is_official = rules["test"] == OFFICIAL
    drawn = y[:n_train] if is_official else y
    if task != "regression" and rules["stratified"]:
        # an official training part may lack a class
        groups = [rows for label in classes if len(rows := np.flatnonzero(drawn == label))]
        kept = 1
    else:
        groups = [np.arange(len(drawn))]
        kept = 0
    for group in groups:
        rng.shuffle(group)
    counts = np.array([len(group) for group in groups])
    n_test = 0 if is_official else sizes.n_test
    test = _allocate(n_test, counts, counts - kept, 0 * counts)
    left = counts - test
    labeled = _allocate(sizes.n_labeled, counts, left, np.full_like(counts, kept))
    left = left - labeled
    unlabeled = _allocate(sizes.n_unlabeled, left, left, 0 * counts)
    ends = np.cumsum([test, labeled, unlabeled], axis=0)
    starts = ends - [test, labeled, unlabeled]

    def part(which: int) -> np.ndarray:
        taken = zip(groups, starts[which], ends[which], strict=True)
        return np.sort(np.concatenate([group[start:end] for group, start, end in taken]))

    official = np.arange(len(drawn), len(y))
    return Split(labeled=part(1), unlabeled=part(2), test=official if is_official else part(0))


def _allocate(total: int, weights: np.ndarray, most: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Share a total among groups by weight, within bounds (method of largest remainders)."""
    share = weights * (total / max(1, weights.sum()))
    taken = np.clip(np.floor(share).astype(np.int64), least, most)
    while taken.sum() != total:
        step = 1 if taken.sum() < total else -1
        free = taken < most if step > 0 else taken > least
        taken[np.argmax(np.where(free, step * (share - taken), -np.inf))] += step
    return taken
