"""Machines of a Nystrom kernel that are trained on features of all points, held in float32.

A product with the kernel matrix K_xB K_BB^+ K_Bz of landmarks B takes n s operations then. With
all points as landmarks the kernel is the exact one.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from harness import kernels
from harness.kernels.triangular_solve import substitution_bytes
from harness.layers import Center, KernelValues, Layer, Linear
from harness.plugin.shape import Shape
from harness.plugin.storage import Arrays, beside
from harness.semi_supervised.classifiers import SplitClassifier
from harness.semi_supervised.kernel_operators import LinearProduct


class LandmarkMachine(kernels.Landmarks, kernels.GaussianWidth, SplitClassifier):
    """Scores k(x, B) a + b, of machines that were trained on z(x) = L^-1 k(B, x), L L' = K_BB.

    A subclass calls `_hold_features` where it learns, sets `_coefficients` by `_expand` and
    `_intercepts` where it trains, and calls `_let_go` at the end.

    Attributes
    ----------
    landmarks_ : ndarray of shape (s, d), float32
        B, less `center_`.
    center_ : ndarray of shape (d,)
    """

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _hold_features(self, X: np.ndarray) -> LinearProduct:
        """Choose landmarks and return the kernel matrix of all points, as a product."""
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel("rbf", X, self.sigma, self.sigma_unit)
        self._width, self.center_ = kernel.width, kernel.center
        sample = self._select(X, self.n_landmarks, rng, kernel)
        self._landmark_features = kernels.LandmarkFeatures(X, kernel, sample)
        self.landmarks_ = self._landmark_features.landmarks
        Z = np.empty((len(X), self._landmark_features.n_components), np.float32)
        step = _rows_at_once(X.shape[1])
        for start in range(0, len(X), step):
            self._landmark_features.transform(X[start : start + step], Z[start : start + step])
        self._held = LinearProduct(Z)
        return self._held

    def _expand(self, coefficients: np.ndarray) -> np.ndarray:
        """Return a of k(x, B) a, from a coefficient of each point and machine."""
        return self._landmark_features.expansion(self._held.weights(coefficients.T).T)

    def _let_go(self) -> None:
        """Let go of what later labels alone would need."""
        del self._held, self._landmark_features

    def _layers(self) -> list[Layer]:
        near, kernel = Center(self.center_, np.float32), KernelValues(self.landmarks_, self._width)
        return [near, kernel, Linear(self._coefficients, self._intercepts)]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        scores = np.empty((len(X), len(self._intercepts)))
        s, d = self.landmarks_.shape
        for block in kernels.row_blocks(len(X), s + 2 * d, 4):
            rows = kernels.centered(X[block], self.center_)
            K = kernels.gaussian_kernel(rows, self.landmarks_, self._width)
            np.matmul(K, self._coefficients, out=scores[block])
            # or they would stand beside the next ones
            del rows, K
        scores += self._intercepts
        return scores


def landmark_machine_phases(
    shape: Shape, n_landmarks: int, selector: str | kernels.Selector, training: dict[str, Arrays]
) -> dict[str, Arrays]:
    """Return what a `LandmarkMachine` holds in a fit: features of all points, 4 n s, and before.

    Parameters
    ----------
    shape : Shape
    n_landmarks : int
    selector : str or callable
    training : dict of str to Arrays
        What is held besides while it trains.
    """
    n, d, i, s = shape.n, shape.n_features, shape.itemsize, min(n_landmarks, shape.n)
    held = Arrays(
        landmark_features=kernels.LandmarkFeatures.bytes(s, d),
        center=16 * d,
        features=4 * n * s,
        blas=kernels.blas_bytes(s, 4),
    )
    step = min(n, _rows_at_once(d))
    rows = Arrays(moved=4 * d * step, substitution=substitution_bytes(step, s))
    return {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        "selection": Arrays(selection=kernels.selection_bytes(selector, n, d, s, i)),
        "landmark features": Arrays(building=kernels.LandmarkFeatures.building_bytes(s, d, i)),
        **beside(held, {"features": rows, **training}),
    }


def landmark_machine_block(shape: Shape, n_landmarks: int) -> Arrays:
    """Return what a `LandmarkMachine` holds while it predicts new points."""
    d, s, Q, rows = shape.n_features, min(n_landmarks, shape.n), shape.n_machines, shape.block_rows
    return Arrays(
        landmarks=4 * s * d,
        machine=4 * s * Q,
        block=shape.new_block_bytes,
        new_scores=16 * rows * Q,
        kernel_rows=kernels.stream_bytes(rows, s + 2 * d, 4),
    )


def _rows_at_once(d: int) -> int:
    return min(1024, kernels.center_rows(d, 4))
