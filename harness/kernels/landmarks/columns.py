"""Landmarks as columns of the kernel matrix of a uniform pre-sample.

What a selector does with all n^2 values of a kernel, these do with those of a few times as many
rows as there are landmarks: the first choice is then uniform, and the second one good.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from scipy.linalg.blas import ssymv

from harness.kernels.functions import BoundKernel, KernelFunction, kernel_bytes
from harness.kernels.gaussian import block_rows, row_blocks
from harness.kernels.landmarks.sampling import draw_rows, fill_up
from harness.kernels.symmetric import eigensystem

# Parts of the largest value of k(x, x) below which a residual is the rounding of float32.
_TOLERANCE = 1e-5


def presample_size(n: int, n_landmarks: int) -> int:
    """Rows among which `cssp` and `kmeans_plus_plus` choose: two per landmark, 1,000 or more."""
    return min(n, max(1000, 2 * n_landmarks))


def cssp(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState, kernel: BoundKernel
) -> np.ndarray:
    """Choose columns one by one, each time the one that lowers the residual most.

    The residual of the Nystrom approximation is R = K - C W^+ C'; a further column j lowers its
    nuclear norm by |R_j|^2 / R_jj, which is kept up to date without R (Farahat, Ghodsi & Kamel
    2011, "A novel greedy algorithm for the Nystrom approximation").

    Parameters
    ----------
    X : ndarray of shape (n, d)
        A uniform sample of `presample_size` rows is read.
    n_landmarks : int
    random_state : numpy.random.RandomState
    kernel : BoundKernel
    """
    rows, K, diagonal = _presample(X, n_landmarks, random_state, kernel)
    squares = np.einsum("ij,ij->i", K, K, dtype=np.float64)
    residual = diagonal.copy()
    directions = np.empty((n_landmarks, len(rows)), np.float32)
    chosen: list[int] = []
    for t in range(n_landmarks):
        left = residual > _TOLERANCE * diagonal.max()
        left[chosen] = False
        if not left.any():
            break
        gains = np.divide(squares, residual, out=np.full(len(rows), -np.inf), where=left)
        best = int(np.argmax(gains))
        before, direction = directions[:t], directions[t]
        np.subtract(K[best], before[:, best] @ before, out=direction)
        direction /= np.sqrt(residual[best])
        # squared norms of the columns of R - w w', from those of R and R w
        product = ssymv(1, K.T, direction) - (before @ direction) @ before
        overlap = np.square(direction, dtype=np.float64)
        squares += overlap * overlap.sum() - 2 * direction * product.astype(np.float64)
        residual -= overlap
        chosen.append(best)
    return fill_up(rows[chosen], rows, n_landmarks, random_state)


def cssp_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    """Bytes held: the pre-sample's kernel matrix and a direction per landmark, in float32."""
    size = presample_size(n, n_landmarks)
    choosing = 4 * size * (size + n_landmarks) + 80 * size
    return max(choosing, _presample_bytes(n, n_features, n_landmarks, itemsize, kernel))


def kmeans_plus_plus(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState, kernel: BoundKernel
) -> np.ndarray:
    """Draw points with a chance that grows with the squared distance to those drawn before.

    Distances are those of the feature space, k(x, x) - 2 k(x, z) + k(z, z). 2 + log(n_landmarks)
    points are drawn at a time, and the one stays that leaves the least sum of squared distances
    (Arthur & Vassilvitskii 2007, in the greedy form of scikit-learn's `kmeans_plusplus`).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        A uniform sample of `presample_size` rows is read.
    n_landmarks : int
    random_state : numpy.random.RandomState
    kernel : BoundKernel
    """
    rows, K, diagonal = _presample(X, n_landmarks, random_state, kernel)
    chosen = [random_state.randint(len(rows))]
    nearest = _distances(K, diagonal, chosen)[0]
    while len(chosen) < n_landmarks:
        nearest[chosen] = 0
        cumulative = np.cumsum(nearest)
        if cumulative[-1] <= 0:
            break
        points = random_state.uniform(size=2 + int(log(n_landmarks))) * cumulative[-1]
        # side="right" never returns a point at distance zero
        drawn = np.minimum(
            np.searchsorted(cumulative, points, side="right"), np.argmax(cumulative)
        )
        distances = np.minimum(nearest, _distances(K, diagonal, drawn))
        best = np.argmin(distances.sum(axis=1))
        nearest = distances[best]
        chosen.append(drawn[best])
    return fill_up(rows[chosen], rows, n_landmarks, random_state)


