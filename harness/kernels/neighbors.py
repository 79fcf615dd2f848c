"""Nearest neighbors by brute force, and the graph of Gaussian weights between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from harness.kernels.gaussian import center_rows, centered, column_medians, squared_norms

_TILE_ROWS = 256


class NeighborSearch:
    """Nearest neighbors by brute force, and the Gaussian weights of the edges to them.

    Distances are in float64, of points less their middle, a tile at a time: whatever the number of
    columns and the type of X, it holds `bytes`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Kept, not copied.
    n_neighbors : int
        k; fewer where there are not so many points.
    width : float or None
        sigma of exp(-|x - z|^2 / (2 sigma^2)), in the units of X. None: exp(-4 |x - z|^2 / r^2)
        with r the distance of x to the last of its neighbors, whatever the units (Calder, Cook,
        Thorpe & Slepcev 2020).
    """

    def __init__(self, X: np.ndarray, n_neighbors: int, width: float | None) -> None:
        self._X, self._k, self._width = X, n_neighbors, width
        self._center = column_medians(X)

    def nearest(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest points of other rows.

        Parameters
        ----------
        X : ndarray of shape (m, d)

        Returns
        -------
        points : ndarray of shape (m, k), int32
        weights : ndarray of shape (m, k)
        """
        k = min(self._k, len(self._X))
        points, weights = np.empty((len(X), k), np.int32), np.empty((len(X), k))
        for block in _search_tiles(*X.shape):
            points[block], weights[block] = self._search(X[block], k, None)
        return points, weights

    def nearest_others(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest points of every point, without itself."""
        n, k = len(self._X), min(self._k, len(self._X) - 1)
        points, weights = np.empty((n, k), np.int32), np.empty((n, k))
        for block in _search_tiles(*self._X.shape):
            points[block], weights[block] = self._search(self._X[block], k, block)
        return points, weights

    def _search(self, X: np.ndarray, k: int, own: slice | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest points of rows, and their weights; `own` are the rows among these."""
        rows = centered(X, self._center, np.float64)
        half_norms = squared_norms(rows) / 2
        best, points = np.full((len(X), k), np.inf), np.zeros((len(X), k), np.int32)
        for tile in _search_tiles(*self._X.shape):
            near = centered(self._X[tile], self._center, np.float64)
            found = np.empty((len(X), k + len(near)))
            found[:, :k] = best
            halves = found[:, k:]
            halves[:] = rows @ near.T
            np.subtract(half_norms[:, None], halves, out=halves)
            halves += squared_norms(near) / 2
            if tile == own:
                np.fill_diagonal(halves, np.inf)
            chosen = np.argpartition(found, k - 1, axis=1)[:, :k]
            best = np.take_along_axis(found, chosen, axis=1)
            known = np.take_along_axis(points, np.minimum(chosen, k - 1), axis=1)
            points = np.where(chosen < k, known, chosen - k + tile.start).astype(np.int32)
            del near, halves, found
        best = np.maximum(best, 0, out=best)
        if self._width is None:
            # halves of squares, as are those of the last neighbor: 1 where all are at one place
            last = best.max(axis=1, keepdims=True, initial=0)
            best *= np.divide(-4, last, out=np.zeros_like(last), where=last > 0)
        else:
            best *= -1 / self._width**2
        return points, np.exp(best, out=best)

    @staticmethod
    def bytes(n: int, n_features: int, k: int) -> int:
        """Bytes that a search for k neighbors holds beside X and what it returns.

        Two tiles of rows; their distances twice, and the order of these; the middle of the points.
        """
        rows, k = min(n, _TILE_ROWS, center_rows(n_features)), min(n, k)
        return 8 * rows * (2 * n_features + 3 * (rows + k) + 6 * k) + 16 * n_features


def _search_tiles(n: int, d: int) -> list[slice]:
    """Cut points into tiles of as many rows as a quarter of a block has, from 16 to 256."""
    step = min(_TILE_ROWS, center_rows(d))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


class NeighborGraph:
    """Gaussian weights between points of which one is among the k nearest of the other.

    Of the two weights of an edge, which differ without a `width`, it has the larger one. Holds 12
    bytes for each of n k to 2 n k edges; see `bytes`.

    Parameters
    ----------
    X, n_neighbors, width
        As in `NeighborSearch`.
    """

    row_sums: np.ndarray
    """Of W; `degrees` are the same, with 1 where a point has no edge."""

    def __init__(self, X: np.ndarray, n_neighbors: int, width: float | None) -> None:
        n, k = len(X), min(n_neighbors, len(X) - 1)
        points, weights = NeighborSearch(X, k, width).nearest_others()
        starts = k * np.arange(n + 1, dtype=np.int32)
        directed = csr_array((weights.ravel(), points.ravel(), starts), shape=(n, n))
        del points, weights
        self._weights = directed.maximum(directed.T)
        self.row_sums = self._weights.sum(axis=1)
        self.degrees = without_edges_one(self.row_sums, np.float64)

    def multiply(self, rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Return W[rows][:, rows] @ vectors."""
        if len(rows) == len(self.degrees) and (rows[1:] > rows[:-1]).all():
            return self._weights @ vectors
        spread = np.zeros((len(self.degrees), vectors.shape[1]))
        spread[rows] = vectors
        return (self._weights @ spread)[rows]

    def components(self) -> np.ndarray:
        """Return the number of the part that each point is in, of those that no edge connects."""
        found: np.ndarray = connected_components(self._weights, directed=False)[1]
        return found

    @staticmethod
    def bytes(n: int, n_features: int, n_neighbors: int) -> tuple[int, int]:
        """Bytes that the graph holds while it is made, and then.

        Edges of one direction, these sorted by their ends, and room for both.
        """
        k = min(n_neighbors, n - 1)
        edges = 12 * n * k
        return max(
            edges + NeighborSearch.bytes(n, n_features, k), 4 * edges
        ) + 32 * n, 2 * edges + 32 * n


def without_edges_one(degrees: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """Return degrees with 1 for those too small for a normal number of the weights' type."""
    return np.where(degrees < np.finfo(dtype).tiny, 1.0, degrees)
