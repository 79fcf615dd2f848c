"""Products and norms of rows of which some are in a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse


def products(
    X: np.ndarray | csr_matrix, Z: np.ndarray | csr_matrix, out: np.ndarray | None = None
) -> np.ndarray:
    """Return x'z of the rows of X and of Z, as a dense matrix of shape (n, m).

    Besides its result it holds a sparse matrix of products where both are sparse, or a copy of a
    dense Z beside a sparse X unless Z is in Fortran order.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, d)
    Z : ndarray or csr_matrix of shape (m, d)
    out : ndarray of shape (n, m), optional
        Where to write.
    """
    if not issparse(X) and not issparse(Z):
        return np.matmul(X, Z.T, out=out)
    K = X @ Z.T if issparse(X) else (Z @ X.T).T
    K = K.toarray() if issparse(K) else K
    if out is None:
        return K
    out[...] = K
    return out


def sparse_squares(X: csr_matrix) -> np.ndarray:
    """Return the squared Euclidean norm of each row, shape (n,); holds a copy of X."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def filled(X: Any) -> np.ndarray:
    """Return X with its zeros; a dense one as it is."""
    return X.toarray() if issparse(X) else X
