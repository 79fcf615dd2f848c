"""Gram matrices summed up over row blocks, in place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg.blas import dsyrk

from harness.kernels.gaussian import block_rows, row_blocks, stream_bytes
from harness.kernels.symmetric import eigenvalues

PACKED_COLUMNS = 256
"""Columns of the products by which a worker has BLAS make its buffers before any trial."""

PACKED_ROWS = 768
"""Rows of the other factor, and terms of the sums: no library packs more of those at a time."""


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


def blas_bytes(n: int, itemsize: int = 8, terms: int = 256) -> int:
    """Bytes of the panel that BLAS packs for a product with n columns, to 14,000 wide.

    Columns as BLAS sees them: of arrays in C order, those of the transposed product. A process
    keeps panels, in NumPy's library and in SciPy's. What an idle worker has packed already
    (`PACKED_COLUMNS`, and all that is ever packed of the other factor) no trial adds; the rest it
    is charged for.

    Parameters
    ----------
    n : int
    itemsize : int, default 8
    terms : int, default 256
        Of the sums that the product consists of. Most libraries cut them in parts of 256, some of
        384: the panel has as many rows.
    """
    return itemsize * max(0, min(terms, 384) * min(n, 14_000) - PACKED_COLUMNS**2)


def square_product_bytes(n: int) -> int:
    """Bytes of what BLAS packs for the float64 product of two n x n matrices, as `blas_bytes`.

    Less than `blas_bytes(n, terms=n)`: some libraries cut sums of more than 384 terms in halves,
    others those of more than 512 in parts of 256, and keep a panel for more than 512 rows only.
    """
    halves = n * min(-(-n // 32) * 16, 384) if n > 384 else 0
    deep = max(min(n, 384) ** 2, halves)
    shallow = 256 * n if n > 512 else 0
    return 8 * max(0, max(deep, shallow) - PACKED_COLUMNS**2)


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


def _packed_at_once(terms: int) -> int:
    if terms <= 384:
        return terms
    return 256 if terms <= 512 else min(-(-terms // 2), 384)


def normalise_gram(S: np.ndarray, rounding: float) -> None:
    """Centre a weighted Gram matrix and divide it by its largest eigenvalue, in place.

    Parameters
    ----------
    S : ndarray of shape (k + 1, k + 1), float64
        Of k features and a last column of ones.
    rounding : float
        Below a largest eigenvalue of this there is nothing but zeros.
    """
    mean = S[:, -1] / S[-1, -1]
    for j in range(len(S) - 1):
        S[:, j] -= mean * (mean[j] * S[-1, -1])
    S[:, -1] = 0
    largest = eigenvalues(S)[-1]
    S /= largest if largest > rounding else np.inf


def type_of_sums(dtype: np.dtype, weight: float, n: int) -> np.dtype:
    """Return a type in which the rounding of n terms, times `weight`, is little beside 1."""
    return dtype if np.finfo(dtype).eps * weight * n < 1e-2 else np.dtype(np.float64)


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


def summed_bytes(k: int) -> int:
    """Bytes of a `GramSum` until its total is asked for: pages that its lower triangle reaches."""
    return min(8 * k * k, 4 * k * k + 4096 * k)


def panel_bytes(k: int) -> int:
    """Bytes that `GramSum.add` holds of a product of float32 blocks with k columns."""
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
