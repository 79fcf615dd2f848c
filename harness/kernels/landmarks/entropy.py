"""Landmarks of the greatest quadratic Renyi entropy (Girolami 2002; Suykens et al. 2002).

The entropy of a subset's Parzen density is -log of the mean overlap of two of its points, so the
sum of overlaps is what falls. Fixed-size kernel methods choose their subset like this.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.kernels.functions import KERNELS, BoundKernel, KernelFunction, kernel_bytes
from harness.kernels.landmarks.sampling import draw_rows

TRIALS = 2000
"""Swaps that are tried."""

_BATCH = 128


def renyi(
    X: np.ndarray,
    n_landmarks: int,
    random_state: np.random.RandomState,
    kernel: BoundKernel,
    trials: int = TRIALS,
) -> np.ndarray:
    """Try to swap members of a uniform subset, keeping a swap if the entropy rises.

    Candidates are drawn from all rows. The overlap of two Gaussians of width sigma is one of width
    sqrt(2) sigma; for other kernels it is taken to be the kernel itself.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    n_landmarks : int
    random_state : numpy.random.RandomState
    kernel : BoundKernel
    trials : int, default 2000
        A trial costs one row of kernel values between a candidate and the subset.
    """
    if kernel.kernel is KERNELS["rbf"]:
        kernel = replace(kernel, width=2**0.5 * kernel.width)
    subset = _Subset(X, draw_rows(len(X), n_landmarks, random_state), kernel)
    for start in range(0, trials, _BATCH):
        size = min(_BATCH, trials - start)
        candidates = random_state.randint(len(X), size=size)
        members = random_state.randint(n_landmarks, size=size)
        subset.swap(X[candidates], candidates, members)
    return subset.rows


class _Subset:
    """Some points, and the sum of each one's overlaps with all of them."""

    def __init__(self, X: np.ndarray, rows: np.ndarray, kernel: BoundKernel) -> None:
        self.rows, self._points, self._kernel = rows, X[rows], kernel
        self._own = kernel.diagonal(self._points).astype(np.float64)
        overlaps = kernel(self._points, self._points)
        self._sums = overlaps.sum(axis=1, dtype=np.float64)

    def swap(self, points: np.ndarray, rows: np.ndarray, members: np.ndarray) -> None:
        """Put points in the places of members, one after the other, where the entropy rises."""
        # one product for all of them: whatever is swapped in is among the points
        among, own = self._kernel(points, points), self._kernel.diagonal(points)
        overlaps = self._kernel(points, self._points)
        for trial, (row, member) in enumerate(zip(rows, members, strict=True)):
            new = overlaps[trial]
            others = new.sum(dtype=np.float64) - new[member]
            falls = 2 * self._sums[member] - self._own[member]
            if 2 * others + own[trial] >= falls or row in self.rows:
                continue
            self._sums += new
            self._sums -= self._kernel(self._points[member : member + 1], self._points)[0]
            self._sums[member] = others + own[trial]
            self.rows[member], self._points[member] = row, points[trial]
            self._own[member] = own[trial]
            overlaps[:, member] = among[trial]


def renyi_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    """Bytes held: the subset and a batch of candidates, their overlaps, or the first ones."""
    m = n_landmarks
    first = m * m * itemsize + kernel_bytes(kernel, m, m, n_features, itemsize)
    batch = _BATCH * (n_features + _BATCH + m + 3) * itemsize
    batch += kernel_bytes(kernel, _BATCH, max(m, _BATCH), n_features, itemsize)
    return m * (n_features * itemsize + 24) + max(first, batch)
