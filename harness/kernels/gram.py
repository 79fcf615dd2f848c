"""Gram matrices summed up over row blocks, in place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg.blas import dsyrk

from harness.kernels.gaussian import block_rows, row_blocks, stream_bytes

PACKED_COLUMNS = 256
"""Columns of the products by which a worker has BLAS make its buffers before any trial."""

PACKED_ROWS = 1024
"""Rows of the other factor, and terms of the sums: no library packs more of those at a time."""

# Of OpenBLAS for processors with AVX-512 and with AVX2, by bytes of a number: rows of the other
# factor, and terms, that it packs at a time. With no more rows than these it keeps no panel.
_PACKED_AT_ONCE = ({4: (448, 448), 8: (192, 384)}, {4: (320, 320), 8: (512, 256)})

# Rows whose products are summed up in float32, and columns of a panel of them; rows that are in
# float64 at a time, which take as many bytes.
_MOST_ROWS, _PANEL, _DOUBLE_ROWS = 4096, 128, 64


def gram_blocks(n: int, width: int, n_features: int = 0) -> Iterator[slice]:
    """Cut n rows into blocks that suit a Gram matrix of order `width`.

    An update reads and writes all of the matrix, so a block should not be small beside it: it has
    a quarter as many rows as the matrix has columns.

    Parameters
    ----------
    n : int
    width : int
    n_features : int, default 0
        Columns of X, if a block of X is copied too.
    """
    step = max(block_rows(2 * width + n_features), width // 4)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def gram_block_bytes(n: int, width: int, n_features: int = 0) -> int:
    """Bytes at most of a block of `gram_blocks`: two rows of `width` doubles and one of X each."""
    row = 8 * (2 * width + n_features)
    return min(n * row, max(stream_bytes(n, 2 * width + n_features), width // 4 * row))


def blas_bytes(
    n: int, itemsize: int = 8, terms: int | None = None, others: int | None = None
) -> int:
    """Bytes of the panel that BLAS packs for a product with n columns, to 14,000 wide.

    Columns as BLAS sees them: of arrays in C order, those of the transposed product. A process
    keeps panels, in NumPy's library and in SciPy's. What an idle worker has packed already
    (`PACKED_COLUMNS`, and all that is ever packed of the other factor) no trial adds; the rest it
    is charged for: the most that OpenBLAS takes on processors with AVX-512 and with AVX2.

    Parameters
    ----------
    n : int
    itemsize : int, default 8
    terms : int, optional
        Of the sums that the product consists of: the panel has as many rows, up to a bound. By
        default 256 of float64 and 384 of float32.
    others : int, optional
        Rows of the product, as BLAS sees them. Of few no panel is kept; many by default.
    """
    if terms is None:
        terms = 256 if itemsize == 8 else 384
    return max(_packed(library, n, itemsize, terms, others) for library in _PACKED_AT_ONCE)


def _packed(
    library: dict[int, tuple[int, int]], n: int, itemsize: int, terms: int, others: int | None
) -> int:
    """Return what is packed beyond what an idle worker has: a panel lies behind other factors."""
    rows, most = library[itemsize]
    if others is not None and others <= rows:
        return 0
    packed = itemsize * (rows * most + min(terms, most) * min(n, 14_000))
    idle = max(size * at * (of + PACKED_COLUMNS) for size, (of, at) in library.items())
    return max(0, packed - idle)


def square_product_bytes(n: int) -> int:
    """Bytes of what BLAS packs for the float64 product of two n x n matrices, as `blas_bytes`.

    Less than `blas_bytes(n, terms=n)`: sums of more terms than are packed at a time, but less than
    twice as many, are cut in halves.
    """
    most = 384
    packed = max(min(n, most) ** 2, n * min(-(-n // 32) * 16, most) if n > most else 0)
    many = blas_bytes(n, terms=256, others=n) if n > 512 else 0
    return max(0, 8 * (packed - most * PACKED_COLUMNS), many)


def summing_panel_bytes(n: int, rows: int, width: int) -> int:
    """Bytes of what BLAS packs while `add_gram` adds up n rows in blocks, as `blas_bytes`.

    The last block may be the deepest: up to 384 rows are packed at once, more in parts.

    Parameters
    ----------
    n : int
    rows : int
        Of a block.
    width : int
        Columns.
    """
    return blas_bytes(width, terms=max(_packed_at_once(min(n, rows)), _packed_at_once(n % rows)))


def product_panel_bytes(rows: int, width: int, terms: int) -> int:
    """Bytes of what BLAS packs for a float64 product of shape (rows, width), as `blas_bytes`.

    Of sums of so many terms; more than 384 are packed in parts.
    """
    return blas_bytes(rows, terms=_packed_at_once(terms), others=width)


def _packed_at_once(terms: int) -> int:
    """Return how many terms of a float64 product OpenBLAS packs at once."""
    if terms <= 384:
        return terms
    return 256 if terms <= 512 else min(-(-terms // 2), 384)


def cholesky_blas_bytes(n: int) -> int:
    """Bytes of what BLAS packs to factor a float64 matrix of order n, as `blas_bytes`.

    OpenBLAS factors a quarter of the columns at a time, or as many as it packs at once.
    """
    quarter = min(n // 4, 384)
    whole = [at * (n - at * 3 // 4) for at in (256, 384) if n > 4 * at]
    return 8 * max(0, quarter * (n - quarter) - 7_680, *whole)


def add_gram(G: np.ndarray, Z: np.ndarray) -> None:
    """Add Z'Z to the lower triangle of G; holds nothing.

    Parameters
    ----------
    G : ndarray of shape (k, k), float64
        Fortran-contiguous.
    Z : ndarray of shape (m, k), float64
        C-contiguous.
    """
    dsyrk(1.0, Z.T, beta=1.0, c=G, lower=1, overwrite_c=1)


class GramSum:
    """The sum of w Z'Z over blocks, in float64: holds 8 k^2 bytes, and `panel_bytes` meanwhile.

    Products of blocks in float32 are in float32, in half the time, and are added up in float64:
    longer sums would lose digits. Only a panel of such a product is held at a time.

    Parameters
    ----------
    k : int
        Columns of Z.
    dtype : type, default numpy.float32
        Of the blocks.
    start : ndarray of shape (k, k), optional
        What to add to, in place: float64, Fortran-contiguous. Zeros by default.
    exact : bool, default False
        Whether products of float32 blocks are in float64, too: for sums that are divided by small
        eigenvalues of theirs.
    """

    def __init__(
        self,
        k: int,
        dtype: DTypeLike = np.float32,
        start: np.ndarray | None = None,
        exact: bool = False,
    ) -> None:
        self._total = np.zeros((k, k), order="F") if start is None else start
        self._single, self._exact = np.dtype(dtype) == np.float32, exact

    def add(self, Z: np.ndarray, weight: float = 1.0) -> None:
        """Add weight Z'Z of a block of shape (m, k), C-contiguous."""
        if not self._single:
            dsyrk(weight, Z.T, beta=1.0, c=self._total, lower=1, overwrite_c=1)
            return
        if self._exact:
            for first in range(0, len(Z), _DOUBLE_ROWS):
                rows = Z[first : first + _DOUBLE_ROWS].astype(np.float64)
                dsyrk(weight, rows.T, beta=1.0, c=self._total, lower=1, overwrite_c=1)
                # or it would stand beside the next one
                del rows
            return
        for first in range(0, len(Z), _MOST_ROWS):
            rows = Z[first : first + _MOST_ROWS]
            for start in range(0, Z.shape[1], _PANEL):
                product = rows[:, start : start + _PANEL].T @ rows[:, start:]
                if weight != 1:
                    product *= np.float32(weight)
                self._total[start:, start : start + _PANEL] += product.T
                # or it would stand beside the next one
                del product

    def total(self) -> np.ndarray:
        """Return the sum, of shape (k, k), float64; nothing can be added afterwards."""
        mirror(self._total)
        return self._total

    @staticmethod
    def bytes(k: int) -> int:
        """Bytes until the total is asked for: pages that the lower triangle reaches."""
        return min(8 * k * k, 4 * k * k + 4096 * k)

    @staticmethod
    def panel_bytes(k: int) -> int:
        """Bytes that `add` holds of a product of float32 blocks with k columns."""
        return 4 * k * min(k, _PANEL)


def mirror(G: np.ndarray) -> None:
    """Copy the lower triangle of a matrix to its upper one, in place, column by column."""
    for j in range(1, len(G)):
        G[:j, j] = G[j, :j]


def project_gram(G: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Return P'GP in the place of G, with rows and columns of zeros to its order.

    Parameters
    ----------
    G : ndarray of shape (s, s), float64
    P : ndarray of shape (s, k)
    """
    s, k = P.shape
    for block in row_blocks(s, 2 * s):
        G[block, :k] = G[block] @ P
    for block in row_blocks(k, 2 * s):
        G[:k, block] = P.T @ G[:, block]
    G[k:], G[:, k:] = 0, 0
    return G
