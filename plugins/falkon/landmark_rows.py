"""Kernel values between points and landmarks, row block by row block: they are never all held."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness import kernels
from harness.layers import Center, KernelValues, Layer, Linear

# BLAS packs all landmarks for each block: of fewer rows that would cost as much as the product.
_FEWEST_ROWS = 64


class LandmarkRows:
    """Rows k(x, Z) for landmarks Z.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    chosen : ndarray of shape (M,)
        Row numbers of the landmarks.
    kernel : BoundKernel
    dtype : type
        Of the landmarks and of the values.

    Attributes
    ----------
    landmarks : ndarray of shape (M, d)
        Near the origin.
    kernel : BoundKernel
    """

    def __init__(
        self, X: np.ndarray, chosen: np.ndarray, kernel: kernels.BoundKernel, dtype: np.dtype
    ) -> None:
        self.landmarks = kernels.centered_rows(X, chosen, kernel.center, dtype)
        self.kernel, self._at = kernel, kernel.at(self.landmarks)

    def blocks(
        self, X: np.ndarray, rows: np.ndarray | None = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of some rows of X, all by default, and their values, in the same array."""
        n, (M, d) = len(X) if rows is None else len(rows), self.landmarks.shape
        step, dtype = block_rows(M, d, X.itemsize), self.landmarks.dtype
        buffer = np.empty((min(n, step), M), dtype)
        for start in range(0, n, step):
            block = slice(start, min(start + step, n))
            points = self.kernel.near(X[block if rows is None else rows[block]], dtype)
            yield block, self._at(points, out=buffer[: len(points)])
            del points

    def values(self, X: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Return k(x, Z) @ coef for every row of X, float64 of shape (n, Q)."""
        values = np.empty((len(X), coef.shape[1]))
        coef = coef.astype(self.landmarks.dtype)
        for block, K in self.blocks(X):
            values[block] = K @ coef
        return values

    def layers(self, coef: np.ndarray, intercept: np.ndarray) -> list[Layer]:
        """Return what values are made of."""
        near = Center(self.kernel.center, self.landmarks.dtype)
        at_landmarks = KernelValues(self.landmarks, self.kernel.width, self.kernel.kernel)
        return [near, at_landmarks, Linear(coef, intercept)]


def block_rows(n_landmarks: int, n_features: int, itemsize: int) -> int:
    """Rows of a block: values, and points as they are and near the origin, fit one block."""
    return max(_FEWEST_ROWS, kernels.block_rows(n_landmarks + 3 * n_features, itemsize))


def block_bytes(
    n: int,
    n_landmarks: int,
    n_features: int,
    itemsize: int,
    item: int,
    kernel: str | kernels.KernelFunction,
    picked: bool = True,
) -> int:
    """Bytes of a block of `LandmarkRows.blocks` at most.

    Parameters
    ----------
    n, n_landmarks, n_features : int
    itemsize, item : int
        Bytes of a number of X, and of a value.
    kernel : str or KernelFunction
    picked : bool, default True
        Whether rows are copied from X, or lie there one after another.
    """
    M, d = n_landmarks, n_features
    rows = min(n, block_rows(M, d, itemsize))
    copies = (itemsize if picked else 0) + item
    held = rows * (item * M + copies * d)
    if kernel == "rbf":
        return held + rows * item
    return held + kernels.kernel_bytes(kernel, rows, M, d, item, at_origin=True)
