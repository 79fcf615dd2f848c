"""Estimators around a foreign one: what a study may ask of a method has an answer.

Labels are numbered, the points without one are left out or labeled by self-training. One class and
points that are not finite have an answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils import Tags, check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness.plugin.abilities import takes_sparse
from harness.scikit_learn.tri_training import TriTraining

_TYPES = [np.float64, np.float32]

SEED = "random_state"
"""The parameter that all randomness comes from."""


class Wrapped(BaseEstimator):
    """What classes around a foreign one have in common; parameters are those of the foreign one.

    Attributes
    ----------
    estimator_ : object
        The fitted foreign estimator; None where there was one class only.
    """

    _foreign: Any
    _unlabeled: str
    _made_by: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        # the class is made, so it is found by what it was made of
        return _blank, self._made_by, self.__dict__

    def _make(self) -> Any:
        """Return the foreign estimator, not fitted, with the parameters that are set here."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self._make())
        return tags

    @property
    def n_iter_(self) -> Any:
        """Iterations that the foreign estimator took, where it says so; 1 without any."""
        found = getattr(self.estimator_, "n_iter_", None)
        return 1 if found is None else found

    def _checked(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return points and targets as arrays; points that are not finite are refused."""
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        return self._more(X, y, reset=True)

    def _more(self, X: Any, y: Any, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        X = validate_data(self, X, dtype=_TYPES, accept_sparse=self._accepted, reset=reset)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, y

    def _new(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=_TYPES, accept_sparse=self._accepted)

    @property
    def _accepted(self) -> str | bool:
        return "csr" if takes_sparse(self._make()) else False


def _labeled(X: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the points that have a label: X itself if all have one."""
    if not known.any():
        raise ValueError("y has no labels: at least one point must have one")
    return X if known.all() else X[known]


def _has(name: str) -> Any:
    """Return whether the foreign class has a method, as `available_if` asks it."""

    def check(wrapped: Wrapped) -> bool:
        if name == "partial_fit" and wrapped._unlabeled != "ignored":
            return False  # parts have no points to label
        fitted = getattr(wrapped, "estimator_", None)
        return hasattr(wrapped._make() if fitted is None else fitted, name)

    return check


class WrappedClassifier(ClassifierMixin, Wrapped):
    """Around a classifier: y is -1 where a point has no label.

    Attributes
    ----------
    classes_ : ndarray
        Classes of labeled points.
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the labeled points, or label the others too."""
        X, y = self._checked(X, y)
        known = y != -1
        check_classification_targets(y[known])
        X_known = _labeled(X, known)
        self.classes_, codes = np.unique(y[known], return_inverse=True)
        if len(self.classes_) == 1:
            self.estimator_ = None
        elif self._unlabeled == "ignored" or known.all():
            self.estimator_ = self._make().fit(X_known, codes)
        else:
            every = np.full(len(y), -1)
            every[known] = codes
            made = self._make()
            if self._unlabeled == "self-training":
                made = SelfTrainingClassifier(made)
            elif self._unlabeled == "tri-training":
                made = TriTraining(made, self.random_state)
            self.estimator_ = made.fit(X, every)
        return self

    @available_if(_has("partial_fit"))  # type: ignore[untyped-decorator] # scikit-learn's
    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: Any = None) -> Self:
        """Learn from some more points; those without a label are left out.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        y : ndarray of shape (n,)
        classes : sequence, optional
            All that y will ever hold; needed in the first call.
        """
        model: Any = getattr(self, "estimator_", None)
        first = model is None
        if first and classes is None:
            raise ValueError("the first call of partial_fit needs classes, all that y will hold")
        X, y = self._more(X, y, first)
        if first:
            self.classes_ = np.unique(classes)
            self.estimator_ = model = self._make()
        known = y != -1
        codes = np.searchsorted(self.classes_, y[known])
        if len(codes) and (self.classes_.take(codes, mode="clip") != y[known]).any():
            raise ValueError(f"y holds labels that are not among the classes {self.classes_}")
        if len(codes):
            every = np.arange(len(self.classes_))
            model.partial_fit(_labeled(X, known), codes, classes=every)
        return self

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator] # scikit-learn's
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the foreign classifier's scores."""
        X, model = self._new(X), self.estimator_
        return np.ones((X.shape[0], 1)) if model is None else model.decision_function(X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator] # scikit-learn's
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the foreign classifier's probabilities."""
        X, model = self._new(X), self.estimator_
        return np.ones((len(X), 1)) if model is None else model.predict_proba(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return classes."""
        X, model = self._new(X), self.estimator_
        return self.classes_[np.zeros(X.shape[0], int) if model is None else model.predict(X)]


class WrappedRegressor(RegressorMixin, Wrapped):
    """Around a regressor: y is NaN where a point has no value."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the points that have a value."""
        X, y = self._checked(X, y)
        known = ~np.isnan(y)
        X_known = _labeled(X, known)
        self.estimator_ = self._make().fit(X_known, y[known])
        return self

    @available_if(_has("partial_fit"))  # type: ignore[untyped-decorator] # scikit-learn's
    def partial_fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from some more points; those without a value are left out."""
        model: Any = getattr(self, "estimator_", None)
        first = model is None
        X, y = self._more(X, y, first)
        if first:
            self.estimator_ = model = self._make()
        known = ~np.isnan(y)
        if known.any():
            model.partial_fit(_labeled(X, known), y[known])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return values."""
        X = self._new(X)
        return self.estimator_.predict(X)


def make_class(
    made_by: tuple[Any, ...],
    base: type,
    names: Mapping[str, Any],
    constraints: Mapping[str, Any],
    **content: Any,
) -> type[Wrapped]:
    """Make a class whose constructor has some parameters.

    Parameters
    ----------
    made_by : tuple
        A function and its arguments, which return this class: what is around, and `unlabeled`.
    base : type
        A subclass of `Wrapped`.
    names : mapping
        Parameters and their defaults.
    constraints : mapping
        What values of some are allowed, as scikit-learn writes it.
    **content : object
        Further attributes of the class.
    """
    _, foreign, unlabeled, *_ = made_by
    of = class_name(foreign)

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807
        unknown = sorted(given.keys() - names.keys())
        if unknown:
            raise TypeError(f"{of} has no parameter {unknown[0]!r}")
        for name, default in names.items():
            setattr(self, name, given.get(name, default))

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in names.items()
    ]
    __init__.__signature__ = inspect.Signature([own, *parameters])  # type: ignore[attr-defined]
    content |= {"__init__": __init__, "__doc__": foreign.__doc__, "__module__": __name__}
    content |= {"_foreign": foreign, "_unlabeled": unlabeled, "_made_by": made_by}
    return type(of, (base,), content | {"_parameter_constraints": dict(constraints)})


def class_name(estimator: Any) -> str:
    """Return the name of a class, or of that of an object."""
    return (estimator if isinstance(estimator, type) else type(estimator)).__name__


def _blank(maker: Callable[..., type[Wrapped]], *made_of: Any) -> Wrapped:
    cls = maker(*made_of)
    return cls.__new__(cls)
