"""Support vector machines with the squared hinge loss, by Newton's method in the kernel's space.

Minimises J(f) = |f|^2 / 2 + sum_i phi_i(f(x_i)) over functions f(x) = sum_i a_i k(x, x_i) + b,
whose bias b is free or fixed. Losses may also couple points, as a graph does. They are convex and
piecewise quadratic, so Newton's method is finite (Mangasarian 2002; Keerthi & DeCoste 2005;
Chapelle 2007). Each Newton step is taken by conjugate gradients in the inner product of the
kernel's space, where

- an iteration costs one product with the kernel matrix, whether or not there is a bias: the bias
  is eliminated from the quadratic model,
- every iterate lowers the model, so that it may stop anywhere and still be a descent direction,
- the norm of the residual bounds how far J is from its minimum, because J is strongly convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.semi_supervised.kernel_operators import KernelProduct

# A Newton step is solved to this part of its first residual: the next one has other active losses.
_FORCING = 0.1
_MOST_PRODUCTS = 500
# A line search ends where the slope has fallen to this part.
_SLOPE_LEFT = 0.01
_MOST_TRIALS = 50
# Part of J below which its norm is that of a function that is constant but for rounding.
_LEAST_PENALTY = 1e-12


class Losses(Protocol):
    """A convex, piecewise quadratic phi of the scores, which may couple those of several points.

    Its Hessian is a diagonal `curvature` and a constant matrix of rows that sum to zero.
    """

    def value(self, scores: np.ndarray) -> float:
        """Return phi(f)."""

    def gradient(self, scores: np.ndarray) -> np.ndarray:
        """Return the gradient of phi, shape (n,)."""

    def curvature(self, scores: np.ndarray) -> np.ndarray:
        """Return the diagonal part of the Hessian, shape (n,)."""

    def coupled(self, vector: np.ndarray) -> np.ndarray | float:
        """Return the other part times a vector, shape (n,); 0.0 where there is none."""


@dataclass(frozen=True)
class HingeLosses:
    """phi_i(f) = positive_i q(f) + negative_i q(-f) with q(t) = max(0, 1 - t)^2.

    Attributes
    ----------
    positive, negative : ndarray of shape (n,)
        Costs of missing the margin at +1 and at -1; not below 0.
    """

    positive: np.ndarray
    negative: np.ndarray

    def value(self, scores: np.ndarray) -> float:
        """Return the sum of phi_i(f_i)."""
        above, below = np.maximum(0, 1 - scores), np.maximum(0, 1 + scores)
        return float(self.positive @ above**2 + self.negative @ below**2)

    def gradient(self, scores: np.ndarray) -> np.ndarray:
        """Return phi_i'(f_i), shape (n,)."""
        below = self.negative * np.maximum(0, 1 + scores)
        return 2 * (below - self.positive * np.maximum(0, 1 - scores))

    def curvature(self, scores: np.ndarray) -> np.ndarray:
        """Return phi_i''(f_i), shape (n,)."""
        return 2 * (self.positive * (scores < 1) + self.negative * (scores > -1))

    def coupled(self, vector: np.ndarray) -> float:
        """Return 0.0: each point has a loss of its own."""
        return 0.0


@dataclass(frozen=True)
class Expansion:
    """A function f = sum_i a_i k(., x_i) + b and its values at the points of the kernel matrix.

    Attributes
    ----------
    coefficients : ndarray of shape (n,)
        a.
    products : ndarray of shape (n,)
        K a.
    bias : float
    """

    coefficients: np.ndarray
    products: np.ndarray
    bias: float

    @classmethod
    def zero(cls, n: int, bias: float = 0.0) -> Expansion:
        """Return the constant function."""
        return cls(np.zeros(n), np.zeros(n), bias)

    @property
    def scores(self) -> np.ndarray:
        """f(x_i), shape (n,)."""
        return self.products + self.bias

    @property
    def penalty(self) -> float:
        """|f|^2 / 2, the bias left out."""
        return float(self.coefficients @ self.products) / 2

    def objective(self, losses: Losses) -> float:
        """Return J(f)."""
        return self.penalty + losses.value(self.scores)

    def plus(self, step: Expansion, length: float) -> Expansion:
        """Return f + length * step."""
        return Expansion(
            self.coefficients + length * step.coefficients,
            self.products + length * step.products,
            self.bias + length * step.bias,
        )


