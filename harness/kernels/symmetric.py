"""Eigensystems and solutions of symmetric matrices, in as little memory as LAPACK allows."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh


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


def largest_eigenpairs(A: np.ndarray, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of a symmetric matrix, ascending, and their eigenvectors.

    Holds the eigenvectors besides. Of more eigenvalues that are equal to the last digit than are
    asked for, LAPACK finds fewer, or none: a kernel matrix has such ones at a width below all
    distances. All are then found in the place of the matrix.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Fortran-contiguous, both triangles; used up.
    n_pairs : int
        n at most.

    Returns
    -------
    eigenvalues : ndarray of shape (n_pairs,)
    U : ndarray of shape (n, n_pairs)
    """
    n, diagonal = len(A), A.diagonal().copy()
    wanted = (n - n_pairs, n - 1)
    found, U = eigh(A, subset_by_index=wanted, overwrite_a=True, check_finite=False)
    if len(found) < n_pairs:
        restore_lower(A, diagonal)
        found, U = eigh(A, driver="ev", overwrite_a=True, check_finite=False)
    return found[-n_pairs:], U[:, -n_pairs:]


def eigen_workspace(n: int) -> int:
    """Bytes that `eigensystem` works in beside a matrix of order n and its eigenvectors."""
    return 500 * n


def eigen_arrays(n: int) -> dict[str, int]:
    """Bytes of a matrix of order n, by array, while `eigensystem` decomposes it."""
    return {"matrix": 8 * n * n, "eigenvectors": 8 * n * n, "workspace": eigen_workspace(n)}


def eigenvalues(A: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of a symmetric matrix, ascending, without a copy of it.

    LAPACK works in the lower triangle, which is made again from the upper one.

    Parameters
    ----------
    A : ndarray of shape (n, n), float64
        Fortran-contiguous, both triangles; the same afterwards.
    """
    diagonal = A.diagonal().copy()
    found = eigh(A, lower=True, eigvals_only=True, overwrite_a=True, check_finite=False)
    restore_lower(A, diagonal)
    return found


def restore_lower(A: np.ndarray, diagonal: np.ndarray) -> None:
    """Give a symmetric matrix its diagonal and lower triangle back, the latter from the upper."""
    for j in range(1, len(A)):
        A[j:, j - 1] = A[j - 1, j:]
    np.fill_diagonal(A, diagonal)


def triangle_in_float32(A: np.ndarray, r: int) -> np.ndarray:
    """Return the leading r x r lower triangle of A in float32, zeros above it; A is used up.

    It takes the place of A, the rest of which is given back: nothing is held besides.

    Parameters
    ----------
    A : ndarray of shape (n, n), float64
        Fortran-contiguous; no view of another array.

    Returns
    -------
    ndarray of shape (r, r), float32
        Fortran-contiguous.
    """
    n, numbers = len(A), A.reshape(-1, order="F")
    single = numbers.view(np.float32)
    # what is written lies before all that is still to be read
    for j in range(r):
        single[r * j + j : r * j + r] = numbers[n * j + j : n * j + r]
        single[r * j : r * j + j] = 0
    del numbers, single
    A.resize(-(-r * r // 2), refcheck=False)
    return A.view(np.float32)[: r * r].reshape(r, r, order="F")


def solve_positive_definite(A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve A x = right by Cholesky; A is used up.

    Holds nothing besides: SciPy's own look for values that are not finite would hold a byte for
    each element. Here the diagonal is looked at, where those of a Gram or kernel matrix show.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Fortran-contiguous; its lower triangle is read.
    right : ndarray of shape (n,) or (n, q)

    Returns
    -------
    ndarray of the shape of `right`

    Raises
    ------
    ValueError
        If the diagonal holds a value that is not finite.
    LinAlgError
        If A is not positive definite.
    """
    return cho_solve(factor_positive_definite(A), right, check_finite=False)


def factor_positive_definite(A: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return what `scipy.linalg.cho_solve` takes, in place of A, as `solve_positive_definite`."""
    if not np.isfinite(A.diagonal()).all():
        raise ValueError("kernel values or features overflow: scale the features to about 1")
    return cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
