"""Maps of rows to explicit features: random Fourier, Nystrom, and the kernel's own values.

Inner products of the first two approximate the Gaussian kernel. `transform` can write into the
columns of a larger array, so that a block of features is made where it is used.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from numpy.typing import DTypeLike

from harness.kernels.frequencies import FrequencyName, draw_frequencies
from harness.kernels.functions import BoundKernel
from harness.kernels.gaussian import (
    GaussianAt,
    centered,
    gaussian_kernel,
    row_blocks,
    squared_norms,
)
from harness.kernels.symmetric import eigensystem
from harness.layers import Center, KernelValues, Layer, Linear, Waves

FloatType = type[np.float32] | type[np.float64] | Literal["float32", "float64"]

# Of the largest eigenvalue: where values are so large that nothing is exact, something stays.
_MOST_DROPPED = 1e-3


class FeatureMap(Protocol):
    """A map of rows to explicit features."""

    n_components: int
    dtype: np.dtype

    def transform(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the features of X, shape (n, n_components), in `out` if it is given."""

    def layers(self) -> list[Layer]:
        """Return what features are made of."""


class RandomFourierFeatures:
    """Pairs of cosine and sine at random frequencies (Rahimi & Recht 2007).

    The error of the kernel falls as 1 / sqrt(n_components); k(x, x) = 1 holds exactly, which it
    would not for single cosines with a random phase. Holds `frequency_bytes`, of independent
    frequencies 2 d n_components in float32; equal seeds draw equal frequencies. `transform` holds
    `phase_bytes` besides its result, and a copy of rows of another type, or less a center.

    Parameters
    ----------
    n_features : int
        Columns of X.
    n_components : int
        Features; an odd number is rounded down, for they come in pairs, one at the least.
    sigma : float
        Width of the kernel.
    random_state : numpy.random.RandomState
    dtype : type, default numpy.float32
        Of the frequencies and the features.
    center : ndarray of shape (d,), optional
        What is subtracted from rows: of a large phase few digits are left. None by default.
    frequencies : {"gaussian", "orthogonal", "hadamard"}, default "gaussian"
        How they are drawn, see `harness.kernels.frequencies`.
    """

    def __init__(
        self,
        n_features: int,
        n_components: int,
        sigma: float,
        random_state: np.random.RandomState,
        dtype: FloatType = np.float32,
        center: np.ndarray | None = None,
        frequencies: FrequencyName = "gaussian",
    ) -> None:
        self._center = center
        rng = np.random.default_rng(random_state.randint(2**31))
        pairs = max(1, n_components // 2)
        self.dtype = np.dtype(dtype)
        self.frequencies = draw_frequencies(frequencies, n_features, pairs, sigma, rng, self.dtype)
        self.n_features, self.n_components = n_features, 2 * pairs

    def transform(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the features of X, shape (n, n_components), in `out` if it is given."""
        pairs = self.n_components // 2
        features = np.empty((len(X), self.n_components), self.dtype) if out is None else out
        phases = features[:, :pairs]
        self.frequencies.phases(centered(X, self._center, self.dtype), phases)
        np.sin(phases, out=features[:, pairs:])
        np.cos(phases, out=phases)
        features *= self.dtype.type(pairs**-0.5)
        return features

    def layers(self) -> list[Layer]:
        """Return what features are made of."""
        return [Center(self._center, self.dtype), Waves(self.frequencies.matrix())]


class NystromFeatures:
    """z(x) = S^-1/2 U' k(Z, x), with U S U' the kernel matrix of the landmarks Z.

    Inner products are the Nystrom approximation K_xZ K_ZZ^+ K_Zx, exact at the landmarks (for
    D^1/2 as McWilliams et al. 2013 print it, they would not be). Eigenvalues below `tolerance`
    times the largest are dropped, with float32 features those below 1e-6 times, and what is
    rounding (see `landmark_spectrum`). Holds 16 s^2 bytes while it is made, then 8 s^2 at most,
    half of that with float32 features.

    Parameters
    ----------
    landmarks : ndarray of shape (s, d)
    sigma : float
    tolerance : float, default 1e-10
    dtype : type, default numpy.float64
        Of the features. In float32 eigenvalues below 1e-6 times the largest are dropped too.
    center : ndarray of shape (d,), optional
        What was subtracted from the landmarks, and is to be from rows.
    """

    def __init__(
        self,
        landmarks: np.ndarray,
        sigma: float,
        tolerance: float = 1e-10,
        dtype: DTypeLike = np.float64,
        center: np.ndarray | None = None,
    ) -> None:
        self.dtype = np.dtype(dtype)
        self._center = center
        self.landmarks = landmarks
        self.sigma = sigma
        tolerance = max(tolerance, 8 * np.finfo(self.dtype).eps)
        eigenvalues, U = landmark_spectrum(landmarks, sigma, tolerance)
        U *= eigenvalues**-0.5
        self.projection = U.astype(self.dtype, copy=False)
        self.n_components = U.shape[1]

    @classmethod
    def of_rows(cls, X: np.ndarray, rows: np.ndarray, kernel: BoundKernel) -> NystromFeatures:
        """Make float64 features of rows of X, with a Gaussian kernel that is bound to X."""
        landmarks = X[rows]
        if kernel.center is not None:
            landmarks -= kernel.center.astype(X.dtype)
        return cls(landmarks, kernel.width, center=kernel.center)

    def kernel(self, X: np.ndarray) -> np.ndarray:
        """Return the kernel between the rows of X and the landmarks."""
        return self._kernel(centered(X, self._center, self.landmarks.dtype))

    def transform(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the features of X, shape (n, n_components), in `out` if it is given."""
        # rows that the caller does not hold are let go of
        X = centered(X, self._center, self.landmarks.dtype)
        K = self._kernel(X)
        del X
        return np.matmul(K, self.projection, out=out)

    def kernel_layers(self) -> list[Layer]:
        """Return what `kernel` is made of."""
        near = Center(self._center, self.landmarks.dtype)
        return [near, KernelValues(self.landmarks, self.sigma)]

    def layers(self) -> list[Layer]:
        """Return what features are made of."""
        return [*self.kernel_layers(), Linear(self.projection)]

    def _kernel(self, X: np.ndarray) -> np.ndarray:
        return gaussian_kernel(X, self.landmarks, self.sigma).astype(self.dtype, copy=False)

    @staticmethod
    def row_bytes(s: int, n_features: int, itemsize: int = 8) -> int:
        """Bytes held for a row on its way to float64 `NystromFeatures`, beside these themselves.

        It is picked, moved and scaled; kernel values in float32 are turned into float64.
        """
        return itemsize * (3 * n_features + s) + (0 if itemsize == 8 else 8 * s)


def landmark_spectrum(
    landmarks: np.ndarray, sigma: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues, descending, and eigenvectors of the landmarks' kernel matrix.

    Only those above `tolerance` times the largest, and above what rounding of the kernel's values
    can make of a zero: noise that is divided by its own square root is a feature as large as any.
    Holds 16 s^2 bytes, the eigenvectors included.
    """
    s = len(landmarks)
    W = np.empty((s, s))
    GaussianAt(landmarks, sigma)(landmarks, out=W)
    np.fill_diagonal(W, 1)
    rounding = _rounding(W, squared_norms(landmarks) / sigma**2, np.finfo(landmarks.dtype).eps)
    eigenvalues, U = eigensystem(W)
    rounding = min(rounding / eigenvalues[0], _MOST_DROPPED)
    least = max(tolerance, 8 * np.finfo(W.dtype).eps, rounding)
    kept = int(np.sum(eigenvalues > least * eigenvalues[0]))
    return eigenvalues[:kept], U[:, :kept]


def _rounding(W: np.ndarray, squares: np.ndarray, eps: float) -> float:
    """Bound the norm of the error of a kernel matrix whose exponents were rounded.

    An exponent errs by eps times the squared norms that cancel in it, and so does, relatively, the
    kernel value. A far landmark has large ones but, away from the diagonal, values of zero: it
    says nothing of the others. A matrix of independent errors has a norm of twice that of a row.
    """
    largest = 0.0
    for block in row_blocks(len(W), 2 * len(W)):
        errors = 1 + (squares[block, None] + squares) / 2
        errors *= W[block]
        errors[np.arange(len(errors)), np.arange(block.start, block.stop)] = 0
        largest = max(largest, float(squared_norms(errors).max()))
    return 2 * eps * largest**0.5
