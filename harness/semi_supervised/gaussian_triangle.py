"""A Gaussian kernel matrix that is only multiplied with: its lower triangle in float32.

A product with one vector reads the whole matrix and does little else, so its time is the bytes
read: half of a symmetric matrix in float32 is a quarter of the bytes of all of it in float64.
"""

from __future__ import annotations

import numpy as np

from harness.kernels.gaussian import gaussian_kernel
from harness.scaled_integers import ScaledIntegers

BAND = 64
"""Rows of one band of a triangle; it is read twice, the second time from the cache."""


class GaussianTriangle:
    """The lower triangle of a Gaussian kernel matrix, float32, in bands of `BAND` rows.

    Holds `bytes(n)`; building it holds one band in the type of X besides.

    Parameters
    ----------
    X : ndarray of shape (n, d), or ScaledIntegers
        float32 or float64.
    width : float
        Of the kernel, in the units of X.
    center : ndarray of shape (d,), optional
        As for `gaussian_kernel`.
    """

    def __init__(self, X: np.ndarray, width: float, center: np.ndarray | None = None) -> None:
        self.n = n = len(X)
        # One array for all bands and one for what is computed: nothing for the heap to scatter.
        packed, used = np.empty(self.bytes(n) // 4, np.float32), 0
        scratch = np.empty(min(BAND, n) * n, X.dtype) if X.dtype != np.float32 else packed
        self._bands = []
        for start, stop in _bands(n):
            size = (stop - start) * stop
            band = packed[used : used + size].reshape(-1, stop)
            out = band if scratch is packed else scratch[:size].reshape(-1, stop)
            earlier = X.head(stop) if isinstance(X, ScaledIntegers) else X[:stop]
            band[:] = gaussian_kernel(X[start:stop], earlier, width, out, center)
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

    @staticmethod
    def bytes(n: int) -> int:
        """Bytes of the triangle: 2 n (n + 64) where n is a multiple of 64."""
        whole, rest = divmod(n, BAND)
        return 4 * (BAND * BAND * whole * (whole + 1) // 2 + rest * n)


def _bands(n: int) -> list[tuple[int, int]]:
    return [(start, min(start + BAND, n)) for start in range(0, n, BAND)]