def newton_step(
    kernel: KernelProduct,
    f: Expansion,
    losses: Losses,
    tolerance: float,
    free_bias: bool = True,
) -> tuple[Expansion, bool]:
    """Take one Newton step with an exact line search: J does not rise.

    Holds eleven vectors of n doubles beside its inputs.

    Parameters
    ----------
    kernel : KernelProduct
    f : Expansion
        Where to start.
    losses : Losses
    tolerance : float
        Excess of J over its minimum that is good enough. |gradient|^2 / 2 bounds it; what the bias
        adds is estimated by its own quadratic model.
    free_bias : bool, default True
        False holds the bias at what it is.

    Returns
    -------
    Expansion
        The same f if it was good enough already.
    bool
        Whether it was.
    """
    scores = f.scores
    gradient, curvature = losses.gradient(scores), losses.curvature(scores)
    total = curvature.sum() if free_bias else 0.0
    bias = -gradient.sum() / total if total > 0 else 0.0
    residual = -(f.coefficients + gradient + curvature * bias)
    del scores, gradient
    product = kernel.multiply(residual)
    size = residual @ product
    if size / 2 + bias**2 * total / 2 <= tolerance:
        return f, True

    # Conjugate gradients for (I + D K) a = residual with <u, v> = u' K v. D is the curvature, with
    # its projection along the constants taken out where a bias makes up for them.
    goal = max(_FORCING**2 * size, tolerance)
    step = Expansion.zero(kernel.n)
    direction, along, bent = residual, product, residual
    for _ in range(_MOST_PRODUCTS):
        if size <= goal:
            break
        bent = curvature * along
        if total > 0:
            bent -= curvature * (bent.sum() / total)
        bent += direction
        bent += losses.coupled(along)
        length = size / (along @ bent)
        step = step.plus(Expansion(direction, along, 0.0), length)
        residual = residual - length * bent
        product = kernel.multiply(residual)
        size, before = residual @ product, size
        direction = residual + size / before * direction
        along = product + size / before * along
    if total > 0:
        bias -= curvature @ step.products / total
    # the line search holds as many of its own
    del bent, residual, product, direction, along, curvature
    step = Expansion(step.coefficients, step.products, float(bias))
    length = _line_search(f, step, losses)
    return (f.plus(step, length), False) if length > 0 else (f, True)


def _line_search(f: Expansion, step: Expansion, losses: Losses) -> float:
    """Return the length at which J is least along a step, 0 where rounding leaves no descent."""
    scores, change = f.scores, step.scores

    def slope(length: float) -> float:
        # The gradient's own coefficients vanish at the minimum: nothing large cancels.
        gradient = losses.gradient(scores + length * change)
        rkhs = (f.coefficients + length * step.coefficients + gradient) @ step.products
        return rkhs + step.bias * gradient.sum()

    start = slope(0.0)
    if not start < 0:
        return 0.0
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(_MOST_TRIALS):
        found = slope(length)
        if abs(found) <= -_SLOPE_LEFT * start:
            break
        low, high = (length, high) if found < 0 else (low, length)
        bend = 2 * step.penalty + losses.curvature(scores + length * change) @ change**2
        bend += float(np.sum(losses.coupled(change) * change))
        length -= found / bend
        if not low < length < high:
            length = (low + high) / 2
    return length


def tolerated(f: Expansion, objective: float, tol: float) -> float:
    """Return tol * |f|^2 / 2, or tol * J if that is less: what J may be above its minimum.

    J is strongly convex: the squared error of f, in parts of |f|^2, is at most tol. Where costs
    are small or large J is mostly losses, and a part of these may be as much as all of |f|^2.

    Parameters
    ----------
    f : Expansion
    objective : float
        J(f).
    tol : float
    """
    return tol * max(min(objective, f.penalty), _LEAST_PENALTY * objective)


def minimise(
    kernel: KernelProduct,
    f: Expansion,
    losses: Losses,
    tol: float,
    free_bias: bool = True,
    max_steps: int = 100,
) -> Expansion:
    """Take Newton steps until J is within `tolerated` of its minimum.

    Parameters
    ----------
    kernel, f, losses, free_bias
        As in `newton_step`.
    tol : float
    max_steps : int, default 100

    Returns
    -------
    Expansion
    """
    for _ in range(max_steps):
        f, done = newton_step(kernel, f, losses, tolerated(f, f.objective(losses), tol), free_bias)
        if done:
            break
    return f
