"""Projectron and Projectron++ (Orabona, Keshet & Caputo 2009).

A point that the support vectors nearly span is projected onto them instead of joining them. At B
support vectors every further point is.
"""

from __future__ import annotations

import numpy as np

from harness.estimator import NonNegativeFloat

from .machine import KernelOnlineClassifier
from .support import InverseGram
from .windows import KernelWindow, Window


class Projectron(KernelOnlineClassifier):
    """The perceptron that projects what it nearly knows."""

    eta: NonNegativeFloat = 0.1
    """Distance to the span of the support vectors, in feature space, up to which a point is
    projected. With 0 it is the kernel perceptron until there are B of them.
    """

    def _make_room(self) -> None:
        super()._make_room()
        self._inverse = InverseGram(self._support, self._kernel)

    def _rest(self) -> None:
        super()._rest()
        del self._inverse

    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        k = window.values(t)
        d, distance = self._inverse.project(k, window.diagonal(t))
        self._learn_projected(window, t, d, distance)

    def _learn_projected(
        self, window: KernelWindow, t: int, d: np.ndarray, distance: float
    ) -> None:
        direction = window.direction(t)
        full = self._support.size == self.budget
        if full or (len(d) and distance <= self.eta**2):
            window.combine(np.outer(d, direction))
        else:
            self._inverse.insert(d, distance, window.diagonal(t))
            window.insert(t, direction)


class ProjectronPlusPlus(Projectron):
    """The same that learns from small margins as well, if a projection is near enough."""

    eta: NonNegativeFloat = 0.1
    """Distance to the span of the support vectors, in feature space, up to which a point is
    projected. A right prediction with a loss of l is learned from where that distance is below
    eta l.
    """

    def _least_margins(self, window: Window, start: int) -> float:
        return 1.0

    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        k = window.values(t)
        d, distance = self._inverse.project(k, window.diagonal(t))
        if margin <= 0:
            self._learn_projected(window, t, d, distance)
            return
        direction, loss = window.direction(t), 1 - margin
        squared = float(direction @ direction)
        projected, away = squared * float(k @ d), np.sqrt(squared * distance)
        if loss * self.eta > away and projected > 0:
            step = min(loss / projected, 2 * (loss - away / self.eta) / projected, 1.0)
            window.combine(np.outer(step * d, direction))
