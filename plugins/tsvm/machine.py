"""Transductive machines one against the rest, whatever kernel they multiply with."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt, Interval, Le
from numpy.typing import DTypeLike

from harness.estimator import NonNegativeFloat, PositiveFloat, PositiveInt
from harness.semi_supervised import Labels, SplitClassifier, transduced
from harness.semi_supervised.kernel_operators import KernelProduct
from harness.semi_supervised.squared_hinge import Expansion

from .label_switching import TransductionProblem, concave_convex, inductive, switching

# The first C* is at most this part of the last one, which hardly moves the inductive machine.
_FIRST_WEIGHT = 0.04


class TransductiveMachine(SplitClassifier):
    """Transductive support vector machine (TSVM, S3VM) with the squared hinge loss.

    A subclass writes `_learn(X, labeled)`, which calls `_multiply_with`;
    `_weights_of(coefficients)`; and `_scores(X)`.

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

    _: KW_ONLY
    C: PositiveFloat = 1.0
    """Cost of the squared hinge loss of a labeled point, as in `sklearn.svm.LinearSVC`."""
    unlabeled_weight: NonNegativeFloat = 0.1
    """C* / C, the cost of an unlabeled point in parts of a labeled one. 0 gives the machine of the
    labeled points alone.
    """
    form: Literal["switching", "cccp"] = "switching"
    """How the objective is minimised: by `switching` labels, or `concave_convex`."""
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

    def _multiply_with(
        self, product: KernelProduct, labeled: np.ndarray, dtype: DTypeLike
    ) -> None:
        """Take a kernel matrix of all points, the rows that may get labels, and a type.

        Coefficients are kept in that type.
        """
        self._product, self._candidates, self._dtype = product, labeled, dtype

    @abstractmethod
    def _weights_of(self, coefficients: np.ndarray) -> np.ndarray:
        """Return what scores new points, from a coefficient of each point and machine."""

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
        coefficients = np.empty(scores.shape, self._dtype)
        self._intercepts, self.objective_ = np.empty(targets.shape[1]), []
        for j, column in enumerate(targets.T):
            f, path = self._machine(labeled, column)
            scores[:, j], coefficients[:, j] = f.scores, f.coefficients
            self._intercepts[j] = f.bias
            self.objective_.append(np.reshape(path, (-1, 2)))
            # or it would be held while the next machine is trained
            del f
        self._coefficients = self._weights_of(coefficients)
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
