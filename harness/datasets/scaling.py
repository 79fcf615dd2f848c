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
        center, spread = low, high - low
    else:
        dummies = np.array([_is_dummy(column) for column in X.T]) & ~constant
        dummies &= scaling == "standard"
        center, spread = _moments(X)
        center = np.where(dummies, 0.0, center)
        spread = np.where(dummies, 1.0, spread)
    spread = np.where(constant, 1.0, spread)
    X -= center.astype(X.dtype)
    X /= spread.astype(X.dtype)
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


def _moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation in float64; the second pass spares cancellation."""
    center = X.mean(axis=0, dtype=np.float64)
    squares = np.zeros(X.shape[1])
    for block in _row_blocks(X):
        centred = block - center
        squares += np.einsum("ij,ij->j", centred, centred)
    return center, np.sqrt(squares / len(X))
