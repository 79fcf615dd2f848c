"""Trials on generated data, put together as a worker's referee does it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import random_array

from harness.datasets.item_types import ItemType
from harness.datasets.sparse_rows import compressed, write_sparse
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.plugin.method import Method
from harness.plugin.shape import Shape
from harness.trial.assignment import Assignment

_UNIT = 32.0
"""What small integers stand for one of, where a shape holds them."""


def assign(
    method: Method,
    task: str,
    shape: Shape,
    size: int | None,
    folder: Path,
    inductive: bool = False,
    checkpoints: tuple[int, ...] = (),
    n_kept: int | None = None,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    near: bool = False,
) -> Assignment:
    """Save points of a shape as a prepared data set is, and put a trial on them together.

    Parameters
    ----------
    method : Method
    task : str
    shape : Shape
        All points of the trial.
    size : int or None
        As planned.
    folder : Path
        Where the features are kept; those of one shape are written once.
    inductive : bool, default False
        Whether the test points are predicted, or the unlabeled ones.
    checkpoints : tuple of int, default ()
    n_kept : int, optional
        As planned.
    params : mapping, optional
        Fixed by a study.
    seed : int, default 0
        Of all that is drawn.
    near : bool, default False
        Whether points are about 1 apart however many features they have, as scaled data are.
        Kernels with a width of their own else see no point near another.

    Returns
    -------
    Assignment
        Nothing is tuned.
    """
    n = shape.n + shape.n_test
    features, y = _prepared(task, n, shape, folder, seed, near)
    rows = np.random.default_rng(1 + seed).permutation(n)
    if shape.n_classes:  # a label of each class, as far as there are labels
        first = np.unique(y, return_index=True)[1]
        rows = np.concatenate([first, rows[~np.isin(rows, first)]])
    cuts = np.cumsum([shape.n_labeled, shape.n_unlabeled])
    labeled, unlabeled, test = np.split(rows, cuts)
    return Assignment(
        method=method,
        params=params or {},
        size=size,
        task=task,
        n_classes=shape.n_classes,
        features=features,
        labeled=np.sort(labeled),
        unlabeled=unlabeled,
        test=np.sort(test),
        y_labeled=y[np.sort(labeled)],
        transductive=not inductive,
        mapped=None,
        tuning=None,
        metric=primary_metric(task, (), BUILT_IN),
        seed=np.random.SeedSequence(seed),
        checkpoints=checkpoints,
        n_kept=n_kept,
        part=shape.part,
        item=None if shape.held_itemsize is None else ItemType("float32", _UNIT, True),
    )


def _prepared(
    task: str, n: int, shape: Shape, folder: Path, seed: int, near: bool
) -> tuple[Path, np.ndarray]:
    d, groups = shape.n_features, max(2, shape.n_classes)
    kind = "" if shape.row_nnz is None else f"-{shape.row_nnz:g}"
    kind += "" if shape.held_itemsize is None else f"-{shape.held_itemsize}"
    ending = "npz" if shape.is_sparse else "npy"
    path = folder / f"{task}-{groups}-{n}-{d}-{shape.itemsize}{kind}-{seed}-{near}.{ending}"
    rng = np.random.default_rng(seed)
    dtype = np.float32 if shape.itemsize == 4 else np.float64
    # Classes overlap, however many features tell them apart: on easy data some methods never
    # touch what they must be able to hold.
    centers = rng.standard_normal((groups, d), dtype=dtype)
    centers *= dtype(1.5 / np.sqrt(d))
    truth = rng.integers(groups, size=n)
    y = truth if task != "regression" else rng.standard_normal(n) + truth
    if shape.is_sparse and not path.exists():
        X = random_array((n, d), density=shape.density, format="csr", dtype=dtype, rng=rng)
        X.data[:] = rng.standard_normal(len(X.data), dtype=dtype)
        X.data += centers[np.repeat(truth, np.diff(X.indptr)), X.indices]
        if near:
            X.data /= dtype(np.sqrt(2 * max(1.0, shape.row_nnz or 0)))
        write_sparse(path, compressed(X))
    elif not path.exists():
        X = rng.standard_normal((n, d), dtype=dtype)
        X += centers[truth]
        if near:
            X /= dtype(np.sqrt(2 * d))
        if shape.held_itemsize is not None:
            X = np.clip(np.rint(X * _UNIT + 128), 0, 255).astype(np.uint8)
        np.save(path, X, allow_pickle=False)
    return path, y
