"""Transductive support vector machines, linear or with a Gaussian kernel.

The unlabeled points, too, should lie outside the margin, on whatever side, and a known share of
them (that among the labeled points) on the positive one: minimise

    |f|^2 / 2 + C sum_labeled q(y_i f_i) + C* sum_unlabeled q(|f_i|),   q(t) = max(0, 1 - t)^2.

The squared hinge, as in SVMlin (Sindhwani & Keerthi 2006), has a gradient, so that a Newton method
of few steps solves each of the convex problems below. Both forms start from the inductive machine
and let C* grow, because the objective has many local minima (Joachims 1999; Chapelle & Zien 2005).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, Shape, choice, hookimpl, kernels, log_uniform
from harness.kernels import Expansion, HingeLosses

# The first C* is at most this part of the last one, which hardly moves the inductive machine.
_FIRST_WEIGHT = 0.04
# While C* still grows, a problem need not be solved this many times as well as the last one.
_LOOSER = 10
# Rounding alone could need so many steps at one value of C*.
_MOST_ROUNDS = 1000


@dataclass
class Problem:
    """One class against the rest.

    Attributes
    ----------
    labeled, unlabeled : ndarray of int
        Rows of the kernel.
    targets : ndarray of shape (len(labeled),)
        +1 or -1.
    share : float
        Share of positive points among the unlabeled.
    C : float
        Cost of a labeled point.
    weights : list of float
        Values of C*, the last one last.
    tol : float
        Relative excess of the objective at which a convex problem counts as solved.
    path : list of (float, float)
        C* and the objective with it, before and after every step.
    """

    kernel: kernels.KernelProduct
    labeled: np.ndarray
    unlabeled: np.ndarray
    targets: np.ndarray
    share: float
    C: float
    weights: list[float]
    tol: float
    path: list[tuple[float, float]] = field(default_factory=list)

    def costs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what missing the margin at +1 and at -1 costs the labeled points, (n,) each."""
        positive, negative = np.zeros(self.kernel.n), np.zeros(self.kernel.n)
        positive[self.labeled] = self.C * (self.targets > 0)
        negative[self.labeled] = self.C * (self.targets < 0)
        return positive, negative

    def tolerance(self, weight: float) -> float:
        """Return the relative tolerance at one value of C*."""
        return self.tol if weight == self.weights[-1] else _LOOSER * self.tol


def inductive(problem: Problem) -> Expansion:
    """Train on the labeled points alone."""
    losses = HingeLosses(*problem.costs())
    return kernels.minimise(problem.kernel, Expansion.zero(problem.kernel.n), losses, problem.tol)


def switching(problem: Problem, max_switches: int | None = None) -> Expansion:
    """Label the unlabeled points and exchange labels while that lowers the objective.

    A positive and a negative label are exchanged where f is higher at the negative point. As the
    losses are a sum over points and q(f) - q(-f) falls in f, each such pair lowers the objective
    at this f, whatever other pairs do; so all of them are exchanged at once, and one Newton step
    follows. The number of positive labels stays. With `max_switches=1` and exact retraining this
    is algorithm 1 of Joachims (1999), with more it is multiple switching (Sindhwani & Keerthi).

    `max_switches` bounds the pairs exchanged before a step, those that gain most first.
    """
    unlabeled, known = problem.unlabeled, problem.costs()
    f = inductive(problem)
    positive = np.zeros(len(unlabeled), bool)
    n_positive = int(problem.share * len(unlabeled) + 0.5)
    positive[np.argsort(-f.scores[unlabeled], kind="stable")[:n_positive]] = True

    for weight in problem.weights:
        for _ in range(_MOST_ROUNDS):
            switched = _switch(positive, f.scores[unlabeled], max_switches, problem.tol)
            costs = [side.copy() for side in known]
            costs[0][unlabeled], costs[1][unlabeled] = weight * positive, weight * ~positive
            losses = HingeLosses(*costs)
            objective = f.objective(losses)
            problem.path.append((weight, objective))
            f, solved = kernels.newton_step(
                problem.kernel, f, losses, problem.tolerance(weight) * objective
            )
            problem.path.append((weight, f.objective(losses)))
            if solved and not switched:
                break
    return f


