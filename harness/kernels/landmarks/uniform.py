"""Landmarks drawn uniformly among the points, where points that repeat count once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from harness.kernels.functions import KernelFunction
from harness.kernels.gaussian import row_blocks, stream_bytes


def uniform_landmarks(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Choose rows uniformly and without replacement (Williams & Seeger 2001).

    A row that equals one chosen before is passed over while others are left: it would add nothing
    to the span of the landmarks. Holds `uniform_bytes`.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, d)
    n_landmarks : int
    random_state : numpy.random.RandomState

    Returns
    -------
    ndarray of shape (n_landmarks,)
        Row numbers, ascending.

    Raises
    ------
    ValueError
        If more landmarks are asked for than there are points.
    """
    n = X.shape[0]
    if n_landmarks > n:
        message = f"n_landmarks={n_landmarks} is more than the {n} points there are"
        raise ValueError(message)
    order = random_state.permutation(n)
    factors = np.random.default_rng(random_state.randint(2**31)).integers(
        2**64, size=(X.shape[1],), dtype=np.uint64
    )
    drawn, first = n_landmarks, _first_of_equals(X, order[:n_landmarks], factors)
    while len(first) < n_landmarks and drawn < n:
        drawn = min(n, 2 * drawn)
        first = _first_of_equals(X, order[:drawn], factors)
    if len(first) < n_landmarks:
        repeated = np.setdiff1d(np.arange(n_landmarks), first)
        first = np.concatenate([first, repeated])
    return np.sort(order[first[:n_landmarks]])


def _first_of_equals(X: np.ndarray, rows: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the positions, ascending, of those rows that no earlier one equals.

    Rows are compared by 64 bits: the elements' bits times odd random factors, summed up.
    """
    prints = np.empty(len(rows), np.uint64)
    odd = factors | np.uint64(1)
    for block in row_blocks(len(rows), _width(X.shape[1], X.dtype.itemsize)):
        values: Any = X[rows[block]]
        places = (values.indices, values.indptr) if issparse(X) else None
        values = (values.data if places else values) + X.dtype.type(0)  # -0 is 0
        bits = values.view(f"u{X.dtype.itemsize}").astype(np.uint64, copy=False)
        bits ^= bits >> np.uint64(32)  # small whole numbers have their bits in the upper half
        if places:  # zeros have no bits
            bits = csr_matrix((bits, *places), (len(places[1]) - 1, X.shape[1]))
        prints[block] = bits @ odd
    return np.sort(np.unique(prints, return_index=True)[1])


def _width(n_features: int, itemsize: int) -> int:
    """Doubles held for a row: with -0 as 0, its bits where they are widened, those shifted."""
    return 3 * n_features if itemsize < 8 else 2 * n_features


def uniform_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    """Bytes held: all row numbers in order, and fingerprints of those drawn with their order.

    Counted for as many as are drawn where some points repeat, but not half of them.
    """
    drawn = min(n, 2 * n_landmarks)
    return 8 * n + 40 * drawn + stream_bytes(drawn, _width(n_features, itemsize))
