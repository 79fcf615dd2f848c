"""Folds of the labeled points: which are held out in turn while parameters are searched for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def single_folds(
    y: np.ndarray, task: str, folds: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield the held-out rows of each fold, with classes spread evenly.

    The only labeled point of a class is never held out: nothing could be learned of that class.
    """
    order = rng.permutation(len(y))
    if task != "regression":
        counts = np.bincount(y)
        order = order[counts[y[order]] > 1]
        if not order.size:
            return
        folds = min(folds, int(counts[counts > 1].min()))
        order = order[np.argsort(y[order], kind="stable")]
    elif len(order) < 2:
        return
    for fold in range(min(folds, len(order))):
        yield np.sort(order[fold::folds])


def grouped_folds(
    y: np.ndarray, task: str, folds: int, rng: np.random.Generator, groups: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield the held-out rows of each fold, each group whole in one of them.

    The largest groups are placed first, each into the fold that keeps classes spread most evenly.
    A fold without which a class would have no labeled point is left out.

    Parameters
    ----------
    y : ndarray (n,)
    task : str
    folds : int
        At most; fewer where there are fewer groups.
    rng : Generator
        Decides between groups, and between folds, that are as good as each other.
    groups : ndarray of int (n,)
    """
    names, member = np.unique(groups, return_inverse=True)
    folds = min(folds, len(names))
    if folds < 2:
        return
    classes = np.zeros(len(y), dtype=np.int64) if task == "regression" else y
    n_classes = int(classes.max()) + 1
    counts = np.zeros((len(names), n_classes))
    np.add.at(counts, (member, classes), 1)
    totals = np.maximum(counts.sum(axis=0), 1)
    held, fold_of = np.zeros((folds, n_classes)), np.empty(len(names), dtype=np.int64)
    drawn = rng.permutation(len(names))
    for name in drawn[np.argsort(-counts[drawn].sum(axis=1), kind="stable")]:
        filled = held + counts[name]
        # the squares of the shares grow least where the group's classes are rare; then by points
        grown = ((filled**2 - held**2) / totals**2).sum(axis=1)
        fold_of[name] = np.lexsort((held.sum(axis=1), np.round(grown, 9)))[0]
        held[fold_of[name]] += counts[name]
    for fold in range(folds):
        is_held = fold_of[member] == fold
        left = np.bincount(classes[~is_held], minlength=n_classes)
        if is_held.any() and (left[counts.sum(axis=0) > 0] > 0).all():
            yield np.flatnonzero(is_held)
