"""Supervised baselines on the labeled points alone: 1-NN, the RBF-SVM and the linear SVM.

What unlabeled points add can only be seen beside them. They are given nothing but the labeled
points, and are charged for nothing else.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

import numpy as np
from annotated_types import Ge
from sklearn.svm import SVC, LinearSVC

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels, log_uniform
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

from .libsvm import GROUP_ROWS, libsvm_tolerance, row_groups, square_matrix, svm_layers

# LIBSVM keeps two rows at least; of its cache that much is its head of each point.
_CACHE_ROWS = 2
_CACHE_HEAD = 32
# The solver's heap as the model finds it: a part of so many is still there.
_CACHE_LEFT = 4
# Blocks of so many bytes are never taken from the heap.
_MAPPED_FROM = 1 << 16
# What LIBSVM and scikit-learn have for each point, and for each point of the pair of classes that
# is being learned: nodes, labels, weights, dual variables, gradients, squares.
_POINT_BYTES, _PAIR_POINT_BYTES = 112, 152
# All rows of 2,000 points. More would save up to half of the time where C and labels are many, and
# fill any budget; a study may ask for it.
_CACHE_BYTES = 16_000_000
# Kernels that LIBSVM computes row by row, as it needs them.
_OF_LIBSVM = ("rbf", "linear", "poly2")
# LIBLINEAR's own 1e-4 leaves scores off by 8 % of their range at C = 1e4.
_LINEAR_TOL = 1e-6
# Points whose kernel values tell by how much scores can differ.
_SPREAD_SAMPLE = 128
# Points whose scores without their own term tell where the threshold is.
_SCORED_ALONE = 512


class _LabeledClassifier(PartlyLabeledClassifier):
    """What the three have in common: labels, validation, and the decision from scores."""

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        X = X if len(labels.rows) == len(X) else X[labels.rows]
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

    def _learn(self, X: np.ndarray, codes: np.ndarray) -> None:
        cache = cache_bytes(len(X), len(self.classes_), self.cache_rows) / 2**20
        bound = self._kernel_on(X)
        some = _spaced(len(X), _SPREAD_SAMPLE)
        K = bound(X[some], X[some])
        tol = libsvm_tolerance(K, codes[some], np.bincount(codes), self.C)
        self._bound = None if self.kernel in _OF_LIBSVM else bound
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
        rows = _spaced(len(X), _SCORED_ALONE)
        if len(self.classes_) > 2 or self.decision_threshold == "zero":
            self.offset_ = np.zeros(() if len(self.classes_) == 2 else len(self.classes_))
            return
        duals = np.zeros(len(X))
        duals[self._svm.support_] = self._svm.dual_coef_[0]
        own = duals[rows] * self._own_values(X[rows])
        self._place_threshold(self._as_decision(self._scores(X[rows])) - own, labels)

    def _own_values(self, X: np.ndarray) -> np.ndarray:
        """Return k(x, x)."""
        if self.kernel == "rbf":
            return np.ones(len(X))
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

    def _learn(self, X: np.ndarray, codes: np.ndarray) -> None:
        # The smaller of the two problems; dual coordinates would crawl on many points.
        dual = len(X) < X.shape[1]
        settings = {"C": self.C, "tol": _LINEAR_TOL, "random_state": self.random_state}
        svm = LinearSVC(dual=dual, max_iter=10_000, **settings)
        self._mean = X.mean(axis=0, dtype=np.float64)
        self._svm = svm.fit(X - self._mean, codes)

    def _layers(self) -> list[Layer]:
        return [Center(self._mean), Linear(self._svm.coef_.T, self._svm.intercept_)]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self._svm.decision_function(X - self._mean)


def cache_bytes(n: int, n_classes: int, rows: int) -> int:
    """Bytes of LIBSVM's kernel cache: rows of a pair of classes in float32, and their heads."""
    pair = _pair(n, n_classes)
    return 4 * min(rows, pair) * pair + _CACHE_HEAD * pair


def _hole_bytes(cache: int, rows: int, pair: int) -> int:
    """Bytes between the rows of a cache: 5/16 of it, and 1/8 where all rows are kept.

    As LIBSVM leaves points out and takes them in again, rows change their length. The fewer it
    keeps, the more often they move.
    """
    kept = min(rows, pair) / max(1, pair)
    return int(cache * (5 - 3 * kept) / 16)


