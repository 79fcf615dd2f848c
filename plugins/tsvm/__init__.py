"""Transductive support vector machines, linear or with a Gaussian kernel.

The unlabeled points, too, should lie outside the margin, on whatever side, and a known share of
them (that among the labeled points) on the positive one: minimise

    |f|^2 / 2 + C sum_labeled q(y_i f_i) + C* sum_unlabeled q(|f_i|),   q(t) = max(0, 1 - t)^2.

The squared hinge, as in SVMlin (Sindhwani & Keerthi 2006), has a gradient, so that a Newton method
of few steps solves each convex problem (`label_switching`). Both forms start from
the inductive machine and let C* grow, because the objective has many local minima (Joachims 1999;
Chapelle & Zien 2005).
"""

from __future__ import annotations

import math
import mmap
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt, Interval, Le

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels, log_uniform
from harness.estimator import NonNegativeFloat, PositiveFloat, PositiveInt
from harness.layers import Center, KernelValues, Layer, Linear
from harness.semi_supervised import Labels, LinearProduct, SplitClassifier, transduced
from harness.semi_supervised.gaussian_triangle import BAND, GaussianTriangle
from harness.semi_supervised.squared_hinge import Expansion

from .label_switching import TransductionProblem, concave_convex, inductive, switching

# The first C* is at most this part of the last one, which hardly moves the inductive machine.
_FIRST_WEIGHT = 0.04


class TransductiveSVM(kernels.GaussianWidth, SplitClassifier):
    """Transductive support vector machine (TSVM, S3VM) with the squared hinge loss.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`.
    transduction_ : ndarray of shape (n,)
        Classes of the points of `fit`; labels that were given stay.
    objective_ : list of ndarray of shape (steps, 2)
        For each machine (one for two classes) C* and the objective, before and after every step.
        It never rises while C* stays.
    """

    C: PositiveFloat = 1.0
    """Cost of the squared hinge loss of a labeled point, as in `sklearn.svm.LinearSVC`."""
    unlabeled_weight: NonNegativeFloat = 0.1
    """C* / C, the cost of an unlabeled point in parts of a labeled one. 0 gives the machine of the
    labeled points alone.
    """
    form: Literal["switching", "cccp"] = "switching"
    """How the objective is minimised: by `switching` labels, or `concave_convex`."""
    kernel: Literal["rbf", "linear"] = "rbf"
    """Gaussian, or the product of the features."""
    positive_share: Annotated[float, Interval(gt=0, lt=1)] | None = None
    """Share of the second class among the unlabeled points; that of the labeled ones by default.
    For two classes only.
    """
    growth: Annotated[float, Gt(1)] = 3.0
    """Factor by which C* grows."""
    max_switches: PositiveInt | None = None
    """Pairs of labels exchanged at once; all that lower the objective by default."""
    ramp: Annotated[float, Le(0)] = 0.0
    """Where the loss becomes flat, in the form "cccp"."""
    tol: PositiveFloat = 0.0001
    """Excess of the objective over its minimum at given labels or tangents, in parts of it or of
    |f|^2 / 2 if that is less.
    """

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
        self._X, self._candidates, self._center = X, labeled, kernels.column_medians(X)
        self._product: LinearProduct | GaussianTriangle
        if self.kernel == "linear":
            # the bias is free, so no point need be the origin
            center = self._center if self._center.any() else None
            self._product = LinearProduct(X, center)
        else:
            self._product = GaussianTriangle(X, self._width, self._center)

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        """Train on these labels; nothing is taken over from those before."""
        self._validate_params()
        if self.positive_share is not None and len(self.classes_) > 2:
            message = f"positive_share is for two classes, y has {len(self.classes_)}"
            raise ValueError(message)
        # of other labels, or they would stand beside what is learned now
        for name in ("_coefficients", "decision_scores_", "held_out_scores_", "transduction_"):
            self.__dict__.pop(name, None)
        targets = labels.targets()
        labeled = self._candidates[labels.rows]
        scores = np.empty((self._product.n, targets.shape[1]))
        coefficients = np.empty(scores.shape, self._X.dtype)
        self._intercepts, self.objective_ = np.empty(targets.shape[1]), []
        for j, column in enumerate(targets.T):
            f, path = self._machine(labeled, column)
            scores[:, j], coefficients[:, j] = f.scores, f.coefficients
            self._intercepts[j] = f.bias
            self.objective_.append(np.reshape(path, (-1, 2)))
            # or it would be held while the next machine is trained
            del f
        self._coefficients = coefficients
        if isinstance(self._product, LinearProduct):
            self._coefficients = self._product.weights(coefficients.T).T
        self.decision_scores_ = self._as_decision(scores)
        self.transduction_ = transduced(self.decision_scores_, replace(labels, rows=labeled))
        return scores[self._candidates[held_out]]

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        del self._product  # which later labels alone would need

    def _machine(
        self, labeled: np.ndarray, targets: np.ndarray
    ) -> tuple[Expansion, list[tuple[float, float]]]:
        """Return one machine and the path of its objective."""
        n = self._product.n
        if not np.ptp(targets):
            # a class without a labeled point
            return Expansion.zero(n, targets[0]), []
        unlabeled = np.setdiff1d(np.arange(n), labeled)
        share = (targets > 0).mean() if self.positive_share is None else self.positive_share
        last = self.C * self.unlabeled_weight
        stages = math.ceil(-math.log(_FIRST_WEIGHT) / math.log(self.growth))
        weights = [last / self.growth**stage for stage in range(stages, -1, -1)]
        problem = TransductionProblem(
            self._product, labeled, unlabeled, targets, share, self.C, weights, self.tol
        )
        if not (last and unlabeled.size):
            return inductive(problem), []
        cccp = self.form == "cccp"
        if cccp:
            return concave_convex(problem, self.ramp), problem.path
        return switching(problem, self.max_switches), problem.path

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
    """Provide TSVM with a Gaussian and with a linear kernel."""
    tsvm = partial(
        Method,
        estimator=TransductiveSVM,
        storage=storage,
        size="n_unlabeled",
        tasks={"binary", "multiclass"},
        head_params={"C", "unlabeled_weight"},
        reference="joachims1999",
    )
    space = {"sigma": choice([0.5, 1.0, 2.0]), "C": log_uniform(0.1, 10)}
    linear_space = {"C": log_uniform(1e-3, 1)}
    return [
        tsvm("tsvm", space=space),
        tsvm("linear-tsvm", space=linear_space, params={"kernel": "linear"}),
    ]
