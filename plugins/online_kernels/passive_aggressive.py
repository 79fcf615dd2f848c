"""BPA-S: the passive-aggressive machine on a budget (Wang & Vucetic 2010)."""

from __future__ import annotations

from harness.estimator import PositiveFloat

from .machine import KernelOnlineClassifier
from .windows import KernelWindow, Window


class BudgetPassiveAggressive(KernelOnlineClassifier):
    """PA-I whose step may give up one support vector and set the coefficient of the new one.

    Of all that may go, the one goes that leaves the objective of the step, |f - f_t|^2 / 2 + C
    times the hinge loss, least. Its closed form is that of the paper's BPA-S, with V = {t}.
    """

    C: PositiveFloat = 1.0
    """Weight of the loss: no step is longer."""

    def _least_margins(self, window: Window, start: int) -> float:
        return 1.0

    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        direction, size = window.direction(t), self._support.size
        squared = float(direction @ direction)
        norm = squared * window.diagonal(t)
        step = min(self.C, (1 - margin) / norm) if norm > 0 else self.C
        if size < self.budget:
            window.insert(t, step * direction)
            return
        # what the new support vector takes over of each one that could go
        shared = self._support.coef[:size] @ direction * window.values(t)
        lost = self._support.squared_norms() - (shared * shared / norm if norm > 0 else 0)
        slot = int(lost.argmin())
        taken_over = float(shared[slot]) / norm if norm > 0 else 0.0
        window.replace(slot, t, (taken_over + step) * direction)


def update_bytes(capacity: int) -> int:
    """Bytes of what an update computes for each support vector."""
    return 8 * 6 * capacity
