"""FALKON's preconditioner: two triangular factors in the memory of one square matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_lapack_funcs

from harness import kernels

# Columns of the landmarks' kernel matrix that are computed at a time.
_COLUMNS = 64


class FalkonPreconditioner:
    """B = T^-1 A^-1 with B' (sum_i w_i k_i k_i' + alpha K_MM) B near the identity.

    T'T = K_MM, and the sum over all points is taken to be that over landmarks, n / M K_MM W K_MM:
    A'A = n / M T W T' + alpha I (Rudi, Carratino & Rosasco 2017, section 3). Points are taken
    about their weighted mean, as a free intercept has it. T is in the upper triangle of one
    square matrix and A' in the lower one, in the type of the landmarks.

    Parameters
    ----------
    landmarks : ndarray of shape (M, d)
        Near the origin.
    kernel : BoundKernel
        Of points near the origin.

    Attributes
    ----------
    jitter : float
        What the diagonal of T'T has above that of K_MM, so that there is a factor in this type.
    """

    def __init__(self, landmarks: np.ndarray, kernel: kernels.BoundKernel) -> None:
        M, dtype = len(landmarks), landmarks.dtype
        self._square = np.zeros((M, M), dtype, order="F")
        self._potrf, self._lauum, self._trtrs = get_lapack_funcs(
            ("potrf", "lauum", "trtrs"), dtype=dtype
        )
        own = float(kernel.diagonal(landmarks).max(initial=0)) or 1.0
        self.jitter = float(np.finfo(dtype).eps) * M**0.5 * own
        while not self._factor(landmarks, kernel):
            self.jitter *= 10

    def _factor(self, landmarks: np.ndarray, kernel: kernels.BoundKernel) -> bool:
        """Put T into the upper triangle; return whether there is one."""
        square = self._square
        for start in range(0, len(square), _COLUMNS):
            columns = slice(start, min(start + _COLUMNS, len(square)))
            above = slice(0, columns.stop)
            square[above, columns] = kernel(landmarks[columns], landmarks[above]).T
        self._add_to_diagonal(self.jitter)
        _, info = self._potrf(square, lower=0, clean=0, overwrite_a=1)
        self._diagonal_of_T = square.diagonal().copy()
        return not info

    def weigh(self, n: int, alpha: float, weights: np.ndarray | None = None) -> None:
        """Make A for n points and a penalty.

        Parameters
        ----------
        n : int
        alpha : float
        weights : ndarray of shape (M,), optional
            Those of the landmarks; 1 by default.
        """
        added = alpha
        while not self._weighed(n, added, weights):
            # in this type the penalty is lost beside the largest eigenvalue
            added *= 10

    def _weighed(self, n: int, alpha: float, weights: np.ndarray | None) -> bool:
        square, M = self._square, len(self._square)
        w = np.ones(M, square.dtype) if weights is None else weights.astype(square.dtype)
        roots, sums = np.sqrt(w), np.empty(M, square.dtype)
        total = max(float(w.sum(dtype=np.float64)), float(np.finfo(square.dtype).tiny))
        self._set_diagonal(self._diagonal_of_T)
        for j in range(M):
            column = square[j:, j]
            column[1:] = square[j, j + 1 :]
            sums[j] = column @ w[j:] / total**0.5
            column *= roots[j:]
        self._lauum(square, lower=1, overwrite_c=1)
        for j in range(M):
            column = square[j:, j]
            column -= sums[j] * sums[j:]
            column *= square.dtype.type(n / M)
        self._add_to_diagonal(alpha)
        _, info = self._potrf(square, lower=1, clean=0, overwrite_a=1)
        self._diagonal_of_A = square.diagonal().copy()
        return not info

    def solve(self, vectors: np.ndarray) -> np.ndarray:
        """Return B times vectors of shape (M, Q), float64."""
        return self._trsm_t(self._trsm_a(vectors, 1), 0).astype(np.float64)

    def solve_transposed(self, vectors: np.ndarray) -> np.ndarray:
        """Return B' times vectors of shape (M, Q), float64."""
        return self._trsm_a(self._trsm_t(vectors, 1), 0).astype(np.float64)

    def penalty(self, vectors: np.ndarray) -> np.ndarray:
        """Return B' T'T B times vectors of shape (M, Q), float64."""
        return self._trsm_a(self._trsm_a(vectors, 1), 0).astype(np.float64)

    def solve_a(self, vectors: np.ndarray, transposed: bool = False) -> np.ndarray:
        """Return A^-1, or its transpose, times vectors of shape (M, Q), float64."""
        return self._trsm_a(vectors, int(not transposed)).astype(np.float64)

    def solve_t(self, vectors: np.ndarray, transposed: bool = False) -> np.ndarray:
        """Return T^-1, or its transpose, times vectors of shape (M, Q), float64."""
        return self._trsm_t(vectors, int(transposed)).astype(np.float64)

    def values_at_landmarks(self, vector: np.ndarray) -> np.ndarray:
        """Return T' times a vector, of a function T^-1 vector its values there, shape (M,)."""
        self._set_diagonal(self._diagonal_of_T)
        single = vector.astype(self._square.dtype)
        above = (self._square[: j + 1, j] @ single[: j + 1] for j in range(len(single)))
        return np.fromiter(above, np.float64, len(single))

    def _trsm_t(self, vectors: np.ndarray, transposed: int) -> np.ndarray:
        self._set_diagonal(self._diagonal_of_T)
        return self._trtrs(self._square, vectors, lower=0, trans=transposed)[0]

    def _trsm_a(self, vectors: np.ndarray, transposed: int) -> np.ndarray:
        self._set_diagonal(self._diagonal_of_A)
        return self._trtrs(self._square, vectors, lower=1, trans=transposed)[0]

    def _set_diagonal(self, values: np.ndarray) -> None:
        self._square.T.flat[:: len(values) + 1] = values

    def _add_to_diagonal(self, value: float) -> None:
        self._square.T.flat[:: len(self._square) + 1] += self._square.dtype.type(value)


def preconditioner_bytes(
    n_landmarks: int, n_features: int, item: int, kernel: str | kernels.KernelFunction
) -> int:
    """Bytes that a `FalkonPreconditioner` holds beside its square matrix while it is made."""
    columns = min(n_landmarks, _COLUMNS)
    held = kernels.kernel_bytes(kernel, columns, n_landmarks, n_features, item, at_origin=True)
    return held + item * n_landmarks * (columns + 4)
