"""The paper's equations 3-6 and 13 taken literally: a cluster kernel of K, in which D cancels."""

from __future__ import annotations

import warnings

import numpy as np

from harness import Arrays, beside, kernels
from harness.kernels.features import landmark_spectrum

# Where eigenvalues of W, in parts of the largest, are dropped.
_TOLERANCE = 1e-6


def literal_eigensystem(
    landmarks: np.ndarray, width: float, n: int, rank: int | None, most: int, squares: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues of K for n points, descending, and M.

    Parameters
    ----------
    landmarks : ndarray of shape (s, d)
    width : float
    n : int
    rank : int or None
        How many are kept; None for k log k <= s, but no more than `most`.
    most : int
        How many come before a step, if there is one.
    squares : bool
        Whether those beyond `most` are squared, although they are above 1.

    Returns
    -------
    eigenvalues : ndarray of shape (k,)
    basis : ndarray of shape (s, k), float32
    """
    eigenvalues, U = landmark_spectrum(landmarks, width, _TOLERANCE)
    if rank is not None and rank > most and squares:
        message = f"rank={rank}: poly-step squares all but the first {most} eigenvalues"
        warnings.warn(message + " of K, which are above 1", UserWarning, stacklevel=4)
    kept = min(rank or min(paper_rank(len(U)), most), len(eigenvalues))
    basis = (U[:, :kept] / eigenvalues[:kept]).astype(np.float32)
    return eigenvalues[:kept] * (n / len(U)), basis


def paper_rank(n_landmarks: int) -> int:
    """Return the largest k with k log k <= s, at least 1."""
    k = np.arange(1, n_landmarks + 1)
    return int(np.searchsorted(k * np.log(k), n_landmarks, side="right")) or 1


def literal_phases(s: int, d: int) -> dict[str, Arrays]:
    """Return what is held phase by phase."""
    phases = {
        "landmarks": Arrays(picked=kernels.stream_bytes(s, 2 * d)),
        "kernel matrix": Arrays(matrix=8 * s * s, rows=kernels.stream_bytes(s, 2 * s + d)),
        "eigensystem": Arrays(kernels.eigen_arrays(s)),
    }
    return beside({"landmarks": 4 * s * d}, phases)
