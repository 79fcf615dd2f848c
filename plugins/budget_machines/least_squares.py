"""Least squares machines of all classes by one factorisation, and how exact they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_solve
from scipy.linalg.blas import dsyr

from harness.kernels.landmark_features import LandmarkFeatures
from harness.kernels.symmetric import factor_positive_definite

from .duality_gap import squared_residues
from .objective import LandmarkProblem

ROUNDINGS = (2e-9, 1e-7, 1e-5)
"""Parts of the diagonal of sums in float32 to add to it; the first unless that is not enough."""

# Part of its terms by which float32 changes the objective, to be generous.
_ERROR = 5e-6
_MOST_STEPS = 4


@dataclass(frozen=True)
class RidgeMachines:
    """Machines of all classes.

    Attributes
    ----------
    weights : ndarray of shape (r, Q)
    intercepts : ndarray of shape (Q,)
    objective : float
        Summed over the machines.
    doubt : float
        By how much rounding, and what was added because of it, may have changed the objective: an
        estimate.
    factor : tuple
        For `scipy.linalg.cho_solve`, of Z'Z and the ridge.
    """

    weights: np.ndarray
    intercepts: np.ndarray
    objective: float
    doubt: float
    factor: tuple[np.ndarray, bool]


def train_ridge_machines(
    features: LandmarkFeatures,
    gram: np.ndarray,
    sums: np.ndarray,
    counts: np.ndarray,
    C: float,
    rounding: float,
    center: np.ndarray | None = None,
) -> RidgeMachines | None:
    """Minimise |w - c|^2 / 2 + C / 2 sum (y - w'z - b)^2 for each class against the rest.

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
    center : ndarray of shape (r, Q), optional
        c; 0 by default.

    Returns
    -------
    RidgeMachines, or None if it takes more rounding
    """
    m, total, squares = counts.sum(), sums.sum(axis=1), gram.diagonal()[:, None].copy()
    sums, counts = (sums[:, 1:], counts[1:]) if len(counts) == 2 else (sums, counts)
    mean_y = 2 * counts / m - 1
    right = 2 * sums - np.outer(total, mean_y + 1)
    if center is not None:
        right += center / C
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
    # sums over machines, without an array of their size
    squares, of_weights = np.ravel(squares), np.einsum("ij,ij->i", w, w)
    excess = float((np.ravel(lost) * of_weights).sum()) / 2
    left = float((m * (1 - mean_y**2) - np.einsum("ij,ij->j", w, right)).sum())
    if center is not None:
        left += float(np.square(center).sum()) / C
    # What the ridge is above 1 / C is no part of the objective.
    objective = C * (left / 2 - excess)
    L = features.factor
    # not by `linalg.norm`, which holds two matrices of the order of L
    amplified = np.sqrt(np.einsum("ij,ij->i", L, L, dtype=np.float64)) / L.diagonal()
    summed = m * len(mean_y) + float((squares * of_weights).sum())
    moved = max(left, 0) * float((squares * amplified**2 * of_weights).sum())
    doubt = C * (excess + _ERROR * (summed + np.sqrt(moved)))
    return RidgeMachines(w, mean_y - total @ w / m, objective, doubt, factor)


def refine_ridge_machines(
    problem: LandmarkProblem, machines: RidgeMachines, tol: float
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Correct machines by what passes over the rows find left, until the gap is small.

    Such passes do not know of the rounding of Z'Z, which only makes their steps too short or long.

    Parameters
    ----------
    problem : LandmarkProblem
        With the squared loss.
    machines : RidgeMachines
        Their weights are used up.
    tol : float
        Of the gap, in parts of the objective; there are at most four passes.

    Returns
    -------
    a : ndarray of shape (r, Q), float32
    b : ndarray of shape (Q,)
    objective, least : float
        As of `objective_bounds`.
    """
    w, b, least = machines.weights, machines.intercepts, 0.0
    objective = np.inf
    for _ in range(_MOST_STEPS):
        residues = squared_residues(problem, w, b)
        least = max(least, residues.dual)
        if residues.primal < objective:
            found, objective = (residues.coefficients, b), residues.primal
        if objective - least <= tol * objective:
            break
        step = cho_solve(machines.factor, residues.gradient, overwrite_b=True, check_finite=False)
        w += step
        b = b + residues.mean_left - residues.mean_features @ step
        # or they would stand beside the next ones
        del residues, step
    return *found, objective, least
