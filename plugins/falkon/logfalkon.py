"""LogFALKON: kernel logistic regression on landmarks by approximate Newton steps."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from harness import kernels
from harness.estimator import PositiveFloat, PositiveInt
from harness.layers import Layer
from harness.semi_supervised import Labels, PartlyLabeledClassifier

from .preconditioner import FalkonPreconditioner

# By what the penalty falls from one Newton step to the next, and where it starts, in parts of n.
_FALL, _START = 0.1, 0.1
# Conjugate gradients of a Newton step: residual at their end, and passes at most.
_STEP_TOL, _STEP_PASSES = 0.1, 10
_HALVINGS = 8
# Part of the objective within which a fit has to know its minimum, or it says so.
_FAR = 0.02
# What sums are divided by that may be 0 to rounding.
_LEAST = float(np.finfo(np.float32).tiny)


class LogFalkon(kernels.Landmarks, kernels.AnyKernel, PartlyLabeledClassifier):
    """Minimise the sum of logistic losses plus alpha / 2 |f|^2, one class against the rest.

    The function is f = sum_j a_j k(., z_j) + b, with a free intercept. Newton steps are taken
    while the penalty falls to alpha, and then until the decrement says that they are at the
    minimum.

    Attributes
    ----------
    coef_ : ndarray of shape (M, Q)
    intercept_ : ndarray of shape (Q,)
    landmarks_ : ndarray of shape (M, d)
        Less the middle of the points, see `harness.kernels.column_medians`.
    n_iter_ : int
        Passes over the points, of all classes together.
    gap_ : float
        Largest estimate of what an objective is above its minimum, in parts of it.
    """

    alpha: PositiveFloat = 1.0
    """Penalty: the inverse of scikit-learn's C, and n lambda of the paper."""
    max_iter: PositiveInt = 30
    """Newton steps of a class at most."""
    tol: PositiveFloat = 1e-4
    """What an objective may be above its minimum, in parts of it."""
    dtype: Literal["float32", "float64"] = "float32"
    """Of kernel values and of the preconditioner."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return self.kernel in kernels.OF_SCALED_INTEGERS

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        kernel = self._kernel_on(X)
        rng = check_random_state(self.random_state)
        chosen = self._select(X, self.n_landmarks, rng, kernel)
        self._at = kernels.KernelRows(X, chosen, kernel, np.dtype(self.dtype))
        pre = FalkonPreconditioner(self._at.points, kernel.at_origin)
        two = len(labels.classes) == 2
        Q = 1 if two else len(labels.classes)
        # a class without a labeled point has no machine
        self.coef_, self.intercept_ = np.zeros((len(chosen), Q)), np.zeros(Q)
        self.n_iter_, self.gap_ = 0, 0.0
        for own in labels.present[1:] if two else labels.present:
            problem = _LogisticProblem(self._at, X, labels, int(own))
            u, b, gap = self._newton(problem, pre)
            column = 0 if two else int(own)
            self.coef_[:, column] = pre.solve_t(u[:, None])[:, 0]
            self.intercept_[column] = b
            self.n_iter_ += problem.passes
            self.gap_ = max(self.gap_, gap)
        self.landmarks_ = self._at.points
        if self.gap_ > max(_FAR, self.tol):
            message = f"after {self.max_iter} Newton steps the objective may be a part of "
            message += f"{self.gap_:.2g} above its minimum; raise alpha or max_iter"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _newton(
        self, problem: _LogisticProblem, pre: FalkonPreconditioner
    ) -> tuple[np.ndarray, float, float]:
        """Return T a, the intercept, and what the objective may be above its minimum."""
        n = problem.n
        u, b, alpha = np.zeros(len(self._at.points)), problem.log_odds(), _START * n
        alpha, gap = max(alpha, self.alpha), np.inf
        state = problem.evaluate(pre, u, b)
        for _ in range(self.max_iter):
            du, db, decrement = self._direction(problem, pre, state, u, b, alpha)
            objective = state.loss + alpha / 2 * (u @ u)
            gap = decrement / 2 / max(float(objective), _LEAST)
            if alpha == self.alpha and gap <= self.tol:
                break
            step = 1.0
            for _ in range(_HALVINGS):
                tried = problem.evaluate(pre, u + step * du, b + step * db)
                reached = tried.loss + alpha / 2 * np.sum((u + step * du) ** 2)
                if reached <= objective:
                    break
                step /= 2
            else:
                # rounding is larger than what is left to gain
                if alpha == self.alpha:
                    break
                step, tried = 0.0, problem.evaluate(pre, u, b)
            u, b, state = u + step * du, b + step * db, tried
            alpha = max(self.alpha, _FALL * alpha)
        return u, b, float(gap)

    def _direction(
        self,
        problem: _LogisticProblem,
        pre: FalkonPreconditioner,
        state: _State,
        u: np.ndarray,
        b: float,
        alpha: float,
    ) -> tuple[np.ndarray, float, float]:
        """Return an approximate Newton step of T a and of b, and the squared decrement."""
        probability = expit(pre.values_at_landmarks(u) + b)
        pre.weigh(problem.n, alpha, probability * (1 - probability))
        # the intercept is eliminated: points are about their weighted mean
        gradient = pre.solve_t((state.by_landmark - state.mean * state.total)[:, None], True)
        gradient += alpha * u[:, None]

        def multiply(vectors: np.ndarray) -> np.ndarray:
            inner = pre.solve_a(vectors)
            product = pre.solve_t(problem.hessian(pre.solve_t(inner), state), True)
            product += alpha * inner
            return pre.solve_a(product, True)

        right = pre.solve_a(-gradient, True)
        found = kernels.conjugate_gradients(multiply, right, _STEP_TOL, _STEP_PASSES)
        du = pre.solve_a(found.solution)[:, 0]
        along = float(state.mean @ pre.solve_t(du[:, None])[:, 0])
        db = -state.total / state.weight - along
        decrement = -float(gradient[:, 0] @ du) + state.total**2 / state.weight
        return du, db, max(decrement, 0.0)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        values = self._at.values(X, self.coef_)
        values += self.intercept_
        return values

    def _layers(self) -> list[Layer]:
        return self._at.layers(self.coef_, self.intercept_)


@dataclass(frozen=True)
class _State:
    """Sums over the points at one function: its losses, and their first two derivatives."""

    loss: float
    by_landmark: np.ndarray
    """K_nM' of the first derivatives, shape (M,)."""
    total: float
    """Sum of the first derivatives."""
    mean: np.ndarray
    """Mean of k(x, Z), weighted by the second derivatives, shape (M,)."""
    weight: float
    """Sum of the second derivatives."""


