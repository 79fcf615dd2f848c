"""Budgeted kernel k-medoids (Castellanos 2021, algorithm 4), with swaps that refine it.

A medoid minimises the sum of squared kernel distances to its cluster's points among the budget B
only. k(X, B) is computed a block of rows at a time, as often as it is needed, and never held.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Arrays, Method, Shape, Storage, choice, hookimpl, kernels
from harness.estimator import PositiveInt
from harness.kernels.functions import is_shift_invariant
from harness.layers import Center, KernelValues, Layer, Linear

# A swap must lower the objective by more than rounding could pretend.
_LEAST_GAIN = 1e-6


class BudgetKernelKMedoids(ClusterMixin, kernels.LandmarkSelection, kernels.AnyKernel):
    """k-medoids in feature space, with sums over a budget of points.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point of `fit`.
    medoid_indices_ : ndarray of shape (n_clusters,)
        Rows of X that are medoids.
    cluster_centers_ : ndarray of shape (n_clusters, d)
    objective_ : list of float
        Sum over the budget of squared distances to the nearest medoid, at the start and after
        every iteration and swap; it never rises.
    n_iter_ : int
        Iterations of the algorithm and rounds of swaps, the last of each without a change unless
        it was number `max_iter`.
    """

    n_clusters: PositiveInt = 8
    """Clusters, each with a medoid."""
    n_landmarks: PositiveInt = 1000
    """b, the points of the budget, chosen by `selector`; all of them where there are fewer."""
    refine: Literal["swap", "none"] = "swap"
    """What medoids are replaced by. "none": algorithm 4, where each moves to the point that is
    nearest to all of its cluster. "swap": then any point of X may replace any medoid, the best
    of a block of points at a time, until none lowers the objective (as PAM does, in the order
    of Schubert & Rousseeuw 2021).
    """
    n_init: PositiveInt = 1
    """Random starts, of which the lowest objective is kept."""
    max_iter: PositiveInt = 100
    """Iterations of the algorithm, and as many rounds of swaps."""

    def fit(self, X: np.ndarray, y: np.ndarray | None = None) -> Self:
        """Find the medoids; y is ignored."""
        self._validate_params()
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        if self.n_clusters > len(X):
            raise ValueError(f"n_clusters={self.n_clusters} is more than the {len(X)} points")
        rng = check_random_state(self.random_state)
        self._kernel = self._kernel_on(X)
        if not np.isfinite(self._kernel.diagonal(X)).all():
            raise ValueError(f"kernel values overflow in {X.dtype}: scale the features")
        chosen = self._select(X, self.n_landmarks, rng, self._kernel)
        problem = _Problem(X, X[chosen], self._kernel, self.n_clusters)
        self.objective_ = [np.inf]
        for _ in range(self.n_init):
            start = rng.choice(len(X), self.n_clusters, replace=False)
            medoids, objective, n_iter = self._search(problem, start)
            if objective[-1] < self.objective_[-1]:
                self.medoid_indices_, self.objective_ = medoids, objective
                self.n_iter_ = n_iter
        del problem
        self.cluster_centers_ = X[self.medoid_indices_]
        self.labels_ = self._nearest(X)
        return self

    def _search(
        self, problem: _Problem, medoids: np.ndarray
    ) -> tuple[np.ndarray, list[float], int]:
        state, n_iter = _State(problem, medoids), 0
        steps = (state.update_medoids, state.swap)
        for step in steps[: 2 if self.refine == "swap" else 1]:
            for _ in range(self.max_iter):
                n_iter += 1
                if not step():
                    break
        return state.medoids, state.objective, n_iter

    def _nearest(self, X: np.ndarray) -> np.ndarray:
        own = self._kernel.diagonal(self.cluster_centers_)
        labels = np.empty(len(X), dtype=np.intp)
        width = _predicted_width(len(own), X.shape[1])
        for block in kernels.row_blocks(len(X), width, X.itemsize):
            K = self._kernel(X[block], self.cluster_centers_)
            K *= -2
            K += own
            labels[block] = K.argmin(axis=1)
            # or it would stand beside the next one
            del K
        return labels

    def layers(self) -> list[Layer]:
        """Return what is largest for the nearest medoid."""
        kernel, centers = self._kernel, self.cluster_centers_
        near = kernel.near(centers, centers.dtype)
        own = kernel.diagonal(centers)
        return [
            Center(kernel.center, near.dtype),
            KernelValues(near, kernel.width, kernel.kernel),
            Linear(2 * np.eye(len(own), dtype=near.dtype), -own),
        ]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the cluster whose medoid is nearest in feature space."""
        check_is_fitted(self)
        dtype = self.cluster_centers_.dtype
        return self._nearest(validate_data(self, X, reset=False, dtype=dtype, order="C"))


