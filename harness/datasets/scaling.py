"""The scalings that an entry may declare.

Statistics are of all points, unlabeled and test ones included: no label is used. Columns of zeros
and ones (dummies) are left alone by "standard": standardising rare ones lets them dominate every
distance. A column or direction without spread becomes 0, never NaN. Of a sparse matrix only what
keeps zeros can be done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_matrix

_BLOCK_BYTES = 1 << 23


@dataclass(frozen=True)
class Scaling:
    """What a scaling did to a data set, so that further rows are scaled alike.

    Parameters
    ----------
    name : str
    constant : ndarray (d,) of bool
        Columns without spread, which become 0.
    shifts : tuple of ndarray (d,)
        Subtracted one after the other.
    divisor : ndarray (d,)
        Divided by then.
    root : ndarray (d, d) or None
        Multiplied with at last.
    """

    name: str
    constant: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    shifts: tuple[np.ndarray, ...] = ()
    divisor: np.ndarray = field(default_factory=lambda: np.ones(0))
    root: np.ndarray | None = None

    def apply(self, X: np.ndarray) -> None:
        """Scale rows in place.

        Parameters
        ----------
        X : ndarray (m, d), float
            Of the type of the data set, encoded like it.
        """
        if self.name == "none":
            return
        if self.name == "unit":
            norms = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
            X /= np.where(norms > 0, norms, 1.0)[:, None].astype(X.dtype)
            return
        for block in _row_blocks(X):
            # in the type of the statistics, which may be wider than that of X
            scaled = block - self.shifts[0]
            for shift in self.shifts[1:]:
                scaled -= shift
            scaled /= self.divisor
            block[:] = scaled
        X[:, self.constant] = 0.0
        if self.root is not None:
            for block in _row_blocks(X):
                block[:] = block @ self.root

    def apply_sparse(self, X: csr_matrix) -> None:
        """Scale rows of a sparse matrix in place."""
        if self.name == "unit":
            squares = X.multiply(X).sum(axis=1, dtype=np.float64)
            norms = np.sqrt(np.asarray(squares).ravel())
            factors = np.where(norms > 0, norms, 1.0).astype(X.dtype)
            X.data /= np.repeat(factors, np.diff(X.indptr))
        elif self.name == "maxabs":
            X.data /= self.divisor[X.indices]


def scale_sparse(X: csr_matrix, scaling: str) -> Scaling:
    """Scale a sparse matrix in place.

    Parameters
    ----------
    X : csr_matrix (n, d), float
    scaling : {"none", "unit", "maxabs"}
        As in `scale`.

    Returns
    -------
    Scaling
        Does the same to further rows.
    """
    fitted = Scaling(scaling)
    if scaling == "maxabs":
        largest = abs(X).max(axis=0).toarray().ravel()
        fitted = Scaling(scaling, divisor=np.where(largest > 0, largest, 1).astype(X.dtype))
    fitted.apply_sparse(X)
    return fitted


def scale(X: np.ndarray, scaling: str) -> Scaling:
    """Scale features in place.

    Parameters
    ----------
    X : ndarray (n, d), float
    scaling : {"none", "minmax", "standard", "whiten", "unit", "maxabs"}
        "minmax" maps each column to [0, 1]; "standard" to mean 0 and variance 1; "whiten" makes
        columns uncorrelated too, as near to the standardised ones as can be (ZCA-cor; Kessy, Lewin
        & Strimmer 2018); "unit" gives each row Euclidean norm 1 (a row of zeros stays); "maxabs"
        divides each column by its largest magnitude, so that zeros stay.

    Returns
    -------
    Scaling
        Does the same to further rows.
    """
    if scaling in ("none", "unit"):
        fitted = Scaling(scaling)
        fitted.apply(X)
        return fitted
    low, high = X.min(axis=0), X.max(axis=0)
    if scaling == "maxabs":
        largest = np.maximum(-low, high)
        empty = largest == 0
        fitted = Scaling(scaling, empty, (np.zeros_like(low),), np.where(empty, 1, largest))
        fitted.apply(X)
        return fitted
    constant = low == high
    if scaling == "minmax":
        spread = np.where(constant, 1.0, high - low).astype(X.dtype)
        fitted = Scaling(scaling, constant, (low,), spread)
    else:
        dummies = np.array([_is_dummy(column) for column in X.T]) & ~constant
        dummies &= scaling == "standard"
        fitted = Scaling(scaling, constant, *_standardising(X, dummies, constant))
    fitted.apply(X)
    if scaling == "whiten":
        fitted = replace(fitted, root=_inverse_root(X))
        for block in _row_blocks(X):
            block[:] = block @ fitted.root
    return fitted


def _inverse_root(X: np.ndarray) -> np.ndarray:
    """Return the inverse root of the correlations of standardised columns."""
    correlations = np.zeros((X.shape[1], X.shape[1]))
    for block in _row_blocks(X):
        rows = block.astype(np.float64, copy=False)
        correlations += rows.T @ rows
    eigenvalues, V = np.linalg.eigh(correlations / len(X))
    kept = eigenvalues > X.shape[1] * np.finfo(X.dtype).eps * eigenvalues[-1]
    inverse_root = (V[:, kept] / np.sqrt(eigenvalues[kept])) @ V[:, kept].T
    return inverse_root.astype(X.dtype)


def _row_blocks(X: np.ndarray) -> Iterator[np.ndarray]:
    step = max(1, _BLOCK_BYTES // (8 * X.shape[1]))
    return (X[start : start + step] for start in range(0, len(X), step))


def _is_dummy(column: np.ndarray) -> bool:
    return bool(((column == 0) | (column == 1)).all())


def _standardising(
    X: np.ndarray, dummies: np.ndarray, constant: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return means, to be subtracted in two steps, and standard deviations; not of dummies.

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
    return (first, left), spread
