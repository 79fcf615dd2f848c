"""Label spreading and Poisson learning as linear systems of a sparse graph.

Both are solved for all classes at once by conjugate gradients, in which the graph does nothing but
multiply.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from harness import kernels
from harness.kernels.graph_systems import solve_graph_systems

ITERATIONS = 2_000
_SPREAD_TOLERANCE = 1e-9
"""Of spread labels, that are at most 1: far from all labels they are small."""
_POISSON_TOLERANCE = 1e-4
"""In parts of the largest source over its degree, which no value is much below."""
_LEAST = 1e-10
_DRIFT = 1_000
"""Iterations of algorithm 1 of Calder et al., as many as their own program takes at most."""


def spread(
    graph: kernels.NeighborGraph, rows: np.ndarray, codes: np.ndarray, n_classes: int, alpha: float
) -> np.ndarray:
    """Return (1 - alpha) (I - alpha S)^-1 Y with S = D^-1/2 W D^-1/2, shape (n, n_classes).

    The limit of the iteration of Zhou et al. (2004, section 2).

    Parameters
    ----------
    graph : NeighborGraph
    rows, codes : ndarray of shape (l,)
        Labeled points and their classes.
    n_classes : int
    alpha : float
        Above 0 and below 1.
    """
    root = np.sqrt(graph.degrees)[:, None]
    everything = np.arange(len(root))
    right = np.zeros((len(root), n_classes))
    right[rows, codes] = 1 - alpha

    def system(vectors: np.ndarray) -> np.ndarray:
        product = graph.multiply(everything, vectors / root)
        product /= root
        product *= -alpha
        product += vectors
        return product

    found, n_iterations, error = solve_graph_systems(
        system, right, np.ones_like(root), _SPREAD_TOLERANCE, ITERATIONS, 1 - alpha
    )
    _warn(error, _SPREAD_TOLERANCE, n_iterations, "a smaller alpha")
    return np.maximum(found, 0, out=found)


def poisson(
    graph: kernels.NeighborGraph, rows: np.ndarray, codes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Solve L u = sum_j (y_j - mean y) delta_j, sum_i d_i u_i = 0 (Calder et al. 2020, section 2).

    Where parts of the graph hold labels in other proportions than all of it, there is no solution.
    Their algorithm 1 then drifts by the sum of a part's sources over its volume in each iteration.
    Such a part is given the drift of `_DRIFT` iterations, and a solution of its own.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Rows sum to zero, and so do columns weighted by degrees.
    """
    part = graph.components()
    degrees, n = graph.degrees, len(graph.degrees)
    root, everything = np.sqrt(degrees)[:, None], np.arange(len(degrees))
    sources = np.zeros((n, n_classes))
    sources[rows, codes] = 1
    sources[rows] -= np.bincount(codes, minlength=n_classes) / len(codes)
    volume = np.bincount(part, degrees)
    drift = np.zeros((len(volume), n_classes))
    np.add.at(drift, part[rows], sources[rows])
    drift /= volume[:, None]
    sources -= degrees[:, None] * drift[part]
    scale = float(np.abs(sources[rows] / degrees[rows, None]).max())
    sources /= root

    def system(vectors: np.ndarray) -> np.ndarray:
        product = graph.multiply(everything, vectors / root)
        product /= -root
        product += vectors
        return product

    tolerance = _POISSON_TOLERANCE * scale
    found, n_iterations, error = solve_graph_systems(
        system, sources, root, tolerance, ITERATIONS, _LEAST
    )
    _warn(error, tolerance, n_iterations, "more neighbors")
    found /= root
    means = np.zeros_like(drift)
    for j, column in enumerate(found.T):
        means[:, j] = np.bincount(part, degrees * column) / volume
    drift *= _DRIFT
    drift -= means
    found += drift[part]
    return found


def _warn(error: float, tolerance: float, n_iterations: int, remedy: str) -> None:
    if error > tolerance:
        message = (
            f"conjugate gradients left an error of {error:.1e} after {n_iterations} iterations, "
            f"allowed is {tolerance:.1e}; the graph hardly holds together: try {remedy}"
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
