"""Linear support vector machines with the hinge loss itself, by Newton's method on a smoothed one.

Minimises P(w, b) = |w|^2 + sum_i c_i max(0, 1 - y_i (w'z_i + b)), the bias free. The hinge is
replaced by a parabola where the margin is within `h` of 1, which raises P by at most h / 4 times
the costs of the points there, and h is lowered until the duality gap is as small as asked: the
gap bounds the distance from the minimum of P itself, whatever h was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import ssyr, ssyrk

from harness.kernels.feature_cache import FeatureCache

_FIRST_H, _NARROWED, _WIDENED = 0.5, 0.25, 16
# Below, it is rounding of the margins that decides what pulls.
_LEAST_H = 1e-12
_MOST_STEPS = 200
_GRADIENT_SHARE = 0.3
_LINE_TRIALS = 40
# Rounding of float32 products, in parts of the largest entry of a Newton matrix.
_JITTER = 1e-7
_PART = 256
# A line search ends where the slope has fallen to this part.
_SLOPE_LEFT = 0.01


@dataclass
class HingeMachine:
    """One class against the rest.

    Attributes
    ----------
    weights : ndarray of shape (r,)
    bias : float
    dual : float
        A lower bound of the minimum of P over the rows it was trained on last.
    h : float
        Half the width of the parabola, as training left it.
    """

    weights: np.ndarray
    bias: float = 0.0
    dual: float = 0.0
    h: float = _FIRST_H

    def primal(self, margins: np.ndarray, costs: np.ndarray) -> float:
        """Return P, given y_i f(x_i)."""
        return float(self.weights @ self.weights + costs @ np.maximum(0, 1 - margins))


def slack(margins: np.ndarray, h: float) -> np.ndarray:
    """Return minus the derivative of the hinge that is a parabola within h of 1, from 0 to 1."""
    return np.clip((1 + h - margins) / (2 * h), 0, 1)


def train_hinge(
    cache: FeatureCache,
    signs: np.ndarray,
    costs: np.ndarray,
    machine: HingeMachine,
    tol: float,
) -> np.ndarray:
    """Train a machine, in place, until its duality gap is below tol * P.

    Parameters
    ----------
    cache : FeatureCache
        Z, the rows loaded; r features.
    signs : ndarray of shape (n,), float64
        y, +1 or -1.
    costs : ndarray of shape (n,), float64
        c; a row of cost 0 is left out. Both signs must have a row that is not.
    machine : HingeMachine
        Where to start.
    tol : float

    Returns
    -------
    ndarray of shape (n,)
        y_i f(x_i).

    Raises
    ------
    ValueError
        If the features are so large that scores are not finite.
    """
    margins = signs * (cache.products(machine.weights) + machine.bias)
    machine.dual = -np.inf
    machine.h = min(_FIRST_H, _WIDENED * machine.h)
    for _ in range(_MOST_STEPS):
        h = machine.h
        pull = costs * slack(margins, h)
        sums = cache.sums(np.column_stack([pull * (signs > 0), pull * (signs < 0)]))
        machine.dual = max(
            machine.dual, dual_value(pull[signs > 0].sum(), pull[signs < 0].sum(), sums)
        )
        primal = machine.primal(margins, costs)
        if not np.isfinite(primal) or not np.isfinite(sums).all():
            message = "kernel values overflow in float32: scale the features to about 1"
            raise ValueError(message)
        if primal - machine.dual <= tol * primal:
            break
        # Where nothing bends the curvature of a wider parabola serves: the line search is exact.
        wide, distance = h, np.abs(1 - margins)
        while not (active := np.flatnonzero((distance < wide) & (costs > 0))).size:
            wide *= 2
        gradient = 2 * machine.weights - (sums[:, 0] - sums[:, 1])
        imbalance = float(pull @ signs)
        curvature = costs[active] / (2 * wide)
        step, shift = _newton_direction(cache, active, curvature, gradient, -imbalance)
        change = signs * (cache.products(step) + shift)
        length = line_search(machine.weights, step, margins, change, costs, h)
        machine.weights = machine.weights + length * step
        machine.bias += length * shift
        margins += length * change
        # The gap is this and what the parabolas add: where this is small, they are narrowed.
        left = gradient @ gradient / 4 + abs(imbalance)
        if length == 0 or left <= _GRADIENT_SHARE * tol * primal:
            machine.h = max(_NARROWED * machine.h, _LEAST_H)
    return margins


def dual_value(above: float, below: float, sums: np.ndarray) -> float:
    """Return D = sum(a) - |sum a_i y_i z_i|^2 / 4 at the best scaling of a that is feasible.

    The free bias asks for as much on either side, so the heavier one is scaled down.

    Parameters
    ----------
    above, below : float
        Sums of a over the rows with y = 1 and y = -1; 0 <= a_i <= c_i.
    sums : ndarray of shape (r, 2)
        Sums of a_i z_i over the same.
    """
    side = min(above, below)
    if side <= 0:
        return 0.0
    v = sums[:, 0] * (side / above) - sums[:, 1] * (side / below)
    total, norm = 2 * side, v @ v
    scale = min(1.0, 2 * total / norm) if norm > 0 else 1.0
    return float(scale * total - scale**2 * norm / 4)


def _newton_direction(
    cache: FeatureCache,
    active: np.ndarray,
    curvature: np.ndarray,
    gradient: np.ndarray,
    bias_gradient: float,
) -> tuple[np.ndarray, float]:
    """Solve [2 I + Z'DZ, Z'D1; 1'DZ, 1'D1] (step, shift) = -(gradient, bias_gradient).

    D is the curvature of the active rows. The bias is eliminated; of the two forms of the matrix
    that is left, of order r and of the number of active rows, the smaller one is factorised.

    Returns
    -------
    step : ndarray of shape (r,)
    shift : float
    """
    total = curvature.sum()
    r = len(gradient)
    if 2 * len(active) <= r:
        Z, start = np.empty((len(active), r), np.float32), 0
        for block in cache.taken(active):
            Z[start : start + len(block)] = block
            start += len(block)
        mean = (curvature / total) @ Z
        right = -(gradient - mean * bias_gradient)
        Z -= mean.astype(np.float32)
        root = np.sqrt(curvature)
        Z *= root[:, None].astype(np.float32)
        S = (Z @ Z.T).astype(np.float64)
        S[np.diag_indices(len(S))] += 2
        # In float64, for what is left of a difference, but never with all of Z in it.
        parts = [Z[start : start + _PART] for start in range(0, len(Z), _PART)]
        u = _solved(S.T, np.concatenate([part @ right for part in parts]))
        for i, part in enumerate(parts):
            right = right - u[i * _PART : (i + 1) * _PART] @ part
        step = right / 2
    else:
        # In float32: it is a direction that is wanted, and a matrix of doubles would be twice as
        # large as all else of order r^2.
        H, mean, start = np.zeros((r, r), np.float32, order="F"), np.zeros(r), 0
        for Z in cache.taken(active):
            weights = curvature[start : start + len(Z)]
            mean += weights @ Z
            Z *= np.sqrt(weights)[:, None].astype(np.float32)
            H = ssyrk(1.0, Z.T, beta=1.0, c=H, lower=1, overwrite_c=1)
            start += len(Z)
            del Z
        mean /= total
        right = -(gradient - mean * bias_gradient)
        H = ssyr(-total, mean, a=H, lower=1, overwrite_a=1)
        H[np.diag_indices(r)] += 2
        step = _solved(H, right.astype(np.float32)).astype(np.float64)
    return step, -bias_gradient / total - float(mean @ step)


def _solved(S: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve for one right-hand side, in place; a direction is wanted, and need not be exact.

    S is Fortran-contiguous, or would be copied.
    """
    diagonal = S.diagonal().copy()
    S[np.diag_indices(len(S))] += _JITTER * diagonal.max()
    try:
        factor = cho_factor(S, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return right / diagonal
    return cho_solve(factor, right, check_finite=False)


def line_search(
    weights: np.ndarray,
    step: np.ndarray,
    margins: np.ndarray,
    change: np.ndarray,
    costs: np.ndarray,
    h: float,
) -> float:
    """Return the length at which the smoothed objective is least, 0 where nothing is gained."""
    across, bend = float(weights @ step), float(step @ step)

    def slope(length: float) -> float:
        pull = costs * slack(margins + length * change, h)
        return 2 * (across + length * bend) - float(pull @ change)

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
