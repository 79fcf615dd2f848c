"""Degrees of the points of a complete Gaussian graph, d_i = sum_j k(x_i, x_j), in blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from harness.kernels.features import FeatureMap
from harness.kernels.gaussian import block_rows, row_blocks

DEGREE_TILE = 512
"""Rows of the tiles of `exact_degrees` at most: 1 MB in float32, within the cache."""


def degree_tile(n_features: int) -> int:
    """Return rows of a tile: fewer of wide points, of which two tiles take a mebibyte then."""
    return min(DEGREE_TILE, block_rows(2 * (n_features + 2), 4))


def exact_degrees(
    X: np.ndarray, sigma: float, dtype: DTypeLike = np.float32, tile: int | None = None
) -> np.ndarray:
    """Return exact degrees; every pair of points is computed once.

    Tiles are in `dtype`, their sums in float64: float32 agrees with float64 to about 1e-6. Holds
    what `gaussian_tiles` does.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    sigma : float
    dtype : type, default numpy.float32
    tile : int, optional
        `degree_tile` by default.

    Returns
    -------
    ndarray of shape (n,), float64
        At least 1, because k(x, x) = 1.
    """
    tile = tile or degree_tile(X.shape[1])
    ones = np.ones(min(tile, len(X)), dtype)
    degrees = np.zeros(len(X))
    for rows, columns, block in gaussian_tiles(X, sigma, dtype, tile):
        degrees[rows] += block @ ones[: block.shape[1]]
        if rows != columns:
            degrees[columns] += ones[: len(block)] @ block
    return np.maximum(degrees, 1, out=degrees)


def gaussian_tiles(
    X: np.ndarray,
    sigma: float,
    dtype: DTypeLike = np.float32,
    tile: int | None = None,
    chosen: np.ndarray | None = None,
) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Yield the kernel matrix of some points in tiles, at and below the diagonal.

    The norms are two more columns of the product (x/s, -|x|^2/2s^2, 1) (z/s, 1, -|z|^2/2s^2)', so
    that a tile costs one product and one exponential. Points are centred first, because the norms'
    rounding is what limits float32. Holds `tile`^2 numbers and two tiles of rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    sigma : float
    dtype : type, default numpy.float32
    tile : int, optional
        `degree_tile` by default.
    chosen : ndarray of shape (m,), optional
        Numbers of the rows whose kernel matrix is wanted; all by default.

    Yields
    ------
    rows, columns : slice
        The tile's place in the m x m matrix.
    block : ndarray
        Overwritten by the next one.
    """
    m, d = len(X) if chosen is None else len(chosen), X.shape[1]
    tile = min(tile or degree_tile(d), m)
    centre = X.mean(axis=0, dtype=np.float64)
    left, right = np.empty((tile, d + 2), dtype), np.empty((tile, d + 2), dtype)
    K = np.empty(tile * tile, dtype)
    for i in range(0, m, max(1, tile)):
        rows = slice(i, min(i + tile, m))
        A = _augmented(X[_place(chosen, rows)], centre, sigma, left, norm_at=-2)
        for j in range(0, i + 1, tile):
            columns = slice(j, min(j + tile, m))
            B = _augmented(X[_place(chosen, columns)], centre, sigma, right, norm_at=-1)
            block = K[: len(A) * len(B)].reshape(len(A), len(B))
            np.matmul(A, B.T, out=block)
            # Rounding can put the squared distance of equal points below zero.
            np.minimum(block, 0, out=block)
            yield rows, columns, np.exp(block, out=block)


def tile_bytes(n: int, n_features: int) -> int:
    """Bytes that `gaussian_tiles` of all points holds in float32: a tile, its rows and columns.

    And the centre, and what NumPy converts rows through.
    """
    tile = min(n, degree_tile(n_features))
    return 4 * tile * (tile + 2 * (n_features + 2)) + 8 * n_features + (1 << 17)


def _place(chosen: np.ndarray | None, part: slice) -> np.ndarray | slice:
    return part if chosen is None else chosen[part]


def _augmented(
    X: np.ndarray, centre: np.ndarray, sigma: float, out: np.ndarray, norm_at: int
) -> np.ndarray:
    rows = out[: len(X)]
    features = rows[:, :-2]
    np.subtract(X, centre, out=features, casting="same_kind")
    features *= rows.dtype.type(1 / sigma)
    rows[:, -2:] = 1
    rows[:, norm_at] = np.einsum("ij,ij->i", features, features) * -0.5
    return rows


def feature_degrees(feature_map: FeatureMap, X: np.ndarray) -> np.ndarray:
    """Return degrees of the approximate kernel of a feature map, z(x_i)' sum_j z(x_j).

    Those of random features can be negative, and those of landmarks vanish far from all of them:
    both are floored at 1, the exact lower bound. Two passes over X; holds a block of features.

    Parameters
    ----------
    feature_map : FeatureMap
    X : ndarray of shape (n, d)

    Returns
    -------
    ndarray of shape (n,), float64
    """
    width = 2 * feature_map.n_components + X.shape[1]
    blocks = list(row_blocks(len(X), width, feature_map.dtype.itemsize))
    total = np.zeros(feature_map.n_components)
    for block in blocks:
        total += feature_map.transform(X[block]).sum(axis=0, dtype=np.float64)
    total = total.astype(feature_map.dtype)
    degrees = [feature_map.transform(X[block]) @ total for block in blocks]
    return np.maximum(np.concatenate(degrees).astype(np.float64), 1)
