"""Budgeted stochastic gradient descent (Wang, Crammer & Vucetic 2012).

This is kernel Pegasos, w_{t+1} = (1 - 1/t) w_t + y_t k(x_t, .) / (lambda t) where the hinge loss
is not zero. Its support vectors are brought back to B by removing, projecting or merging one. What
is kept is v = lambda (t - 1) w_t, which does not shrink from step to step: a point whose loss is
zero changes nothing.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from harness.estimator import PositiveFloat

from .machine import KernelOnlineClassifier, require_gaussian
from .merging import merge
from .support import InverseGram
from .windows import MISTAKE, KernelWindow, Window


class PegasosSteps(KernelOnlineClassifier):
    """The steps of Pegasos, of which the support vectors hold v."""

    alpha: PositiveFloat = 1e-4
    """lambda, the weight of |w|^2 / 2 beside the mean hinge loss. Steps are 1 / (lambda t)."""

    _beyond_budget = 1

    def _begin(self, X: np.ndarray) -> None:
        super()._begin(X)
        self._n_steps = 0

    def _least_margins(self, window: Window, start: int) -> np.ndarray:
        done = self._n_steps + np.arange(start, len(window))
        return np.maximum(self.alpha * done, MISTAKE)

    def _pass_by(self, window: Window) -> None:
        self._n_steps += len(window)
        self._scale = 1 / (self.alpha * self._n_steps)

    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        window.insert(t, window.direction(t))
        if self._support.size > self.budget:
            self._maintain(window)

    def _maintain(self, window: KernelWindow) -> None:
        """Bring the support vectors back to the budget."""


class BudgetedSGD(PegasosSteps):
    """Budgeted Pegasos."""

    maintenance: Literal["merging", "projection", "removal"] = "merging"
    """What is done to one support vector too many. "removal": the one with the least
    |alpha|^2 k(x, x) goes, of equals the oldest. "projection": the one goes of which least is lost
    when it is projected onto all others. "merging": the one with the least |alpha| and the partner
    with which least is lost become one point between them; for the Gaussian kernel alone.
    """

    def _begin(self, X: np.ndarray) -> None:
        super()._begin(X)
        if self.maintenance == "merging":
            why = "maintenance='merging' makes a point between two, whose Gaussian kernel is known"
            require_gaussian(self._kernel, why)

    def _make_room(self) -> None:
        super()._make_room()
        if self.maintenance == "projection":
            self._inverse = InverseGram(self._support, self._kernel)

    def _rest(self) -> None:
        super()._rest()
        if self.maintenance == "projection":
            del self._inverse

    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        if self.maintenance == "projection":
            d, distance = self._inverse.project(window.values(t), window.diagonal(t))
            self._inverse.insert(d, distance, window.diagonal(t))
        super()._update(window, t, margin)

    def _maintain(self, window: KernelWindow) -> None:
        if self.maintenance == "removal":
            window.remove(int(self._support.lightest(1)[0]))
        elif self.maintenance == "projection":
            self._project_one(window)
        else:
            merge(self._support, self._kernel, window)

    def _project_one(self, window: KernelWindow) -> None:
        alpha = self._support.coef[: self._support.size]
        lost = np.einsum("ij,ij->i", alpha, alpha) * self._inverse.distances()
        slot = int(lost.argmin())
        window.combine(np.outer(self._inverse.without(slot), alpha[slot]))
        self._inverse.remove(slot)
        window.remove(slot)
        if self._inverse.is_worn:
            self._inverse.renew()
