"""Kernel matrices that are only multiplied with, as iterative solvers need them.

A product with one vector reads the whole matrix and does little else, so its time is the bytes
read: half of a symmetric matrix in float32 is a quarter of the bytes of all of it in float64, in
memory and in time. `PackedSymmetric` is the packed form that is factorised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from harness.kernels.gaussian import gaussian_kernel, row_blocks

BAND = 64
"""Rows of one band of a triangle; it is read twice, the second time from the cache."""


class KernelProduct(Protocol):
    """A kernel matrix K of order `n`."""

    n: int

    def multiply(self, vector: np.ndarray) -> np.ndarray:
        """Return K @ vector, float64 of shape (n,)."""


class GaussianTriangle:
    """The lower triangle of a Gaussian kernel matrix, float32, in bands of `BAND` rows.

    Holds `triangle_bytes(n)`; building it holds one band in the type of X besides.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        float32 or float64.
    width : float
        Of the kernel, in the units of X.
    center : ndarray of shape (d,), optional
        As for `gaussian_kernel`.
    """

    def __init__(self, X: np.ndarray, width: float, center: np.ndarray | None = None) -> None:
        self.n = n = len(X)
        # One array for all bands and one for what is computed: nothing for the heap to scatter.
        packed, used = np.empty(triangle_bytes(n) // 4, np.float32), 0
        scratch = np.empty(min(BAND, n) * n, X.dtype) if X.dtype != np.float32 else packed
        self._bands = []
        for start, stop in _bands(n):
            size = (stop - start) * stop
            band = packed[used : used + size].reshape(-1, stop)
            out = band if scratch is packed else scratch[:size].reshape(-1, stop)
            band[:] = gaussian_kernel(X[start:stop], X[:stop], width, out, center)
            self._bands.append(band)
            used += size

    def multiply(self, vector: np.ndarray) -> np.ndarray:
        """Return K @ vector; relative to the sums of |K| |vector| it is exact to about 1e-7."""
        vector = vector.astype(np.float32)
        product = np.zeros(self.n, np.float32)
        for (start, stop), band in zip(_bands(self.n), self._bands, strict=True):
            product[start:stop] += band @ vector[:stop]
            product[:start] += vector[start:stop] @ band[:, :start]
        return product.astype(np.float64)


def _bands(n: int) -> list[tuple[int, int]]:
    return [(start, min(start + BAND, n)) for start in range(0, n, BAND)]


def triangle_bytes(n: int) -> int:
    """Bytes of a `GaussianTriangle`: 2 n (n + 64) where n is a multiple of 64."""
    whole, rest = divmod(n, BAND)
    return 4 * (BAND * BAND * whole * (whole + 1) // 2 + rest * n)


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
