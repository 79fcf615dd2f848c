"""Symmetric positive definite systems in half the memory, at the speed of a blocked Cholesky.

LAPACK's rectangular full packed format (Gustavson et al. 2010) keeps one triangle of an n x n
matrix in n (n + 1) / 2 numbers, as two triangles and a square that blocked routines can work on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpftrf, dpftrs

TILE = 512
"""Rows and columns of the tiles in which a matrix is filled."""


def packed_bytes(n: int) -> int:
    """Bytes of a packed n x n matrix: 4 n (n + 2), half of what it would take in full."""
    half = (n + 1) // 2
    return 8 * half * (2 * half + 1)


class PackedCholesky:
    """Solve A x = b, with A filled tile by tile, factored and solved in place.

    Holds `packed_bytes(n)` and one tile of `TILE` x `TILE` numbers.

    Parameters
    ----------
    n : int
        Order of A.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        # An odd order gets one more unknown, tied to nothing, so that both triangles are of
        # order `half`.
        self._half = (n + 1) // 2
        self._packed = np.zeros((2 * self._half + 1, self._half), order="F")
        if n % 2:
            self._packed[self._half - 1, self._half - 1] = 1.0

    def fill(self, tile: Callable[[slice, slice], np.ndarray]) -> None:
        """Set A.

        Parameters
        ----------
        tile : callable (rows, columns) -> ndarray
            The part of A in those rows and columns; asked for at and below the diagonal only.
        """
        cuts = sorted({*range(0, self.n, TILE), min(self._half, self.n), self.n})
        slices = [slice(a, b) for a, b in itertools.pairwise(cuts)]
        for i, rows in enumerate(slices):
            for columns in slices[: i + 1]:
                self._set(rows, columns, tile(rows, columns))

    def _set(self, rows: slice, columns: slice, values: np.ndarray) -> None:
        half, packed = self._half, self._packed
        if columns.start < half:
            # The first triangle and the square below it stand one row lower. What lies above the
            # diagonal there belongs to the second triangle.
            target = packed[rows.start + 1 : rows.stop + 1, columns]
            within = np.tri(*values.shape, dtype=bool) if rows == columns else True
        else:
            target = packed[columns.start - half : columns.stop - half, :]
            target = target[:, rows.start - half : rows.stop - half]
            values = values.T
            within = np.tri(*values.shape, dtype=bool).T if rows == columns else True
        np.copyto(target, values, where=within)

    def add_to_diagonal(self, values: np.ndarray) -> None:
        """Add a vector of shape (n,) to the diagonal of A."""
        first = np.arange(min(self._half, self.n))
        self._packed[first + 1, first] += values[: len(first)]
        second = np.arange(self.n - len(first))
        self._packed[second, second] += values[len(first) :]

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Factor A in place and return the solution of A x = b; A is used up.

        Parameters
        ----------
        b : ndarray of shape (n, k)

        Raises
        ------
        numpy.linalg.LinAlgError
            If A is not positive definite to working precision.
        """
        order = 2 * self._half
        flat = self._packed.reshape(-1, order="F")
        factor, info = dpftrf(order, flat, uplo="L", overwrite_a=1)
        if info:
            message = f"the leading minor of order {info} is not positive"
            raise np.linalg.LinAlgError(message)
        padded = np.zeros((order, b.shape[1]), order="F")
        padded[: self.n] = b
        return dpftrs(order, factor, padded, uplo="L", overwrite_b=1)[0][: self.n]
