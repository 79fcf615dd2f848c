"""The points that a pass has come to, with scores that follow what is learned of them.

A window is scored by one matrix product. Between two updates no score changes, so the pass goes
from one point that changes something to the next: a step costs only where something is learned.
"""

from __future__ import annotations

import numpy as np

from harness.kernels import BoundKernel

from .support import SupportSet

WINDOW = 128
"""Points of a window: their kernel values at each other take 64 kB."""

MISTAKE = float(np.nextafter(0, 1))
"""Margins below are mistakes: a score of 0 is one, as the papers' `y f(x) <= 0` says."""


class Window:
    """Labels and scores of some points.

    A point's margin is y f(x) for two classes, and of more the score of its class less the
    largest of another (Crammer & Singer 2003). What is learned of a point goes along its
    `direction`: y, or 1 for its class and -1 for that other one.

    Parameters
    ----------
    codes : ndarray of int, shape (m,)
        Positions of the labels among the classes.
    scores : ndarray of shape (m, Q), float64
        One column for two classes.
    absent : ndarray of int
        Classes that no point has.
    """

    def __init__(self, codes: np.ndarray, scores: np.ndarray, absent: np.ndarray) -> None:
        self.codes, self.scores, self._absent = codes.astype(np.intp), scores, absent
        self._binary = scores.shape[1] == 1
        self._signs = np.where(codes == 1, 1.0, -1.0)

    def __len__(self) -> int:
        return len(self.codes)

    def next_below(self, start: int, least: np.ndarray | float) -> tuple[int, float] | None:
        """Return the first point from `start` on whose margin is below, and its margin.

        Parameters
        ----------
        start : int
        least : ndarray of shape (m - start,) or float
            The margin that is enough at each of the points.
        """
        if start == len(self):
            return None
        margins = self._margins(start)
        below = margins < least
        first = int(below.argmax())
        return (start + first, float(margins[first])) if below[first] else None

    def _margins(self, start: int) -> np.ndarray:
        scores = self.scores[start:]
        if self._binary:
            return self._signs[start:] * scores[:, 0]
        rows, own = np.arange(len(scores)), self.codes[start:]
        others = scores.copy()
        others[rows, own] = -np.inf
        others[:, self._absent] = -np.inf
        return scores[rows, own] - others.max(axis=1)

    def direction(self, t: int) -> np.ndarray:
        """Return along which machines a point is learned, shape (Q,)."""
        if self._binary:
            return self._signs[t : t + 1]
        others = self.scores[t].copy()
        others[self.codes[t]] = -np.inf
        others[self._absent] = -np.inf
        direction = np.zeros(len(others))
        direction[self.codes[t]] = 1
        direction[others.argmax()] = -1
        return direction


class KernelWindow(Window):
    """A window that is scored by a kernel expansion.

    Holds `bytes` beside the points; changes of the support set go through it.

    Parameters
    ----------
    support : SupportSet
    kernel : BoundKernel
        Of points that are near the origin.
    X : ndarray of shape (m, d), float32
    codes : ndarray of int, shape (m,)
    absent : ndarray of int
    room : ndarray, float32
        Where kernel values go, at least (capacity + m) m numbers.
    """

    def __init__(
        self,
        support: SupportSet,
        kernel: BoundKernel,
        X: np.ndarray,
        codes: np.ndarray,
        absent: np.ndarray,
        room: np.ndarray,
    ) -> None:
        m, most = len(X), support.capacity
        self.X, self._support, self._kernel = X, support, kernel.at_origin
        self._values = room[: most * m].reshape(most, m)
        at = self._at = kernel.at(X)
        self._own = at(X, out=room[most * m : (most + m) * m].reshape(m, m))
        # not as it is rounded where a kernel is very narrow
        self._diagonal = kernel.at_origin.diagonal(X)
        np.fill_diagonal(self._own, self._diagonal)
        K = self._values[: support.size]
        if support.size:
            at(support.points[: support.size], out=K)
        scores = K.T @ support.coef[: support.size].astype(np.float32)
        super().__init__(codes, scores.astype(np.float64), absent)

    @staticmethod
    def bytes(capacity: int, m: int, n_machines: int) -> int:
        """Bytes of kernel values, scores, margins and what an update moves."""
        return 4 * (capacity + m) * m + 8 * m * (4 * n_machines + 8) + 4 * capacity * n_machines

    def values(self, t: int) -> np.ndarray:
        """Return k between the support set and a point, float64 of shape (size,)."""
        return self._values[: self._support.size, t].astype(np.float64)

    def diagonal(self, t: int) -> float:
        """Return k(x, x) of a point."""
        return float(self._diagonal[t])

    def insert(self, t: int, coef: np.ndarray) -> None:
        """Make a point a support vector, where there is room."""
        self._support.insert(self.X[t], coef, self.diagonal(t))
        self._values[self._support.size - 1] = self._own[t]
        self.scores += np.outer(self._own[t], coef)

    def replace(self, slot: int, t: int, coef: np.ndarray) -> None:
        """Make a point a support vector in the place of another."""
        self.scores -= np.outer(self._values[slot], self._support.coef[slot])
        self._support.put(slot, self.X[t], coef, self.diagonal(t))
        self._values[slot] = self._own[t]
        self.scores += np.outer(self._own[t], coef)

    def move(self, slot: int, point: np.ndarray, coef: np.ndarray) -> None:
        """Put a point that is none of the window in the place of a support vector."""
        self.scores -= np.outer(self._values[slot], self._support.coef[slot])
        k = float(self._kernel.diagonal(point[None])[0])
        self._support.put(slot, point, coef, k)
        self._values[slot] = self._at(point[None])[0]
        self.scores += np.outer(self._values[slot], coef)

    def remove(self, slot: int) -> None:
        """Take a support vector out; the last one gets its place."""
        self.scores -= np.outer(self._values[slot], self._support.coef[slot])
        self._support.remove(slot)
        self._values[slot] = self._values[self._support.size]

    def combine(self, change: np.ndarray) -> None:
        """Add to all coefficients, shape (size, Q)."""
        size = self._support.size
        self._support.coef[:size] += change
        self.scores += self._values[:size].T @ change.astype(np.float32)

    def scale(self, factor: float) -> None:
        """Multiply all coefficients."""
        self._support.coef[: self._support.size] *= factor
        self.scores *= factor


class FeatureWindow(Window):
    """A window that is scored by a linear machine on explicit features.

    Parameters
    ----------
    Z : ndarray of shape (m, D), float32
        Features.
    weights : ndarray of shape (D, Q), float64
        Changed by `finish`.
    codes : ndarray of int, shape (m,)
    absent : ndarray of int
    """

    def __init__(
        self, Z: np.ndarray, weights: np.ndarray, codes: np.ndarray, absent: np.ndarray
    ) -> None:
        scores = (Z @ weights.astype(np.float32)).astype(np.float64)
        super().__init__(codes, scores, absent)
        self._Z, self._weights, self._own = Z, weights, Z @ Z.T
        self._learned = np.zeros_like(scores)

    @staticmethod
    def bytes(n_components: int, m: int, n_machines: int) -> int:
        """Bytes of products of features, scores, and what the weights are changed by."""
        return 4 * m * m + 8 * m * (5 * n_machines + 8) + 12 * n_components * n_machines

    def add(self, t: int, coef: np.ndarray) -> None:
        """Add a point's features, times the coefficients, to the weights."""
        self._learned[t] += coef
        self.scores += np.outer(self._own[t], coef)

    def finish(self) -> None:
        """Change the weights by all that was added."""
        self._weights += self._Z.T @ self._learned.astype(np.float32)
