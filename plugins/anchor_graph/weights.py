"""How much of each anchor a point takes: nearest anchors, then kernel weights or a small problem.

A point takes s anchors with weights that are not negative and sum to one. They are a Gaussian
kernel in parts of its sum, or the point's projection on the hull of its anchors (local anchor
embedding). All points of a block are embedded together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness import kernels
from harness.kernels.gaussian import squared_norms

_STEPS = 500
"""Steps of the embedding at most: most blocks need some tens."""
_TOLERANCE = 1e-4
"""Change of a weight below which the embedding of a point ends."""


class AnchorWeights:
    """Weights of rows at their nearest anchors, a block of rows at a time.

    Parameters
    ----------
    anchors : ndarray of shape (m, d), float32
        Less the center.
    n_neighbors : int
        s; all anchors where there are fewer.
    width : float or None
        Of the Gaussian kernel, in the units of the anchors. None: local anchor embedding.
    center : ndarray of shape (d,)
        What is subtracted from rows.
    """

    def __init__(
        self, anchors: np.ndarray, n_neighbors: int, width: float | None, center: np.ndarray
    ) -> None:
        self._anchors, self._width, self._center = anchors, width, center
        self.n_neighbors = min(n_neighbors, len(anchors))
        self._half_norms = squared_norms(anchors) / 2

    def blocks(self, n: int) -> Iterator[slice]:
        """Cut n rows into blocks of which `of` holds no more than `bytes`."""
        m, d = self._anchors.shape
        return kernels.row_blocks(n, self._row(m, d, self.n_neighbors), 4)

    def of(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest anchors of rows and their weights.

        Returns
        -------
        nearest : ndarray of shape (n, s), intp
        weights : ndarray of shape (n, s), float64
            Rows sum to one.
        """
        rows = kernels.centered(X, self._center)
        # half the squared distance, less half the squared norm of the row
        far = rows @ self._anchors.T
        np.subtract(self._half_norms, far, out=far)
        s = self.n_neighbors
        if s < len(self._anchors):
            # a copy: a view would keep the order of all anchors
            nearest = np.argpartition(far, s - 1, axis=1)[:, :s].copy()
        else:
            nearest = np.tile(np.arange(s), (len(rows), 1))
        del far
        apart = self._anchors[nearest]
        apart -= rows[:, None]
        if self._width is None:
            gram = np.matmul(apart, apart.transpose(0, 2, 1)).astype(np.float64)
            del apart, rows
            return nearest, embed(gram)
        squares = np.einsum("ijk,ijk->ij", apart, apart, dtype=np.float64)
        # of the nearest the weight is 1, whatever the width
        squares -= squares.min(axis=1, keepdims=True)
        squares *= -0.5 / self._width**2
        weights = np.exp(squares, out=squares)
        weights /= weights.sum(axis=1, keepdims=True)
        return nearest, weights

    @staticmethod
    def _row(m: int, d: int, s: int) -> int:
        """Numbers of four bytes held for a row: distances and their order, or its anchors.

        The row itself is picked in float64 and moved in float32. Then there are products of its
        anchors in both types, and vectors of the embedding.
        """
        return 3 * d + max(3 * m, s * d + 3 * s * s) + 52 * s + 24

    @classmethod
    def bytes(cls, n: int, m: int, n_features: int, n_neighbors: int, picked: bool = False) -> int:
        """Bytes that a block of n rows holds at most, and its weights.

        `picked` rows are copied from among others, as the labeled ones are.
        """
        row = cls._row(m, n_features, min(n_neighbors, m))
        return kernels.stream_bytes(n, row, 4, 4 * (row - (0 if picked else 2 * n_features)))

    @classmethod
    def left_bytes(cls, n: int, m: int, n_features: int, n_neighbors: int) -> int:
        """Bytes that may stay in the heap: of vectors of the embedding, too small to be mapped."""
        s = min(n_neighbors, m)
        rows = min(n, kernels.block_rows(cls._row(m, n_features, s), 4))
        return 4 * rows * (52 * s + 24)


def embed(gram: np.ndarray) -> np.ndarray:
    """Return the weights z that minimise z'Gz with z >= 0 and sum 1, for each of many G.

    With G the inner products of a point's anchors less the point, it is the local anchor embedding
    of Liu, He & Chang (2010): its objective |x - U z|^2 / 2 is z'Gz / 2 where z sums to
    one. Their algorithm 1, projected gradients with Nesterov's momentum, has a step of one over
    the trace of G here, which bounds the curvature, and starts anew where momentum points uphill
    (O'Donoghue & Candes 2015).

    Parameters
    ----------
    gram : ndarray of shape (n, s, s), float64

    Returns
    -------
    ndarray of shape (n, s)
    """
    n, s = gram.shape[:2]
    trace = np.trace(gram, axis1=1, axis2=2)[:, None]
    # where all anchors are the point itself, any weights will do
    step = np.divide(1, trace, out=np.zeros_like(trace), where=trace > 0)
    found = np.full((n, s), 1 / s)
    moving = np.arange(n)
    z, ahead, momentum = found, found, np.ones((n, 1))
    for _ in range(_STEPS):
        slope = np.matmul(gram, ahead[:, :, None])[:, :, 0]
        following = project_on_simplex(ahead - step * slope)
        moved = following - z
        uphill = np.einsum("ij,ij->i", ahead - following, moved) > 0
        momentum[uphill] = 1
        growing = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / growing * moved
        z, momentum = following, growing
        # a point is done by itself, or its weights would depend on the block that it is in
        left = np.abs(moved).max(axis=1) >= _TOLERANCE
        if not left.all():
            found[moving[~left]] = z[~left]
            moving, gram, step = moving[left], gram[left], step[left]
            z, ahead, momentum = z[left], ahead[left], momentum[left]
        if not moving.size:
            break
    found[moving] = z
    return found


def project_on_simplex(V: np.ndarray) -> np.ndarray:
    """Return the nearest point of the simplex to each row (Duchi et al. 2008, figure 1).

    Parameters
    ----------
    V : ndarray of shape (n, s)
    """
    ordered = -np.sort(-V, axis=1)
    excess = np.cumsum(ordered, axis=1) - 1
    counts = np.arange(1, V.shape[1] + 1)
    last = np.count_nonzero(ordered * counts > excess, axis=1) - 1
    theta = excess[np.arange(len(V)), last] / (last + 1)
    return np.maximum(V - theta[:, None], 0)
