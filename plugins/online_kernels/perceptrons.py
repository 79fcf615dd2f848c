"""Perceptrons that forget: a random support vector, or the oldest one after shrinking all."""

from __future__ import annotations

import numpy as np

from harness import kernels

from .machine import KernelOnlineClassifier
from .windows import KernelWindow


class RandomizedBudgetPerceptron(KernelOnlineClassifier):
    """The perceptron that gives up a random support vector (Cavallanti et al. 2007)."""

    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        if self._support.size < self.budget:
            window.insert(t, window.direction(t))
        else:
            window.replace(self._rng.randint(self.budget), t, window.direction(t))


class Forgetron(KernelOnlineClassifier):
    """The self-tuned Forgetron (Dekel, Shalev-Shwartz & Singer 2008).

    Support vectors are written over in turn: the one to be written over is the oldest.

    Attributes
    ----------
    damage_ : float
        Q, what shrinking and removal cost at most so far; never above 15/32 of the mistakes.
    """

    def _begin(self, X: np.ndarray) -> None:
        super()._begin(X)
        self._oldest, self._n_updates, self.damage_ = 0, 0, 0.0

    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        self._n_updates += 1
        # Of more than two classes a point and its rival are one example of norm 1.
        direction = window.direction(t)
        direction = direction / np.sqrt(direction @ direction)
        if self._support.size < self.budget:
            window.insert(t, direction)
            return
        oldest = self._oldest
        age = float(np.sqrt(self._support.coef[oldest] @ self._support.coef[oldest]))
        shrinking = self._shrinking(age, self._value_at_oldest(window, t, direction, age))
        window.replace(oldest, t, direction)
        window.scale(shrinking)
        self._oldest = (oldest + 1) % self.budget

    def _value_at_oldest(
        self, window: KernelWindow, t: int, direction: np.ndarray, age: float
    ) -> float:
        """Return mu: y_r f'(x_r) of the oldest example, with point t already in f'."""
        points = np.concatenate([self.support_vectors_, window.X[t : t + 1]])
        k = self._kernel.at_origin(points[self._oldest : self._oldest + 1], points)[0]
        value = k[:-1] @ self._support.coef[: self._support.size] + k[-1] * direction
        return float(value @ self._support.coef[self._oldest] / age)

    def _shrinking(self, age: float, value: float) -> float:
        """Return phi, the largest with Psi(phi age, phi value) + Q <= 15/32 M, and count Psi."""
        a, b = age * age - 2 * age * value, 2 * age
        c = self.damage_ - 15 / 32 * self._n_updates
        phi = 1.0
        if a + b + c > 0:
            # c < 0, so there is one root between 0 and 1, whatever the sign of a
            phi = -2 * c / (b + np.sqrt(b * b - 4 * a * c))
        self.damage_ += a * phi * phi + b * phi
        return phi


def oldest_bytes(capacity: int, d: int, kernel: str | kernels.KernelFunction) -> int:
    """Bytes for the kernel values of the oldest support vector at all others."""
    return 4 * (capacity + 1) * (d + 2) + kernels.kernel_bytes(kernel, 1, capacity + 1, d, 4, True)
