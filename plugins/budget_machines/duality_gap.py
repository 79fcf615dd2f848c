"""What coefficients of landmarks are worth: their objective, and a lower bound of its minimum.

For the hinge loss dual variables are needed that are nearly the best where the coefficients are.
Margins give them but for rows near a margin of 1, where a parabola in place of the hinge has any
value from 0 to C. The bias is moved until both signs weigh the same, as the dual problem asks, and
a last pass over the rows raises the dual objective over a few of them at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from harness.kernels.landmark_features import LandmarkFeatures

from .hinge_solver import dual_value
from .objective import (
    LANDMARKS_AT_ONCE,
    LandmarkProblem,
    exact_block_bytes,
    n_machines,
    problem_block_bytes,
)

# Half the widths of the parabolas; the best of them counts.
_WIDTHS = (0.003, 0.03, 0.3)
_HALVINGS = 30
# Rows over which the dual objective is raised together, and how often each of them is moved.
_GROUP, _SWEEPS = 128, 8
# A gap beyond this part of the objective no such pass has made small.
_HOPELESS = 0.25


def objective_bounds(
    problem: LandmarkProblem, a: np.ndarray, b: np.ndarray
) -> tuple[float, float]:
    """Return the objective and a lower bound of its minimum, summed over the machines.

    Reads the rows once with the squared loss, up to three times with the hinge. Holds
    `bounds_bytes`, with the hinge a block of features besides.

    Parameters
    ----------
    problem : LandmarkProblem
    a : ndarray of shape (r, Q), float32
    b : ndarray of shape (Q,)
    """
    if problem.loss == "squared":
        residues = squared_residues(problem, _times_factor(problem, a), b)
        return residues.primal, residues.dual
    squared = float(np.square(problem.features.factor.T @ a, dtype=np.float64).sum())
    return _HingeBound(problem, a, b.astype(np.float32)).found(squared)


def bounds_bytes(n: int, n_landmarks: int, n_features: int, n_classes: int, loss: str) -> int:
    """Bytes that `objective_bounds` holds for n rows; with the hinge a block of features besides.

    With the squared loss what `refine_ridge_machines` holds is counted too.
    """
    Q = n_machines(n_classes)
    sizes = n, n_landmarks, n_features, n_classes
    held = 8 * min(LANDMARKS_AT_ONCE, n_landmarks) * n_landmarks
    if loss == "squared":
        return held + exact_block_bytes(*sizes) + 8 * 6 * n_landmarks * (Q + 1)
    held += problem_block_bytes(*sizes)
    # scores of all rows, the margins of a machine with what a bisection makes of them, sums
    # of features, and the kernel matrix of a group
    scores, margins, sums = 4 * n * Q, 14 * n, 8 * 2 * (len(_WIDTHS) + 3) * n_landmarks * Q
    return held + scores + margins + sums + 4 * _GROUP * (2 * _GROUP + 6 * Q)


@dataclass(frozen=True)
class SquaredResidues:
    """What a pass over the rows finds of least squares machines.

    Attributes
    ----------
    coefficients : ndarray of shape (r, Q), float32
        Of the weights.
    primal : float
        The objective of these coefficients, summed over the machines.
    dual : float
        A lower bound of its minimum.
    gradient : ndarray of shape (r, Q)
        By weights of features, which are centred: minus the derivatives of the objective, in parts
        of C.
    mean_left : ndarray of shape (Q,)
        Means of y - f.
    mean_features : ndarray of shape (r,)
    """

    coefficients: np.ndarray
    primal: float
    dual: float
    gradient: np.ndarray
    mean_left: np.ndarray
    mean_features: np.ndarray


def squared_residues(problem: LandmarkProblem, w: np.ndarray, b: np.ndarray) -> SquaredResidues:
    """Look at least squares machines of weights w, of shape (r, Q), and biases b.

    The bound is that of the weights before they are rounded to coefficients in float32.
    """
    exact = _expansion(problem, w)
    a = exact.astype(np.float32)
    both, rounded = np.column_stack([exact, a]), _times_factor(problem, a)
    del exact
    # The penalty is that of w - c. To the dual problem such weights have targets y - c'z.
    center = None if problem.own is None else feature_sums(problem.features, problem.own)
    if center is not None:
        both = np.column_stack([both, _expansion(problem, center)])
        w = w - center
        rounded -= center
    penalty = float(np.vdot(rounded, rounded))
    del rounded, center
    m, Q, C = len(problem.rows), len(b), problem.C
    total, squares, cross, mean = np.zeros(Q), np.zeros(Q), np.zeros(Q), np.zeros(Q)
    sums, all_rows, losses = np.zeros((len(a), Q)), np.zeros((len(a), 1)), 0.0
    # In float64: at a large C rounding would be all that is left of a gap.
    for block, K in problem.exact_kernel_blocks():
        y = problem.targets(block)
        scores = K @ both
        losses += float(np.square(y - b - scores[:, Q : 2 * Q]).sum())
        left = y - b - scores[:, :Q]
        if problem.own is not None:
            y = y - scores[:, 2 * Q :]
        total += left.sum(axis=0, dtype=np.float64)
        squares += np.square(left).sum(axis=0, dtype=np.float64)
        cross += (y * left).sum(axis=0, dtype=np.float64)
        mean += y.sum(axis=0, dtype=np.float64) / m
        sums += K.T @ left
        all_rows[:, 0] += K.sum(axis=0)
        del K, y, scores, left
    del both
    # The dual variables are what is left of y, less its mean: the free bias asks for that.
    sums -= all_rows * (total / m)
    v = feature_sums(problem.features, sums)
    del sums
    gained = (cross - total * mean) ** 2
    spent = squares - total**2 / m + C * np.einsum("ij,ij->j", v, v)
    dual = C / 2 * np.divide(gained, spent, out=np.zeros(Q), where=spent > 0)
    v -= w / C
    return SquaredResidues(
        coefficients=a,
        primal=(penalty + C * losses) / 2,
        dual=float(dual.sum()),
        gradient=v,
        mean_left=total / m,
        mean_features=feature_sums(problem.features, all_rows)[:, 0] / m,
    )


def _times_factor(problem: LandmarkProblem, a: np.ndarray) -> np.ndarray:
    """Return L'a, the weights of features, float64 of shape (r, Q)."""
    L, w = problem.features.factor, np.empty(a.shape)
    for start in range(0, len(L), LANDMARKS_AT_ONCE):
        part = slice(start, start + LANDMARKS_AT_ONCE)
        w[part] = L[start:, part].T.astype(np.float64) @ a[start:]
    return w


