"""Symmetric matrices in half the memory, at the speed of a blocked Cholesky factorisation.

LAPACK's rectangular full packed format (Gustavson et al. 2010) keeps one triangle of an n x n
matrix in n (n + 1) / 2 numbers, as two triangles and a square that blocked routines can work on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg.lapack import dpftrf, dpftri, dpftrs

from harness.kernels.gaussian import (
    BLOCK_BYTES,
    center_rows,
    column_medians,
    gaussian_kernel,
)
from harness.kernels.gram import blas_bytes

TILE = 256
"""Rows and columns of the tiles in which a matrix is filled."""


def filling_bytes(n: int, n_features: int, itemsize: int) -> int:
    """Bytes of a tile of a Gaussian matrix of n points on its way into a packed one.

    Float64 with two masks, or float32 with a float64 copy that a product makes; and rows of X.
    Tiles end at the packed matrix's half.
    """
    tile = min((n + 1) // 2, TILE)
    moved = min(tile, center_rows(n_features, itemsize))
    return 12 * tile**2 + (3 * tile + moved) * n_features * itemsize


class PackedSymmetric:
    """A symmetric matrix A that is filled tile by tile, then solved with or inverted in place.

    Holds `bytes(n)`; filling it, and products with it, hold one tile of `TILE` x `TILE` numbers
    besides.

    Parameters
    ----------
    n : int
        Order of A.
    tile : int, default `TILE`
        Rows and columns of a tile.
    """

    def __init__(self, n: int, tile: int = TILE) -> None:
        self.n, self._tile = n, tile
        # An odd order gets one more unknown, tied to nothing, so that both triangles are of
        # order `half`.
        self._half = (n + 1) // 2
        self._order = 2 * self._half
        self._packed = np.zeros((self._order + 1, self._half), order="F")
        if n % 2:
            self._packed[self._half - 1, self._half - 1] = 1.0
        self._factored = False

    def fill(self, tile: Callable[[slice, slice], np.ndarray]) -> None:
        """Set A.

        Parameters
        ----------
        tile : callable (rows, columns) -> ndarray
            The part of A in those rows and columns; asked for at and below the diagonal only.
        """
        for rows, columns in self._tiles():
            view = self._view(rows, columns)
            below = np.tri(*view.shape, dtype=np.bool_) | (rows != columns)
            # not by name: it would be held while the next one is made
            np.copyto(view, tile(rows, columns), where=below)

    def _tiles(self) -> Iterator[tuple[slice, slice]]:
        cuts = sorted({*range(0, self.n, self._tile), min(self._half, self.n), self.n})
        slices = [slice(first, last) for first, last in itertools.pairwise(cuts)]
        return ((rows, columns) for i, rows in enumerate(slices) for columns in slices[: i + 1])

    def _view(self, rows: slice, columns: slice) -> np.ndarray:
        # The first triangle and the square below it stand one row lower; the second triangle is
        # stored transposed above them. Of a tile on the diagonal only the lower half is A.
        if columns.start < self._half:
            return self._packed[rows.start + 1 : rows.stop + 1, columns]
        transposed = self._packed[columns.start - self._half : columns.stop - self._half]
        return transposed[:, rows.start - self._half : rows.stop - self._half].T

    def scale(self, factors: np.ndarray) -> None:
        """Multiply A[i, j] by factors[i] * factors[j], in place."""
        padded = np.ones(self._order)
        padded[: self.n] = factors
        first, second = padded[: self._half], padded[self._half :]
        for j in range(self._half):
            column = self._packed[:, j]
            column[: j + 1] *= second[j] * second[: j + 1]
            column[j + 1 :] *= first[j] * padded[j:]

    def add_to_diagonal(self, values: np.ndarray | float) -> None:
        """Add a vector of shape (n,), or a number, to the diagonal of A."""
        values = np.broadcast_to(values, self.n)
        first = np.arange(min(self._half, self.n))
        self._packed[first + 1, first] += values[: len(first)]
        second = np.arange(self.n - len(first))
        self._packed[second, second] += values[len(first) :]

    def take(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return A[rows][:, columns]; holds four more arrays of its shape meanwhile."""
        low = np.minimum.outer(rows, columns)
        high = np.maximum.outer(rows, columns)
        second = low >= self._half
        first_place = high + 1 + low * (self._order + 1)
        low -= self._half
        high -= self._half
        high *= self._order + 1
        high += low
        np.copyto(first_place, high, where=second)
        return self._flat().take(first_place)

    def multiply(self, vectors: np.ndarray) -> np.ndarray:
        """Return A @ vectors for vectors of shape (n, k), tile by tile."""
        product = np.zeros(vectors.shape)
        for rows, columns in self._tiles():
            view = self._view(rows, columns)
            if rows == columns:
                product[rows] += np.tril(view) @ vectors[rows]
                product[rows] += np.tril(view, -1).T @ vectors[rows]
            else:
                product[rows] += view @ vectors[columns]
                product[columns] += view.T @ vectors[rows]
        return product

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of A, shape (n,)."""
        first, second = np.arange(self._half), np.arange(self.n - self._half)
        return np.concatenate([self._packed[first + 1, first], self._packed[second, second]])

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return the solution of A x = b; A gives way to its factor, which serves further b.

        Parameters
        ----------
        b : ndarray of shape (n, k)
            Copied once.

        Raises
        ------
        numpy.linalg.LinAlgError
            If A is not positive definite to working precision.
        """
        factor = self._factor()
        padded = np.zeros((self._order, b.shape[1]), order="F")
        padded[: self.n] = b
        return dpftrs(self._order, factor, padded, uplo="L", overwrite_b=1)[0][: self.n]

    def invert(self) -> None:
        """Replace A by its inverse, in place.

        Raises
        ------
        numpy.linalg.LinAlgError
            If A is not positive definite to working precision.
        """
        inverse, info = dpftri(self._order, self._factor(), uplo="L", overwrite_a=1)
        self._packed = inverse.reshape(self._packed.shape, order="F")
        self._factored = False
        assert not info  # a factor that exists has no zero on its diagonal

    def _flat(self) -> np.ndarray:
        return self._packed.reshape(-1, order="F")

    def _factor(self) -> np.ndarray:
        if not self._factored:
            factor, info = dpftrf(self._order, self._flat(), uplo="L", overwrite_a=1)
            if info:
                message = f"the leading minor of order {info} is not positive"
                raise np.linalg.LinAlgError(message)
            self._packed = factor.reshape(self._packed.shape, order="F")
            self._factored = True
        return self._flat()

    @staticmethod
    def bytes(n: int) -> int:
        """Bytes of a packed n x n matrix: 4 n (n + 2), half of what it would take in full."""
        half = (n + 1) // 2
        return 8 * half * (2 * half + 1)

    @staticmethod
    def factoring_bytes(n: int) -> int:
        """Bytes that BLAS packs while a packed n x n matrix is factored; none while it is filled.

        BLAS works on a half of the matrix. Triangular products do not cut their sums in halves, as
        those of `square_product_bytes` do. A process keeps the panel: a second matrix is filled
        beside it.
        """
        half = (n + 1) // 2
        return blas_bytes(half, terms=half)


