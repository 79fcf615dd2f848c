"""Linear support vector machines with the hinge loss, by the augmented Lagrangian of their dual.

Minimises P(w, b) = |w|^2 + sum_i c_i l(y_i (w'z_i + b)), l the hinge or a smooth one, the bias
free. Each row has a dual variable a_i between 0 and c_i. Newton's method minimises P with the
corner of the hinge replaced by a parabola whose slope at a margin of 1 is -a_i; the slopes found
are the next dual variables. They converge to the solution without the parabolas getting as narrow
as the corner, so that a matrix stays as well conditioned as the kernel lets it; the first problem,
all a_i = 0, is the squared hinge loss (Rockafellar 1976; Yan & Li 2020). It ends by the duality
gap of the loss itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk

from harness.kernels.symmetric import solve_positive_definite

from .feature_cache import FeatureCache
from .newton_matrix import ActiveRows
from .smooth_hinge import SmoothHinge

# The first parabolas have at most this curvature, in parts of 1 / mean |z|^2, and at least this
# width where the cost is largest; each next is narrower by the third.
_FIRST_PENALTY, _FIRST_WIDTH, _GROWTH = 100.0, 0.1, 3.0
_MOST_STEPS = 300
# Part of the smaller side by which the dual variables of both sides may differ when they move.
_UNBALANCED = 0.01
_LINE_TRIALS = 40
# A line search ends where the slope has fallen to this part.
_SLOPE_LEFT = 0.01
# Part of P to whose tolerance any gap may shrink: a sum of losses in float32 is exact to 1e-7.
_LEAST_FALL = 1e-3


@dataclass
class HingeMachine:
    """One class against the rest.

    Attributes
    ----------
    weights : ndarray of shape (r,)
    bias : float
    dual : float
        A lower bound of the minimum of P over the rows it was trained on last, and those bound.
    bound_sums : ndarray of shape (r, 2)
        Sums of c_i z_i, of y = 1 and of y = -1, over rows that are not trained on, their dual
        variables held at their costs.
    bound_totals : ndarray of shape (2,)
        Sums of c_i over the same.
    """

    weights: np.ndarray
    bias: float = 0.0
    dual: float = 0.0

    def __post_init__(self) -> None:
        self.bound_sums = np.zeros((len(self.weights), 2))
        self.bound_totals = np.zeros(2)

    def primal(self, margins: np.ndarray, loss: SmoothHinge) -> float:
        """Return P, given y_i f(x_i)."""
        return float(self.weights @ self.weights) + loss.total(margins)

    def bound_losses(self, smoothing: float) -> float:
        """Return the sum of c_i (1 - y_i f(x_i) - s / 2) over the rows that are bound."""
        slope, shift = self.bound_slope()
        total = (1 - smoothing / 2) * self.bound_totals.sum()
        return float(total - slope @ self.weights - shift * self.bias)

    def bound_slope(self) -> tuple[np.ndarray, float]:
        """Return minus the derivatives of the losses of the rows that are bound."""
        above, below = self.bound_totals
        return self.bound_sums[:, 0] - self.bound_sums[:, 1], float(above - below)


def spare_bias(margins: np.ndarray, signs: np.ndarray, loss: SmoothHinge) -> float:
    """Return what takes the bias to the middle of those that are as good, mostly next to nothing.

    Where rows below the corner weigh the same on either side and none is at it, as with two points
    of a small cost, the losses do not change before the next row comes to it.
    """
    known = loss.costs > 0
    below, rises = margins < loss.straight, signs > 0
    pull = loss.costs[below] @ signs[below]
    if (
        not np.isclose(pull, 0, atol=1e-9 * loss.costs.sum())
        or (known & ~below & (margins < 1)).any()
    ):
        return 0.0
    distance = np.where(below, loss.straight - margins, margins - 1)
    up = distance[known & (rises == below)].min(initial=np.inf)
    down = distance[known & (rises != below)].min(initial=np.inf)
    return float(up - down) / 2 if np.isfinite(up) and np.isfinite(down) else 0.0


def train_hinge(
    cache: FeatureCache,
    signs: np.ndarray,
    loss: SmoothHinge,
    machine: HingeMachine,
    tol: float,
    duals: np.ndarray | None = None,
    start: float = np.inf,
) -> np.ndarray:
    """Train a machine, in place, until its duality gap is below tol * `gap_scale`.

    Parameters
    ----------
    cache : FeatureCache
        Z, the rows loaded; r features.
    signs : ndarray of shape (n,), float64
        y, +1 or -1.
    loss : SmoothHinge
        A row of cost 0 is left out. Both signs must have a row that is not.
    machine : HingeMachine
        Where to start.
    tol : float
    duals : ndarray of shape (n,), float64, optional
        a, where to start; replaced by those found. Zeros by default.
    start : float, default inf
        What P is at w = 0.

    Returns
    -------
    ndarray of shape (n,)
        y_i f(x_i).

    Raises
    ------
    ValueError
        If the features are so large that scores are not finite.
    """
    duals = np.zeros(len(signs)) if duals is None else duals
    margins = signs * (cache.products(machine.weights) + machine.bias)
    sides = np.column_stack([signs > 0, signs < 0])
    penalty = min(_FIRST_PENALTY / cache.mean_square(), loss.cost / _FIRST_WIDTH)
    bound, bound_shift = machine.bound_slope()
    machine.dual, kept = -np.inf, ActiveRows(cache, len(machine.weights))
    for _ in range(_MOST_STEPS):
        pull = loss.proximal_pull(margins, duals, penalty)
        sums = machine.bound_sums + cache.sums(pull[:, None] * sides)
        totals = machine.bound_totals + pull @ sides
        spent = loss.conjugate(pull) @ sides + loss.smoothing / 2 * machine.bound_totals
        machine.dual = max(machine.dual, dual_value(totals, sums, spent))
        losses = loss.total(margins)
        squared = float(machine.weights @ machine.weights)
        primal = squared + losses + machine.bound_losses(loss.smoothing)
        if not np.isfinite(primal) or not np.isfinite(sums).all():
            message = "kernel values overflow in float32: scale the features to about 1"
            raise ValueError(message)
        if primal - machine.dual <= tol * gap_scale(primal, machine.dual, start):
            break
        gradient = 2 * machine.weights - (sums[:, 0] - sums[:, 1])
        imbalance = float(totals[0] - totals[1])
        # Of the gap the first is for Newton's method to close, the second for the dual variables.
        residue = gradient @ gradient / 4
        slackness = losses + loss.conjugate(pull).sum() - pull @ (1 - margins)
        if residue <= slackness and abs(imbalance) <= _UNBALANCED * totals.min():
            duals[:], penalty = pull, _GROWTH * penalty
            continue
        active = np.flatnonzero((pull > 0) & (pull < loss.costs))
        if not active.size:
            known = np.flatnonzero(loss.costs)
            nearest = np.argsort(np.abs(1 - margins[known]))[: len(gradient)]
            active = np.sort(known[nearest])
        curvature = loss.curvature(penalty)
        step, shift = _newton_direction(cache, active, kept, curvature, gradient, -imbalance)
        change = signs * (cache.products(step) + shift)
        length = line_search(
            machine.weights,
            step,
            margins,
            change,
            partial(loss.proximal_pull, duals=duals, penalty=penalty),
            float(bound @ step) + bound_shift * shift,
        )
        if length == 0:
            duals[:], penalty = pull, _GROWTH * penalty
            continue
        machine.weights = machine.weights + length * step
        machine.bias += length * shift
        margins += length * change
    duals[:] = pull
    return margins


def gap_scale(primal: float, dual: float, start: float) -> float:
    """Return what a duality gap is measured against: P, or how far it has come from its start.

    P is strongly convex: the squared error of w, in parts of |w|^2, is at most the gap in parts of
    what P falls from its value at w = 0. Where C is small that is a small part of P, of which a
    thousandth may then be all that the scores are. A part of it that float32 can tell is left.

    Parameters
    ----------
    primal, dual : float
    start : float
        `SmoothHinge.of_constant`; with inf it is P.
    """
    return max(min(abs(primal), start - dual), _LEAST_FALL * abs(primal))


def dual_value(totals: np.ndarray, sums: np.ndarray, spent: np.ndarray | float = 0.0) -> float:
    """Return D = sum(a - s a^2 / 2c) - |sum a_i y_i z_i|^2 / 4 at the best scaling of a.

    The free bias asks for as much on either side, so the heavier one is scaled down, and then
    both.

    Parameters
    ----------
    totals : ndarray of shape (2,)
        Sums of a over the rows with y = 1 and y = -1; 0 <= a_i <= c_i.
    sums : ndarray of shape (r, 2)
        Sums of a_i z_i over the same.
    spent : ndarray of shape (2,), default 0
        Sums of s a^2 / 2c.
    """
    side = totals.min()
    if side <= 0:
        return 0.0
    scales = side / totals
    v = sums[:, 0] * scales[0] - sums[:, 1] * scales[1]
    total, bend = 2 * side, v @ v / 4 + (scales**2 * spent).sum()
    scale = min(1.0, total / (2 * bend)) if bend > 0 else 1.0
    return float(scale * total - scale**2 * bend)


def _newton_direction(
    cache: FeatureCache,
    active: np.ndarray,
    kept: ActiveRows,
    curvature: float,
    gradient: np.ndarray,
    bias_gradient: float,
) -> tuple[np.ndarray, float]:
    """Solve [2 I + q Z'Z, q Z'1; q 1'Z, q 1'1] (step, shift) = -(gradient, bias_gradient).

    Z are the active rows, q the curvature. The bias is eliminated, which centres Z; of the two
    forms of the matrix that is left, of order r and of the number of active rows, the smaller one
    is factorised.

    Returns
    -------
    step : ndarray of shape (r,)
    shift : float
    """
    m, r = len(active), len(gradient)
    if 2 * m <= r:
        among = np.zeros((len(cache), 1))
        among[active] = 1
        mean = cache.sums(among)[:, 0] / m
        right = -(gradient - mean * bias_gradient)
        S, columns = kept.room_for_products(m)
        Z = cache.gathered(active)
        Z -= mean.astype(np.float32)
        step = _step_by_rows(Z, S, columns, 2 / curvature, right)
    else:
        # In float32: it is a direction that is wanted, and a matrix of doubles would be twice as
        # large as all else of order r^2.
        kept.move_to(active)
        mean = kept.mean()
        right = -(gradient - mean * bias_gradient)
        step = _step_by_features(kept, 2 / curvature, right.astype(np.float32)).astype(np.float64)
        step /= curvature
    return step, -bias_gradient / (curvature * m) - float(mean @ step)


def _step_by_rows(
    Z: np.ndarray, S: np.ndarray, columns: np.ndarray, ridge: float, right: np.ndarray
) -> np.ndarray:
    # In float64, for what is left of a difference, but never with all of Z in it.
    projected, width = np.zeros(len(Z)), len(columns) // len(Z)
    for start in range(0, len(right), width):
        part = Z[:, start : start + width]
        double = columns[: part.size].reshape(part.shape)
        double[...] = part
        S = dsyrk(1.0, double.T, beta=float(start > 0), c=S, trans=1, lower=1, overwrite_c=1)
        projected += double @ right[start : start + width]
    diagonal = S.diagonal() + ridge
    try:
        u = _solved(S, ridge, projected)
    except LinAlgError:
        u = projected / diagonal
    return (right - u.astype(np.float32) @ Z) / 2


def _step_by_features(kept: ActiveRows, ridge: float, right: np.ndarray) -> np.ndarray:
    try:
        return _solved(kept.centred(), ridge, right)
    except LinAlgError:
        if kept.n_changes:
            kept.make_anew()
            return _step_by_features(kept, ridge, right)
        return right / (kept.centred().diagonal() + np.float32(ridge))


def _solved(S: np.ndarray, ridge: float, right: np.ndarray) -> np.ndarray:
    """Solve (S + ridge I) x = right in place; a direction is wanted, and need not be exact.

    S is Fortran-contiguous, or would be copied, and its lower triangle is read.
    """
    diagonal = S.diagonal() + np.asarray(ridge, S.dtype)
    S[np.diag_indices(len(S))] = diagonal + np.finfo(S.dtype).eps * diagonal.max()
    return solve_positive_definite(S, right)


def line_search(
    weights: np.ndarray,
    step: np.ndarray,
    margins: np.ndarray,
    change: np.ndarray,
    pull: Callable[[np.ndarray], np.ndarray],
    linear: float = 0.0,
) -> float:
    """Return the length of a step at which P is least, 0 where nothing is gained.

    Parameters
    ----------
    weights, step : ndarray of shape (r,)
    margins, change : ndarray of shape (n,)
    pull : callable
        Minus the derivatives of the losses, given margins.
    linear : float, default 0
        Minus the derivative of whatever else is in P.
    """
    across, bend = float(weights @ step), float(step @ step)

    def slope(length: float) -> float:
        losses = float(pull(margins + length * change) @ change)
        return 2 * (across + length * bend) - linear - losses

    start = slope(0.0)
    if not start < 0:
        return 0.0
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(_LINE_TRIALS):
        found = slope(length)
        if abs(found) <= -_SLOPE_LEFT * start:
            break
        if found < 0:
            low = length
            length = 2 * length if high == np.inf else (low + high) / 2
        else:
            high = length
            length = (low + high) / 2
    return length