class _Problem:
    """Squared kernel distances between points and the budget, in blocks of points."""

    def __init__(
        self, X: np.ndarray, B: np.ndarray, kernel: kernels.BoundKernel, n_clusters: int
    ) -> None:
        self.X, self._B, self._kernel = X, B, kernel
        self._own = kernel.diagonal(B)
        self._width = _row_width(len(B), B.shape[1], n_clusters)

    def distances(self, X: np.ndarray) -> np.ndarray:
        """Return d^2 between rows of X and the budget, shape (len(X), b)."""
        D = self._kernel(X, self._B)
        D *= -2
        D += self._kernel.diagonal(X)[:, None]
        D += self._own
        # Rounding can put the distance of equal points below zero.
        return np.maximum(D, 0, out=D)

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the number of its first row and the distances of each block of points."""
        for block in kernels.row_blocks(len(self.X), self._width, self.X.itemsize):
            yield block.start, self.distances(self.X[block])


class _State:
    """Medoids, and how far the budget is from the nearest and the second nearest of them."""

    def __init__(self, problem: _Problem, medoids: np.ndarray) -> None:
        self._problem, self.objective = problem, [np.inf]
        if not self._replace(medoids):
            raise ValueError(f"kernel values overflow in {problem.X.dtype}: scale the features")
        self.objective = self.objective[1:]

    def _replace(self, medoids: np.ndarray) -> bool:
        """Take these medoids if the objective falls."""
        D = self._problem.distances(self._problem.X[medoids])
        first = D.min(axis=0)
        objective = float(first.sum(dtype=np.float64))
        if not objective < self.objective[-1]:
            return False
        self.medoids, self._first = medoids, first
        self.objective.append(objective)
        # no range: its numbers would be objects, of four times their bytes
        nearest, points = D.argmin(axis=0), np.arange(D.shape[1])
        self._members = np.zeros((D.shape[1], len(medoids)), D.dtype)
        self._members[points, nearest] = 1
        D[nearest, points] = np.inf
        # Infinite for a single medoid, for which no other can stand in.
        self._second = D.min(axis=0)
        return True

    def update_medoids(self) -> bool:
        """Let each medoid be the point nearest to all of its cluster; say whether any moved."""
        medoids = self.medoids.copy()
        # A sum over no points is 0 for any point: an empty cluster keeps its medoid. Of equally
        # good ones the present medoid stays, or rounding could cycle.
        least = (1 - _LEAST_GAIN) * (self._first @ self._members)
        for start, D in self._problem.blocks():
            sums = D @ self._members
            best = sums.argmin(axis=0)
            found = sums[best, range(len(best))]
            better = found < least
            medoids[better], least[better] = start + best[better], found[better]
            # or it would stand beside the next one
            del D
        return self._replace(medoids)

    def swap(self) -> bool:
        """Offer every point in place of every medoid; say whether any was taken."""
        swapped = False
        for start, D in self._problem.blocks():
            while True:
                # Points of other clusters may come over; those of the medoid's own must go
                # somewhere, if only to the second nearest.
                gained = np.minimum(D, self._first)
                lost = np.minimum(D, self._second)
                lost -= gained
                gained -= self._first
                change = lost @ self._members
                change += gained.sum(axis=1)[:, None]
                # or they would stand beside the next ones
                del gained, lost
                row, medoid = np.unravel_index(change.argmin(), change.shape)
                if not change[row, medoid] < -_LEAST_GAIN * self.objective[-1]:
                    break
                medoids = self.medoids.copy()
                medoids[medoid] = start + row
                if not self._replace(medoids):
                    break
                swapped = True
            del D
        return swapped


def _row_width(n_landmarks: int, n_features: int, n_clusters: int) -> int:
    """Elements held for a row: its distances three times and sums, or once with X as moved."""
    return max(3 * n_landmarks + 2 * n_clusters, n_landmarks + n_features) + 2


def _predicted_width(n_clusters: int, n_features: int) -> int:
    """Elements held for a row: its values at the medoids, X as moved, and two numbers."""
    return n_clusters + n_features + 2


def storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "uniform",
    n_clusters: int = 8,
) -> Storage:
    """Count the budget's points, and a block of distances to them."""
    n, d, i = shape.n, shape.n_features, shape.itemsize
    b, Q = min(size, n), n_clusters
    # a block has fewer rows the more points there are: the most for any number of them
    rows = min(b, kernels.block_rows(_row_width(1, d, Q), i), math.isqrt(kernels.BLOCK_BYTES // i))
    held = Arrays(X=shape.data_bytes, blas=kernels.blas_bytes(rows, i, d))
    medoids = Arrays(medoids=Q * d * i)
    # with three numbers of each point, and to which cluster it belongs
    budget = Arrays(budget=b * d * i, of_points=b * i * (3 + Q))
    replacing = Arrays(
        distances_to_new=b * i * (2 * Q + 2),
        kernel_rows=kernels.kernel_bytes(kernel, Q, b, d, i),
        waiting=kernels.stream_bytes(n, b, i),
    )
    seen_rows = _block_bytes(kernel, n, b, _row_width(b, d, Q), d, i)
    width = _predicted_width(Q, d)
    new_rows = _block_bytes(kernel, max(n, shape.n_test), Q, width, d, i)
    # of all points, as they are found and as they are handed on
    new = medoids + Arrays(rows=new_rows, block=shape.new_block_bytes, labels=8 * 2 * n)
    fit = {
        "width": Arrays(sample=kernels.binding_bytes(kernel, n, d, i)),
        "selection": Arrays(selection=kernels.selection_bytes(selector, n, d, b, i, kernel)),
        "assignment": budget + Arrays(rows=seen_rows),
        "new medoids": budget + medoids + replacing,
        "labels of all points": new,
    }
    return Storage(fit, {"a block": new}, held)


def _block_bytes(
    kernel: str | kernels.KernelFunction, n: int, m: int, width: int, d: int, itemsize: int
) -> int:
    """Bytes of a block of rows and of their kernel values with m points."""
    held = kernels.stream_bytes(n, width, itemsize)
    if kernel == "rbf":
        return held + (min(m, kernels.center_rows(d, itemsize)) * d + m) * itemsize
    plain = isinstance(kernel, str) and not is_shift_invariant(kernel)
    rows = n if plain else min(n, kernels.block_rows(width, itemsize))
    return held + kernels.kernel_bytes(kernel, rows, m, d, itemsize)


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
