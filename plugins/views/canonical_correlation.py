"""Canonical correlations of two views whose rows come in blocks (Hotelling 1936).

All that is kept of the rows is one Gram matrix of both views' features side by side: it holds the
two covariances and the cross-covariance. `RowSketch` makes the rows fewer beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from harness.kernels.gram import GramSum
from harness.kernels.symmetric import eigen_workspace, eigensystem

# A variance below so many roundings of the mean square that it was subtracted from is none.
_ROUNDINGS = 4


@dataclass(frozen=True)
class CanonicalPairs:
    """Bases of two views in which only equal columns are correlated.

    Attributes
    ----------
    correlations : ndarray of shape (k,)
        Descending, from 0 to 1; k is the number of features of the first view.
    bases : tuple of ndarray, of shapes (k1, k) and (k2, k)
        Columns of the second are zero where there is no correlation.
    """

    correlations: np.ndarray
    bases: tuple[np.ndarray, np.ndarray]


class CanonicalCorrelations:
    """Canonical correlation analysis with a ridge, summed up over blocks of rows.

    Maximises corr(a'z1, b'z2) with (C + r I) in the place of each view's covariance C; r is
    `ridge` times the mean eigenvalue of C. Without a ridge, directions of next to no variance
    count as much as any, and chance correlates them. Holds `canonical_bytes`.

    Parameters
    ----------
    k1, k2 : int
        Features of each view.
    ridge : float, default 1e-2
        At least 0. Rounding of the features is a bound from below.
    dtype : type, default numpy.float32
        Of the blocks.
    """

    def __init__(self, k1: int, k2: int, ridge: float = 1e-2, dtype: type = np.float32) -> None:
        self._cut, self._ridge, self._dtype = k1, ridge, np.dtype(dtype)
        self._gram = GramSum(k1 + k2, dtype)
        self._total = np.zeros(k1 + k2)
        self._n = 0

    def add(self, Z: np.ndarray) -> None:
        """Add a block of both views' features side by side, (m, k1 + k2), C-contiguous."""
        self._gram.add(Z)
        self._total += np.ones(len(Z), Z.dtype) @ Z
        self._n += len(Z)

    def solve(self) -> CanonicalPairs:
        """Return the pairs; nothing can be added afterwards."""
        cut, mean = self._cut, self._total / self._n
        C = self._gram.total()
        del self._gram
        C /= self._n
        squares = C.diagonal().copy()
        for j, of_column in enumerate(mean):
            C[:, j] -= of_column * mean
        T = C[:cut, cut:].copy(order="F")
        covariances = _diagonal_blocks(C, cut)
        del C
        eps = np.finfo(self._dtype).eps
        both = zip(covariances, (squares[:cut], squares[cut:]), strict=True)
        L1, L2 = (_factor(A, of_view, self._ridge, eps) for A, of_view in both)
        # L1^-1 C12 L2^-T has the correlations as its singular values.
        T = solve_triangular(L1, T, lower=True, overwrite_b=True)
        T = solve_triangular(L2, T.T, lower=True).T
        squared, U = eigensystem(np.ascontiguousarray(T @ T.T))
        correlations = np.sqrt(np.clip(squared, 0, 1))
        # in columns, so that LAPACK overwrites it
        V = (U.T @ T).T
        del T
        V /= np.where(squared > np.finfo(float).eps, np.maximum(correlations, 1e-8), np.inf)
        bases = (
            solve_triangular(L1, U, trans="T", lower=True, overwrite_b=True),
            solve_triangular(L2, V, trans="T", lower=True, overwrite_b=True),
        )
        return CanonicalPairs(correlations, bases)


def canonical_bytes(k: int) -> int:
    """Bytes that `CanonicalCorrelations` of two views of k features holds when it is solved.

    The Gram matrix and a quarter of it; then factors, T, a product of it and its eigenvectors, and
    what LAPACK works in.
    """
    return 40 * k * k + eigen_workspace(k)


def _diagonal_blocks(C: np.ndarray, cut: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two blocks of a matrix in Fortran order, in the place of it.

    The rest of it is given back.
    """
    n, numbers = len(C), C.reshape(-1, order="F")
    left, size = n - cut, cut * cut + (n - cut) ** 2
    # what is written lies before all that is still to be read
    for j in range(cut):
        numbers[j * cut : (j + 1) * cut] = numbers[j * n : j * n + cut]
    for j in range(left):
        start = cut * cut + j * left
        numbers[start : start + left] = numbers[(cut + j) * n + cut : (cut + j + 1) * n]
    del numbers
    C.resize(size, refcheck=False)
    first, second = np.split(C, [cut * cut])
    return first.reshape(cut, cut, order="F"), second.reshape(left, left, order="F")


def _factor(A: np.ndarray, squares: np.ndarray, ridge: float, eps: float) -> np.ndarray:
    """Return the Cholesky factor of a covariance matrix plus its ridge, in place of it."""
    r = max(ridge * np.trace(A), _ROUNDINGS * eps * squares.sum()) / len(A)
    A[np.diag_indices(len(A))] += r or 1.0
    return cholesky(A, lower=True, overwrite_a=True)


class RowSketch:
    """Fewer rows with about the same covariance: sums of rows with random signs (CountSketch).

    Each row, with its sign, is added to one of `n_rows`. The covariance of the sums is that of the
    rows on average, and differs from it by about 1 / sqrt(n_rows) of the norms. One pass and no
    product (Clarkson & Woodruff 2013; for canonical correlations, Avron et al. 2013). Holds
    4 n_rows k bytes.

    Parameters
    ----------
    n_rows, k : int
    random_state : numpy.random.RandomState
    """

    def __init__(self, n_rows: int, k: int, random_state: np.random.RandomState) -> None:
        # the last column adds up a constant feature, which knows what the mean adds to each sum
        self._sums = np.zeros((n_rows, k + 1), np.float32)
        self._rng = np.random.default_rng(random_state.randint(2**31))
        self._free = np.empty(0, np.intp)
        self._total, self._n = np.zeros(k), 0

    def add(self, Z: np.ndarray) -> None:
        """Add a block of shape (m, k), float32; it is used up."""
        self._total += np.ones(len(Z), np.float32) @ Z
        self._n += len(Z)
        signs = self._rng.integers(2, size=len(Z)).astype(np.float32) * 2 - 1
        Z *= signs[:, None]
        for start in range(0, len(Z), len(self._sums)):
            part = slice(start, min(start + len(self._sums), len(Z)))
            # Every sum gets a row before one gets another, and none gets two of a part.
            if len(self._free) < part.stop - start:
                self._free = self._rng.permutation(len(self._sums))
            places, self._free = np.split(self._free, [part.stop - start])
            self._sums[places, :-1] += Z[part]
            self._sums[places, -1] += signs[part]

    def blocks(self, n_rows: int) -> Iterator[np.ndarray]:
        """Yield the sums less the mean's part in them, at most `n_rows` at a time."""
        mean = (self._total / self._n).astype(np.float32)
        scale = np.float32(np.sqrt(len(self._sums) / self._n))
        for start in range(0, len(self._sums), n_rows):
            sums = self._sums[start : start + n_rows]
            block = sums[:, :-1] - sums[:, -1:] * mean
            block *= scale
            yield block
