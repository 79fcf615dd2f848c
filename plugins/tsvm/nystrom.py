"""TSVM on Nystrom features of all points: a product with the kernel matrix takes n s operations.

The kernel is K_xB K_BB^+ K_Bz of landmarks B. With all points as landmarks it is the exact one.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import numpy as np
from sklearn.utils import check_random_state

from harness import Arrays, Shape, Storage, beside, kernels
from harness.kernels.triangular_solve import substitution_bytes
from harness.layers import Center, KernelValues, Layer, Linear
from harness.semi_supervised import Labels, LinearProduct

from .machine import TransductiveMachine


class NystromTransductiveSVM(kernels.Landmarks, kernels.GaussianWidth, TransductiveMachine):
    """The machine of features z(x) = L^-1 k(B, x), L L' = K_BB, held of all points in float32.

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

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel("rbf", X, self.sigma, self.sigma_unit)
        self._width, self.center_ = kernel.width, kernel.center
        sample = self._select(X, self.n_landmarks, rng, kernel)
        self._features = kernels.LandmarkFeatures(X, kernel, sample)
        self.landmarks_ = self._features.landmarks
        Z = np.empty((len(X), self._features.n_components), np.float32)
        step = _rows_at_once(X.shape[1])
        for start in range(0, len(X), step):
            self._features.transform(X[start : start + step], Z[start : start + step])
        self._multiply_with(LinearProduct(Z), labeled, Z.dtype)

    def _weights_of(self, coefficients: np.ndarray) -> np.ndarray:
        """Return a such that scores are k(x, B) a."""
        assert isinstance(self._product, LinearProduct)
        return self._features.expansion(self._product.weights(coefficients.T).T)

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        super()._finish(X, labels)
        del self._features

    def _layers(self) -> list[Layer]:
        near, kernel = Center(self.center_, np.float32), KernelValues(self.landmarks_, self._width)
        return [near, kernel, Linear(self._coefficients, self._intercepts)]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        scores = np.empty((len(X), len(self._intercepts)))
        for block in _new_blocks(len(X), *self.landmarks_.shape):
            rows = kernels.centered(X[block], self.center_)
            K = kernels.gaussian_kernel(rows, self.landmarks_, self._width)
            np.matmul(K, self._coefficients, out=scores[block])
            # or they would stand beside the next ones
            del rows, K
        scores += self._intercepts
        return scores


def _rows_at_once(d: int) -> int:
    return min(1024, kernels.center_rows(d, 4))


def _new_blocks(n: int, s: int, d: int) -> Iterator[slice]:
    return kernels.row_blocks(n, s + 2 * d, 4)


def storage(
    shape: Shape,
    size: int,
    form: str = "switching",
    selector: str | kernels.Selector = "uniform",
) -> Storage:
    """Count features of all points, 4 n s, with landmarks and L, and vectors of one machine."""
    n, d, i, s, Q = shape.n, shape.n_features, shape.itemsize, min(size, shape.n), shape.n_machines
    landmarks = Arrays(landmark_features=kernels.LandmarkFeatures.bytes(s, d), center=16 * d)
    features = Arrays(features=4 * n * s, blas=kernels.blas_bytes(s, 4))
    step = min(n, _rows_at_once(d))
    rows = Arrays(moved=4 * d * step, substitution=substitution_bytes(step, s))
    known = Arrays(labels=8 * shape.n_labeled * (Q + 2))
    scores, coefficients = Arrays(scores=8 * n * Q), Arrays(coefficients=4 * n * Q)
    # as of the exact machine: `storage` of the plugin
    vectors = 18 if form == "switching" else 20
    left = Arrays(left_in_the_heap=min(6 * 8 * n, 1 << 19))
    machines = known + scores + coefficients + left
    training = {
        "machine": machines + Arrays(vectors=vectors * (8 * n + mmap.PAGESIZE)),
        "scores": machines
        + Arrays(held_out_scores=8 * shape.n_labeled * Q, order=16 * n, expansion=12 * s * Q),
    }
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        "selection": Arrays(selection=kernels.selection_bytes(selector, n, d, s, i)),
        "landmark features": Arrays(building=kernels.LandmarkFeatures.building_bytes(s, d, i)),
        **beside(landmarks + features, {"features": rows, **training}),
    }
    new = Arrays(
        landmarks=4 * s * d,
        machine=4 * s * Q,
        block=shape.new_block_bytes,
        new_scores=16 * shape.block_rows * Q,
        kernel_rows=kernels.stream_bytes(shape.block_rows, s + 2 * d, 4),
    )
    return Storage(
        fit, {"a block": scores + Arrays(order=8 * n) + new}, Arrays(X=shape.data_bytes)
    )