def kmeans_plus_plus_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    """Bytes held: the pre-sample's kernel matrix, and the distances of a few candidates."""
    size = presample_size(n, n_landmarks)
    choosing = 4 * size * size + 8 * size * (3 * (2 + int(log(n_landmarks))) + 5)
    return max(choosing, _presample_bytes(n, n_features, n_landmarks, itemsize, kernel))


def leverage(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState, kernel: BoundKernel
) -> np.ndarray:
    """Draw points in proportion to their approximate ridge leverage scores.

    The score of x is k(x, x) - k(x, S) (K_SS + mu I)^-1 k(S, x), with as many uniformly drawn
    points S as landmarks, 100 at least, and mu the sum of the eigenvalues of K_SS past half the
    number of landmarks in parts of that half (Musco & Musco 2017, one step of their recursion).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Scores are computed for a uniform sample of 20 rows per landmark, 1,000 or more.
    n_landmarks : int
    random_state : numpy.random.RandomState
    kernel : BoundKernel
    """
    size, scored = _leverage_sizes(len(X), n_landmarks)
    S = X[draw_rows(len(X), size, random_state)]
    eigenvalues, U = eigensystem(kernel(S, S).astype(np.float64, copy=False))
    half = max(1, n_landmarks // 2)
    # a kernel that is zero on all of S has scores all the same
    mu = max(eigenvalues[half:].sum() / half, _TOLERANCE * eigenvalues[0], np.finfo(X.dtype).tiny)
    U /= np.sqrt(np.maximum(eigenvalues, 0) + mu)
    U = U.astype(X.dtype, copy=False)

    rows = draw_rows(len(X), scored, random_state)
    scores = np.empty(len(rows))
    for block in row_blocks(len(rows), 2 * size + X.shape[1], X.itemsize):
        points = X[rows[block]]
        projected = kernel(points, S) @ U
        scores[block] = kernel.diagonal(points) - np.einsum("ij,ij->i", projected, projected)
        # or it would stand beside that of the next block
        del projected
    # Gumbel's trick: the largest of log p + noise are a draw without replacement
    least = np.finfo(X.dtype).eps * kernel.diagonal(S).max()
    keys = np.log(np.maximum(scores, max(least, np.finfo(X.dtype).tiny)))
    keys += random_state.gumbel(size=len(keys))
    return rows[np.argsort(-keys, kind="stable")[:n_landmarks]]


def leverage_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    """Bytes held: two matrices of order s, or one and a block of kernel rows."""
    size, scored = _leverage_sizes(n, n_landmarks)
    width = 2 * size + n_features
    rows = min(scored, block_rows(width, itemsize))
    block = rows * width * itemsize + kernel_bytes(kernel, rows, size, n_features, itemsize)
    square = 16 * size * size + (8 * size * size if itemsize != 8 else 0)
    return size * n_features * itemsize + 24 * scored + max(square, 8 * size * size + block)


def _leverage_sizes(n: int, n_landmarks: int) -> tuple[int, int]:
    return min(n, max(100, n_landmarks)), min(n, max(1000, 20 * n_landmarks))


def _presample(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState, kernel: BoundKernel
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row numbers, their kernel matrix in float32, and its diagonal in float64."""
    rows = draw_rows(len(X), presample_size(len(X), n_landmarks), random_state)
    sample = X[rows]
    K = np.empty((len(rows), len(rows)), np.float32)
    for block in row_blocks(len(rows), len(rows), X.itemsize):
        K[block] = kernel(sample[block], sample)
    return rows, K, np.diagonal(K).astype(np.float64)


def _presample_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    size = presample_size(n, n_landmarks)
    rows = min(size, block_rows(size, itemsize))
    block = rows * size * itemsize + kernel_bytes(kernel, rows, size, n_features, itemsize)
    return 4 * size * size + size * n_features * itemsize + block


def _distances(
    K: np.ndarray, diagonal: np.ndarray, columns: Sequence[int] | np.ndarray
) -> np.ndarray:
    """Return squared distances of all points to some of them, shape (len(columns), n)."""
    return np.maximum(diagonal + diagonal[columns][:, None] - 2 * K[columns], 0)
