"""Landmarks by recursive ridge leverage scores (Musco & Musco 2017, algorithm 3).

The sample of each half of the points gives the scores by which the whole is sampled. So all points
are scored, by few kernel values each, where `columns.leverage` takes one step from a uniform
sample.
"""

from __future__ import annotations

from math import ceil, log

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from harness.kernels.functions import BoundKernel, KernelFunction, kernel_bytes
from harness.kernels.gaussian import block_rows, row_blocks, squared_norms, stream_bytes
from harness.kernels.landmarks.sampling import residual_row_bytes
from harness.kernels.symmetric import eigen_workspace, eigenvalues


def recursive_leverage(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState, kernel: BoundKernel
) -> np.ndarray:
    """Draw points in proportion to ridge leverage scores that a recursion approximates.

    The score of x is (k(x, x) - k(x, S) (K_SS + mu P)^-1 k(S, x)) / mu, with a sample S of the
    half below and the diagonal P of its chances. mu is what the largest k eigenvalues leave of
    the trace of P^-1/2 K_SS P^-1/2, in parts of k = n_landmarks / (4 log n_landmarks). Below the
    top each point is kept with the chance min(1, log(n_landmarks) score), and at most n_landmarks
    are. At the top so many are drawn without replacement, as in the authors' own program.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        All rows are read.
    n_landmarks : int
    random_state : numpy.random.RandomState
    kernel : BoundKernel
    """
    order = random_state.permutation(len(X))
    sizes = [len(X)]
    while sizes[-1] > n_landmarks:
        sizes.append(ceil(sizes[-1] / 2))
    rows = order[: sizes.pop()]
    chances = np.ones(len(rows))
    oversampling = max(1.0, log(n_landmarks))
    while len(sizes) > 1:
        scores = _scores(X, order[: sizes[-1]], rows, chances, n_landmarks, kernel)
        scores *= oversampling
        np.minimum(scores, 1, out=scores)
        kept = np.flatnonzero(random_state.uniform(size=len(scores)) < scores)
        if len(kept) > n_landmarks:
            kept = random_state.permutation(kept)[:n_landmarks]
        elif not len(kept):
            kept = random_state.permutation(len(scores))[:n_landmarks]
            scores[kept] = n_landmarks / len(scores)
        rows, chances = order[kept], scores[kept]
        sizes.pop()
    if not sizes:
        return rows
    scores = _scores(X, order, rows, chances, n_landmarks, kernel)
    # Gumbel's trick: the largest of log p + noise are a draw without replacement
    np.maximum(scores, np.finfo(np.float64).tiny, out=scores)
    keys = np.log(scores, out=scores)
    for block in row_blocks(len(keys), 1):
        keys[block] += random_state.gumbel(size=block.stop - block.start)
    return order[np.argpartition(-keys, n_landmarks - 1)[:n_landmarks]]


def recursive_leverage_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    """Bytes held: the order and the scores of all points, two matrices of order b, and a block."""
    b, d = n_landmarks, n_features
    width = residual_row_bytes(b, d, itemsize)
    rows = min(n, block_rows(width, 1))
    block = stream_bytes(n, width, 1) + kernel_bytes(kernel, rows, b, d, itemsize, at_origin=True)
    # eigenvalues in a copy, then the factor beside a block
    scoring = b * d * itemsize + 8 * b * b + max(8 * b * b + eigen_workspace(b), block)
    return 8 * n + max(16 * n, 8 * n + scoring)


def _scores(
    X: np.ndarray,
    rows: np.ndarray,
    sample: np.ndarray,
    chances: np.ndarray,
    n_landmarks: int,
    kernel: BoundKernel,
) -> np.ndarray:
    """Return the scores of some rows by a sample that was drawn with these chances."""
    local, dtype = kernel.at_origin, X.dtype
    S = kernel.near(X[sample], dtype)
    K = np.asfortranarray(local(S, S), np.float64)
    factors = chances**-0.5
    weighted = K * factors
    weighted *= factors[:, None]
    rank = ceil(n_landmarks / (4 * max(1.0, log(n_landmarks))))
    trace = float(weighted.trace())
    tail = trace - float(np.abs(eigenvalues(weighted)[::-1][:rank]).sum()) if rank < len(S) else 0
    del weighted
    # a kernel that is zero on the sample has scores all the same
    mu = max(tail / rank, 100 * float(np.finfo(dtype).eps) * trace / len(S), np.finfo(dtype).tiny)
    K[np.diag_indices(len(K))] += mu * chances
    L = cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    scores = np.empty(len(rows))
    for block in row_blocks(len(rows), residual_row_bytes(len(S), X.shape[1], X.itemsize), 1):
        points = kernel.near(X[rows[block]], dtype)
        values = local(points, S).astype(np.float64, copy=False).T
        solved = solve_triangular(L, values, lower=True, overwrite_b=True, check_finite=False)
        scores[block] = local.diagonal(points) - squared_norms(solved.T)
        # or they would stand beside those of the next block
        del points, values, solved
    np.maximum(scores, 0, out=scores)
    scores /= mu
    return scores
