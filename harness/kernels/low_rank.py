"""Low-rank estimates of a normalised kernel matrix by stochastic proximal gradient steps.

Zhang, Yang, Yi, Jin & Zhou 2016 (kernel PCA), as Hou, Zhang & Zhou 2017 use it. The estimate
stays positive semidefinite, so one factor is all that grows with the points: random features are
computed anew for each pass over the rows, and what is decomposed is a Gram matrix.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.kernels.features import FeatureMap
from harness.kernels.gaussian import block_rows
from harness.kernels.spectrum import eigensystem

# Eigenvalues of a Gram matrix of float32 products below this part of the largest are rounding.
_TOLERANCE = 1e-6


class LowRankKernel:
    """Z = B B', an estimate of L that stochastic proximal gradient steps improve.

    The steps minimise 1/2 |Z - L|_F^2 + threshold |Z|_*, the paper's equations 8 to 10. Columns of
    B are eigenvectors of Z times roots of their eigenvalues, so B'B is diagonal and known.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    degrees : ndarray of shape (n,)
    rank : int
        Columns of B at most: the largest eigenvalues stay.
    threshold : float
        lambda, by which the eigenvalues of Z end up smaller than those of L.

    Attributes
    ----------
    eigenvalues : ndarray of shape (r,)
        Of Z, descending; r <= rank of them are left.
    """

    def __init__(self, X: np.ndarray, degrees: np.ndarray, rank: int, threshold: float) -> None:
        self._X, self._rank, self._threshold = X, rank, threshold
        self._scale = (degrees**-0.5).astype(np.float32)[:, None]
        # Reserved, but taken only as far as it is written to.
        self._buffer = np.empty(len(X) * rank, np.float32)
        self.eigenvalues = np.empty(0)

    @property
    def factor(self) -> np.ndarray:
        """B, of shape (n, r), in float32."""
        return self._rows_of(len(self.eigenvalues))

    def _rows_of(self, r: int) -> np.ndarray:
        return self._buffer[: len(self._X) * r].reshape(len(self._X), r)

    def step(self, features: FeatureMap, eta: float) -> None:
        """Replace Z by D_{eta threshold}[(1 - eta) Z + eta D^-1/2 Phi Phi' D^-1/2].

        Parameters
        ----------
        features : FeatureMap
            Computes Phi, in float32; asked for every row twice.
        eta : float
            From 0 to 1.

        Raises
        ------
        ValueError
            If the threshold leaves no eigenvalue.
        """
        eigenvalues, W = self._decompose(self._gram(features, eta), eta)
        W *= _mixture(len(self.eigenvalues), features.n_components, eta)[:, None]
        widens = W.shape[1] > len(self.eigenvalues)
        B = self._rows_of(W.shape[1])
        # The rows change their length in place: none may be written to before it has been read.
        for block, A in self._blocks(features, backwards=widens):
            np.matmul(A, W, out=B[block])
        self.eigenvalues = eigenvalues

    def _gram(self, features: FeatureMap, eta: float) -> np.ndarray:
        """Return A'A for A = [(1 - eta)^1/2 B, eta^1/2 D^-1/2 Phi]."""
        r, a = len(self.eigenvalues), features.n_components
        G = np.zeros((r + a, r + a))
        G[range(r), range(r)] = self.eigenvalues
        for _, A in self._blocks(features):
            G[:, r:] += A.T @ A[:, r:]
        G[r:, :r] = G[:r, r:].T
        mixture = _mixture(r, a, eta)
        G *= mixture
        G *= mixture[:, None]
        return G

    def _decompose(self, G: np.ndarray, eta: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowered eigenvalues of G, and W such that A W is the new B."""
        eigenvalues, V = eigensystem(G)
        del G
        lowered = eigenvalues - eta * self._threshold
        above = np.sum((lowered > 0) & (eigenvalues > _TOLERANCE * eigenvalues[0]))
        kept = min(int(above), self._rank)
        if not kept:
            message = (
                f"threshold={self._threshold} is above every eigenvalue of L, the largest of "
                "which is about 1: nothing is left; lower it"
            )
            raise ValueError(message)
        V[:, :kept] *= np.sqrt(lowered[:kept] / eigenvalues[:kept])
        return lowered[:kept], V[:, :kept].astype(np.float32)

    def _blocks(
        self, features: FeatureMap, backwards: bool = False
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows of [B, D^-1/2 Phi], each in the same buffer."""
        n, d = self._X.shape
        B, r, a = self.factor, len(self.eigenvalues), features.n_components
        rows = _rows_of_step(r + a, _step_width(r, a, d))
        buffer = np.empty((min(rows, n), r + a), np.float32)
        starts = range(0, n, rows)
        for start in reversed(starts) if backwards else starts:
            block = slice(start, min(start + rows, n))
            A = buffer[: block.stop - start]
            A[:, :r] = B[block]
            np.multiply(features.transform(self._X[block]), self._scale[block], out=A[:, r:])
            yield block, A


def _mixture(r: int, a: int, eta: float) -> np.ndarray:
    """Return the weights of the columns of B and of the features."""
    return np.repeat(np.sqrt([1 - eta, eta]).astype(np.float32), [r, a])


def _step_width(r: int, a: int, d: int) -> int:
    """Elements held for a row in a step: of B and Phi, phases, and Phi as computed or X."""
    return r + a + a // 2 + max(a, d)


def _rows_of_step(order: int, width: int) -> int:
    """Rows of a block; each adds to a Gram matrix, so not few beside its order."""
    return max(block_rows(2 * width, 4), order // 4)


def step_bytes(n: int, rank: int, n_components: int, n_features: int) -> int:
    """Bytes that a step of `LowRankKernel` holds besides B, the features' own among them."""
    order = rank + n_components
    width = _step_width(rank, n_components, n_features)
    block = 4 * width * min(n, _rows_of_step(order, width))
    summing = 8 * order**2 + 4 * n_components * order + block
    decomposing = 16 * order**2 + 600 * order
    return max(decomposing, summing, 4 * order * rank + block)
