"""Machines on a budget of landmarks (Castellanos 2021, algorithms 2 and 3), exact or by SGD.

The function is a sum over the budget, f = sum_j a_j k(., x_j) + b with x_j in B, the loss is over
all labeled points. That is a linear machine on the Nystrom features L^-1 k(B, x), L L' = K_BB: the
budgeted SVM and the Nystrom SVM are one estimator. Features are computed in row blocks, as often
as they are needed, and one factorisation serves all classes.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from copy import deepcopy
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, Shape, choice, hookimpl, kernels, log_uniform

# Parts of the minimum within which an objective is that of SGD that converged, and of "exact".
_CONVERGED, _EXACT = 0.02, 1e-3
# Left in the heap by Newton matrices that come and go, and pages that a long solver touches.
_SCATTERED_BYTES = 1 << 18


class _BudgetMachine(ClassifierMixin, BaseEstimator, ABC):
    """What both machines share: landmarks, features, SGD and prediction."""

    _loss: ClassVar[str]
    _parameter_constraints: ClassVar[dict] = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions(set(kernels.KERNELS)), HasMethods("function")],
        "selector": [StrOptions(set(kernels.SELECTORS)), callable],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sigma_unit": [StrOptions({"median", "absolute"})],
        "solver": [StrOptions({"exact", "sgd"})],
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "n_classes": [Interval(Integral, 2, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_landmarks: int = 100,
        C: float = 10.0,
        kernel: str | kernels.KernelFunction = "rbf",
        selector: str | kernels.Selector = "uniform",
        sigma: float = 1.0,
        sigma_unit: str = "median",
        solver: str = "exact",
        epochs: int = 10,
        batch_size: int = 64,
        n_classes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.C = C
        self.kernel = kernel
        self.selector = selector
        self.sigma = sigma
        self.sigma_unit = sigma_unit
        self.solver = solver
        self.epochs = epochs
        self.batch_size = batch_size
        self.n_classes = n_classes
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Choose landmarks among all points, learn from those whose label is not -1."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        rows = kernels.read_labels(y, self.n_classes).rows
        self._choose(X, rows)
        self.fit_labels(np.asarray(y)[rows])
        del self._X, self._rows, self._prepared
        return self

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Choose landmarks; `labeled` are the rows that may get labels."""
        self._choose(X, labeled)
        if self.solver == "exact":
            self._prepare()
        return self

    def fit_labels(self, y: np.ndarray) -> Self:
        """Train on those of the labeled rows whose y is not -1."""
        self.held_out_scores_ = None  # before as many are computed
        labels = kernels.read_labels(y, self.n_classes)
        self.classes_, self._present = labels.classes, labels.present
        learn = self._minimise if self.solver == "exact" else self._descend
        scores = learn(labels, len(y))
        self.converged_ = bool(self.gap_ <= _CONVERGED / (1 + _CONVERGED))
        if not self.converged_:
            sgd = self.solver == "sgd"
            message = (f"after {self.epochs} epochs " if sgd else "") + (
                f"the objective is {self.objective_:.4g}, of which a part of {self.gap_:.2g} may "
                f"be above its minimum: not known to be within {_CONVERGED:.0%}; lower C, or "
            )
            message += "raise epochs or use solver='exact'" if sgd else "scale the features to 1"
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        self.landmarks_ = self._features.landmarks
        held = np.asarray(y) == -1
        scores = self._scores(self._X, self._rows[held]) if scores is None else scores[held]
        self.held_out_scores_ = self._decision(scores)
        return self

    def _choose(self, X: np.ndarray, rows: np.ndarray) -> None:
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel(self.kernel, X, self.sigma, self.sigma_unit, np.float32)
        b = min(self.n_landmarks, len(X))
        chosen = kernels.select_landmarks(self.selector, X, b, rng, kernel)
        self._features = kernels.LandmarkFeatures(X[chosen], kernel)
        self._X, self._rows, self._prepared = X, rows, None
        self._rng = deepcopy(rng) if self.solver == "sgd" else None

    @abstractmethod
    def _prepare(self) -> None:
        """Compute what serves all labels."""

    @abstractmethod
    def _minimise(self, labels: kernels.Labels, n: int) -> np.ndarray | None:
        """Set coefficients, intercept and objective; return scores of the rows if at hand."""

    def _descend(self, labels: kernels.Labels, n: int) -> None:
        problem = self._problem(labels)
        # From the same state for all labels: a descent must not know of those before it.
        solution = kernels.descend(problem, self.epochs, self.batch_size, deepcopy(self._rng))
        self._take(*solution, *kernels.objective_bounds(problem, *solution))

    def _problem(self, labels: kernels.Labels) -> kernels.LandmarkProblem:
        rows = self._rows[labels.rows]
        return kernels.LandmarkProblem(self._features, self._X, rows, labels, self.C, self._loss)

    def _take(self, a: np.ndarray, b: np.ndarray, objective: float, least: float) -> None:
        self.coef_, self.intercept_, self.objective_ = a, b, objective
        self.gap_ = (objective - least) / objective

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores of shape (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return self._decision(self._scores(X))

    def _scores(self, X: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        return self._features.scores(X, self.coef_, rows) + self.intercept_

    def _decision(self, scores: np.ndarray) -> np.ndarray:
        return kernels.as_decision(scores, self._present, len(self.classes_))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each row."""
        return kernels.decide(self.decision_function(X), self.classes_)


class BudgetSVM(_BudgetMachine):
    """Minimise |w|^2 + C sum_i max(0, 1 - y_i f(x_i)), the hinge loss (equation 4-5).

    One machine for each class against the rest. The penalty has no factor 1/2: C is twice
    LIBSVM's. The bias is free, as printed.

    Parameters
    ----------
    n_landmarks : int, default 100
        b, the points chosen by `selector`; all of them where there are fewer.
    C : float, default 10.0
        Weight of the loss.
    kernel : str or KernelFunction, default "rbf"
        A name of `harness.kernels.KERNELS`, or an object like `harness.Kernel`.
    selector : str or callable, default "uniform"
        How landmarks are chosen: a name of `harness.kernels.SELECTORS`, or a callable (X,
        n_landmarks, random_state, kernel) that returns row numbers.
    sigma : float, default 1.0
        Width of the kernel, if it has one.
    sigma_unit : {"median", "absolute"}, default "median"
        What `sigma` counts: median distances between the points, or units of the features.
    solver : {"exact", "sgd"}, default "exact"
        "exact": to a duality gap of 1e-3. "sgd": mini-batches, a step from the stability bound
        that falls as 1 / sqrt(epochs), the mean of the second half of the iterates.
    epochs, batch_size : int, default 10 and 64
        Of SGD.
    n_classes : int, optional
        Found from y by default.
    random_state : int, RandomState instance or None, default None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    landmarks_ : ndarray of shape (r, d), float32
        Without those that the others span.
    coef_ : ndarray of shape (r, Q), float32
        a; Q is 1 for two classes.
    intercept_ : ndarray of shape (Q,)
    objective_ : float
        Summed over the machines.
    gap_ : float
        Part of the objective by which it is above its minimum at most.
    converged_ : bool
        Whether it is within 2 % of the minimum for certain.
    """

    _loss = "hinge"

    def _prepare(self) -> None:
        r, rows = self._features.n_components, self._rows
        held = kernels.cache_bytes(len(rows), r)
        self._prepared = kernels.FeatureCache(self._features, self._X, held, len(rows))

    def _minimise(self, labels: kernels.Labels, n: int) -> None:
        if self._prepared is None:
            self._prepare()
        codes = np.full(n, -1)
        codes[labels.rows] = labels.codes
        problem = (self._features, self._X, self._rows, codes, len(labels.classes), self.C)
        found = kernels.train_hinge_machines(*problem, self._prepared, _EXACT)
        self.coef_, self.intercept_ = found.coefficients, found.intercepts
        self.objective_, self.gap_ = found.objective, found.gap / found.objective
        return found.scores


class BudgetLSSVM(_BudgetMachine):
    """Minimise |w|^2 / 2 + C / 2 sum_i (y_i - f(x_i))^2, least squares (equation 4-13).

    Parameters and attributes are those of `BudgetSVM`; "exact" is one pass and one factorisation,
    and up to four passes more where rounding may matter.
    The text's further term, -sum_j alpha_j over the landmarks, is left out: it belongs to the dual
    problem, and without it the machine with B = X is the LS-SVM of equation 4-9 with gamma = C.
    """

    _loss = "squared"

    def _prepare(self) -> None:
        self._classes = None
        # Sums over few labels have no full rank, and in those with an outlier are no digits of the
        # others: taking a fold from them would leave rounding.
        features, points = self._features, (self._X, self._rows)
        if len(self._rows) > 2 * features.n_components and not features.is_uneven(*points):
            self._prepared, _ = features.sums(*points, None, 0)

    def _sums(
        self, some: np.ndarray, codes: np.ndarray, n_classes: int, gram: bool = True
    ) -> tuple[np.ndarray | None, np.ndarray]:
        return self._features.sums(self._X, self._rows[some], codes[some], n_classes, gram)

    def _minimise(self, labels: kernels.Labels, n: int) -> None:
        Q, codes = len(labels.classes), np.full(n, -1)
        codes[labels.rows] = labels.codes
        counts = np.bincount(labels.codes, minlength=Q)
        for rounding in kernels.ROUNDINGS:
            if self._prepared is None or rounding > kernels.ROUNDINGS[0]:
                gram, sums = self._sums(labels.rows, codes, Q)
            else:
                gram, sums = self._without_held_out(labels, codes)
            system = (gram, sums[:, :Q], counts, self.C, rounding)
            found = kernels.train_ridge_machines(self._features, *system)
            del gram, system
            if found is not None:
                break
        else:
            raise LinAlgError("the sums of features are not positive definite")
        problem = self._problem(labels)
        uneven = self._features.is_uneven(self._X, self._rows[labels.rows])
        if found.doubt > _EXACT * found.objective or uneven:
            self._take(*kernels.refine_ridge_machines(problem, found, _EXACT))
            return
        self.coef_ = self._features.expansion(found.weights)
        self.intercept_, self.objective_ = found.intercepts, found.objective
        self.gap_ = found.doubt / found.objective

    def _without_held_out(
        self, labels: kernels.Labels, codes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take the held-out rows from the sums over all rows.

        Folds show the labels of all rows in turn: what is known of a row's class stays known, and
        only rows that are held out, or were so far, are computed again.
        """
        Q, held = len(labels.classes), np.flatnonzero(codes < 0)
        if (
            not np.array_equal(self._classes, labels.classes)
            or ((self._codes >= 0) & (codes >= 0) & (self._codes != codes)).any()
        ):
            self._classes, self._codes = labels.classes, np.full(len(codes), -1)
            self._by_class = 0.0
        new = np.flatnonzero((codes >= 0) & (self._codes < 0))
        self._codes[new] = codes[new]
        self._by_class = self._by_class + self._sums(new, codes, Q, gram=False)[1]
        gram, sums = self._sums(held, self._codes, Q)
        gram *= -1
        gram += self._prepared
        return gram, self._by_class - sums


def _phases(
    shape: Shape, size: int, kernel: str | kernels.KernelFunction, selector: str | kernels.Selector
) -> tuple[int, int, int]:
    """Return bytes held while landmarks are chosen, while training and predicting, and in blocks.

    The second leaves out what training alone holds; both count the data.
    """
    n, d, i, b = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    panels = kernels.blas_bytes(b) + 2 * kernels.blas_bytes(b, 4)
    shared = shape.data_bytes + 8 * 4 * shape.n_labeled + panels
    choosing = max(
        kernels.binding_bytes(kernel, n, d, i),
        kernels.selection_bytes(selector, n, d, b, i, kernel),
        kernels.building_bytes(b, d, i),
    )
    block = kernels.feature_block_bytes(max(n, shape.n_test), b, d, i, kernel)
    return shared + choosing, shared + 4 * b * (b + d), block


def svm_storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "uniform",
    solver: str = "exact",
    tuned: bool = False,
) -> int:
    """Bytes held: the data, b landmarks, L, a cache of feature rows, and a Newton matrix.

    8 n d + 4 b d + 4 b^2 + min(4 n b, 8 MB + 6 b^2) + 6 b^2 + 9 n Q: with 60,000 points and 1,280
    landmarks of 784 features 60 MB beside the data.
    """
    n, b, Q = shape.n_labeled, min(size, shape.n), max(1, shape.n_classes)
    choosing, held, block = _phases(shape, size, kernel, selector)
    training = _sgd_bytes(shape, b, "hinge", tuned)
    if solver == "exact":
        cache = kernels.cache_bytes(n, b)
        rows = min(n, cache // (4 * b) + n // 4)
        vectors = 8 * 12 * rows + 9 * n * Q + 8 * 5 * n
        newton = min(6 * b * b, 8 * n * b + 12 * n * n)
        training = cache + newton + vectors + min(1024 * b, _SCATTERED_BYTES)
    loaded = shape.block_bytes if shape.n_test else 0
    return max(choosing, held + block + max(training, loaded))


def lssvm_storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "uniform",
    solver: str = "exact",
    tuned: bool = False,
) -> int:
    """Bytes held: the data, b landmarks, L, and a Gram matrix in float64 with a part in float32.

    8 n d + 4 b d + 16 b^2, and 8 b^2 more for the Gram matrix of all folds where C is searched.
    """
    n, b, Q = shape.n_labeled, min(size, shape.n), max(1, shape.n_classes)
    choosing, held, block = _phases(shape, size, kernel, selector)
    training = _sgd_bytes(shape, b, "squared", tuned)
    if solver == "exact":
        # which row is of which class, in one byte and in float32, for the rows of a block
        own = 5 * (Q + 1) * min(n, block // (4 * b))
        judging = kernels.bounds_bytes(n, b, shape.n_features, Q, "squared")
        training = 8 * b * b + 8 * 6 * b * Q + max(4 * b * b + own, judging)
        if tuned:
            training = 8 * b * b + max(training, _held_out_bytes(shape))
    loaded = shape.block_bytes if shape.n_test else 0
    return max(choosing, held + block + max(training, loaded))


def _sgd_bytes(shape: Shape, b: int, loss: str, tuned: bool) -> int:
    sizes = shape.n_labeled, b, shape.n_features, shape.n_classes
    descent = max(kernels.descent_bytes(*sizes), kernels.bounds_bytes(*sizes, loss))
    return max(descent, _held_out_bytes(shape)) if tuned else descent


def _held_out_bytes(shape: Shape) -> int:
    """Bytes of scores in float32 and then in float64; most labels may be held out."""
    return 12 * shape.n_labeled * max(1, shape.n_classes)


@hookimpl
def harness_methods() -> list[Method]:
    """Provide the budgeted SVM, under its two names, and the budgeted LSSVM."""
    shared = {
        "size": "n_landmarks",
        "tasks": {"binary", "multiclass"},
        "space": {"sigma": choice([0.25, 0.5, 1.0, 2.0]), "C": log_uniform(1e-2, 1e4)},
        "label_params": {"C"},
    }
    return [
        Method("budget-svm", BudgetSVM, svm_storage, reference="castellanos2021", **shared),
        Method("nystrom-svm", BudgetSVM, svm_storage, reference="williams2001", **shared),
        Method("budget-lssvm", BudgetLSSVM, lssvm_storage, reference="castellanos2021", **shared),
    ]
