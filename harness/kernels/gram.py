"""Gram matrices summed up over row blocks, in place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg.blas import dsyrk

from harness.kernels.gaussian import block_rows


def gram_blocks(n: int, width: int) -> Iterator[slice]:
    """Cut n rows into blocks that suit a Gram matrix of order `width`.

    An update reads and writes all of the matrix, so a block should not be small beside it: a
    quarter as many rows as columns holds 2 width^2 bytes in float64.
    """
    step = max(block_rows(2 * width), width // 4)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def blas_bytes(n: int) -> int:
    """Bytes of the panel that BLAS packs for a product with n columns: 256 rows, to 14,000 wide.

    A process keeps them. What it has not packed before a trial, the trial is charged for.
    """
    return 8 * 256 * min(n, 14_000)


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


def mirror(G: np.ndarray) -> None:
    """Copy the lower triangle of a matrix to its upper one, in place, column by column."""
    for j in range(1, len(G)):
        G[:j, j] = G[j, :j]
