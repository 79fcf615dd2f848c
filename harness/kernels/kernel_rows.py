"""Kernel values between points and a fixed set of them, row block by row block.

They are never all held: solvers compute them anew in each pass.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.kernels import gaussian
from harness.kernels.functions import BoundKernel, KernelFunction, kernel_bytes
from harness.layers import Center, KernelValues, Layer, Linear

# BLAS packs the fixed points for each block: of fewer rows that would cost as much as the product.
_FEWEST_ROWS = 64


class KernelRows:
    """Rows k(x, Z) for points Z.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    rows : ndarray of shape (M,)
        Row numbers of the points Z.
    kernel : BoundKernel
    dtype : type
        Of the points Z and of the values.

    Attributes
    ----------
    points : ndarray of shape (M, d)
        Near the origin.
    kernel : BoundKernel
    """

    def __init__(
        self, X: np.ndarray, rows: np.ndarray, kernel: BoundKernel, dtype: np.dtype
    ) -> None:
        self.points = gaussian.centered_rows(X, rows, kernel.center, dtype)
        self.kernel, self._at = kernel, kernel.at(self.points)

    def blocks(
        self, X: np.ndarray, rows: np.ndarray | None = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of some rows of X, all by default, and their values, in the same array."""
        n, (M, d) = len(X) if rows is None else len(rows), self.points.shape
        step, dtype = kernel_block_rows(M, d, X.itemsize), self.points.dtype
        buffer = np.empty((min(n, step), M), dtype)
        for start in range(0, n, step):
            block = slice(start, min(start + step, n))
            points = self.kernel.near(X[block if rows is None else rows[block]], dtype)
            yield block, self._at(points, out=buffer[: len(points)])
            del points

    def values(self, X: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Return k(x, Z) @ coef for every row of X, float64 of shape (n, Q)."""
        values = np.empty((len(X), coef.shape[1]))
        coef = coef.astype(self.points.dtype)
        for block, K in self.blocks(X):
            values[block] = K @ coef
        return values

    def layers(self, coef: np.ndarray, intercept: np.ndarray) -> list[Layer]:
        """Return what values are made of."""
        near = Center(self.kernel.center, self.points.dtype)
        at_points = KernelValues(self.points, self.kernel.width, self.kernel.kernel)
        return [near, at_points, Linear(coef, intercept)]


def kernel_block_rows(n_points: int, n_features: int, itemsize: int) -> int:
    """Rows of a block of `KernelRows`: values, and points as they are and near the origin."""
    return max(_FEWEST_ROWS, gaussian.block_rows(n_points + 3 * n_features, itemsize))


def kernel_block_bytes(
    n: int,
    n_points: int,
    n_features: int,
    itemsize: int,
    item: int,
    kernel: str | KernelFunction,
    picked: bool = True,
) -> int:
    """Bytes of a block of `KernelRows.blocks` at most.

    Parameters
    ----------
    n, n_points, n_features : int
    itemsize, item : int
        Bytes of a number of X, and of a value.
    kernel : str or KernelFunction
    picked : bool, default True
        Whether rows are copied from X, or lie there one after another.
    """
    M, d = n_points, n_features
    rows = min(n, kernel_block_rows(M, d, itemsize))
    copies = (itemsize if picked else 0) + item
    held = rows * (item * M + copies * d)
    if kernel == "rbf":
        return held + rows * item
    return held + kernel_bytes(kernel, rows, M, d, item, at_origin=True)
