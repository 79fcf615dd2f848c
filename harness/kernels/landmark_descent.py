"""Stochastic gradient descent on the coefficients of landmarks, with what its result is worth.

The step follows from what keeps it stable, falls as 1 / sqrt(epochs), and the second half of the
iterates is averaged. One more pass bounds the minimum from below by duality: an iterate that is
not known to be near it can be told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from harness.kernels.hinge import dual_value
from harness.kernels.landmark_features import LandmarkFeatures

# Parabolas of which dual variables of the hinge loss are read off; the best of them counts.
_DUAL_H = (0.05, 0.2, 0.8)


@dataclass
class Descent:
    """Minimise a'K_BB a + C sum hinge(y f), or half of a'K_BB a + C sum (y - f)^2, f = k a + b.

    Parameters
    ----------
    features : LandmarkFeatures
    X : ndarray of shape (n, d)
    rows : ndarray of shape (m,)
        Row numbers.
    targets : ndarray of shape (m, Q), float32
        y: +1 or -1 for each of Q machines.
    C : float
    loss : {"hinge", "squared"}
    """

    features: LandmarkFeatures
    X: np.ndarray
    rows: np.ndarray
    targets: np.ndarray
    C: float
    loss: str

    def run(
        self, epochs: int, batch: int, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a, of shape (r, Q), and b, of shape (Q,): means over the second half."""
        m, Q, L = len(self.rows), self.targets.shape[1], self.features.factor
        a, b = np.zeros((len(L), Q), np.float32), np.zeros(Q, np.float32)
        mean_a, mean_b, averaged = a.astype(np.float64), b.astype(np.float64), 0
        penalty = (2 if self.loss == "hinge" else 1) / m
        first = self._stable_step(penalty)
        for epoch in range(epochs):
            order = rng.permutation(m)
            for block in self.features.blocks(m):
                some = order[block]
                K = self.features.kernel_rows(self.X[self.rows[some]])
                for start in range(0, len(some), batch):
                    rows = K[start : start + batch]
                    y = self.targets[some[start : start + batch]]
                    eta = first / np.sqrt(1 + epoch + (block.start + start) / m)
                    pull = self._pull(rows @ a + b, y) * (self.C / len(rows))
                    a -= eta * (penalty * (L @ (L.T @ a)) - rows.T @ pull)
                    b += eta * pull.sum(axis=0)
                    if 2 * epoch >= epochs - 1:
                        averaged += 1
                        mean_a += (a - mean_a) / averaged
                        mean_b += (b - mean_b) / averaged
        return mean_a.astype(np.float32), mean_b

    def _pull(self, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y * (y * scores < 1) if self.loss == "hinge" else y - scores

    def _stable_step(self, penalty: float) -> float:
        """Return half the largest step at which no single row's step overshoots.

        That is 2 / (C |(k_i, 1)|^2 + the penalty's curvature) for the squared loss; with the hinge
        it moves no margin by more than 1.
        """
        largest = 0.0
        for block in self.features.blocks(len(self.rows)):
            K = self.features.kernel_rows(self.X[self.rows[block]])
            largest = max(largest, float(np.einsum("ij,ij->i", K, K).max()))
        L = self.features.factor
        # The largest row sum of |K_BB|, a bound of its eigenvalues.
        bend = float((np.abs(L) @ np.abs(L).sum(axis=0)).max())
        return 1 / (self.C * (1 + largest) + penalty * bend)

    def bounds(self, a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
        """Return the objective and a lower bound of its minimum, summed over the machines."""
        squared = np.square(self.features.factor.T @ a, dtype=np.float64).sum(axis=0)
        bounds = self._hinge_bounds if self.loss == "hinge" else self._squared_bounds
        return bounds(a, b.astype(np.float32), squared)

    def _hinge_bounds(self, a: np.ndarray, b: np.ndarray, squared: np.ndarray) -> tuple:
        loss, shape = np.zeros(len(b)), (len(_DUAL_H), 2, len(b))
        totals, sums = np.zeros(shape), np.zeros((*shape, len(a)))
        for block in self.features.blocks(len(self.rows)):
            K, y = self.features.kernel_rows(self.X[self.rows[block]]), self.targets[block]
            margins = y * (K @ a + b)
            loss += np.maximum(0, 1 - margins).sum(axis=0, dtype=np.float64)
            for i, h in enumerate(_DUAL_H):
                pull = self.C * np.clip((1 + h - margins) / (2 * h), 0, 1)
                for side, where in enumerate((y > 0, y < 0)):
                    totals[i, side] += (pull * where).sum(axis=0, dtype=np.float64)
                    sums[i, side] += (pull * where).T @ K
        duals = np.zeros((len(_DUAL_H), len(b)))
        for i, q in np.ndindex(*duals.shape):
            duals[i, q] = dual_value(*totals[i, :, q], self._weights(sums[i, :, q].T))
        return float((squared + self.C * loss).sum()), float(duals.max(axis=0).sum())

    def _squared_bounds(self, a: np.ndarray, b: np.ndarray, squared: np.ndarray) -> tuple:
        m, Q = len(self.rows), len(b)
        total, squares, cross, mean = np.zeros(Q), np.zeros(Q), np.zeros(Q), np.zeros(Q)
        sums, all_rows = np.zeros((len(a), Q)), np.zeros(len(a))
        for block in self.features.blocks(m):
            K, y = self.features.kernel_rows(self.X[self.rows[block]]), self.targets[block]
            left = y - (K @ a + b)
            total += left.sum(axis=0, dtype=np.float64)
            squares += np.square(left).sum(axis=0, dtype=np.float64)
            cross += (y * left).sum(axis=0, dtype=np.float64)
            mean += y.sum(axis=0, dtype=np.float64) / m
            sums += K.T @ left
            all_rows += K.sum(axis=0)
        # The dual variables are what is left of y, less its mean: the free bias asks for that.
        v = self._weights(sums - np.outer(all_rows, total / m))
        gained = (cross - total * mean) ** 2
        centred = squares - total**2 / m
        spent = centred + self.C * np.square(v).sum(axis=0)
        dual = self.C / 2 * np.divide(gained, spent, out=np.zeros(Q), where=spent > 0)
        return float((squared / 2 + self.C / 2 * squares).sum()), float(dual.sum())

    def _weights(self, sums: np.ndarray) -> np.ndarray:
        """Return sums of features, given those of kernel rows."""
        return solve_triangular(self.features.factor, sums, lower=True, check_finite=False)