def _switch(
    positive: np.ndarray, scores: np.ndarray, max_switches: int | None, margin: float
) -> int:
    """Exchange labels in place and return how many pairs.

    Without a margin between their scores, equal points would be exchanged forever.
    """
    lowest, highest = np.flatnonzero(positive), np.flatnonzero(~positive)
    lowest = lowest[np.argsort(scores[lowest], kind="stable")]
    highest = highest[np.argsort(-scores[highest], kind="stable")]
    pairs = min(len(lowest), len(highest))
    gains = scores[highest[:pairs]] - scores[lowest[:pairs]]
    exchanged = np.count_nonzero(gains > margin)
    if max_switches is not None:
        exchanged = min(exchanged, max_switches)
    positive[lowest[:exchanged]], positive[highest[:exchanged]] = False, True
    return exchanged


def concave_convex(problem: Problem, ramp: float = 0.0) -> Expansion:
    """Give the unlabeled points both labels at ramp losses, and the mean score 2 share - 1.

    The ramp loss min(q(t), q(ramp)) is q less a convex function; its tangent at the present f
    makes a convex upper bound of the objective that touches it there, so a step that lowers the
    bound lowers the objective (Collobert, Sinz, Weston & Bottou 2006). With ramp = 0 both losses
    of a point sum up to q(|f|) + 1. The mean score (Chapelle & Zien 2005) is kept exactly: with
    the kernel centred on the unlabeled points it is the bias.
    """
    unlabeled = problem.unlabeled
    positive, negative = problem.costs()
    centered = kernels.CenteredProduct(problem.kernel, unlabeled)
    mean = 2 * problem.share - 1
    known = HingeLosses(positive.copy(), negative.copy())
    f = kernels.minimise(
        centered, Expansion.zero(centered.n, mean), known, problem.tol, free_bias=False
    )

    def objective(f: Expansion, weight: float) -> float:
        # less q(ramp) a point, which its two losses never fall below together
        hinges = np.maximum(0, 1 - np.outer((1, -1), f.scores[unlabeled])) ** 2
        ramps = np.minimum(hinges, (1 - ramp) ** 2).sum() - len(unlabeled) * (1 - ramp) ** 2
        return f.objective(known) + weight * ramps

    for weight in problem.weights:
        positive[unlabeled] = negative[unlabeled] = weight
        for _ in range(_MOST_ROUNDS):
            scores = f.scores[unlabeled]
            linear = np.zeros(centered.n)
            linear[unlabeled] = 2 * weight * (scores < ramp) * (1 - scores)
            linear[unlabeled] -= 2 * weight * (-scores < ramp) * (1 + scores)
            found = objective(f, weight)
            problem.path.append((weight, found))
            f, solved = kernels.newton_step(
                centered,
                f,
                HingeLosses(positive, negative, linear),
                problem.tolerance(weight) * found,
                free_bias=False,
            )
            problem.path.append((weight, objective(f, weight)))
            if solved:
                break
    coefficients = centered.uncentered(f.coefficients)
    products = problem.kernel.multiply(coefficients)
    return Expansion(coefficients, products, mean - float(products[unlabeled].mean()))


