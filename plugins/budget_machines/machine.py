"""What the budgeted SVM and LSSVM share: landmarks, features, SGD, prediction, storage."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from copy import deepcopy
from typing import ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from harness import Arrays, Shape, kernels
from harness.estimator import PositiveFloat, PositiveInt
from harness.layers import Center, KernelValues, Layer, Linear
from harness.semi_supervised import Labels, SplitClassifier

from .duality_gap import bounds_bytes, objective_bounds
from .feature_cache import FeatureCache
from .hinge_solver import gap_scale
from .objective import LandmarkProblem
from .sgd import descend, descent_bytes

EXACT = 1e-3
"""Part of the minimum within which an objective is "exact"."""

# The same of SGD that converged, in parts of what the objective falls from its start.
_CONVERGED = 0.02


class BudgetMachine(kernels.Landmarks, kernels.AnyKernel, SplitClassifier):
    """A machine for each class against the rest, on features of landmarks."""

    _loss: ClassVar[str]
    C: PositiveFloat = 10.0
    """Weight of the loss."""
    solver: Literal["exact", "sgd"] = "exact"
    """How the objective is minimised: to a gap that the machine says, or by mini-batches."""
    epochs: PositiveInt = 10
    """Of SGD."""
    batch_size: PositiveInt = 64
    """Of SGD."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return self.kernel in kernels.OF_SCALED_INTEGERS

    @property
    def _takes_sparse(self) -> bool:
        return self.kernel in kernels.OF_SPARSE and self.selector in kernels.SELECTORS_OF_SPARSE

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        rows = self._read(y).rows
        self._choose(X, rows)
        self.fit_labels(y[rows])
        # what serves other labels
        del self._X, self._rows, self._prepared, self._chosen

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        self._choose(X, labeled)
        if self.solver == "exact":
            self._prepare()

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        self.held_out_scores_ = np.empty(0)  # before as many are computed
        learn = self._minimise if self.solver == "exact" else self._descend
        scores = learn(labels, len(self._rows))
        sgd, allowed = self.solver == "sgd", _CONVERGED / (1 + _CONVERGED)
        allowed *= self._part_that_falls(labels) if sgd else 1
        self.converged_ = bool(self.gap_ <= allowed)
        if not self.converged_:
            message = (f"after {self.epochs} epochs " if sgd else "") + (
                f"the objective is {self.objective_:.4g}, of which a part of {self.gap_:.2g} may "
                f"be above its minimum: not known to be within {_CONVERGED:.0%}"
                + (" of what it falls by from its start; " if sgd else "; lower C, or ")
            )
            message += "raise epochs or use solver='exact'" if sgd else "scale the features to 1"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        self.landmarks_ = self._features.landmarks
        if scores is None:
            return self._scores(self._X, self._rows[held_out])
        return scores[held_out]

    def _part_that_falls(self, labels: Labels) -> float:
        """Return by what part of the objective it is lower than that of constants.

        Where C is small, losses of a constant are nearly all of it, and what is 2 % above its
        minimum may be no machine at all.
        """
        counts = np.bincount(labels.codes, minlength=len(labels.classes))
        positive, n = counts[1:] if len(counts) == 2 else counts, len(labels.codes)
        rest = n - positive
        losses = 2 * (np.minimum(positive, rest) if self._loss == "hinge" else positive * rest / n)
        least = self.objective_ * (1 - self.gap_)
        return gap_scale(self.objective_, least, self.C * losses.sum()) / self.objective_

    def _choose(self, X: np.ndarray, rows: np.ndarray) -> None:
        rng = check_random_state(self.random_state)
        kernel = self._kernel_on(X)
        self._chosen = self._select(X, self.n_landmarks, rng, kernel)
        self._features = kernels.LandmarkFeatures(X, kernel, self._chosen)
        self.center_ = kernel.center
        self._X, self._rows = X, rows
        self._prepared: FeatureCache | np.ndarray | None = None
        self._rng = deepcopy(rng) if self.solver == "sgd" else None

    @abstractmethod
    def _prepare(self) -> None:
        """Compute what serves all labels."""

    @abstractmethod
    def _minimise(self, labels: Labels, n: int) -> np.ndarray | None:
        """Set coefficients, intercept and objective; return scores of the rows if at hand."""

    def _descend(self, labels: Labels, n: int) -> None:
        assert self._rng is not None, "SGD draws"
        problem = self._problem(labels)
        # From the same state for all labels: a descent must not know of those before it.
        solution = descend(problem, self.epochs, self.batch_size, deepcopy(self._rng))
        self._take(*solution, *objective_bounds(problem, *solution))

    def _problem(self, labels: Labels) -> LandmarkProblem:
        rows = self._rows[labels.rows]
        return LandmarkProblem(self._features, self._X, rows, labels, self.C, self._loss)

    def _take(self, a: np.ndarray, b: np.ndarray, objective: float, least: float) -> None:
        self.coef_, self.intercept_, self.objective_ = a, b, objective
        self.gap_ = (objective - least) / objective

    def _layers(self) -> list[Layer]:
        kernel = self._features.kernel
        values = KernelValues(self.landmarks_, kernel.width, kernel.kernel)
        return [Center(self.center_, np.float32), values, Linear(self.coef_, self.intercept_)]

    def _scores(self, X: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        return self._features.scores(X, self.coef_, rows) + self.intercept_


def shared_phases(
    shape: Shape, size: int, kernel: str | kernels.KernelFunction, selector: str | kernels.Selector
) -> tuple[dict[str, Arrays], Arrays, int, dict[str, Arrays]]:
    """Return phases before the training, what is held in it, a block's bytes, and prediction's.

    The block is one of features of labeled points.
    """
    n, d, i, b = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    points = Arrays(X=shape.data_bytes, labels=8 * 4 * shape.n_labeled)
    held = points + Arrays(
        blas=kernels.blas_bytes(b) + kernels.blas_bytes(b, 4),
        landmark_features=kernels.LandmarkFeatures.bytes(b, d),
    )
    sparse_row = shape.row_bytes if shape.is_sparse else None
    if sparse_row is None:
        width = kernels.binding_bytes(kernel, n, d, i)
    else:
        width = kernels.sparse_width_bytes(n, sparse_row)
    choosing = {
        "width": points + Arrays(sample=width),
        "landmarks": points
        + Arrays(selection=kernels.selection_bytes(selector, n, d, b, i, kernel)),
        "landmark features": points
        + Arrays(building=kernels.LandmarkFeatures.building_bytes(b, d, i, kernel)),
    }
    block = kernels.LandmarkFeatures.block_bytes(
        shape.n_labeled, b, d, i, kernel, sparse_row=sparse_row
    )
    kernel_rows = kernels.LandmarkFeatures.block_bytes(
        shape.block_rows, b, d, i, kernel, picked=False, substituted=False, sparse_row=sparse_row
    )
    new = Arrays(kernel_rows=kernel_rows, block=shape.new_block_bytes)
    return choosing, held, block, {"a block": held + new}


def sgd_phases(shape: Shape, b: int, loss: str, block: int, tuned: bool) -> dict[str, Arrays]:
    """Return what SGD holds with blocks of features, and the scores of a search if tuned."""
    sizes = shape.n_labeled, b, shape.n_features, shape.n_classes
    features = Arrays(features=block)
    judging = Arrays(bounds=bounds_bytes(*sizes, loss))
    held_out = {"held-out scores": features + held_out_arrays(shape)} if tuned else {}
    return {
        "descent": features + Arrays(descent=descent_bytes(*sizes)),
        "duality gap": judging + (features if loss == "hinge" else Arrays()),
        **held_out,
    }


def held_out_arrays(shape: Shape) -> Arrays:
    """Return scores in float32 and then in float64; most labels may be held out."""
    scores = shape.n_labeled * max(1, shape.n_classes)
    return Arrays(scores=4 * scores, scores_float64=8 * scores)
