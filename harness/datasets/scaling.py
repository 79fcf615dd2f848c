"""The scalings that an entry may declare.

Statistics are of all points, unlabeled and test ones included: no label is used. Columns of zeros
and ones (dummies) are left alone by "standard": standardising rare ones lets them dominate every
distance. A column or direction without spread becomes 0, never NaN.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_BLOCK_BYTES = 1 << 23


def scale(X: np.ndarray, scaling: str) -> None:
    """Scale features in place.

    Parameters
    ----------
    X : ndarray (n, d), float
    scaling : {"none", "minmax", "standard", "whiten", "unit"}
        "minmax" maps each column to [0, 1]; "standard" to mean 0 and variance 1; "whiten" makes
        columns uncorrelated too, as near to the standardised ones as can be (ZCA-cor; Kessy, Lewin
        & Strimmer 2018); "unit" gives each row Euclidean norm 1 (a row of zeros stays).
    """
    if scaling == "none":
        return
    if scaling == "unit":
        norms = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
        X /= np.where(norms > 0, norms, 1.0)[:, None].astype(X.dtype)
        return
    low, high = X.min(axis=0), X.max(axis=0)
    constant = low == high
    if scaling == "minmax":
        X -= low
        X /= np.where(constant, 1.0, high - low).astype(X.dtype)
    else:
        dummies = np.array([_is_dummy(column) for column in X.T]) & ~constant
        dummies &= scaling == "standard"
        _standardise(X, dummies, constant)
    X[:, constant] = 0.0
    if scaling == "whiten":
        _decorrelate(X)


def _decorrelate(X: np.ndarray) -> None:
    """Multiply standardised columns by the inverse root of their correlations, in place."""
    correlations = np.zeros((X.shape[1], X.shape[1]))
    for block in _row_blocks(X):
        rows = block.astype(np.float64, copy=False)
        correlations += rows.T @ rows
    eigenvalues, V = np.linalg.eigh(correlations / len(X))
    kept = eigenvalues > X.shape[1] * np.finfo(X.dtype).eps * eigenvalues[-1]
    inverse_root = (V[:, kept] / np.sqrt(eigenvalues[kept])) @ V[:, kept].T
    for block in _row_blocks(X):
        block[:] = block @ inverse_root.astype(X.dtype)


def _row_blocks(X: np.ndarray) -> Iterator[np.ndarray]:
    step = max(1, _BLOCK_BYTES // (8 * X.shape[1]))
    return (X[start : start + step] for start in range(0, len(X), step))


def _is_dummy(column: np.ndarray) -> bool:
    return bool(((column == 0) | (column == 1)).all())


def _standardise(X: np.ndarray, dummies: np.ndarray, constant: np.ndarray) -> None:
    """Subtract means and divide by standard deviations, in place, but those of dummies.

    In float64 throughout: where values are large beside their spread, their mean is no number of
    the type of X. What it was rounded by is subtracted afterwards.
    """
    first = np.where(dummies, 0.0, X.mean(axis=0, dtype=np.float64))
    left, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for block in _row_blocks(X):
        left += (block - first).sum(axis=0)
    left = np.where(dummies, 0.0, left / len(X))
    for block in _row_blocks(X):
        centred = block - first
        centred -= left
        squares += np.einsum("ij,ij->j", centred, centred)
    spread = np.where(dummies | constant, 1.0, np.sqrt(squares / len(X)))
    for block in _row_blocks(X):
        centred = block - first
        centred -= left
        centred /= spread
        block[:] = centred
