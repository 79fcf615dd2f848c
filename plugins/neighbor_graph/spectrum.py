"""The first eigenvectors of a sparse graph's L = D^-1/2 (W + I) D^-1/2, by Lanczos steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from harness import kernels

LEAST = 1e-3
"""Eigenvalues below are dropped: the extension to new points divides by them."""
_TOLERANCE = 1e-6

Multiply = Callable[[np.ndarray], np.ndarray]
_DENSE = 3
"""All eigenvectors are found at once where a rank is more than this part of the points: Lanczos
steps would hold more.
"""


def first_eigenvectors(
    graph: kernels.NeighborGraph, roots: np.ndarray, rank: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of L, descending, and their eigenvectors.

    Each part of a graph that no edge connects with others has an eigenvalue of 1. Its eigenvector
    is known: D^1/2 there. Lanczos steps from one vector would find one of them. So these are taken
    first, of the largest parts, and the steps see what is left of L.

    Parameters
    ----------
    graph : NeighborGraph
        W, with an empty diagonal.
    roots : ndarray of shape (n,)
        D^1/2, the diagonal counted.
    rank : int
        r, at most.

    Returns
    -------
    eigenvalues : ndarray of shape (r,)
        Above `LEAST`; one at the least.
    vectors : ndarray of shape (n, r), float32
    """
    n = len(roots)
    everything = np.arange(n)

    def multiply(V: np.ndarray) -> np.ndarray:
        V = V.reshape(n, -1) / roots[:, None]
        V += graph.multiply(everything, V)
        V /= roots[:, None]
        return V

    if _DENSE * rank >= n:
        values, U = kernels.eigensystem(_dense(multiply, n))
        values, U = values[:rank], U[:, :rank]
    else:
        values, U = _by_lanczos(multiply, graph.components(), roots, rank)
    kept = max(1, int(np.sum(values > LEAST)))
    return values[:kept], np.ascontiguousarray(U[:, :kept], np.float32)


def _dense(multiply: Multiply, n: int) -> np.ndarray:
    L = np.zeros((n, n))
    for block in kernels.row_blocks(n, 4 * n):
        unit = np.zeros((n, block.stop - block.start))
        unit[block] = np.eye(block.stop - block.start)
        L[block] = multiply(unit).T
    return L


def _by_lanczos(
    multiply: Multiply, part: np.ndarray, roots: np.ndarray, rank: int
) -> tuple[np.ndarray, np.ndarray]:
    n, volume = len(roots), np.bincount(part, roots**2)
    parts = np.argsort(-volume, kind="stable")[:rank]
    values, known = np.ones(rank), len(parts)
    V = np.empty((n, 0))
    if known < rank:

        def left(v: np.ndarray) -> np.ndarray:
            v = v.ravel()
            mean = np.bincount(part, roots * v) / volume
            return multiply(v)[:, 0] - roots * mean[part]

        operator = LinearOperator((n, n), left, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(n)
        some, V = eigsh(operator, rank - known, which="LA", v0=start, tol=_TOLERANCE)
        order = np.argsort(-some)
        values[known:] = some[order]
    # not before: Lanczos steps hold most
    U = np.zeros((n, rank), np.float32)
    for j, number in enumerate(parts):
        members = part == number
        U[members, j] = roots[members] / np.sqrt(volume[number])
    for j in range(known, rank):
        U[:, j] = V[:, order[j - known]]
    return values, U


def eigenvector_bytes(n: int, rank: int) -> int:
    """Bytes that `first_eigenvectors` holds beside the graph.

    All at once two matrices of order n; else 2 r + 1 Lanczos vectors, r eigenvectors of these,
    twice while they are put in order, and what ARPACK takes besides.
    """
    if _DENSE * rank >= n:
        return 16 * n * n + kernels.eigen_workspace(n) + 4 * n * rank
    # a product takes a dozen vectors
    steps = 8 * n * max(20, 2 * rank + 1) + 150 * n + 8 * (2 * rank + 1) * (2 * rank + 9)
    return steps + 24 * n * rank
