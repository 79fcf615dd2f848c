"""Least squares machines of all classes by one factorisation, and how exact they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_solve
from scipy.linalg.blas import dsyr

from harness.kernels.landmark_features import LandmarkFeatures
from harness.kernels.symmetric import factor_positive_definite

ROUNDINGS = (2e-9, 1e-7, 1e-5)
"""Parts of the diagonal of sums in float32 to add to it; the first unless that is not enough."""

# Parts by which float32 changes sums of products at most, and features that are differences of
# larger numbers, to be generous.
_ERROR, _FEATURE_ERROR = 5e-7, 5e-6


@dataclass(frozen=True)
class RidgeMachines:
    """Machines of all classes, and the system they were found by.

    Attributes
    ----------
    weights : ndarray of shape (r, Q)
    intercepts : ndarray of shape (Q,)
    objective : float
        Summed over the machines.
    doubt : float
        By how much rounding, and what was added because of it, may have changed the objective: an
        estimate.
    right : ndarray of shape (r, Q)
        Z'y, features centred.
    squares : ndarray of shape (r, 1)
        Sums of z_j^2.
    factor : tuple
        For `scipy.linalg.cho_solve`, of Z'Z and the ridge.
    ridge : float or ndarray of shape (r, 1)
    """

    weights: np.ndarray
    intercepts: np.ndarray
    objective: float
    doubt: float
    right: np.ndarray
    squares: np.ndarray
    factor: tuple[np.ndarray, bool]
    ridge: float | np.ndarray

    def correction(self, residue: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find what makes a residue of the features' sums smaller.

        Parameters
        ----------
        residue : ndarray of shape (r, Q)

        Returns
        -------
        u : ndarray of shape (r, Q)
        change : ndarray of shape (r, Q)
            Z'Z u, which is nearly the residue.
        off : ndarray of shape (Q,)
            The norm of what rounding of Z'Z may add to it.
        """
        u = cho_solve(self.factor, residue, check_finite=False)
        reached = (np.sqrt(self.squares) * np.abs(u)).sum(axis=0)
        return u, residue - self.ridge * u, _ERROR * np.sqrt(self.squares.sum()) * reached


def train_ridge_machines(
    features: LandmarkFeatures,
    gram: np.ndarray,
    sums: np.ndarray,
    counts: np.ndarray,
    C: float,
    rounding: float,
) -> RidgeMachines | None:
    """Minimise |w|^2 / 2 + C / 2 sum (y - w'z - b)^2 for each class against the rest.

    Parameters
    ----------
    features : LandmarkFeatures
    gram : ndarray of shape (r, r), float64
        Z'Z, Fortran-contiguous; used up.
    sums : ndarray of shape (r, n_classes)
        Sums of features by class.
    counts : ndarray of shape (n_classes,)
        Rows of each class; one machine where there are two, for the second.
    C : float
    rounding : float
        One of `ROUNDINGS`.

    Returns
    -------
    RidgeMachines, or None if it takes more rounding
    """
    m, total, squares = counts.sum(), sums.sum(axis=1), gram.diagonal()[:, None].copy()
    sums, counts = (sums[:, 1:], counts[1:]) if len(counts) == 2 else (sums, counts)
    mean_y = 2 * counts / m - 1
    right = 2 * sums - np.outer(total, mean_y + 1)
    # Sums in float32 have lost what is smaller than this. Features of a kernel with k(x, x) = 1
    # are of one size; of others one may be so large that in its parts all others were lost.
    lost = rounding * (squares.max() if features.unit_diagonal else squares)
    A = dsyr(-1 / m, total, a=gram, lower=1, overwrite_a=1)
    ridge = 1 / C + lost
    A[np.diag_indices(len(A))] += np.ravel(ridge)
    try:
        factor = factor_positive_definite(A)
    except LinAlgError:
        return None
    w = cho_solve(factor, right, check_finite=False)
    excess = float((lost * w**2).sum()) / 2
    left = float((m * (1 - mean_y**2) - (w * right).sum(axis=0)).sum())
    # What the ridge is above 1 / C is no part of the objective.
    objective = C * (left / 2 - excess)
    # A feature is a difference of kernel values that may be much larger.
    L = features.factor
    amplified = np.linalg.norm(L, axis=1) / L.diagonal()
    spread = float((squares * (amplified[:, None] * w) ** 2).sum())
    summed = m * len(mean_y) + float((squares * w**2).sum())
    doubt = C * (excess + _FEATURE_ERROR * (summed + np.sqrt(max(left, 0) * spread)))
    return RidgeMachines(
        weights=w,
        intercepts=mean_y - total @ w / m,
        objective=objective,
        doubt=doubt,
        right=right,
        squares=squares,
        factor=factor,
        ridge=ridge,
    )
