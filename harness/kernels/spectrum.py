"""Eigensystems in as little memory as LAPACK allows."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh


def eigensystem(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all eigenvalues, descending, and eigenvectors of a symmetric matrix; A is used up.

    Holds as much again as A, the eigenvectors: LAPACK's evr. Its evd would hold twice as much
    again, and columns in reverse order, as a view with negative strides, would make every product
    with them copy them.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        C-contiguous; a symmetric matrix is its own transpose, and LAPACK wants columns.

    Returns
    -------
    eigenvalues : ndarray of shape (n,)
    U : ndarray of shape (n, n)
        An eigenvector in each column, columns contiguous.
    """
    eigenvalues, U = eigh(A.T, driver="evr", overwrite_a=True, check_finite=False)
    n = len(U)
    for j in range(n // 2):
        U[:, [j, n - 1 - j]] = U[:, [n - 1 - j, j]]
    return eigenvalues[::-1].copy(), U
