"""The scalings that an entry may declare.

Statistics are of all points, unlabeled and test ones included: no label is used. Columns of zeros
and ones (dummies) are left alone by "standard": standardising rare ones lets them dominate every
distance. A column without spread becomes 0 under "minmax" and "standard", never NaN.
"""

from __future__ import annotations

import numpy as np

_BLOCK_BYTES = 1 << 23


def scale(X: np.ndarray, scaling: str) -> None:
    """Scale features in place.

    Parameters
    ----------
    X : ndarray (n, d), float
    scaling : {"none", "minmax", "standard", "unit"}
        "minmax" maps each column to [0, 1]; "standard" to mean 0 and variance 1; "unit" gives each
        row Euclidean norm 1 (a row of zeros stays).
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
        center, spread = _moments(X)
        center = np.where(dummies, 0.0, center)
        spread = np.where(dummies, 1.0, spread)
    spread = np.where(constant, 1.0, spread)
    X -= center.astype(X.dtype)
    X /= spread.astype(X.dtype)
    X[:, constant] = 0.0


def _is_dummy(column: np.ndarray) -> bool:
    return bool(((column == 0) | (column == 1)).all())


def _moments(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation in float64; the second pass spares cancellation."""
    center = X.mean(axis=0, dtype=np.float64)
    block = max(1, _BLOCK_BYTES // (8 * X.shape[1]))
    squares = np.zeros(X.shape[1])
    for start in range(0, len(X), block):
        centred = X[start : start + block] - center
        squares += np.einsum("ij,ij->j", centred, centred)
    return center, np.sqrt(squares / len(X))