class _LogisticProblem:
    """Logistic losses of one class against the rest, summed up over blocks of points."""

    def __init__(self, at: kernels.KernelRows, X: np.ndarray, labels: Labels, own: int) -> None:
        self._at, self._X, self._labels, self._own = at, X, labels, own
        self.n, self.passes = len(labels.rows), 0
        self._second = np.empty(self.n, at.points.dtype)

    def log_odds(self) -> float:
        """Return the intercept of a constant function at its minimum."""
        positive = int(np.sum(self._labels.codes == self._own))
        return float(np.log(positive / (self.n - positive)))

    def evaluate(self, pre: FalkonPreconditioner, u: np.ndarray, b: float) -> _State:
        """Sum up at f = k(., Z) T^-1 u + b, and keep the second derivatives."""
        dtype, M = self._second.dtype, len(u)
        coef = pre.solve_t(u[:, None]).astype(dtype)
        by_landmark, mean = np.zeros(M), np.zeros(M)
        loss = total = weight = 0.0
        for block, K in self._at.blocks(self._X, self._labels.rows):
            values = (K @ coef)[:, 0].astype(np.float64) + b
            positive = self._labels.codes[block] == self._own
            loss += float(np.logaddexp(0, np.where(positive, -values, values)).sum())
            first = expit(values)
            second = first * expit(-values)
            first -= positive
            self._second[block] = second
            by_landmark += first.astype(dtype) @ K
            mean += second.astype(dtype) @ K
            total += float(first.sum())
            weight += float(second.sum())
        self.passes += 1
        weight = max(weight, _LEAST)
        mean /= weight
        return _State(loss, by_landmark, total, mean, weight)

    def hessian(self, coef: np.ndarray, state: _State) -> np.ndarray:
        """Return K_nM' D K_nM coef, of values about their weighted mean, shape (M, 1)."""
        product, dtype = np.zeros(coef.shape), self._second.dtype
        single, about = coef.astype(dtype), (state.mean @ coef).astype(dtype)
        for block, K in self._at.blocks(self._X, self._labels.rows):
            values = K @ single
            values -= about
            values *= self._second[block, None]
            product += K.T @ values
        self.passes += 1
        return product
