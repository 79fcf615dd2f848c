"""Budgeted kernel k-medoids (Castellanos 2021, algorithm 4).

A medoid minimises the sum of squared kernel distances to its cluster's points among the budget B
only, so that k(X, B) replaces the kernel matrix of all points.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, Shape, choice, hookimpl, kernels


class BudgetKernelKMedoids(ClusterMixin, BaseEstimator):
    """k-medoids in feature space, with sums over a budget of points.

    Parameters
    ----------
    n_clusters : int, default 8
    n_landmarks : int, default 100
        Points of the budget, sampled uniformly; all of them where there are fewer.
    kernel : {"rbf", "linear"}, default "rbf"
    sigma : float, default 1.0
        Width of the Gaussian kernel.
    sigma_unit : {"median", "absolute"}, default "median"
        What `sigma` counts: median distances between the points, or units of the features.
    max_iter : int, default 100
    random_state : int, RandomState instance or None, default None

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point of `fit`.
    medoid_indices_ : ndarray of shape (n_clusters,)
        Rows of X that are medoids.
    cluster_centers_ : ndarray of shape (n_clusters, d)
    objective_ : list of float
        Sum over the budget of squared distances to the nearest medoid, before each iteration and
        at the end; it never rises.
    n_iter_ : int
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"rbf", "linear"})],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sigma_unit": [StrOptions({"median", "absolute"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        n_landmarks: int = 100,
        kernel: str = "rbf",
        sigma: float = 1.0,
        sigma_unit: str = "median",
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.sigma = sigma
        self.sigma_unit = sigma_unit
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray | None = None) -> Self:
        """Find the medoids; y is ignored."""
        self._validate_params()
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        if self.n_clusters > len(X):
            raise ValueError(f"n_clusters={self.n_clusters} is more than the {len(X)} points")
        rng = check_random_state(self.random_state)
        self._width = kernels.kernel_width(X, self.sigma, self.sigma_unit)
        budget = kernels.uniform_landmarks(X, min(self.n_landmarks, len(X)), rng)
        medoids = rng.choice(len(X), self.n_clusters, replace=False)
        self.medoid_indices_ = self._descend(X, budget, medoids)
        self.cluster_centers_ = X[self.medoid_indices_]
        self.labels_ = self.predict(X)
        return self

    def _descend(self, X: np.ndarray, budget: np.ndarray, medoids: np.ndarray) -> np.ndarray:
        B = X[budget]
        K = np.empty((len(X), len(B)), X.dtype)
        for block in kernels.row_blocks(len(X), len(B) + X.shape[1], X.itemsize):
            self._kernel(X[block], B, out=K[block])
        own = self._own(X)
        self.objective_ = []
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            distances = own[medoids] - 2 * K[medoids].T
            nearest = distances.argmin(axis=1)
            self.objective_.append(float((distances.min(axis=1) + own[budget]).sum()))
            updated = medoids.copy()
            for j in range(self.n_clusters):
                members = nearest == j
                # An empty cluster has no best medoid: every point would do, so it keeps its own.
                if members.any():
                    sums = members.sum() * own - 2 * (K @ members.astype(K.dtype))
                    best = int(sums.argmin())
                    # Of equally good ones the present medoid stays, or rounding could cycle.
                    updated[j] = best if sums[best] < sums[medoids[j]] else medoids[j]
            if np.array_equal(updated, medoids):
                break
            medoids = updated
        distances = own[medoids] - 2 * K[medoids].T
        self.objective_.append(float((distances.min(axis=1) + own[budget]).sum()))
        return medoids

    def _kernel(self, X: np.ndarray, Z: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if self.kernel == "linear":
            return np.matmul(X, Z.T, out=out)
        return kernels.gaussian_kernel(X, Z, self._width, out=out)

    def _own(self, X: np.ndarray) -> np.ndarray:
        return kernels.squared_norms(X) if self.kernel == "linear" else np.ones(len(X), X.dtype)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the cluster whose medoid is nearest in feature space."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=self.cluster_centers_.dtype, order="C")
        own = self._own(self.cluster_centers_)
        labels = np.empty(len(X), dtype=np.intp)
        for block in kernels.row_blocks(len(X), self.n_clusters + X.shape[1], X.itemsize):
            K = self._kernel(X[block], self.cluster_centers_)
            labels[block] = (own - 2 * K).argmin(axis=1)
        return labels


def storage(shape: Shape, size: int) -> int:
    """Bytes held: the data, and k(X, B) of n x b elements like those of X."""
    n, d, i = shape.n, shape.n_features, shape.itemsize
    b, Q = min(size, n), shape.n_classes
    kernel = b * (n + d + 3 * Q) * i
    scaled = kernels.stream_bytes(n, b + d, i) * d // (b + d)
    predicting = kernels.stream_bytes(n, Q + d, i) * (2 * Q + d) // (Q + d)
    loaded = shape.block_bytes if shape.n_test else 0
    peak = max(kernels.width_bytes(n, d, i), kernel + scaled, predicting + loaded)
    return shape.data_bytes + 8 * 6 * n + peak


@hookimpl
def harness_methods() -> list[Method]:
    """Provide budgeted kernel k-medoids."""
    return [
        Method(
            "budget-kmedoids",
            BudgetKernelKMedoids,
            storage,
            size="n_landmarks",
            tasks={"clustering"},
            space={"sigma": choice([0.25, 0.5, 1.0, 2.0])},
            reference="castellanos2021",
        )
    ]