class TransductiveSVM(ClassifierMixin, BaseEstimator):
    """Transductive support vector machine (TSVM, S3VM) with the squared hinge loss.

    Parameters
    ----------
    C : float, default 1.0
        Cost of the squared hinge loss of a labeled point, as in `sklearn.svm.LinearSVC`.
    unlabeled_weight : float, default 0.1
        C* / C, the cost of an unlabeled point in parts of a labeled one. 0 gives the machine of
        the labeled points alone.
    form : {"switching", "cccp"}, default "switching"
        How the objective is minimised: `switching` or `concave_convex`.
    kernel : {"rbf", "linear"}, default "rbf"
    sigma : float, default 1.0
        Width of the Gaussian kernel.
    sigma_unit : {"median", "absolute"}, default "median"
        What `sigma` counts: median distances between the points, or units of the features.
    positive_share : float, optional
        Share of the second class among the unlabeled points; that of the labeled ones by default.
        For two classes only.
    growth : float, default 3.0
        Factor by which C* grows.
    max_switches : int, optional
        Pairs of labels exchanged at once; all that lower the objective by default.
    ramp : float, default 0.0
        Where the loss becomes flat, in the form "cccp".
    tol : float, default 1e-4
        Relative excess of the objective over its minimum, at given labels or tangents.
    n_classes : int, optional
        Found from y by default. Three and more are told apart one against the rest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`.
    labeled_scores_ : ndarray of shape (n_labeled,) or (n_labeled, n_classes)
        Those of the rows that `fit_features` was told of.
    transduction_ : ndarray of shape (n,)
        Classes of the points of `fit`; labels that were given stay.
    objective_ : list of ndarray of shape (steps, 2)
        For each machine (one for two classes) C* and the objective, before and after every step.
        It never rises while C* stays.
    """

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "unlabeled_weight": [Interval(Real, 0, None, closed="left")],
        "form": [StrOptions({"switching", "cccp"})],
        "kernel": [StrOptions({"rbf", "linear"})],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sigma_unit": [StrOptions({"median", "absolute"})],
        "positive_share": [Interval(Real, 0, 1, closed="neither"), None],
        "growth": [Interval(Real, 1, None, closed="neither")],
        "max_switches": [Interval(Integral, 1, None, closed="left"), None],
        "ramp": [Interval(Real, None, 0, closed="right")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "n_classes": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self,
        C: float = 1.0,
        unlabeled_weight: float = 0.1,
        form: str = "switching",
        kernel: str = "rbf",
        sigma: float = 1.0,
        sigma_unit: str = "median",
        positive_share: float | None = None,
        growth: float = 3.0,
        max_switches: int | None = None,
        ramp: float = 0.0,
        tol: float = 1e-4,
        n_classes: int | None = None,
    ) -> None:
        self.C = C
        self.unlabeled_weight = unlabeled_weight
        self.form = form
        self.kernel = kernel
        self.sigma = sigma
        self.sigma_unit = sigma_unit
        self.positive_share = positive_share
        self.growth = growth
        self.max_switches = max_switches
        self.ramp = ramp
        self.tol = tol
        self.n_classes = n_classes

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from all points; y is -1 where a point has no label."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        labeled = kernels.read_labels(y, self.n_classes).rows
        return self._prepare(X, labeled).fit_labels(y[labeled])

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Compute the kernel matrix; `labeled` are the rows that may get labels."""
        self._validate_params()
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        return self._prepare(X, labeled)

    def _prepare(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        self._X, self._candidates = X, labeled
        if self.kernel == "linear":
            self._product = kernels.LinearProduct(X)
        else:
            self._width = kernels.kernel_width(X, self.sigma, self.sigma_unit)
            self._product = kernels.GaussianTriangle(X, self._width)
        return self

    def fit_labels(self, y: np.ndarray) -> Self:
        """Train on labels for the rows named before, -1 where one is held out.

        Nothing is taken over from earlier calls: equal labels and parameters, equal scores.
        """
        self._validate_params()
        labels = kernels.read_labels(y, self.n_classes)
        self.classes_ = labels.classes
        if self.positive_share is not None and len(self.classes_) > 2:
            message = f"positive_share is for two classes, y has {len(self.classes_)}"
            raise ValueError(message)
        targets = labels.targets()
        labeled = self._candidates[labels.rows]
        machines = [self._train(labeled, column) for column in targets.T]
        self.objective_ = [np.reshape(path, (-1, 2)) for _, path in machines]
        scores = np.column_stack([f.scores for f, _ in machines])
        self._intercepts = np.array([f.bias for f, _ in machines])
        coefficients = np.column_stack([f.coefficients for f, _ in machines])
        self._coefficients = coefficients.astype(self._X.dtype, copy=False)
        if self.kernel == "linear":
            self._coefficients = self._X.T @ self._coefficients
        self.decision_scores_ = scores[:, 0] if scores.shape[1] == 1 else scores
        self.labeled_scores_ = self.decision_scores_[self._candidates]
        self.transduction_ = kernels.decide(self.decision_scores_, self.classes_)
        self.transduction_[labeled] = self.classes_[labels.codes]
        return self

    def _train(self, labeled: np.ndarray, targets: np.ndarray) -> tuple[Expansion, list]:
        """Return one machine and the path of its objective."""
        n = self._product.n
        if not np.ptp(targets):
            # A class without a labeled point stays at -1, below all others.
            return Expansion.zero(n, targets[0]), []
        unlabeled = np.setdiff1d(np.arange(n), labeled)
        share = (targets > 0).mean() if self.positive_share is None else self.positive_share
        last = self.C * self.unlabeled_weight
        stages = math.ceil(-math.log(_FIRST_WEIGHT) / math.log(self.growth))
        weights = [last / self.growth**stage for stage in range(stages, -1, -1)]
        problem = Problem(
            self._product, labeled, unlabeled, targets, share, self.C, weights, self.tol
        )
        if not (last and unlabeled.size):
            return inductive(problem), []
        cccp = self.form == "cccp"
        f = concave_convex(problem, self.ramp) if cccp else switching(problem, self.max_switches)
        return f, problem.path

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores of shape (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=self._X.dtype, order="C")
        scores = np.empty((len(X), len(self._intercepts)))
        if self.kernel == "linear":
            np.matmul(X, self._coefficients, out=scores)
        else:
            for block in kernels.row_blocks(len(X), len(self._X) + X.shape[1], X.itemsize):
                # Without a name it is gone before the next block is there.
                scores[block] = self._kernel(X[block]) @ self._coefficients
        scores += self._intercepts
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _kernel(self, X: np.ndarray) -> np.ndarray:
        return kernels.gaussian_kernel(X, self._X, self._width)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each row."""
        return kernels.decide(self.decision_function(X), self.classes_)


