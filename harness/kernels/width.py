"""The width of a kernel in the units of the points, in median distances of a sample of them."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Literal

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.spatial.distance import pdist

from harness.estimator import Estimator, PositiveFloat
from harness.kernels.gaussian import (
    CENTER_SAMPLE,
    block_columns,
    column_blocks,
    refuse_overflow,
)
from harness.kernels.sparse import sparse_squares

MEDIAN_SAMPLE = 300
"""Points from which the median distance is estimated; 45,000 pairs know it to about 2 %."""

_SPARSE_ROWS = 64
"""Rows of a sparse sample whose products with all others are there at a time."""
_ROUNDED = 8 * np.finfo(np.float64).eps
"""Part of two squared norms below which a squared distance is rounding."""

_EXTREME = 1e6
"""Widths beyond so many median distances, or below their inverse, change nothing but overflow."""


def kernel_width(X: np.ndarray, sigma: float, sigma_unit: str) -> float:
    """Return a kernel's width in the units of X, between 1e-6 and 1e6 median distances.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    sigma : float
        The width, in units of `sigma_unit`.
    sigma_unit : str
        "median": the median distance between two rows of X; "absolute": 1.

    Raises
    ------
    ValueError
        As `refuse_overflow`.
    """
    width = natural_width(median_distance(X), sigma, sigma_unit)
    refuse_overflow(X, width)
    return width


def natural_width(median: float, sigma: float, sigma_unit: str) -> float:
    """Return `kernel_width` where the median distance is known, whatever kind it is of."""
    width = sigma * median if sigma_unit == "median" else float(sigma)
    return min(max(width, median / _EXTREME), _EXTREME * median)


def median_distance(X: np.ndarray, random_state: int = 0) -> float:
    """Estimate the median distance between two different rows of X.

    Equal rows are left out where they are so many that the median would be 0; 1 is returned where
    all rows are equal. Many columns are summed up block by block. Holds `width_bytes`.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, d)
    random_state : int, default 0
        Seed of the subsample; all rows are used where there are at most `MEDIAN_SAMPLE`.
    """
    rows = width_rows(X.shape[0], random_state)
    if issparse(X):
        return median_apart(np.sqrt(_sparse_squares(X[rows])))
    first, *others = column_blocks(len(rows), X.shape[1])
    if not others:
        return median_apart(pdist(X[rows], "euclidean"))
    squares = pdist(X[rows, first], "sqeuclidean")
    for columns in others:
        squares += pdist(X[rows, columns], "sqeuclidean")
    return median_apart(np.sqrt(squares, out=squares))


def width_rows(n: int, random_state: int = 0) -> np.ndarray:
    """Return numbers of the rows from which a median distance is estimated: all, or some."""
    if n <= MEDIAN_SAMPLE:
        return np.arange(n)
    rng = np.random.default_rng(random_state)
    return np.sort(rng.choice(n, MEDIAN_SAMPLE, replace=False))


def width_sample(X: np.ndarray, random_state: int = 0) -> np.ndarray:
    """Return the rows of `width_rows`: X itself, or a copy of some."""
    n = X.shape[0]
    return X if n <= MEDIAN_SAMPLE else X[width_rows(n, random_state)]


def _sparse_squares(sample: csr_matrix) -> np.ndarray:
    """Return squared distances of all pairs of rows: of equal ones 0, whatever is rounded."""
    sample = sample.astype(np.float64, copy=False)
    m = sample.shape[0]
    norms = sparse_squares(sample)
    squares, position = np.empty(m * (m - 1) // 2), 0
    for start in range(0, m, _SPARSE_ROWS):
        products = (sample[start : start + _SPARSE_ROWS] @ sample.T).toarray()
        for row, product in enumerate(products, start):
            pairs = squares[position : position + m - 1 - row]
            sums = norms[row] + norms[row + 1 :]
            np.subtract(sums, 2 * product[row + 1 :], out=pairs)
            pairs[pairs <= _ROUNDED * sums] = 0
            position += len(pairs)
    return squares


def median_apart(pairs: np.ndarray) -> float:
    """Return the median of distances, of the positive ones if it is 0, and 1 if none is.

    Changes the order of `pairs`.
    """
    median = np.median(pairs, overwrite_input=True) if pairs.size else 0.0
    if not median > 0:
        apart = pairs[pairs > 0]
        median = np.median(apart) if apart.size else 1.0
    return float(median)


def width_bytes(n: int, n_features: int, itemsize: int = 8) -> int:
    """Bytes that `kernel_width`, and then `middle`, hold.

    The former distances of a sample, twice where its columns are taken in blocks, the latter as
    many columns of fewer rows.
    """
    sample, few = min(n, MEDIAN_SAMPLE), min(n, CENTER_SAMPLE)
    columns = min(n_features, block_columns(sample))
    distances = 4 * sample**2 * (2 if columns < n_features else 1)
    middling = itemsize * few * min(n_features, block_columns(few)) + 8 * n_features
    return max(distances + (itemsize + 8) * sample * columns, middling)


def sparse_width_bytes(n: int, row_bytes: float) -> int:
    """Bytes that `kernel_width` holds of a sparse X with rows of so many bytes on average."""
    sample = min(n, MEDIAN_SAMPLE)
    # the sample, in float64, squared or transposed; distances; products of some rows
    return int(sample * (4 * row_bytes + 8 * sample + 20 * min(sample, _SPARSE_ROWS)))


class GaussianWidth(Estimator):
    """The width of a Gaussian kernel."""

    _: KW_ONLY
    sigma: PositiveFloat = 1.0
    """Width of the kernel."""
    sigma_unit: Literal["median", "absolute"] = "median"
    """What `sigma` counts: median distances between the points, or units of the features."""

    def _width_on(self, X: np.ndarray) -> float:
        """Return the width in the units of X."""
        return kernel_width(X, self.sigma, self.sigma_unit)
