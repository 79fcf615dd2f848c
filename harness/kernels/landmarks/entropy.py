"""Landmarks of the greatest quadratic Renyi entropy (Girolami 2002; Suykens et al. 2002).

The entropy of a subset's Parzen density is -log of the mean overlap of two of its points, so the
sum of overlaps is what falls. Fixed-size kernel methods choose their subset like this.
"""

from __future__ import annotations

import numpy as np

from harness.kernels.functions import KERNELS, BoundKernel, kernel_bytes
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
        kernel = BoundKernel(kernel.kernel, 2**0.5 * kernel.width)
    subset = draw_rows(len(X), n_landmarks, random_state)
    S = X[subset]
    diagonal = kernel.diagonal(S).astype(np.float64)
    sums = kernel(S, S).sum(axis=1, dtype=np.float64)
    for start in range(0, trials, _BATCH):
        # one product for many trials: whatever they swap in is among the candidates
        size = min(_BATCH, trials - start)
        candidates = random_state.randint(len(X), size=size)
        members = random_state.randint(n_landmarks, size=size)
        C = X[candidates]
        among, own = kernel(C, C), kernel.diagonal(C)
        overlaps = kernel(C, S)
        for trial, (row, member) in enumerate(zip(candidates, members, strict=True)):
            new = overlaps[trial]
            loss = 2 * sums[member] - diagonal[member]
            gain = 2 * (new.sum(dtype=np.float64) - new[member]) + own[trial]
            if gain >= loss or row in subset:
                continue
            old = kernel(S[member : member + 1], S)[0]
            sums += new
            sums -= old
            overlaps[:, member] = among[trial]
            subset[member], S[member], diagonal[member] = row, C[trial], own[trial]
            sums[member] = new.sum(dtype=np.float64) - new[member] + own[trial]
    return subset


def renyi_bytes(n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str) -> int:
    """Bytes held: the subset and a batch of candidates, their overlaps, or the first ones."""
    m = n_landmarks
    first = m * m * itemsize + kernel_bytes(kernel, m, m, n_features, itemsize)
    batch = _BATCH * (n_features + _BATCH + m + 3) * itemsize
    batch += kernel_bytes(kernel, _BATCH, m, n_features, itemsize)
    return m * (n_features * itemsize + 24) + max(first, batch)
