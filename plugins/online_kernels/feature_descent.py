"""FOGD and NOGD: online gradient descent on explicit features (Lu et al. 2016).

FOGD has random Fourier features from the start, NOGD Nystrom features of its first B support
vectors. The loss is the hinge, the step eta, and there is no penalty.
"""

from __future__ import annotations

import numpy as np

from harness import Arrays, Shape, Storage, kernels
from harness.estimator import PositiveFloat, PositiveInt
from harness.layers import Layer, Linear

from .machine import KernelOnlineClassifier, OnlineClassifier
from .windows import WINDOW, FeatureWindow, KernelWindow, Window

# Part of the largest eigenvalue below which a direction is rounding of a float32 kernel matrix.
_LEAST_EIGENVALUE = 1e-6


def descend(window: FeatureWindow, eta: float) -> int:
    """Go through a window by gradient descent on the hinge loss; return the mistakes."""
    t = mistakes = 0
    while found := window.next_below(t, 1.0):
        t, margin = found
        mistakes += margin <= 0
        window.add(t, eta * window.direction(t))
        t += 1
    window.finish()
    return mistakes


class FourierOGD(kernels.GaussianWidth, OnlineClassifier):
    """FOGD: a linear machine on random Fourier features, pairs of cosine and sine."""

    n_components: PositiveInt = 400
    """D, features; an odd number is rounded down, for they come in pairs."""
    eta0: PositiveFloat = 0.2
    """eta, the learning rate, on the scale of features with norm 1."""
    frequencies: kernels.FrequencyName = "gaussian"
    """How frequencies are drawn: independently, as in the paper, or as `rff-ridge` has them."""

    def _begin(self, X: np.ndarray) -> None:
        width, center = self._width_on(X), kernels.column_medians(X)
        self._map = kernels.RandomFourierFeatures(
            X.shape[1],
            self.n_components,
            width,
            self._rng,
            center=center,
            frequencies=self.frequencies,
        )
        self.coef_ = np.zeros((self._map.n_components, self._n_machines))

    def _near(self, X: np.ndarray) -> np.ndarray:
        return self._map.transform(X)

    def _observe(self, X: np.ndarray, codes: np.ndarray) -> int:
        self.mistakes_ += descend(FeatureWindow(X, self.coef_, codes, self._absent), self.eta0)
        return len(X)

    def _rest(self) -> None:
        del self._rng

    def _scores(self, X: np.ndarray) -> np.ndarray:
        coef, scores = self.coef_.astype(np.float32), np.empty((len(X), self.coef_.shape[1]))
        for start in range(0, len(X), WINDOW):
            rows = slice(start, start + WINDOW)
            scores[rows] = self._map.transform(X[rows]) @ coef
        return scores

    def _layers(self) -> list[Layer]:
        return [*self._map.layers(), Linear(self.coef_.astype(np.float32))]


class NystromOGD(KernelOnlineClassifier):
    """NOGD: online gradient descent until there are B support vectors, then on their features.

    Features are D^-1/2 V' k(., S), with the largest eigenvalues D of the support vectors' kernel
    matrix; the machine goes on from V' D^1/2 alpha.
    """

    rank: PositiveInt | None = None
    """k, how many eigenvalues. None: a fifth of the support vectors, as in the paper."""
    eta0: PositiveFloat = 0.2
    """eta, the learning rate."""

    def _begin(self, X: np.ndarray) -> None:
        super()._begin(X)
        self._projection: np.ndarray | None = None

    def _least_margins(self, window: Window, start: int) -> float:
        return 1.0

    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        window.insert(t, self.eta0 * window.direction(t))
        if self._support.size == self.budget:
            self._to_features()

    def _is_over(self) -> bool:
        return self._projection is not None

    def _observe(self, X: np.ndarray, codes: np.ndarray) -> int:
        if self._projection is None:
            return super()._observe(X, codes)
        if not hasattr(self, "_room"):
            self._make_room()
        K = self._room[: self.budget * len(X)].reshape(self.budget, len(X))
        Z = self._kernel.at(X)(self.support_vectors_, out=K).T @ self._projection
        window = FeatureWindow(Z, self._weights, codes, self._absent)
        self.mistakes_ += descend(window, self.eta0)
        return len(X)

    def _to_features(self) -> None:
        points, alpha = self.support_vectors_, self._support.coef
        K = self._kernel.at_origin(points, points).astype(np.float64)
        eigenvalues, V = kernels.eigensystem(K)
        most = self.rank or max(1, self.budget // 5)
        kept = min(most, int(np.sum(eigenvalues > _LEAST_EIGENVALUE * eigenvalues[0])))
        roots, V = np.sqrt(eigenvalues[:kept]), V[:, :kept]
        self._weights = (V.T @ alpha) * roots[:, None]
        self._projection = (V / roots).astype(np.float32)

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients of the support vectors, of which scores are the sum."""
        if self._projection is None:
            return super().dual_coef_
        return self._projection @ self._weights


def fourier_sizes(shape: Shape) -> tuple[int, int]:
    """Return a pair of features at the least, and 20,000 at the most."""
    return 2, 20_000


def fourier_storage(
    shape: Shape, size: int, frequencies: str = "gaussian", paused: bool = False
) -> Storage:
    """Count frequencies, weights, a window of features, and a block of new rows."""
    n, d = min(shape.n_labeled, shape.n_at_once), shape.n_features
    i, Q = shape.itemsize, shape.n_machines
    D, m = size + size % 2, min(WINDOW, n)
    labels = Arrays(X=shape.data_bytes, labels=9 * n)
    drawn = kernels.frequency_bytes(frequencies, d, D // 2, 4)
    model = Arrays(frequencies=drawn, weights=8 * D * Q)
    predicting = Arrays(
        block=shape.new_block_bytes,
        features=min(WINDOW, shape.block_rows) * (4 * D + 4 * d),
        single=4 * D * Q,
        scores=8 * shape.block_rows * Q,
        phases=kernels.phase_bytes(frequencies, WINDOW, d, 4),
    )
    learning = Arrays(
        order=8 * n,
        window=FeatureWindow.bytes(D, m, Q),
        window_features=m * (4 * D + d * (4 + i)),
        phases=kernels.phase_bytes(frequencies, WINDOW, d, 4),
    )
    fit = {
        "labels": labels + Arrays(checked=16 * n),
        "width": labels + Arrays(sample=kernels.width_bytes(shape.n_at_once, d, i)),
        "a window": labels + model + learning,
    }
    if paused:
        asked = {f"asked_{name}": many for name, many in predicting.items()}
        # the window before is let go
        fit["a pause"] = labels + model + Arrays(asked) + Arrays(order=8 * n)
    held = max(0, shape.predict_data_bytes - shape.new_block_bytes)
    return Storage(fit, {"a block": model + predicting + Arrays(X=held)})
