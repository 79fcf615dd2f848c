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
from harness.kernels.gram import blas_bytes
from harness.kernels.symmetric import eigensystem

# Eigenvalues of a Gram matrix of float32 products below this part of the largest are rounding.
_TOLERANCE = 1e-6
# Columns that every library multiplies at once.
_AT_ONCE = 128
# Steps that share a product with B at most; more of them save little.
_MOST_WAITING = 4


class LowRankKernel:
    """Z = B B', an estimate of L that stochastic proximal gradient steps improve.

    The steps minimise 1/2 |Z - L|_F^2 + threshold |Z|_*, the paper's equations 8 to 10. Columns of
    B are eigenvectors of Z times roots of their eigenvalues, so B'B is diagonal and known.

    A step changes B to [B, Phi] W. That product is most of the work, so several steps share one:
    until then their features wait, computed anew where they are read, and the W are multiplied.

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
        self._columns = 0
        self._waiting: list[FeatureMap] = []
        self._mixed = np.empty((0, 0), np.float32)
        self.eigenvalues = np.empty(0)

    @property
    def factor(self) -> np.ndarray:
        """B, of shape (n, r), in float32; features that wait are worked in."""
        if self._waiting:
            self._multiply()
        return self._rows_of(self._columns)

    def _rows_of(self, r: int) -> np.ndarray:
        return self._buffer[: len(self._X) * r].reshape(len(self._X), r)

    def step(self, features: FeatureMap, eta: float) -> None:
        """Replace Z by D_{eta threshold}[(1 - eta) Z + eta D^-1/2 Phi Phi' D^-1/2].

        Parameters
        ----------
        features : FeatureMap
            Computes Phi, in float32, of as many components in every step; asked for each row a
            few times, and kept until then.
        eta : float
            From 0 to 1.

        Raises
        ------
        ValueError
            If the threshold leaves no eigenvalue.
        """
        r, a = len(self.eigenvalues), features.n_components
        self._waiting.append(features)
        eigenvalues, W = self._decompose(eta)
        W *= _mixture(r, a, eta)[:, None]
        if len(self._waiting) > 1:
            mixed = np.empty((len(self._mixed) + a, len(eigenvalues)), np.float32)
            np.matmul(self._mixed, W[:r], out=mixed[:-a])
            mixed[-a:] = W[r:]
            W = mixed
        self._mixed, self.eigenvalues = W, eigenvalues
        if len(self._waiting) == steps_per_product(self._rank, a):
            self._multiply()

    def _multiply(self) -> None:
        """Work the features that wait into B."""
        widens = self._mixed.shape[1] > self._columns
        B = self._rows_of(self._mixed.shape[1])
        # The rows change their length in place: none may be written to before it has been read.
        for block, A in self._blocks(backwards=widens):
            np.matmul(A, self._mixed, out=B[block])
        self._columns, self._waiting = B.shape[1], []
        self._mixed = np.empty((0, 0), np.float32)

    def _gram(self) -> np.ndarray:
        """Return A'A for A = [B, D^-1/2 Phi], with the features that came last."""
        r, a = len(self.eigenvalues), self._waiting[-1].n_components
        products = np.zeros((self._columns + a * len(self._waiting), a))
        for _, A in self._blocks():
            products += A.T @ A[:, -a:]
        across: np.ndarray = products[:-a]
        if len(self._waiting) > 1:
            # in the type of both, or the larger factor would be copied in doubles
            across = self._mixed.T @ across.astype(np.float32)
        G = np.zeros((r + a, r + a))
        G[range(r), range(r)] = self.eigenvalues
        G[:r, r:] = across
        G[r:, :r] = across.T
        G[r:, r:] = products[-a:]
        return G

    def _decompose(self, eta: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowered eigenvalues of the mixture, and its eigenvectors scaled for B."""
        # not an argument, which the caller would hold beside the eigenvectors
        G = self._gram()
        mixture = _mixture(len(self.eigenvalues), len(G) - len(self.eigenvalues), eta)
        G *= mixture
        G *= mixture[:, None]
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

    def _blocks(self, backwards: bool = False) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows of [B, D^-1/2 Phi, ...], each in the same buffer."""
        n, d = self._X.shape
        B, r, a = self._rows_of(self._columns), self._columns, self._waiting[-1].n_components
        order = r + a * len(self._waiting)
        rows = _rows_of_step(order, order + d)
        buffer = np.empty((min(rows, n), order), np.float32)
        starts = range(0, n, rows)
        for start in reversed(starts) if backwards else starts:
            block = slice(start, min(start + rows, n))
            A = buffer[: block.stop - start]
            A[:, :r] = B[block]
            for i, features in enumerate(self._waiting):
                Phi = A[:, r + a * i : r + a * (i + 1)]
                features.transform(self._X[block], out=Phi)
                Phi *= self._scale[block]
            yield block, A


def _mixture(r: int, a: int, eta: float) -> np.ndarray:
    """Return the weights of the columns of B and of the features."""
    return np.repeat(np.sqrt([1 - eta, eta]).astype(np.float32), [r, a])


def steps_per_product(rank: int, n_components: int) -> int:
    """Return how many steps share a product: their features are no more than half of B."""
    return max(1, min(rank // (2 * n_components), _MOST_WAITING))


def _rows_of_step(order: int, width: int) -> int:
    """Rows of a block; each adds to a Gram matrix, so not few beside its order."""
    return max(block_rows(2 * width, 4), order // 4)


def step_bytes(n: int, rank: int, n_components: int, n_features: int) -> int:
    """Bytes that a step of `LowRankKernel` holds besides B, the features' own among them."""
    waiting = steps_per_product(rank, n_components)
    order = rank + n_components * waiting
    width = order + n_features  # B and all Phi, and X in float32
    block = 4 * width * min(n, _rows_of_step(order, width))
    small = rank + n_components
    mixed = 4 * order * rank if waiting > 1 else 0
    summing = mixed + 12 * n_components * order + block
    decomposing = mixed + 16 * small**2 + 600 * small
    multiplying = 4 * order * rank + block
    mixing = 2 * mixed + 4 * small * rank
    features = 2 * n_features * n_components * waiting
    return features + max(decomposing, summing, multiplying, mixing)


def packed_bytes(n: int, rank: int, n_components: int, n_features: int) -> int:
    """Bytes that BLAS packs for the products of steps: of rows, of columns, of mixtures."""
    waiting = steps_per_product(rank, n_components)
    order = rank + n_components * waiting
    rows = min(n, _rows_of_step(order, order + n_features))
    # few components are multiplied at once, and what is packed of columns is not kept
    packed = rows if n_components <= _AT_ONCE else max(rows, order)
    return max(blas_bytes(packed, 4, order), blas_bytes(order, 4, rank) if waiting > 1 else 0)