def packed_gaussian(
    X: np.ndarray, width: float, order: np.ndarray | None = None
) -> tuple[PackedSymmetric, np.ndarray]:
    """Return -K of the Gaussian kernel matrix K between all points, and the row sums of K.

    Values are in the type of X, of points less their medians. Holds `packed_gaussian_bytes`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    width : float
        In the units of X.
    order : ndarray of shape (n,), optional
        Row numbers in the order of the matrix; as they are by default.
    """
    matrix = PackedSymmetric(len(X), _tile_rows(X.shape[1], X.itemsize))
    degrees, center = np.zeros(len(X)), column_medians(X)

    def tile(rows: slice, columns: slice) -> np.ndarray:
        left, right = (part if order is None else order[part] for part in (rows, columns))
        K = gaussian_kernel(X[left], X[right], width, center=center)
        if rows == columns:
            # Rounding may make a point unlike itself where the width is tiny.
            np.fill_diagonal(K, 1)
        degrees[rows] += K.sum(axis=1, dtype=np.float64)
        if rows != columns:
            degrees[columns] += K.sum(axis=0, dtype=np.float64)
        return np.negative(K, out=K)

    matrix.fill(tile)
    return matrix, degrees


def packed_gaussian_bytes(n: int, n_features: int, itemsize: int, picked: int = 0) -> int:
    """Bytes of a tile of `packed_gaussian`, of points that are moved to a center.

    Its values and two masks; rows as they are moved, and as many times as they are picked, too.
    """
    tile = min((n + 1) // 2, _tile_rows(n_features, itemsize))
    moved = min(tile, center_rows(n_features, itemsize))
    rows = (1 + picked) * tile + moved
    return (itemsize + 2) * tile**2 + rows * n_features * itemsize


def _tile_rows(n_features: int, itemsize: int) -> int:
    """Return rows of the tiles of a Gaussian matrix: fewer of wide points, which a tile copies."""
    return min(TILE, max(32, BLOCK_BYTES // (n_features * itemsize)))
