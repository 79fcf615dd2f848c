"""BOGD: online gradient descent that gives up support vectors at random, without bias.

Zhao, Wang, Wu, Jin & Hoi 2012, with uniform sampling: the others are scaled by B / (B - 1), so
that the expectation of the function stays what it was.
"""

from __future__ import annotations

import numpy as np

from harness.estimator import NonNegativeFloat, PositiveFloat

from .machine import KernelOnlineClassifier
from .windows import KernelWindow, Window


class BoundedOGD(KernelOnlineClassifier):
    """Online gradient descent on the hinge loss with bounded coefficients."""

    eta0: PositiveFloat = 0.2
    """eta, the learning rate."""
    alpha: NonNegativeFloat = 0.0
    """lambda, the weight of |f|^2 / 2: all coefficients shrink by 1 - eta lambda at each step."""
    gamma: PositiveFloat = 10.0
    """The largest coefficient, in parts of eta: beyond, all are scaled back."""

    def _begin(self, X: np.ndarray) -> None:
        super()._begin(X)
        self._fresh = 0

    def _decay(self) -> float:
        return max(1 - self.eta0 * self.alpha, 1e-3)

    def _least_margins(self, window: Window, start: int) -> np.ndarray:
        # coefficients are those of the last update; what they shrank by since is in the margin
        return self._decay() ** -np.arange(
            start - self._fresh, len(window) - self._fresh, dtype=float
        )

    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        window.scale(self._decay() ** (t + 1 - self._fresh))
        self._fresh = t + 1
        coef = self.eta0 * window.direction(t)
        size = self._support.size
        if size < self.budget:
            window.insert(t, coef)
            return
        if size > 1:
            window.scale(size / (size - 1))
        window.replace(self._rng.randint(size), t, coef)
        largest = float(np.abs(self._support.coef[:size]).max())
        if largest > self.gamma * self.eta0:
            window.scale(self.gamma * self.eta0 / largest)

    def _pass_by(self, window: Window) -> None:
        self._support.coef[: self._support.size] *= self._decay() ** (len(window) - self._fresh)
        self._fresh = 0