def storage(shape: Shape, size: int, kernel: str = "rbf") -> int:
    """Bytes held: the data, half the kernel matrix in float32, vectors, a block of new points.

    2 n (n + 64) bytes with a Gaussian kernel, nothing of order n^2 with a linear one.
    """
    n, d, i = shape.n, shape.n_features, shape.itemsize
    vectors = 8 * n * (24 + 3 * max(1, shape.n_classes))
    held = shape.data_bytes + vectors + shape.block_bytes
    if kernel == "linear":
        return held
    filling = kernels.BAND * i * (d + (n if i == 8 else 0))
    predicting = kernels.stream_bytes(n + shape.n_test, n + d, i)
    matrix = kernels.triangle_bytes(n) + max(filling, predicting)
    return held + max(kernels.width_bytes(n, d, i), matrix)


@hookimpl
def harness_methods() -> list[Method]:
    """Provide TSVM with a Gaussian and with a linear kernel."""
    shared = {
        "estimator": TransductiveSVM,
        "storage": storage,
        "size": "n_unlabeled",
        "tasks": {"binary", "multiclass"},
        "label_params": {"C", "unlabeled_weight"},
        "reference": "joachims1999",
    }
    space = {"sigma": choice([0.5, 1.0, 2.0]), "C": log_uniform(0.1, 10)}
    linear_space = {"C": log_uniform(1e-3, 1)}
    return [
        Method("tsvm", space=space, **shared),
        Method("linear-tsvm", space=linear_space, params={"kernel": "linear"}, **shared),
    ]