def _pair(n: int, n_classes: int) -> int:
    """Points of two classes out of `n_classes`."""
    return min(n, -(-2 * n // n_classes))


def _float64_bytes(shape: Shape) -> int:
    return shape.n * shape.n_features * 8


def _converted_bytes(shape: Shape) -> int:
    """Bytes of the float64 copy that scikit-learn makes of float32 data."""
    return 0 if shape.itemsize == 8 else _float64_bytes(shape)


def _block_arrays(shape: Shape) -> Arrays:
    """Return a block of rows, and its float64 copies if it is float32."""
    copies = 0 if shape.itemsize == 8 else 2 * shape.block_bytes
    return Arrays(block=shape.block_bytes, converted_block=copies)


def nearest_storage(shape: Shape, size: int) -> Storage:
    """Count one block of rows, and distances to all labeled points in blocks."""
    d, i = shape.n_features, shape.itemsize
    return Storage(
        held=Arrays(X=shape.data_bytes, labels=24 * shape.n),
        fit={"check": Arrays(checked=kernels.stream_bytes(shape.n, d, i))},
        predict={
            "a block": Arrays(
                block=shape.block_bytes,
                distances=kernels.stream_bytes(shape.block_rows, shape.n + d, i),
                nearest=16 * shape.block_rows * (1 + shape.n_classes),
            )
        },
    )


def svm_cache_rows(shape: Shape) -> tuple[int, int]:
    """Rows that LIBSVM's cache may have: all of two classes, or 16 MB of them."""
    pair = max(1, _pair(shape.n, shape.n_classes))
    return _CACHE_ROWS, max(_CACHE_ROWS, min(pair, _CACHE_BYTES // (4 * pair)))


def svm_storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    tuned: bool = False,
) -> Storage:
    """Count the solver's nodes and cache; then what predicts.

    Support vectors are at most all points again, copied when the cache is gone; votes are those
    of all pairs of classes for a block of predictions. 8 n^2 with a kernel that is not LIBSVM's.
    """
    n, d, i, Q = shape.n, shape.n_features, shape.itemsize, shape.n_classes
    pairs, pair = Q * (Q - 1) // 2, _pair(n, Q)
    cache, sampled = cache_bytes(n, Q, size), min(n, _SPREAD_SAMPLE)
    width = {
        "width": Arrays(sample=kernels.binding_bytes(kernel, n, d, i)),
        "spread": Arrays(
            rows=2 * i * sampled * d,
            kernel=kernels.kernel_bytes(kernel, sampled, sampled, d, i),
            values=32 * sampled**2,
        ),
    }
    # of more than two classes LIBSVM's coefficients, and the copy that scikit-learn makes of them
    coefficients = Arrays(coefficients=16 * max(0, Q - 2) * n)
    solver = coefficients + Arrays(
        cache=cache,
        holes=_hole_bytes(cache, size, pair),
        points=_POINT_BYTES * n,
        points_of_a_pair=_PAIR_POINT_BYTES * pair,
        pairs=8 * pair * pairs,
    )
    # large support vectors are mapped beside what is left of the solver's heap
    left = cache // _CACHE_LEFT + _PAIR_POINT_BYTES * pair
    model = coefficients + Arrays(
        left_in_the_heap=left if _float64_bytes(shape) >= _MAPPED_FROM else 0, dual=24 * n
    )
    scored_alone = min(n, _SCORED_ALONE) if Q == 2 else 0
    # rows as they are picked, and in float64
    row = d * (8 if i == 8 else i + 8) + 64
    threshold = Arrays(scored_alone=scored_alone * row, scores=8 * n if Q == 2 else 0)
    votes = Arrays(votes=8 * shape.block_rows * (2 * pairs + 3 * Q))
    if kernel in _OF_LIBSVM:
        converted = Arrays(converted=_converted_bytes(shape))
        model += Arrays(support_vectors=_float64_bytes(shape))
        training = {
            **width,
            "solver": converted + solver,
            "model": converted + model,
            "threshold": model + threshold,
        }
        return _storage(shape, training, model + _block_arrays(shape) + votes, tuned)
    rows = min(GROUP_ROWS, max(n, shape.n_test))
    group = Arrays(rows=rows * n * i, working=kernels.kernel_bytes(kernel, rows, n, d, i))
    matrix, points = Arrays(kernel_matrix=8 * n * n), Arrays(points=n * d * i)
    kernel_rows = Arrays(kernel_rows=8 * rows * n)
    training = {
        **width,
        "kernel matrix": matrix + group,
        "solver": matrix + solver,
        "model": model,
        "threshold": model + points + threshold + kernel_rows + group,
    }
    block = Arrays(block=shape.block_bytes)
    return _storage(shape, training, model + points + block + kernel_rows + group + votes, tuned)


def linear_svm_storage(shape: Shape, size: int, tuned: bool = False) -> Storage:
    """Count points centred in float64, and LIBLINEAR's copy with 16 bytes for each element."""
    machines = shape.n_machines
    weights = 8 * (shape.n_features + 1) * (machines + 1)
    training = Arrays(
        centred=_float64_bytes(shape),
        nodes=16 * shape.n * (shape.n_features + 2) + 96 * shape.n,
        weights=2 * weights,
    )
    new = Arrays(
        weights=weights,
        block=shape.block_bytes,
        centred=8 * shape.block_rows * (shape.n_features + 3 * machines),
    )
    return _storage(shape, {"solver": training}, new, tuned)


def _storage(
    shape: Shape, training: dict[str, Arrays], predicting: Arrays, tuned: bool
) -> Storage:
    """Return phases with the data, which are let go before prediction but in a search."""
    X = Arrays(X=shape.data_bytes)
    fit = beside(X, training)
    return Storage(fit, {"a block": predicting + (X if tuned else Arrays())})


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
