"""Features of the primal problem in blocks of rows, and sums of their products."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from harness import kernels
from harness.kernels.symmetric import eigenvalues
from harness.layers import Center, KernelValues, Layer

# Rows of a block of features: updates of an m x m matrix by fewer are slower.
_BLOCK = 512
_BLOCK_BYTES = 1 << 22


def map_block_rows(d: int) -> int:
    """Return rows of a block: fewer of wide ones, whose copies would exceed their features."""
    return min(_BLOCK, max(16, _BLOCK_BYTES // (8 * d)))


def map_blocks(n: int, d: int) -> list[slice]:
    """Cut n rows of d columns into blocks that a map is given at once."""
    rows = map_block_rows(d)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def spread_rows(n: int, size: int, random_state: np.random.RandomState) -> np.ndarray:
    """Draw a number from each of min(n, size) equal stretches of those below n."""
    size = min(n, size)
    places = np.arange(size) + random_state.random_sample(size)
    return (places * (n / size)).astype(np.intp)


class KernelFeatures:
    """z(x) = k(Z, x): the kernel's values at the landmarks Z, the reduced kernel's feature map.

    Inner products are K_xZ K_Zx, another kernel than k itself. Holds the landmarks.

    Parameters
    ----------
    landmarks : ndarray of shape (s, d)
    sigma : float
    dtype : type, default numpy.float32
        Of the features.
    center : ndarray of shape (d,), optional
        What was subtracted from the landmarks, and is to be from rows.
    """

    def __init__(
        self,
        landmarks: np.ndarray,
        sigma: float,
        dtype: DTypeLike = np.float32,
        center: np.ndarray | None = None,
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.landmarks = landmarks.astype(self.dtype, copy=False)
        self.sigma = sigma
        self._center = center
        self.n_components = len(landmarks)

    def transform(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the features of X, shape (n, n_components), in `out` if it is given."""
        rows = kernels.centered(X, self._center, self.dtype)
        return kernels.gaussian_kernel(rows, self.landmarks, self.sigma, out)

    def layers(self) -> list[Layer]:
        """Return what features are made of."""
        return [Center(self._center, self.dtype), KernelValues(self.landmarks, self.sigma)]


def normalise_gram(S: np.ndarray, rounding: float) -> None:
    """Centre a weighted Gram matrix and divide it by its largest eigenvalue, in place.

    Parameters
    ----------
    S : ndarray of shape (k + 1, k + 1), float64
        Of k features and a last column of ones.
    rounding : float
        Below a largest eigenvalue of this there is nothing but zeros.
    """
    mean = S[:, -1] / S[-1, -1]
    for j in range(len(S) - 1):
        S[:, j] -= mean * (mean[j] * S[-1, -1])
    S[:, -1] = 0
    largest = eigenvalues(S)[-1]
    S /= largest if largest > rounding else np.inf


def type_of_sums(dtype: np.dtype, weight: float, n: int) -> np.dtype:
    """Return a type in which the rounding of n terms, times `weight`, is little beside 1."""
    return dtype if np.finfo(dtype).eps * weight * n < 1e-2 else np.dtype(np.float64)
