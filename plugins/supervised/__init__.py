"""Supervised baselines on the labeled points alone: 1-NN, the RBF-SVM and the linear SVM.

What unlabeled points add can only be seen beside them. They are given nothing but the labeled
points, and are charged for nothing else.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

import numpy as np
from annotated_types import Ge
from scipy.sparse import issparse
from sklearn.svm import SVC, LinearSVC

from harness import Method, choice, hookimpl, kernels, log_uniform
from harness.estimator import PositiveFloat, RandomState
from harness.kernels.functions import KernelName
from harness.kernels.gaussian import squared_norms
from harness.layers import Center, Layer, Linear, Nearest
from harness.semi_supervised import (
    DecisionThreshold,
    DecisionThresholdMixin,
    Labels,
    PartlyLabeledClassifier,
    expand_scores,
)

from . import sparse_linear
from .libsvm import libsvm_tolerance, row_groups, square_matrix, svm_layers, with_zeros
from .storage import (
    OF_LIBSVM,
    SCORED_ALONE,
    SPREAD_SAMPLE,
    cache_bytes,
    linear_svm_storage,
    nearest_storage,
    svm_cache_rows,
    svm_storage,
)

# LIBLINEAR's own 1e-4 leaves scores off by 8 % of their range at C = 1e4.
_LINEAR_TOL = 1e-6


class _LabeledClassifier(PartlyLabeledClassifier):
    """What the three have in common: labels, validation, and the decision from scores."""

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        X = X if len(labels.rows) == X.shape[0] else X[labels.rows]
        self._learn(X, labels.codes)
        self._learn_threshold(X, labels)

    def _learn_threshold(self, X: np.ndarray, labels: Labels) -> None:
        """Move scores, where an estimator has reason to."""

    def _as_decision(self, scores: np.ndarray) -> np.ndarray:
        return expand_scores(scores, self._present, len(self.classes_))


class NearestNeighbor(_LabeledClassifier):
    """1-NN. Scores are the hard labels, +1 and -1: they show how the data were scaled."""

    def _learn(self, X: np.ndarray, codes: np.ndarray) -> None:
        # |x - z|^2 but for what is of x alone, about a point among them: far from the origin
        # products of x and z would leave little of their distance
        self._X, self._codes = X, codes
        self._center = X.mean(axis=0, dtype=np.float64).astype(X.dtype)
        self._norms = np.empty(len(X), X.dtype)
        for block in kernels.row_blocks(len(X), X.shape[1], X.itemsize):
            self._norms[block] = squared_norms(X[block] - self._center)

    def _nearest(self, X: np.ndarray) -> np.ndarray:
        distances = (X - self._center) @ self._X.T
        distances *= -2
        distances += self._norms
        return distances.argmin(axis=1)

    def _layers(self) -> list[Layer]:
        near = Linear(2 * self._X.T, -self._norms)
        scores = self._scores_of(self._codes)
        return [Center(self._center), near, Nearest(scores.reshape(len(scores), -1))]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        blocks = kernels.row_blocks(len(X), sum(self._X.shape), X.itemsize)
        nearest = np.concatenate([self._nearest(X[block]) for block in blocks])
        return self._scores_of(self._codes[nearest])

    def _scores_of(self, codes: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 2:
            return np.where(codes == 1, 1.0, -1.0)
        scores = np.full((len(codes), len(self.classes_)), -1.0)
        scores[np.arange(len(codes)), codes] = 1.0
        return scores[:, self._present] if len(self._present) != len(self.classes_) else scores


class KernelSVM(kernels.AnyKernel, DecisionThresholdMixin, _LabeledClassifier):
    """Support vector machine on all labeled points (LIBSVM)."""

    kernel: KernelName | kernels.KernelFunction = "rbf"
    """A name of `harness.kernels.KERNELS`, or an object like `harness.Kernel`. "rbf", "linear" and
    "poly2" LIBSVM computes itself, row by row; of others it is given the whole matrix.
    """
    C: PositiveFloat = 1.0
    """Penalty of the hinge loss."""
    cache_rows: Annotated[int, Ge(2)] = 1024
    """Rows of the kernel matrix of two classes that LIBSVM keeps, in float32, instead of computing
    them again. It trades memory for time alone.
    """
    _: KW_ONLY
    decision_threshold: DecisionThreshold = "zero"
    """Where scores become classes. "zero" is LIBSVM's. "share", which the method `svm` has, moves
    scores of two classes until each has its share of the labeled points among these, scored
    without their own terms a_i y_i k(x_i, x_i) (Jaakkola & Haussler 1999). Votes of more classes
    gain nothing by it.
    """

    @property
    def _takes_sparse(self) -> bool:
        return self.kernel in OF_LIBSVM

    def _learn(self, X: np.ndarray, codes: np.ndarray) -> None:
        n = X.shape[0]
        cache = cache_bytes(n, len(self.classes_), self.cache_rows) / 2**20
        bound = self._kernel_on(X)
        some = _spaced(n, SPREAD_SAMPLE)
        K = bound(X[some], X[some])
        tol = libsvm_tolerance(K, codes[some], np.bincount(codes), self.C)
        self._bound = None if self.kernel in OF_LIBSVM else bound
        settings: dict[str, str | float] = {"kernel": "precomputed"}
        if self._bound is None:
            settings = self._libsvm_kernel(bound.width)
        # Its solver draws nothing, but without a seed SVC takes one from the global state.
        svm = SVC(C=self.C, **settings, cache_size=cache, random_state=0, tol=tol)
        if self._bound is None:
            self._svm = svm.fit(X, codes)
        else:
            self._svm = svm.fit(square_matrix(self._bound, X), codes)
            self._vectors = X[svm.support_]

    def _learn_threshold(self, X: np.ndarray, labels: Labels) -> None:
        rows = _spaced(X.shape[0], SCORED_ALONE)
        if len(self.classes_) > 2 or self.decision_threshold == "zero":
            self.offset_ = np.zeros(() if len(self.classes_) == 2 else len(self.classes_))
            return
        duals = np.zeros(X.shape[0])
        duals[self._svm.support_] = with_zeros(self._svm.dual_coef_)[0]
        own = duals[rows] * self._own_values(X[rows])
        self._place_threshold(self._as_decision(self._scores(X[rows])) - own, labels)

    def _own_values(self, X: np.ndarray) -> np.ndarray:
        """Return k(x, x)."""
        if self.kernel == "rbf":
            return np.ones(X.shape[0])
        if self._bound is None:
            squares = squared_norms(X)
            return squares if self.kernel == "linear" else (self._svm.gamma * squares + 1) ** 2
        bound = self._bound
        return np.array([bound(x[None], x[None])[0, 0] for x in X])

    def _libsvm_kernel(self, width: float) -> dict[str, str | float]:
        if self.kernel == "linear":
            return {"kernel": "linear"}
        if self.kernel == "rbf":
            return {"kernel": "rbf", "gamma": 0.5 / width**2}
        return {"kernel": "poly", "degree": 2, "gamma": width**-2, "coef0": 1.0}

    def _layers(self) -> list[Layer]:
        if self._bound is None:
            return svm_layers(self._svm, str(self.kernel))
        return svm_layers(self._svm, self._bound, self._vectors)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        if self._bound is None:
            return self._svm.decision_function(X)
        bound, groups = self._bound, row_groups(len(X))
        return np.concatenate([self._scores_of_kernel(bound, X[rows]) for rows in groups])

    def _scores_of_kernel(self, bound: kernels.BoundKernel, X: np.ndarray) -> np.ndarray:
        # LIBSVM looks at the columns of support vectors alone.
        K = np.zeros((len(X), self._svm.shape_fit_[0]))
        K[:, self._svm.support_] = bound(X, self._vectors)
        return self._svm.decision_function(K)


def _spaced(n: int, most: int) -> np.ndarray:
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)


class LinearSVM(_LabeledClassifier):
    """Linear support vector machine (LIBLINEAR, squared hinge loss), of points about their mean.

    LIBLINEAR penalises the intercept: of points far from the origin it would be most of the norm.
    """

    C: PositiveFloat = 1.0
    """Penalty of the loss."""
    random_state: RandomState = None
    """Order in which dual coordinates are visited."""

    @property
    def _takes_sparse(self) -> bool:
        return True

    def _learn(self, X: np.ndarray, codes: np.ndarray) -> None:
        if issparse(X):
            # its own mean would copy all of it
            mean = X.T @ np.full(X.shape[0], 1 / X.shape[0])
            self._mean: np.ndarray | None = None
            self._coef, self._intercept = sparse_linear.train(X, codes, self.C, mean)
            return
        mean = X.mean(axis=0, dtype=np.float64)
        # The smaller of the two problems; dual coordinates would crawl on many points.
        dual = len(X) < X.shape[1]
        settings = {"C": self.C, "tol": _LINEAR_TOL, "random_state": self.random_state}
        svm = LinearSVC(dual=dual, max_iter=10_000, **settings).fit(X - mean, codes)
        self._mean = mean
        self._coef, self._intercept = svm.coef_.T, svm.intercept_

    def _layers(self) -> list[Layer]:
        return [Center(self._mean), Linear(self._coef, self._intercept)]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        near = X if self._mean is None else X - self._mean
        scores = near @ self._coef + self._intercept
        return scores.ravel() if scores.shape[1] == 1 else scores


@hookimpl
def harness_methods() -> list[Method]:
    """Provide the supervised baselines."""
    tasks = {"binary", "multiclass"}
    space = {"C": log_uniform(1e-3, 1e4), "sigma": choice([0.25, 0.5, 1.0, 2.0])}
    return [
        Method("1nn", NearestNeighbor, nearest_storage, tasks=tasks, uses_unlabeled=False),
        Method(
            "svm",
            KernelSVM,
            svm_storage,
            size="cache_rows",
            sizes=svm_cache_rows,
            size_affects="time",
            tasks=tasks,
            params={"decision_threshold": "share"},
            space=space,
            uses_unlabeled=False,
        ),
        Method(
            "linear-svm",
            LinearSVM,
            linear_svm_storage,
            tasks=tasks,
            space={"C": log_uniform(1e-4, 1e2)},
            uses_unlabeled=False,
        ),
    ]
