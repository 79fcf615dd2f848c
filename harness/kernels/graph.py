"""Harmonic functions on graphs with Gaussian weights (Zhu, Ghahramani & Lafferty 2003).

A function g whose values at some points are given is extended to all others: each of these takes
the mean of all points, weighted by its edges, A_uu g_u = W_ul g_l with A = D - W + T. The small
`T = TIE D` ties every point to the value 0, that of a point which nothing is known of. It also
keeps the system positive definite to working precision, whatever the width. Where g is the
deviation from a class prior, points that no label reaches get the prior.

Small systems are factored in packed form (`plugins/harmonic/laplacian.py`); large ones by
conjugate gradients (`extend_harmonically`) on a graph that can do no more than multiply vectors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import eigvalsh_tridiagonal
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from harness.kernels.degrees import gaussian_tiles
from harness.kernels.gaussian import center_rows, centered, column_medians, squared_norms

TIE = 1e-10
"""Share of its degree with which a point is tied to 0: 10^6 times the rounding of a degree."""

_TILE_ROWS = 256


class Graph(Protocol):
    """Symmetric weights W with an empty diagonal.

    Attributes
    ----------
    degrees : ndarray of shape (n,)
        Row sums of W; 1 where a point has no edge.
    """

    degrees: np.ndarray

    def multiply(self, rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Return W[rows][:, rows] @ vectors for vectors of shape (len(rows), k)."""


