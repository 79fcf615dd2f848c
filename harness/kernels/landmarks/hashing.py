"""Landmarks by distance-based hashing in the feature space of a kernel.

Castellanos 2021, algorithm 1: pairs of points are drawn, all points are halved by which point of
a pair they are nearer to, and each of the codes that arise gives one landmark.
"""

from __future__ import annotations

from math import ceil, log2

import numpy as np

from harness.kernels.functions import BoundKernel, KernelFunction, kernel_bytes
from harness.kernels.gaussian import block_rows, row_blocks, stream_bytes
from harness.kernels.landmarks.sampling import draw_rows, fill_up

HASHED = 1 << 16
"""Points that are hashed at most: all 60,000 of the thesis's data, a sample of larger sets."""

BUCKET_SAMPLE = 50
"""w, the points of a bucket among which its medoid is found; the thesis does not print it."""


def dbh(
    X: np.ndarray,
    n_landmarks: int,
    random_state: np.random.RandomState,
    kernel: BoundKernel,
    hierarchical: bool = False,
) -> np.ndarray:
    """Choose the medoids of the buckets of a distance-based hash.

    With ceil(log2(n_landmarks)) pairs there may be more codes than landmarks: the most frequent
    ones count, the lower code first. Independent halvings leave some codes without a point, and
    landmarks that are missing for that reason are drawn uniformly. Ties at a median are split by
    row number.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        A uniform sample of `HASHED` rows is hashed where there are more.
    n_landmarks : int
    random_state : numpy.random.RandomState
    kernel : BoundKernel
    hierarchical : bool, default False
        Halve each bucket at its own median, the largest first, until there are as many as
        landmarks: no bucket is empty, and none is left out.
    """
    rows = draw_rows(len(X), HASHED, random_state)
    projections = _project(X, rows, ceil(log2(n_landmarks)), random_state, kernel)
    codes = np.zeros(len(rows), np.intp)
    for projection in projections:
        if hierarchical:
            codes = _halve(codes, projection, n_landmarks)
        else:
            codes *= 2
            codes[_upper_half(projection)] += 1
    del projections
    populations = np.bincount(codes)
    frequent = np.argsort(-populations, kind="stable")[:n_landmarks]
    order = np.argsort(codes, kind="stable")
    # or they would stand beside the rows of a bucket
    del codes
    ends = np.cumsum(populations)
    medoids = []
    for code in frequent[populations[frequent] > 0]:
        bucket = order[ends[code] - populations[code] : ends[code]]
        medoids.append(_medoid(X, rows[bucket], random_state, kernel))
    return fill_up(np.array(medoids), rows, n_landmarks, random_state)


def dbh_hierarchical(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState, kernel: BoundKernel
) -> np.ndarray:
    """Choose the medoids of a hash that halves each bucket at its own median; see `dbh`."""
    return dbh(X, n_landmarks, random_state, kernel, hierarchical=True)


def dbh_bytes(
    n: int, n_features: int, n_landmarks: int, itemsize: int, kernel: str | KernelFunction
) -> int:
    """Bytes held: projections in float32 with a block of the points or four integers a point.

    The integers are the rows, their codes, and an order with what sorting takes or those of one
    half. The medoid of a bucket is found without projections and codes.
    """
    hashed, pairs = min(n, HASHED), ceil(log2(n_landmarks))
    width = n_features + 2 * pairs
    rows = hashed if isinstance(kernel, str) else min(hashed, block_rows(width, itemsize))
    block = 2 * pairs * n_features * itemsize + stream_bytes(hashed, width, itemsize)
    block += kernel_bytes(kernel, 2 * pairs, rows, n_features, itemsize)
    hashing = hashed * 4 * pairs + max(hashed * 8 + block, hashed * 32) if pairs else 0
    sample = min(hashed, BUCKET_SAMPLE)
    medoid = sample * (n_features + 2 * sample) * itemsize
    medoid += kernel_bytes(kernel, sample, sample, n_features, itemsize)
    # of each code its bucket's size, rank and end, of each landmark a number that is an object
    buckets = hashed * 25 + 24 * 2**pairs + 48 * n_landmarks
    return max(hashing, buckets + medoid)


def _project(
    X: np.ndarray,
    rows: np.ndarray,
    n_pairs: int,
    random_state: np.random.RandomState,
    kernel: BoundKernel,
) -> np.ndarray:
    """Return k(x, second) - k(x, first) for pairs of points, shape (n_pairs, len(rows))."""
    projections = np.empty((n_pairs, len(rows)), np.float32)
    if not n_pairs:
        return projections
    pairs = np.array([draw_rows(len(rows), 2, random_state) for _ in range(n_pairs)], np.intp)
    ends = X[rows[pairs.T.ravel()]]
    for block in row_blocks(len(rows), X.shape[1] + 2 * n_pairs, X.itemsize):
        K = kernel(ends, X[rows[block]])
        np.subtract(K[n_pairs:], K[:n_pairs], out=projections[:, block])
        # or it would stand beside that of the next block
        del K
    return projections


def _upper_half(projection: np.ndarray) -> np.ndarray:
    """Return the places of the larger half of the values, the later ones where they are equal."""
    return np.argsort(projection, kind="stable")[(len(projection) + 1) // 2 :]


def _halve(codes: np.ndarray, projection: np.ndarray, n_buckets: int) -> np.ndarray:
    """Halve buckets, the largest first, until all are halved or there are `n_buckets`."""
    populations = np.bincount(codes)
    largest = np.argsort(-populations, kind="stable")[: n_buckets - len(populations)]
    order = np.lexsort((projection, codes))
    ends = np.cumsum(populations)
    codes = codes.copy()
    for new, code in enumerate(largest, start=len(populations)):
        middle = ends[code] - populations[code] // 2
        codes[order[middle : ends[code]]] = new
    return codes


def _medoid(
    X: np.ndarray,
    bucket: np.ndarray,
    random_state: np.random.RandomState,
    kernel: BoundKernel,
) -> int:
    """Return the row whose squared distances to w rows of its bucket have the least sum."""
    bucket = bucket[draw_rows(len(bucket), BUCKET_SAMPLE, random_state)]
    points = X[bucket]
    spread = kernel(points, points).sum(axis=1) - len(points) / 2 * kernel.diagonal(points)
    return bucket[np.argmax(spread)]
