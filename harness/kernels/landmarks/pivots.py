"""Landmarks as random pivots of a Cholesky factorisation of the kernel matrix.

A pivot is drawn in proportion to the diagonal of what the pivots before it leave of the matrix
(RPCholesky: Chen, Epperly, Tropp & Webber 2025, algorithm 1). `rpcholesky` keeps the factor F, one
column a pivot. `rpcholesky_accelerated` draws from the same distribution without F: it proposes
rows by an upper bound of that diagonal, and rejects (Epperly, Tropp & Webber 2025).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg.lapack import dtrtrs

from harness.kernels.functions import BoundKernel, KernelFunction, kernel_bytes
from harness.kernels.gaussian import squared_norms
from harness.kernels.landmarks.sampling import draw_rows, fill_up, residual_row_bytes

# Rows of a part of the bounds in which one is drawn.
_PART = 1024


def rpcholesky(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState, kernel: BoundKernel
) -> np.ndarray:
    """Draw pivots one by one, and keep the factor.

    Computes n n_landmarks kernel values, and holds as many numbers (`rpcholesky_bytes`). Once
    nothing but rounding is left, further landmarks are drawn uniformly.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        All rows are read, once a pivot.
    n_landmarks : int
    random_state : numpy.random.RandomState
    kernel : BoundKernel
    """
    residual = kernel.diagonal(X).astype(np.float64)
    least = _rounding(X.dtype) * residual.max(initial=0)
    F = np.empty((n_landmarks, len(X)), X.dtype)
    chosen: list[int] = []
    while len(chosen) < n_landmarks:
        residual[residual <= least] = 0
        cumulative = np.cumsum(residual)
        if not cumulative[-1] > 0:
            break
        pivot = _draw(cumulative, random_state)
        before, column = F[: len(chosen)], F[len(chosen)]
        kernel(X[pivot : pivot + 1], X, out=column[None])
        column -= before[:, pivot] @ before
        column /= np.sqrt(residual[pivot])
        residual -= np.square(column, dtype=np.float64)
        residual[pivot] = 0
        chosen.append(pivot)
    return _completed(chosen, len(X), n_landmarks, random_state)


def rpcholesky_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    """Bytes held: the factor, in the type of X, and a few numbers for each point."""
    column = max(20 * n, itemsize * n + kernel_bytes(kernel, 1, n, n_features, itemsize))
    return itemsize * n * n_landmarks + 8 * n + column


def rpcholesky_accelerated(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState, kernel: BoundKernel
) -> np.ndarray:
    """Draw the same pivots by rejection, from blocks of rows, and keep no factor of all rows.

    Rows are proposed in proportion to bounds u(x), at first k(x, x). A row is accepted with the
    chance r(x) / u(x), where r(x) is the diagonal that the pivots leave, computed for it alone
    from the pivots' own triangular factor. Bounds become r of all rows, in one pass, when as many
    rows have been rejected as there are: so at most half of the work is lost. A pivot costs
    u / r proposals on average, and a proposal `n_landmarks` kernel values at most.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows that are proposed are read, all of them if bounds are computed anew.
    n_landmarks : int
    random_state : numpy.random.RandomState
    kernel : BoundKernel
    """
    size, rejected = _proposals(n_landmarks), 0
    pivots, bounds = _Pivots(X, n_landmarks, kernel), _Bounds(X, kernel, size)
    while len(pivots.rows) < n_landmarks and bounds.total > 0:
        proposed = bounds.draw(size, random_state)
        ceilings = random_state.uniform(size=size) * bounds.of[proposed]
        rejected += size - pivots.accept(proposed, ceilings, bounds.least)
        if rejected >= len(X):
            bounds.lower(pivots)
            rejected = 0
    return _completed(pivots.rows, len(X), n_landmarks, random_state)


def rpcholesky_accelerated_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    """Bytes held: a bound for each point, the pivots with their factor, and a block of rows."""
    b, d, size = n_landmarks, n_features, _proposals(n_landmarks)
    block = size * (residual_row_bytes(b, d, itemsize) + (16 + itemsize) * size)
    block += kernel_bytes(kernel, size, max(b, size), d, itemsize, at_origin=True)
    return 4 * n + 16 * _PART + 8 * b * b + b * d * itemsize + block


class _Bounds:
    """Upper bounds of what pivots leave of k(x, x), by which rows are proposed."""

    def __init__(self, X: np.ndarray, kernel: BoundKernel, step: int) -> None:
        self._X, self._step = X, step
        self.of = np.empty(len(X), np.float32)
        for block in self._blocks():
            self.of[block] = kernel.diagonal(X[block])
        self.least = _rounding(X.dtype) * float(self.of.max(initial=0))
        self._sum()

    def lower(self, pivots: _Pivots) -> None:
        """Make each bound what the pivots leave, and what is rounding 0."""
        for block in self._blocks():
            self.of[block] = pivots.residual(self._X[block])
        self.of[pivots.rows] = 0
        self.of[self.of <= self.least] = 0
        self._sum()

    def _blocks(self) -> Iterator[slice]:
        n = len(self.of)
        return (slice(start, start + self._step) for start in range(0, n, self._step))

    def _sum(self) -> None:
        parts = range(0, len(self.of), _PART)
        sums = [self.of[start : start + _PART].sum(dtype=np.float64) for start in parts]
        self._cumulative = np.cumsum(sums)
        self.total = float(self._cumulative[-1])

    def draw(self, size: int, random_state: np.random.RandomState) -> np.ndarray:
        """Draw rows in proportion to their bounds, with replacement."""
        drawn = np.empty(size, np.intp)
        for i in range(size):
            start = _PART * _draw(self._cumulative, random_state)
            part = np.cumsum(self.of[start : start + _PART], dtype=np.float64)
            drawn[i] = start + _draw(part, random_state)
        return drawn


class _Pivots:
    """Rows that were accepted, and L of their kernel matrix L L', in float64."""

    def __init__(self, X: np.ndarray, n_landmarks: int, kernel: BoundKernel) -> None:
        self._X, self._near, self._kernel = X, kernel.near, kernel.at_origin
        self.rows: list[int] = []
        self._points = np.empty((n_landmarks, X.shape[1]), X.dtype)
        self._L = np.zeros((n_landmarks, n_landmarks))

    def residual(self, X: np.ndarray) -> np.ndarray:
        """Return what the pivots leave of k(x, x) for each row of X."""
        points = self._near(X, X.dtype)
        return self._kernel.diagonal(points) - squared_norms(self._features(points).T)

    def _features(self, points: np.ndarray) -> np.ndarray:
        """Return L^-1 k(B, x) of points near the origin, a column for each, in float64."""
        k = len(self.rows)
        if not k:
            return np.zeros((0, len(points)))
        K = self._kernel(points, self._points[:k]).astype(np.float64, copy=False)
        # the transpose of an upper triangle, whose leading part LAPACK takes without a copy
        return dtrtrs(self._L[:k].T, K.T, lower=0, trans=1, overwrite_b=1)[0]

    def accept(self, proposed: np.ndarray, ceilings: np.ndarray, least: float) -> int:
        """Accept proposals one after the other where what is left exceeds their ceilings.

        Returns how many were accepted.
        """
        points = self._near(self._X[proposed], self._X.dtype)
        Z = self._features(points)
        left = self._kernel(points, points).astype(np.float64)
        # rounding may leave a point unlike itself
        left[np.diag_indices(len(left))] = self._kernel.diagonal(points)
        left -= Z.T @ Z
        k = len(self.rows)
        columns: list[np.ndarray] = []
        taken: list[int] = []
        for i, ceiling in enumerate(np.maximum(ceilings, least)):
            if k + len(taken) == len(self._L):
                break
            # rounding may leave something of a pivot
            if not left[i, i] > ceiling or int(proposed[i]) in self.rows:
                continue
            column = left[:, i] / np.sqrt(left[i, i])
            left -= np.outer(column, column)
            columns.append(column)
            taken.append(i)
            self.rows.append(int(proposed[i]))
        new = slice(k, k + len(taken))
        if taken:
            self._L[new, :k] = Z[:, taken].T
            self._L[new, new] = np.tril(np.array(columns)[:, taken].T)
            self._points[new] = points[taken]
        return len(taken)


def _proposals(n_landmarks: int) -> int:
    """Return how many rows are proposed at a time."""
    return max(16, min(128, 2 * n_landmarks))


def _rounding(dtype: np.dtype) -> float:
    """Part of the largest k(x, x) below which a residual may be nothing but rounding."""
    return 100 * float(np.finfo(dtype).eps)


def _draw(cumulative: np.ndarray, random_state: np.random.RandomState) -> int:
    """Draw a place in proportion to its part of a sum; never one whose part is 0."""
    point = random_state.uniform() * cumulative[-1]
    # rounding may put the point at the end, behind which nothing is
    return min(
        int(np.searchsorted(cumulative, point, side="right")),
        int(np.searchsorted(cumulative, cumulative[-1])),
    )


def _completed(
    chosen: list[int], n: int, n_landmarks: int, random_state: np.random.RandomState
) -> np.ndarray:
    rows = np.array(chosen, np.intp)
    if len(rows) == n_landmarks:
        return rows
    # so many rows that some are left when all chosen ones are passed over
    return fill_up(rows, draw_rows(n, n_landmarks, random_state), n_landmarks, random_state)
