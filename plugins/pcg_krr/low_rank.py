"""The inverse of a matrix of low rank plus a multiple of the identity."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from harness import kernels


class LowRankPreconditioner:
    """(F F' + alpha I)^-1 with features F of some points about their mean.

    Holds F in float32, and a matrix of the order of its columns in float64: with all of F' F in
    float64 the inverse is that of the F that is held, whatever the penalty.

    Parameters
    ----------
    features : LandmarkFeatures
    X : ndarray of shape (n, d)
    rows : ndarray of shape (m,)
        Of the points.
    alpha : float
    """

    def __init__(
        self, features: kernels.LandmarkFeatures, X: np.ndarray, rows: np.ndarray, alpha: float
    ) -> None:
        self._alpha, r = alpha, features.n_components
        self._F = np.empty((len(rows), r), np.float32)
        total = np.zeros(r)
        for block, points in features.points(X, rows):
            features.transform(points, self._F[block])
            total += self._F[block].sum(axis=0, dtype=np.float64)
        self._F -= (total / len(rows)).astype(np.float32)
        gram = kernels.GramSum(r, exact=True)
        gram.add(self._F)
        total = gram.total()
        total[np.diag_indices(r)] += alpha
        self._factor = cho_factor(total, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, vectors: np.ndarray) -> np.ndarray:
        """Return the inverse times vectors of shape (m, Q), float64."""
        inner = np.zeros((self._F.shape[1], vectors.shape[1]))
        for block in self._blocks():
            inner += self._F[block].astype(np.float64).T @ vectors[block]
        inner = cho_solve(self._factor, inner, overwrite_b=True, check_finite=False)
        solution = np.empty_like(vectors)
        for block in self._blocks():
            solution[block] = vectors[block] - self._F[block].astype(np.float64) @ inner
        solution /= self._alpha
        return solution

    def _blocks(self) -> list[slice]:
        step = kernels.block_rows(self._F.shape[1])
        return [slice(start, start + step) for start in range(0, len(self._F), step)]
