"""Dual Space Gradient Descent (Le, Nguyen, Nguyen & Phung 2016).

Support vectors beyond the budget are not lost: they go on in random Fourier features, as a second
part of the same function, w = sum_j alpha_j k(., x_j) + w~'z(.).
"""

from __future__ import annotations

import numpy as np

from harness import kernels
from harness.estimator import PositiveInt
from harness.layers import Center, Layer, Linear, Sum

from .bsgd import PegasosSteps
from .machine import ROWS, require_gaussian
from .windows import KernelWindow


class DualSpaceSGD(PegasosSteps):
    """Pegasos with support vectors and, for those that were given up, random features."""

    n_components: PositiveInt = 200
    """D, random features; an odd number is rounded down, for they come in pairs."""
    k: PositiveInt = 20
    """How many support vectors, those with the least |alpha|, go on in random features at once."""
    frequencies: kernels.FrequencyName = "gaussian"
    """How frequencies are drawn: independently, as in the paper, or as `rff-ridge` has them."""

    def _begin(self, X: np.ndarray) -> None:
        super()._begin(X)
        require_gaussian(self._kernel, "random Fourier features are those of the Gaussian kernel")
        self._map = kernels.RandomFourierFeatures(
            X.shape[1],
            self.n_components,
            self._kernel.width,
            self._rng,
            frequencies=self.frequencies,
        )
        self._auxiliary = np.zeros((self._map.n_components, self._n_machines))

    def _window(self, X: np.ndarray, codes: np.ndarray) -> KernelWindow:
        window = super()._window(X, codes)
        self.__dict__.pop("_features", None)  # or they would stand beside the next ones
        self._features = self._map.transform(X)
        window.scores += self._features @ self._auxiliary.astype(np.float32)
        return window

    def _maintain(self, window: KernelWindow) -> None:
        given_up = np.sort(self._support.lightest(min(self.k, self.budget)))[::-1]
        alpha = self._support.coef[given_up]
        Z = self._map.transform(self._support.points[given_up])
        self._auxiliary += Z.T @ alpha.astype(np.float32)
        window.scores += (self._features @ Z.T) @ alpha.astype(np.float32)
        # from the end, as the last one gets the place of each
        for slot in given_up:
            window.remove(int(slot))

    def _rest(self) -> None:
        super()._rest()
        del self._features

    def _of_features(self) -> np.ndarray:
        return (self._scale * self._auxiliary).astype(np.float32)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        scores, coef = super()._scores(X), self._of_features()
        for start in range(0, len(X), ROWS):
            rows = slice(start, start + ROWS)
            scores[rows] += self._map.transform(self._near(X[rows])) @ coef
        return scores

    def _layers(self) -> list[Layer]:
        near = Center(self._kernel.center, np.float32)
        auxiliary = [near, *self._map.layers()[1:], Linear(self._of_features())]
        return [Sum([super()._layers(), auxiliary])]
