"""Symmetric systems of a quadratic problem that may have no minimum."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dsysv, dsysv_lwork

from harness.kernels.symmetric import eigenvalues, restore_lower, solve_positive_definite


def solve_indefinite(A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve A x = right for a symmetric A that need not be positive definite; A is used up.

    In place, by LDL'; `scipy.linalg.solve` would hold another matrix.

    Parameters
    ----------
    A : ndarray of shape (n, n), float64
    right : ndarray of shape (n, q), float64

    Returns
    -------
    ndarray of shape (n, q)

    Raises
    ------
    LinAlgError
        If A is singular.
    """
    # A symmetric matrix is its own transpose; LAPACK wants columns, and then copies nothing.
    columns = A if A.flags.f_contiguous else A.T
    work = int(dsysv_lwork(len(A))[0])
    solution, singular = dsysv(columns, right, lwork=work, overwrite_a=True)[2:]
    if singular:
        raise LinAlgError("the matrix is singular")
    return solution


def solve_stationary(
    H: np.ndarray, right: np.ndarray, if_indefinite: str, if_rounded: str
) -> np.ndarray:
    """Solve H x = right for a symmetric H that should be, but need not be, positive definite.

    Parameters
    ----------
    H : ndarray of shape (n, n)
        Of a quadratic problem; used up.
    right : ndarray of shape (n, Q)
    if_indefinite, if_rounded : str
        What a user should do where the problem has no minimum, and where rounding decides it.

    Raises
    ------
    ValueError
        If H is singular.

    Warns
    -----
    UserWarning
        If H is not positive definite: what is returned is the stationary point.
    """
    diagonal = H.diagonal().copy()
    try:
        return solve_positive_definite(H, right)
    except LinAlgError:
        restore_lower(H, diagonal)
    smallest = eigenvalues(H)[0]
    message = f"the problem has no minimum (smallest eigenvalue {smallest:.3g}): {if_indefinite}"
    message += "; its stationary point is used"
    if abs(smallest) <= len(H) * np.finfo(float).eps * np.abs(diagonal).max():
        message = f"the smallest eigenvalue, {smallest:.3g}, is below rounding: {if_rounded}"
    warnings.warn(message, stacklevel=5)
    try:
        return solve_indefinite(H, right)
    except LinAlgError as error:
        message = f"{error}: {if_rounded} or change what makes it indefinite"
        raise ValueError(message) from error
