"""Nearest neighbors by brute force, and the graph of Gaussian weights between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from harness.kernels.gaussian import center_rows, column_medians, squared_norms

_TILE_ROWS = 256

_RANKED = 1 << 13
"""Candidates that are ranked at a time: of the first tile every point is one, later few are."""


class NeighborSearch:
    """Nearest neighbors by brute force, and the Gaussian weights of the edges to them.

    Distances are in float64, of points less their middle, a tile at a time: whatever the number of
    columns and the type of X, it holds `bytes`. Neighbors come nearest first, and of points that
    are equally far those with the lower index.

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
        found = _Nearest(len(X), min(self._k, len(self._X)))
        step = tile_rows(*self._X.shape)
        tiles = _Tiles(min(step, len(X)), min(step, len(self._X)), self._center)
        for block in _cut(len(X), step):
            rows = tiles.rows(X[block])
            for tile in _cut(len(self._X), step):
                found.take(block, tile, tiles.half_squares(rows, self._X[tile]))
        return found.points, self._weights(found.half_squares)

    def nearest_others(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest points of every point, without itself.

        A tile of distances serves its rows and its columns: half of all products are computed.
        """
        n = len(self._X)
        found = _Nearest(n, min(self._k, n - 1))
        step = tile_rows(*self._X.shape)
        tiles = _Tiles(min(step, n), min(step, n), self._center)
        for block in _cut(n, step):
            rows = tiles.rows(self._X[block])
            for tile in _cut(n, step, block.start):
                halves = tiles.half_squares(rows, self._X[tile])
                if tile == block:
                    np.fill_diagonal(halves, np.inf)
                else:
                    found.take(tile, block, halves.T)
                found.take(block, tile, halves)
        return found.points, self._weights(found.half_squares)

    def _weights(self, half_squares: np.ndarray) -> np.ndarray:
        """Return weights of edges, in the place of halves of their squared lengths."""
        for block in _cut(len(half_squares), _TILE_ROWS):
            # rounding can put the squared distance of equal points below zero
            best = np.maximum(half_squares[block], 0, out=half_squares[block])
            if self._width is None:
                # halves, as are those of the last neighbor: 1 where all are at one place
                last = best.max(axis=1, keepdims=True, initial=0)
                best *= np.divide(-4, last, out=np.zeros_like(last), where=last > 0)
            else:
                best *= -1 / self._width**2
            np.exp(best, out=best)
        return half_squares

    @staticmethod
    def bytes(n: int, n_features: int, k: int) -> int:
        """Bytes that a search for k neighbors holds beside X and what it returns.

        Two tiles of rows, their distances, and which of these are candidates; the order of some
        candidates; the middle of the points.
        """
        rows, k = min(n, tile_rows(n, n_features)), min(n, k)
        tiles = rows * (16 * (n_features + 2) + 9 * rows + 32)
        ranked = min(rows * (rows + k), max(rows + k, _RANKED))
        return tiles + 60 * ranked + 16 * n_features


def tile_rows(n: int, n_features: int) -> int:
    """Rows of a tile of distances: as many as a block has, 64 at the least and 256 at the most.

    Of few points a thirty-second, but as many as a quarter of a block has, 16 at the least: two
    tiles are then an eighth of X in float32 at most.
    """
    most = max(64, center_rows(n_features, 2))
    return min(_TILE_ROWS, most, max(center_rows(n_features), n // 32))


def _cut(n: int, step: int, start: int = 0) -> list[slice]:
    return [slice(first, min(first + step, n)) for first in range(start, n, step)]


class _Tiles:
    """Room for two tiles of points and for the distances between them.

    A point x stands as (x, |x|^2 / 2, 1) among rows and as (-x, 1, |x|^2 / 2) among the others:
    products of these are halves of squared distances, with no pass over them but the product.
    """

    def __init__(self, n_rows: int, n_others: int, center: np.ndarray) -> None:
        d = len(center)
        self._center = center
        self._rows, self._others = np.empty((n_rows, d + 2)), np.empty((n_others, d + 2))
        self._halves = np.empty(n_rows * n_others)

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Return rows as the left side of a product, shape (m, d + 2)."""
        points, half_norms = self._centered(X, self._rows)
        points[:, -2], points[:, -1] = half_norms, 1
        return points

    def half_squares(self, rows: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Return |x - z|^2 / 2 of `rows` and the rows of X; the next call writes over it."""
        points, half_norms = self._centered(X, self._others)
        np.negative(points[:, :-2], out=points[:, :-2])
        points[:, -2], points[:, -1] = 1, half_norms
        halves = self._halves[: len(rows) * len(X)].reshape(len(rows), len(X))
        return np.matmul(rows, points.T, out=halves)

    def _centered(self, X: np.ndarray, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        points = room[: len(X)]
        near = points[:, :-2]
        # in one type, or NumPy would convert by way of buffers
        np.subtract(X, self._center.astype(X.dtype), out=near, casting="same_kind")
        return points, squared_norms(near) / 2


class _Nearest:
    """The k nearest points of m rows so far, nearest first."""

    def __init__(self, m: int, k: int) -> None:
        self.points = np.zeros((m, k), np.int32)
        self.half_squares = np.full((m, k), np.inf)

    def take(self, block: slice, tile: slice, halves: np.ndarray) -> None:
        """Take those points of a tile that are nearer than the last known one of a row.

        After the first tiles these are few. Tiles come in their order, so that of points equally
        far the first stay.
        """
        points, best = self.points[block], self.half_squares[block]
        k = best.shape[1]
        if not k:
            return
        nearer = halves < best[:, k - 1 :]
        counts = np.count_nonzero(nearer, axis=1)
        changed = np.flatnonzero(counts)
        step = max(1, _RANKED // (k + counts.max()))
        for start in range(0, len(changed), step):
            rows = changed[start : start + step]
            row, column = np.nonzero(nearer[rows])
            known = best[rows], points[rows]
            new = halves[rows[row], column], (column + tile.start).astype(np.int32)
            best[rows], points[rows] = _merge(*known, *new, row, counts[rows])
            # or they would stand beside the next ones
            del row, column, known, new


def _merge(
    best: np.ndarray,
    points: np.ndarray,
    new: np.ndarray,
    new_points: np.ndarray,
    row: np.ndarray,
    counts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest of those known, shape (m, k), and new ones, `counts` of each row."""
    m, k = best.shape
    # new ones of a row stand side by side, behind those that are known
    place = np.arange(k, k + len(row))
    place -= np.repeat(np.cumsum(counts) - counts, counts)
    found, who = np.full((m, k + counts.max()), np.inf), np.zeros((m, k + counts.max()), np.int32)
    found[:, :k], found[row, place] = best, new
    who[:, :k], who[row, place] = points, new_points
    order = np.argsort(found, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(who, order, axis=1)


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
