"""Kernel ridge regression on Nystrom features (McWilliams, Balduzzi & Buhmann 2013, KRR_M).

The supervised baseline of the correlated views: landmarks come from all points, the least squares
from the labeled ones, and their features are summed up in row blocks.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from harness import Method, Shape, choice, hookimpl, kernels, log_uniform


class NystromKernelRidge(RegressorMixin, BaseEstimator):
    """Minimise the squared error over the labeled points plus alpha |f|^2, with a free intercept.

    Parameters
    ----------
    n_landmarks : int, default 100
        Points sampled uniformly, labeled or not; all of them where there are fewer.
    alpha : float, default 1e-2
        Penalty, on the scale of scikit-learn's `KernelRidge`.
    sigma : float, default 1.0
        Width of the kernel.
    sigma_unit : {"median", "absolute"}, default "median"
        What `sigma` counts: median distances between the points, or units of the features.
    n_classes : int, optional
        0 or None: y holds values, NaN where unknown. Two or more: y holds classes, -1 where
        unknown, and each is regressed as +1 against -1.
    random_state : int, RandomState instance or None, default None

    Attributes
    ----------
    coef_ : ndarray of shape (s, Q)
        Coefficients of the landmarks' kernel functions.
    intercept_ : ndarray of shape (Q,)
    landmarks_ : ndarray of shape (s, d)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sigma_unit": [StrOptions({"median", "absolute"})],
        "n_classes": [Interval(Integral, 0, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_landmarks: int = 100,
        alpha: float = 1e-2,
        sigma: float = 1.0,
        sigma_unit: str = "median",
        n_classes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.alpha = alpha
        self.sigma = sigma
        self.sigma_unit = sigma_unit
        self.n_classes = n_classes
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the points whose target is known."""
        self._validate_params()
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        rows, targets = self._targets(X, y)
        rng = check_random_state(self.random_state)
        width = kernels.kernel_width(X, self.sigma, self.sigma_unit)
        sample = kernels.uniform_landmarks(X, min(self.n_landmarks, len(X)), rng)
        nystrom = kernels.NystromFeatures(X[sample], width)

        k = nystrom.n_components
        gram, total = np.zeros((k, k), order="F"), np.zeros(k)
        cross = np.zeros((k, targets.shape[1]))
        offset = targets.mean(axis=0)
        for block in kernels.gram_blocks(len(rows), len(sample), X.shape[1]):
            Z = nystrom.transform(X[rows[block]])
            total += Z.sum(axis=0)
            cross += Z.T @ (targets[block] - offset)
            kernels.add_gram(gram, Z)
            del Z
        # Centring the features leaves the intercept free of the penalty.
        mean = total / len(rows)
        for j in range(k):
            gram[:, j] -= len(rows) * mean[j] * mean
        gram[np.diag_indices(k)] += self.alpha
        w = cho_solve(cho_factor(gram, lower=True, overwrite_a=True), cross)
        self.coef_ = nystrom.projection @ w
        self.intercept_ = offset - mean @ w
        self.landmarks_, self._width = nystrom.landmarks, width
        return self

    def _targets(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        if self.n_classes:
            labels = kernels.read_labels(y, self.n_classes)
            self.classes_ = labels.classes
            return labels.rows, labels.targets()
        y = y.astype(np.float64)
        if np.isinf(y).any():
            raise ValueError("y holds an infinite value")
        rows = np.flatnonzero(~np.isnan(y))
        if not rows.size:
            raise ValueError("y holds no labeled point: every entry is NaN")
        return rows, y[rows, None]

    @available_if(lambda self: self.n_classes)
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores of shape (n,) for two classes, else (n, n_classes)."""
        return self._values(X)

    def _values(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=self.landmarks_.dtype, order="C")
        blocks = kernels.row_blocks(len(X), 2 * len(self.landmarks_) + X.shape[1])
        values = [
            kernels.gaussian_kernel(X[block], self.landmarks_, self._width) @ self.coef_
            for block in blocks
        ]
        values = np.concatenate(values) + self.intercept_
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return values, or classes where `n_classes` says so."""
        values = self._values(X)
        return kernels.decide(values, self.classes_) if self.n_classes else values


def storage(shape: Shape, size: int) -> int:
    """Bytes held: the data, s landmarks, and two to two and a half s x s matrices.

    They are the projection of the features, their Gram matrix, and two blocks of s / 4 rows, or
    of as many as are labeled.
    """
    n, d, s = shape.n, shape.n_features, min(size, shape.n)
    width = 2 * s + d
    block = kernels.gram_block_bytes(shape.n_labeled, s, d)
    loaded = shape.block_bytes if shape.n_test else 0
    predicting = 8 * s * s + kernels.stream_bytes(n + shape.n_test, width) + loaded
    peak = max(
        kernels.width_bytes(n, d, shape.itemsize),
        16 * s * s + max(600 * s, block),
        predicting,
    )
    landmarks = s * d * shape.itemsize + 2 * kernels.blas_bytes(s)
    points = 8 * shape.n_labeled * (2 + max(1, shape.n_classes)) + 8 * n
    return shape.data_bytes + landmarks + points + peak


@hookimpl
def harness_methods() -> list[Method]:
    """Provide Nystrom kernel ridge regression."""
    return [
        Method(
            "nystrom-krr",
            NystromKernelRidge,
            storage,
            size="n_landmarks",
            tasks={"regression", "binary", "multiclass"},
            space={"alpha": log_uniform(1e-5, 10), "sigma": choice([0.5, 1.0, 2.0, 4.0])},
            reference="mcwilliams2013",
        )
    ]