def _expansion(problem: LandmarkProblem, weights: np.ndarray) -> np.ndarray:
    """Return a of L'a = weights, float64 of shape (r, Q)."""
    L, a = problem.features.factor, weights.copy()
    for start in range(0, len(L), LANDMARKS_AT_ONCE)[::-1]:
        part = slice(start, start + LANDMARKS_AT_ONCE)
        columns = L[start:, part].astype(np.float64)
        own, below = np.split(columns, [columns.shape[1]])
        right = a[part] - below.T @ a[part.stop :]
        a[part] = solve_triangular(own, right, lower=True, trans="T", check_finite=False)
    return a


def feature_sums(features: LandmarkFeatures, sums: np.ndarray) -> np.ndarray:
    """Return L^-1 sums: sums of features, given those of kernel rows, float64 of shape (r, .).

    L in float64 as a whole would be twice as large as all else of its size.
    """
    L, v = features.factor, sums.copy()
    for start in range(0, len(L), LANDMARKS_AT_ONCE):
        part = slice(start, start + LANDMARKS_AT_ONCE)
        columns = L[start:, part].astype(np.float64)
        own = columns[: columns.shape[1]]
        v[part] = solve_triangular(own, v[part], lower=True, check_finite=False)
        v[part.stop :] -= columns[LANDMARKS_AT_ONCE:] @ v[part]
    return v


