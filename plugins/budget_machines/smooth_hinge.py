"""The hinge loss of a set of rows, its corner rounded if asked, and what the dual has of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Of the interval in which a constant is sought.
_HALVINGS = 40


@dataclass(frozen=True)
class SmoothHinge:
    """The sum of c_i l(m_i), l(m) the largest t (1 - m) - s t^2 / 2 of all 0 <= t <= 1.

    With s = 0 that is the hinge, max(0, 1 - m). Otherwise it is the smooth hinge: its slope falls
    from 0 at a margin m of 1 to -1 at 1 - s (Shalev-Shwartz & Zhang 2013, section 2).

    Attributes
    ----------
    costs : ndarray of shape (n,), float64
        c; if s > 0 the same for all rows but those of cost 0.
    smoothing : float, default 0
        s.
    """

    costs: np.ndarray
    smoothing: float = 0.0

    @property
    def cost(self) -> float:
        """The largest c."""
        return float(self.costs.max())

    @property
    def straight(self) -> float:
        """The margin below which the loss is a straight line."""
        return 1 - self.smoothing

    def of_constant(self, signs: np.ndarray) -> float:
        """Return the least sum of losses of a constant, given y."""
        above, below = self.costs @ (signs > 0), self.costs @ (signs < 0)
        if not self.smoothing:
            return float(2 * min(above, below))
        low, high = -1.0, 1.0
        for _ in range(_HALVINGS):
            b = (low + high) / 2
            slopes = np.clip((1 - b * np.array([1, -1])) / self.smoothing, 0, 1)
            low, high = (b, high) if above * slopes[0] > below * slopes[1] else (low, b)
        pair = SmoothHinge(np.array([above, below]), self.smoothing)
        return pair.total(np.array([low, -low]))

    def total(self, margins: np.ndarray) -> float:
        """Return the sum of the losses."""
        losses = 1 - margins
        np.maximum(0, losses, out=losses)
        if self.smoothing:
            bent = np.minimum(losses, self.smoothing)
            losses *= bent
            np.square(bent, out=bent)
            bent /= 2
            losses -= bent
            losses /= self.smoothing
        return float(self.costs @ losses)

    def pull(self, margins: np.ndarray) -> np.ndarray:
        """Return minus the derivatives of the losses."""
        if not self.smoothing:
            return self.costs * (margins < 1)
        pull = 1 - margins
        pull /= self.smoothing
        np.clip(pull, 0, 1, out=pull)
        pull *= self.costs
        return pull

    def proximal_pull(self, margins: np.ndarray, duals: np.ndarray, penalty: float) -> np.ndarray:
        """Return a, the largest a (1 - m) - s a^2 / 2c - (a - dual)^2 / 2 penalty, 0 <= a <= c.

        They are minus the slopes of a smoother loss, of second derivatives up to
        `curvature(penalty)`.
        """
        pull = duals + penalty * (1 - margins)
        if self.smoothing:
            pull *= self.curvature(penalty) / penalty
        return np.clip(pull, 0, self.costs, out=pull)

    def curvature(self, penalty: float) -> float:
        """Return the second derivative of what `proximal_pull` is the slope of."""
        return penalty / (1 + penalty * self.smoothing / self.cost)

    def conjugate(self, duals: np.ndarray) -> np.ndarray:
        """Return s a^2 / 2c, what the dual objective has less than a."""
        return duals**2 * (self.smoothing / 2 / self.cost)
