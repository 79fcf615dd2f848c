"""Kernel matrices that are only multiplied with, as iterative solvers need them.

A product with one vector reads the whole matrix and does little else, so its time is the bytes
read: half of a symmetric matrix in float32 is a quarter of the bytes of all of it in float64, in
memory and in time. `PackedSymmetric` is the packed form that is factorised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from harness.kernels.gaussian import row_blocks


class KernelProduct(Protocol):
    """A kernel matrix K of order `n`."""

    n: int

    def multiply(self, vector: np.ndarray) -> np.ndarray:
        """Return K @ vector, float64 of shape (n,)."""


class GramProduct:
    """A kernel matrix that is there already, in float32.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    """

    def __init__(self, K: np.ndarray) -> None:
        self.n, self._K = len(K), K

    def multiply(self, vector: np.ndarray) -> np.ndarray:
        """Return K @ vector."""
        return (self._K @ vector.astype(np.float32)).astype(np.float64)


class LinearProduct:
    """The linear kernel X X', of which nothing is held but X itself.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        float32 or float64.
    center : ndarray of shape (d,), optional
        What is subtracted from points, a block of `row_blocks` at a time: it takes half as long
        again.
    """

    def __init__(self, X: np.ndarray, center: np.ndarray | None = None) -> None:
        self.n = len(X)
        self._X = X
        # in the type of X, or NumPy would convert by way of buffers
        self._center = None if center is None else center.astype(X.dtype)

    def multiply(self, vector: np.ndarray) -> np.ndarray:
        """Return X X' @ vector, in the precision of X."""
        weights = self.weights(vector)
        if self._center is None:
            return (self._X @ weights).astype(np.float64, copy=False)
        product = np.empty(self.n)
        for block, rows in self._blocks(self._center):
            product[block] = rows @ weights
        return product

    def weights(self, vector: np.ndarray) -> np.ndarray:
        """Return X' @ vector, shape (d,); of several, vector @ X of shape (q, d)."""
        vector = vector.astype(self._X.dtype, copy=False)
        if self._center is None:
            return vector @ self._X
        return sum(vector[..., block] @ rows for block, rows in self._blocks(self._center))

    def _blocks(self, center: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield rows less the center, all in one array: the last block would still be held."""
        near = None
        for block in row_blocks(self.n, self._X.shape[1], self._X.itemsize):
            rows = self._X[block]
            near = np.empty_like(rows) if near is None else near
            yield block, np.subtract(rows, center, out=near[: len(rows)])


class CenteredProduct:
    """Another kernel with the mean of some points moved to the origin of its feature space.

    Parameters
    ----------
    kernel : KernelProduct
    rows : ndarray of int
        The points whose mean it is.
    """

    def __init__(self, kernel: KernelProduct, rows: np.ndarray) -> None:
        self.n = kernel.n
        self._kernel, self._rows = kernel, rows

    def multiply(self, vector: np.ndarray) -> np.ndarray:
        """Return (I - 1 e') K (I - e 1') @ vector, with e = 1 / len(rows) at `rows`."""
        product = self._kernel.multiply(self.uncentered(vector))
        return product - product[self._rows].mean()

    def uncentered(self, vector: np.ndarray) -> np.ndarray:
        """Return the same function, up to a constant, in terms of the kernel as it was."""
        moved = vector.copy()
        moved[self._rows] -= vector.sum() / len(self._rows)
        return moved