class _HingeBound:
    """The dual variables C clip((1 + h - y (f + shift)) / 2 h, 0, 1), and better ones."""

    def __init__(self, problem: LandmarkProblem, a: np.ndarray, b: np.ndarray) -> None:
        self._problem, self._bias = problem, b
        self._scores = problem.features.scores(problem.X, a, problem.rows)
        self._scores += b

    def found(self, squared: float) -> tuple[float, float]:
        """Return objective and best dual objective, summed over the machines, given |w|^2."""
        Q = len(self._bias)
        losses, shifts = 0.0, np.zeros((len(_WIDTHS), Q), np.float32)
        for q in range(Q):
            own = self._problem.is_own(q)
            above, below = self._scores[own, q], self._scores[~own, q]
            np.negative(below, out=below)
            shifts[:, q] = [_balancing_shift(above, below, h) for h in _WIDTHS]
            for margins in (above, below):
                short = np.subtract(1, margins, out=margins)
                losses += float(np.maximum(0, short, out=short).sum(dtype=np.float64))
        totals, sums = self._sums(shifts)
        values = np.array([_dual_values(*pair) for pair in zip(totals, sums, strict=True)])
        objective, dual = squared + self._problem.C * losses, values.max(axis=0)
        if dual.sum() > (1 - _HOPELESS) * objective:
            best, each = values.argmax(axis=0), np.arange(Q)
            chosen = np.array(_WIDTHS, np.float32)[best], shifts[best, each]
            start = totals[best, :, each].T, sums[best, :, :, each].transpose(1, 2, 0)
            dual = np.maximum(dual, _dual_values(*self._raised(*chosen, *start)))
        return objective, float(dual.sum())

    def _pull(
        self, block: slice, y: np.ndarray, h: np.ndarray | np.floating, shift: np.ndarray
    ) -> np.ndarray:
        pull = self._scores[block] + shift
        pull *= y
        np.subtract(1 + h, pull, out=pull)
        pull *= self._problem.C / (2 * h)
        return np.clip(pull, 0, self._problem.C, out=pull)

    def _sums(self, shifts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of dual variables and of features by width and sign of y.

        Returns
        -------
        ndarray of shape (len(_WIDTHS), 2, Q)
        ndarray of shape (len(_WIDTHS), 2, r, Q)
        """
        r, Q = self._problem.features.n_components, len(self._bias)
        totals, sums = np.zeros((len(_WIDTHS), 2, Q)), np.zeros((len(_WIDTHS), 2, r, Q))
        for block, K in self._problem.kernel_blocks():
            y = self._problem.targets(block)
            for i, h in enumerate(_WIDTHS):
                pull = self._pull(block, y, np.float32(h), shifts[i])
                _add_by_sign(pull, y, K, totals[i], sums[i])
        for of_width in sums:
            for side in of_width:
                side[...] = feature_sums(self._problem.features, side)
        return totals, sums

    def _raised(
        self, h: np.ndarray, shift: np.ndarray, totals: np.ndarray, sums: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of better dual variables; the first two are the machines' h and shift.

        Coordinate ascent, with the bias as the multiplier of the balance of both signs and a
        penalty on what is off balance: another feature, as large as all others together.
        """
        problem, C = self._problem, self._problem.C
        L = problem.features.factor
        penalty = np.float32(float(np.linalg.norm(L)) ** 2 / len(L) / 2 or 1.0)
        buffer = problem.buffer()
        for block in problem.blocks():
            X = problem.X[problem.rows[block]]
            features = problem.features.transform(X, buffer[: X.shape[0]])
            for start in range(block.start, block.stop, _GROUP):
                part = slice(start, min(start + _GROUP, block.stop))
                Z, y = features[start - block.start :][: part.stop - start], problem.targets(part)
                signed = self._pull(part, y, h, shift) * y
                imbalance = penalty * (totals[0] - totals[1])
                scores = Z @ ((sums[0] - sums[1]) / 2).astype(np.float32)
                scores += (self._bias + shift + imbalance).astype(np.float32)
                G = Z @ (Z.T / 2)
                G += penalty
                change = _ascent(G, y - scores, signed, np.minimum(0, C * y), np.maximum(0, C * y))
                change *= y
                _add_by_sign(change, y, Z, totals, sums)
        return totals, sums


def _add_by_sign(
    values: np.ndarray, y: np.ndarray, Z: np.ndarray, totals: np.ndarray, sums: np.ndarray
) -> None:
    """Add sums of values, and of Z weighted by them, over the rows of y = 1 and those of y = -1.

    Parameters
    ----------
    values, y : ndarray of shape (m, Q)
    Z : ndarray of shape (m, r)
    totals : ndarray of shape (2, Q), float64
    sums : ndarray of shape (2, r, Q), float64
    """
    for side, sign in enumerate((1, -1)):
        of_side = values * (y == sign)
        totals[side] += of_side.sum(axis=0, dtype=np.float64)
        sums[side] += Z.T @ of_side


def _balancing_shift(above: np.ndarray, below: np.ndarray, h: float) -> float:
    """Return what added to the bias makes dual variables of both signs sum up to the same.

    Parameters
    ----------
    above, below : ndarray
        Margins of the rows of y = 1 and of y = -1.
    h : float
    """

    def total(margins: np.ndarray, shift: float) -> float:
        parts = np.subtract(np.float32(1 + h - shift), margins)
        parts /= 2 * h
        return float(np.clip(parts, 0, 1, out=parts).sum(dtype=np.float64))

    far = 1 + h + max((float(np.abs(m).max()) for m in (above, below) if m.size), default=0.0)
    low, high = -far, far
    for _ in range(_HALVINGS):
        shift = (low + high) / 2
        if total(above, shift) > total(below, -shift):
            low = shift
        else:
            high = shift
    return (low + high) / 2


def _ascent(
    G: np.ndarray, slopes: np.ndarray, signed: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return by how much to change y times the dual variables of some rows, for all machines.

    Parameters
    ----------
    G : ndarray of shape (m, m)
        Half of the rows' kernel matrix.
    slopes : ndarray of shape (m, Q)
        Derivatives of the dual objective.
    signed, low, high : ndarray of shape (m, Q)
        What is changed, and its limits.
    """
    diagonal = G.diagonal()[:, None]
    low, high = low - signed, high - signed
    change = np.zeros_like(signed)
    moving = np.flatnonzero((np.clip(slopes / diagonal, low, high) != 0).any(axis=1))
    for _ in range(_SWEEPS):
        for i in moving:
            step = (slopes[i] - G[i] @ change) / diagonal[i] + change[i]
            change[i] = np.minimum(np.maximum(step, low[i]), high[i])
    return change


def _dual_values(totals: np.ndarray, sums: np.ndarray) -> list[float]:
    """Return the dual objective of each machine, given sums of shape (2, Q) and (2, r, Q)."""
    return [dual_value(totals[:, q], sums[:, :, q].T) for q in range(totals.shape[1])]
