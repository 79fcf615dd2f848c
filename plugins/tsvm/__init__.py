"""Transductive support vector machines: linear, with a Gaussian kernel, or on Nystrom features.

The unlabeled points, too, should lie outside the margin, on whatever side, and a known share of
them (that among the labeled points) on the positive one: minimise

    |f|^2 / 2 + C sum_labeled q(y_i f_i) + C* sum_unlabeled q(|f_i|),   q(t) = max(0, 1 - t)^2.

The squared hinge, as in SVMlin (Sindhwani & Keerthi 2006), has a gradient, so that a Newton method
of few steps solves each convex problem (`label_switching`). Both forms start from
the inductive machine and let C* grow, because the objective has many local minima (Joachims 1999;
Chapelle & Zien 2005).
"""

from __future__ import annotations

import mmap
from functools import partial
from typing import Literal

import numpy as np

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels, log_uniform
from harness.layers import Center, KernelValues, Layer, Linear
from harness.semi_supervised import LinearProduct
from harness.semi_supervised.gaussian_triangle import BAND, GaussianTriangle

from . import nystrom
from .machine import TransductiveMachine


class TransductiveSVM(kernels.GaussianWidth, TransductiveMachine):
    """The machine of a kernel matrix of all points, or of their products."""

    kernel: Literal["rbf", "linear"] = "rbf"
    """Gaussian, or the product of the features."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return self.kernel == "rbf"

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        # either refuses features whose squares overflow
        if self.kernel == "linear":
            kernels.bind_kernel("linear", X)
        else:
            self._width = self._width_on(X)
        self._X, self._center = X, kernels.column_medians(X)
        # the bias is free, so no point need be the origin
        center = self._center if self._center.any() else None
        product = (
            LinearProduct(X, center)
            if self.kernel == "linear"
            else GaussianTriangle(X, self._width, self._center)
        )
        self._multiply_with(product, labeled, X.dtype)

    def _weights_of(self, coefficients: np.ndarray) -> np.ndarray:
        if isinstance(self._product, LinearProduct):
            return self._product.weights(coefficients.T).T
        return coefficients

    def _layers(self) -> list[Layer]:
        machine = Linear(self._coefficients, self._intercepts)
        near = Center(self._center, self._X.dtype)
        if self.kernel == "linear":
            return [near, machine]
        points = kernels.centered(self._X, self._center, self._X.dtype)
        return [near, KernelValues(points, self._width), machine]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        scores = np.empty((len(X), len(self._intercepts)))
        if self.kernel == "linear":
            for block in kernels.row_blocks(len(X), X.shape[1], X.itemsize):
                near = kernels.centered(X[block], self._center, X.dtype)
                np.matmul(near, self._coefficients, out=scores[block])
        else:
            blocks = kernels.row_blocks(len(X), len(self._X) + X.shape[1], X.itemsize)
            for block, K in kernels.gaussian_rows(X, self._X, self._width, blocks, self._center):
                np.matmul(K, self._coefficients, out=scores[block])
        scores += self._intercepts
        return scores


def storage(shape: Shape, size: int, kernel: str = "rbf", form: str = "switching") -> Storage:
    """Count half the kernel matrix in float32, and vectors of one machine.

    2 n (n + 64) bytes with a Gaussian kernel, nothing of order n^2 with a linear one. Then scores
    and coefficients of all machines, and a block of new points.
    """
    n, d, i, rows = shape.n, shape.n_features, shape.itemsize, shape.block_rows
    Q = shape.n_machines
    X = Arrays(X=shape.data_bytes)
    scores, coefficients = Arrays(scores=8 * n * Q), Arrays(coefficients=i * n * Q)
    known = Arrays(labels=8 * shape.n_labeled * (Q + 2))
    # a Newton step's eleven with its product, the machine before it, costs as they are known and
    # as they are now, the unlabeled rows; concave parts have costs at three stages
    vectors = 18 if form == "switching" else 20
    # blocks below 64 KiB, that malloc does not map: parts of vectors, of points near the margin
    left = Arrays(left_in_the_heap=min(6 * 8 * n, 1 << 19))
    machines = known + scores + coefficients + left
    training = {
        # each vector is mapped by itself, in whole pages
        "machine": machines + Arrays(vectors=vectors * (8 * n + mmap.PAGESIZE)),
        "scores": machines + Arrays(held_out_scores=8 * shape.n_labeled * Q, order=16 * n),
    }
    kept = X + scores + Arrays(order=8 * n, block=shape.new_block_bytes)
    new_scores = Arrays(new_scores=16 * rows * Q)
    if kernel == "linear":
        block, weights = kernels.stream_bytes(n, d, i), Arrays(weights=2 * i * d * Q)
        fit = {
            name: X + weights + arrays + Arrays(rows=block) for name, arrays in training.items()
        }
        new = weights + new_scores + Arrays(rows=kernels.stream_bytes(rows, d, i))
        return Storage(fit, {"a block": kept + new})
    matrix = X + Arrays(kernel_matrix=GaussianTriangle.bytes(n))
    moved = Arrays(moved=min(n, kernels.center_rows(d, i)) * d * i)
    band = Arrays(band=min(n, BAND) * i * (d + (n if i == 8 else 0)), norms=8 * n * 4)
    fit = {
        "width": X + Arrays(sample=kernels.width_bytes(n, d, i)),
        "kernel matrix": matrix + known + band + moved,
        **beside(matrix, training),
    }
    new = coefficients + moved + new_scores
    new += Arrays(kernel_rows=kernels.stream_bytes(rows, n + d, i))
    return Storage(fit, {"a block": kept + new})


@hookimpl
def harness_methods() -> list[Method]:
    """Provide TSVM with a Gaussian kernel, with a linear one, and on features of landmarks."""
    method = partial(
        Method,
        tasks={"binary", "multiclass"},
        head_params={"C", "unlabeled_weight"},
        reference="joachims1999",
    )
    tsvm = partial(method, estimator=TransductiveSVM, storage=storage, size="n_unlabeled")
    space = {"sigma": choice([0.5, 1.0, 2.0]), "C": log_uniform(0.1, 10)}
    linear_space = {"C": log_uniform(1e-3, 1)}
    return [
        tsvm("tsvm", space=space),
        tsvm("linear-tsvm", space=linear_space, params={"kernel": "linear"}),
        method(
            "nystrom-tsvm",
            estimator=nystrom.NystromTransductiveSVM,
            storage=nystrom.storage,
            size="n_landmarks",
            space=space,
        ),
    ]
