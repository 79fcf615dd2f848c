"""Weighted kernel principal components on features of prototypes."""

from __future__ import annotations

import numpy as np

from harness import kernels
from harness.layers import Layer, Linear

# Components of less variance than this are rounding, and their signs are noise.
_TOLERANCE = 1e-10


class KernelComponents:
    """The first weighted kernel principal components, on features of prototypes.

    The eigenvalues are those of V P_v Omega, equation 2, for the Nystrom kernel. Two passes over
    X; holds 16 s^2 bytes and a block of rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    prototypes : ndarray of shape (s, d)
    width : float
        Of the Gaussian kernel, in the units of X.
    n_components : int
        At most s are found.
    center : ndarray of shape (d,)
        What was subtracted from the prototypes, and is to be from X.
    """

    def __init__(
        self,
        X: np.ndarray,
        prototypes: np.ndarray,
        width: float,
        n_components: int,
        center: np.ndarray,
    ) -> None:
        self._nystrom = nystrom = kernels.NystromFeatures(prototypes, width, center=center)
        P, s = nystrom.projection, len(prototypes)
        weights = landmark_degree_weights(X, prototypes, width, P, center)
        # Moments of k(x, Z), which are projected once at the end instead of row by row.
        G, mean, mass = np.zeros((s, s), order="F"), np.zeros(s), 0.0
        step = max(kernels.block_rows(row_bytes(s, X.shape[1], X.itemsize), 1), s // 4)
        for start in range(0, len(X), step):
            block = slice(start, start + step)
            K = nystrom.kernel(X[block])
            V = 1 / np.maximum(K @ weights, 1)
            mean += V @ K
            mass += V.sum()
            K *= np.sqrt(V)[:, None]
            kernels.add_gram(G, K)
            del K
        mean /= mass
        for j in range(s):
            G[j:, j] -= mass * mean[j] * mean[j:]
        kernels.mirror(G)
        m = min(n_components, s)
        self.eigenvalues, W = kernels.largest_eigenpairs(kernels.project_gram(G, P), m)
        self.eigenvalues = self.eigenvalues[::-1].copy()
        coef = P @ W[: P.shape[1], ::-1]
        coef[:, self.eigenvalues < _TOLERANCE] = 0
        # The last column gives degrees, which the line fit of two clusters asks for.
        self._coef = np.column_stack([coef, weights])
        self._bias = np.append(-mean @ coef, 0)
        # Only what prediction needs stays.
        del nystrom.projection

    def layers(self) -> list[Layer]:
        """Return what score variables are made of."""
        return [*self._nystrom.kernel_layers(), Linear(self._coef[:, :-1], self._bias[:-1])]

    def transform(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return score variables (n, n_components), float32, and degrees (n,), at least 1."""
        found = np.empty((len(X), len(self._bias)), np.float32)
        for block in kernels.row_blocks(
            len(X), row_bytes(len(self._coef), X.shape[1], X.itemsize), 1
        ):
            found[block] = self._nystrom.kernel(X[block]) @ self._coef + self._bias
        return found[:, :-1], np.maximum(found[:, -1], 1)


def landmark_degree_weights(
    X: np.ndarray,
    landmarks: np.ndarray,
    sigma: float,
    projection: np.ndarray,
    center: np.ndarray | None = None,
) -> np.ndarray:
    """Return w = P P' sum_j k(Z, x_j): k(x, Z) w is the degree of x in the Nystrom kernel.

    n s d operations instead of the n s^2 of features. Holds a block of kernel rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    landmarks : ndarray of shape (s, d)
        The kernel is computed in their type.
    sigma : float
    projection : ndarray of shape (s, k)
        P of `NystromFeatures`.
    center : ndarray of shape (d,), optional
        What was subtracted from the landmarks, and is to be from X.

    Returns
    -------
    ndarray of shape (s,)
    """
    total = np.zeros(len(landmarks))
    # kernel values, and rows moved and scaled
    width = len(landmarks) + 2 * X.shape[1]
    for block in kernels.row_blocks(len(X), width, landmarks.itemsize):
        rows = kernels.centered(X[block], center, landmarks.dtype)
        total += kernels.gaussian_kernel(rows, landmarks, sigma).sum(axis=0, dtype=np.float64)
    return projection @ (projection.T @ total)


def row_bytes(s: int, d: int, itemsize: int) -> int:
    """Bytes held for a row: its kernel values in both precisions, itself as moved and scaled."""
    return (8 if itemsize == 8 else 12) * s + 2 * itemsize * d