class CompleteGraph:
    """exp(-|x - z|^2 / (2 sigma^2)) between all points, computed anew for each product.

    Weights are in float32, sums of tiles in float64; each pair is computed once. Holds the
    degrees, and two tiles while it multiplies.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Kept, not copied.
    width : float
        sigma, in the units of X.
    """

    def __init__(self, X: np.ndarray, width: float) -> None:
        self._X = X
        self._width = width
        degrees = self.multiply(np.arange(len(X)), np.ones((len(X), 1)))[:, 0]
        self.degrees = without_edges_one(degrees, np.float32)

    def multiply(self, rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Return W[rows][:, rows] @ vectors."""
        product = np.zeros(vectors.shape)
        vectors = vectors.astype(np.float32)
        for first, second, weights in gaussian_tiles(self._X, self._width, chosen=rows):
            if first == second:
                keep_pairs(weights)
            product[first] += weights @ vectors[second]
            product[second] += weights.T @ vectors[first]
        return product


class NeighborSearch:
    """Nearest neighbors by brute force, and the Gaussian weights of the edges to them.

    Distances are in float64, of points less their middle, a tile at a time: whatever the number of
    columns and the type of X, it holds `neighbor_search_bytes`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Kept, not copied.
    n_neighbors : int
        k; fewer where there are not so many points.
    width : float
        sigma of exp(-|x - z|^2 / (2 sigma^2)), in the units of X.
    """

    def __init__(self, X: np.ndarray, n_neighbors: int, width: float) -> None:
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
        best *= -1 / self._width**2
        return points, np.exp(best, out=best)


def _search_tiles(n: int, d: int) -> list[slice]:
    """Cut points into tiles of as many rows as a quarter of a block has, from 16 to 256."""
    step = min(_TILE_ROWS, center_rows(d))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def neighbor_search_bytes(n: int, n_features: int, k: int) -> int:
    """Bytes that a `NeighborSearch` for k neighbors holds beside X and what it returns.

    Two tiles of rows; their distances twice, and the order of these; the middle of the points.
    """
    rows, k = min(n, _TILE_ROWS, center_rows(n_features)), min(n, k)
    return 8 * rows * (2 * n_features + 3 * (rows + k) + 6 * k) + 16 * n_features


class NeighborGraph:
    """Gaussian weights between points of which one is among the k nearest of the other.

    Holds 12 bytes for each of n k to 2 n k edges; see `neighbor_graph_bytes`.

    Parameters
    ----------
    X, n_neighbors, width
        As in `NeighborSearch`.
    """

    def __init__(self, X: np.ndarray, n_neighbors: int, width: float) -> None:
        n, k = len(X), min(n_neighbors, len(X) - 1)
        points, weights = NeighborSearch(X, k, width).nearest_others()
        starts = k * np.arange(n + 1, dtype=np.int32)
        directed = csr_array((weights.ravel(), points.ravel(), starts), shape=(n, n))
        del points, weights
        self._weights = directed.maximum(directed.T)
        self.degrees = without_edges_one(self._weights.sum(axis=1), np.float64)

    def multiply(self, rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Return W[rows][:, rows] @ vectors."""
        if len(rows) == len(self.degrees) and (rows[1:] > rows[:-1]).all():
            return self._weights @ vectors
        spread = np.zeros((len(self.degrees), vectors.shape[1]))
        spread[rows] = vectors
        return (self._weights @ spread)[rows]


def neighbor_graph_bytes(n: int, n_features: int, n_neighbors: int) -> tuple[int, int]:
    """Bytes that a `NeighborGraph` holds while it is made, and then.

    Edges of one direction, these sorted by their ends, and room for both.
    """
    k = min(n_neighbors, n - 1)
    edges = 12 * n * k
    return max(
        edges + neighbor_search_bytes(n, n_features, k), 4 * edges
    ) + 24 * n, 2 * edges + 24 * n


def keep_pairs(weights: np.ndarray) -> None:
    """Clear the upper half and the diagonal of points' weights among themselves, in place.

    Rounding makes the halves of a computed kernel matrix differ, and a Laplacian whose degrees do
    not add up to its weights to the last bit need not be positive definite.
    """
    weights *= np.tri(len(weights), k=-1, dtype=bool)


def without_edges_one(degrees: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """Return degrees with 1 for those too small for a normal number of the weights' type."""
    return np.where(degrees < np.finfo(dtype).tiny, 1.0, degrees)


def extend_harmonically(
    graph: Graph,
    known: np.ndarray,
    values: np.ndarray,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
) -> tuple[np.ndarray, int]:
    """Return a harmonic function with given values at some points, by conjugate gradients.

    Every iteration is one product of the graph with k vectors of the other points. The system is
    scaled to a unit diagonal, which is Jacobi's preconditioner. Holds 6 k n doubles and what the
    graph's product takes, and 3 n for points and degrees.

    Parameters
    ----------
    graph : Graph
    known : ndarray of shape (l,)
        Numbers of the points whose values are given.
    values : ndarray of shape (l, k)
    tolerance : float, default 1e-6
        Error of the values, estimated as the largest difference between a point and the mean of
        the others, over the smallest eigenvalue that the iteration has met. Weights in float32
        add an error of about 1e-7 at wide kernels and 1e-5 where 100 iterations are needed.
    max_iterations : int, default 1000

    Returns
    -------
    values : ndarray of shape (n, k)
    n_iterations : int

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If the tolerance is not reached.
    """
    n = len(graph.degrees)
    extended = np.zeros((n, values.shape[1]))
    extended[known] = values
    free = np.setdiff1d(np.arange(n), known)
    if not free.size or not values.any():
        return extended, 0
    pull = graph.multiply(np.arange(n), extended)[free]
    root = np.sqrt(graph.degrees[free, None])

    def normalized_laplacian(vectors: np.ndarray) -> np.ndarray:
        product = graph.multiply(free, vectors / root)
        product /= -root
        product += (1 + TIE) * vectors
        return product

    found, n_iterations, error = _conjugate_gradients(
        normalized_laplacian, pull / root, root, tolerance, max_iterations
    )
    if error > tolerance:
        message = (
            f"conjugate gradients left an error of {error:.1e} in the values after "
            f"{n_iterations} iterations, allowed is {tolerance:g}; the graph hardly holds "
            "together: try a larger sigma or more neighbors"
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    found /= root
    # One mean more, because float32 lets no point be exactly the mean of the others.
    extended[free] = (graph.multiply(free, found) + pull) / ((1 + TIE) * root**2)
    lowest, highest = np.minimum(values.min(axis=0), 0), np.maximum(values.max(axis=0), 0)
    return np.clip(extended, lowest, highest, out=extended), n_iterations


def _conjugate_gradients(
    multiply: Callable[[np.ndarray], np.ndarray],
    b: np.ndarray,
    root: np.ndarray,
    tolerance: float,
    max_iterations: int,
) -> tuple[np.ndarray, int, float]:
    """Solve for all columns of b at once until x / root is known to the tolerance.

    Returns
    -------
    x : ndarray of shape (n, k)
    n_iterations : int
    error : float
        Of x / root: the largest residual, over the smallest eigenvalue that was met.
    """
    x, residual, direction = np.zeros(b.shape), b, b.copy()
    squares = np.einsum("ij,ij->j", residual, residual)
    steps: list[np.ndarray] = []
    ratios: list[np.ndarray] = []
    while True:
        local = np.abs(residual / root).max(axis=0)
        worst = int(local.argmax())
        error = float(local[worst])
        # No eigenvalue is far above 1: what is too large already need not be divided.
        if error <= tolerance or len(steps) == max_iterations:
            error /= _smallest_ritz_value(steps, ratios, worst)
            if error <= tolerance or len(steps) == max_iterations:
                return x, len(steps), error
        product = multiply(direction)
        curvature = np.einsum("ij,ij->j", direction, product)
        # A column that has nothing left to solve stays as it is.
        unsolved = squares > 0
        step = np.divide(squares, curvature, out=np.zeros_like(squares), where=unsolved)
        x += step * direction
        product *= step
        residual -= product
        del product  # or it is held beside the next one
        previous, squares = squares, np.einsum("ij,ij->j", residual, residual)
        ratio = np.divide(squares, previous, out=np.zeros_like(squares), where=unsolved)
        direction *= ratio
        direction += residual
        steps.append(step)
        ratios.append(ratio)


def _smallest_ritz_value(steps: list[np.ndarray], ratios: list[np.ndarray], column: int) -> float:
    """Return the smallest eigenvalue of the Lanczos matrix that conjugate gradients imply."""
    # A column that was solved before the others has steps of length 0 since.
    step = np.array([values[column] for values in steps if values[column] > 0])
    if not step.size:
        return 1.0
    ratio = np.array([values[column] for values in ratios])[: len(step) - 1]
    diagonal = 1 / step
    diagonal[1:] += ratio / step[:-1]
    off_diagonal = np.sqrt(ratio) / step[:-1]
    smallest = eigvalsh_tridiagonal(diagonal, off_diagonal, select="i", select_range=(0, 0))[0]
    return max(float(smallest), TIE)
