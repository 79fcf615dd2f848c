"""Harmonic functions on graphs with Gaussian weights (Zhu, Ghahramani & Lafferty 2003).

A function g whose values at some points are given is extended to all others: each of these takes
the mean of all points, weighted by its edges, A_uu g_u = W_ul g_l with A = D - W + T. The small
`T = TIE D` ties every point to the value 0, that of a point which nothing is known of. It also
keeps the system positive definite to working precision, whatever the width. Where g is the
deviation from a class prior, points that no label reaches get the prior.

Small systems are factored in packed form (`laplacian`); large ones by
conjugate gradients (`extend_harmonically`) on a graph that can do no more than multiply vectors.
"""

from __future__ import annotations

import warnings
from typing import Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from harness.kernels.degrees import gaussian_tiles
from harness.kernels.graph_systems import solve_graph_systems
from harness.kernels.neighbors import without_edges_one

TIE = 1e-10
"""Share of its degree with which a point is tied to 0: 10^6 times the rounding of a degree."""


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


def keep_pairs(weights: np.ndarray) -> None:
    """Clear the upper half and the diagonal of points' weights among themselves, in place.

    Rounding makes the halves of a computed kernel matrix differ, and a Laplacian whose degrees do
    not add up to its weights to the last bit need not be positive definite.
    """
    weights *= np.tri(len(weights), k=-1, dtype=bool)


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

    found, n_iterations, error = solve_graph_systems(
        normalized_laplacian, pull / root, root, tolerance, max_iterations, least=TIE
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
