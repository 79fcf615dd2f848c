"""Any classifier or regressor that speaks scikit-learn, as a method of a study.

Most know nothing of points without a label. `sklearn_method` wraps them: labels are numbered, the
points without one are left out or labeled by self-training, and what a study may ask of a method
(one class, points that are not finite) has an answer.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Collection
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    is_classifier,
    is_clusterer,
    is_regressor,
)
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness.errors import HarnessError, shown
from harness.plugin.method import N_UNLABELED, Method

Unlabeled = Literal["ignored", "self-training", "seen"]

_TYPES = [np.float64, np.float32]
UNLABELED = ("ignored", "self-training", "seen")


def sklearn_method(
    estimator: type,
    name: str | None = None,
    *,
    unlabeled: Unlabeled | None = None,
    **about: Any,
) -> Method:
    """Return a method around a class that speaks scikit-learn.

    Parameters
    ----------
    estimator : type
        A classifier, regressor or clusterer: `fit`, `predict`, parameters in its constructor.
    name : str, optional
        What studies call it; by default that of the class, in lower case with hyphens.
    unlabeled : {"ignored", "self-training", "seen"}, optional
        What becomes of points without a label. "ignored" leaves them out. "self-training" lets
        scikit-learn's `SelfTrainingClassifier` label them. "seen" hands them over as they are:
        y is -1 or NaN there. By default "seen" for what `sklearn.semi_supervised` has and for
        clusterers, "ignored" for all others.
    **about : object
        Further arguments of `Method`, such as `size`, `space` and `storage`.

    Raises
    ------
    HarnessError
        If it is no such class, or an argument is not allowed.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> sklearn_method(KNeighborsClassifier).name
    'k-neighbors-classifier'
    """
    tasks = about.pop("tasks", None) or _tasks(estimator)
    if unlabeled is None:
        takes = "clustering" in tasks or estimator.__module__.startswith("sklearn.semi_supervised")
        unlabeled = "seen" if takes else "ignored"
    if unlabeled not in UNLABELED:
        allowed = ", ".join(map(repr, UNLABELED))
        raise HarnessError(f"unlabeled = {shown(unlabeled)}; allowed are {allowed}")
    if unlabeled == "self-training" and "regression" in tasks:
        raise HarnessError("unlabeled = 'self-training' labels classes; a regressor has none")
    named = {about.get("size"), *about.get("params", {}), *about.get("space", {})}
    named -= {None, N_UNLABELED}
    cls = estimator
    if unlabeled != "seen":
        cls = _wrapped(estimator, unlabeled, _regresses(tasks), frozenset(named))
    return Method(
        name or _name(estimator),
        cls,
        tasks=tasks,
        uses_unlabeled=about.pop("uses_unlabeled", unlabeled != "ignored"),
        **{"reference": estimator.__module__.partition(".")[0], **about},
    )


def _tasks(estimator: type) -> set[str]:
    if not isinstance(estimator, type):
        message = f"{shown(estimator)} is no class: give the class, not an object of it"
        raise HarnessError(message)
    for needed in ("fit", "predict"):
        if not hasattr(estimator, needed):
            raise HarnessError(f"{estimator.__name__} has no {needed!r}: it is no estimator")
    try:
        made = estimator()
    except TypeError as error:
        message = f"{estimator.__name__} cannot be made without arguments ({error}); say "
        raise HarnessError(message + "tasks={...}, and give them as params={...}") from None
    if is_classifier(made):
        return {"binary", "multiclass"}
    if is_regressor(made):
        return {"regression"}
    if is_clusterer(made):
        return {"clustering"}
    raise HarnessError(f"{estimator.__name__} does not say what it is; say tasks={{...}}")


def _regresses(tasks: Collection[str]) -> bool:
    return "regression" in tasks


def _name(estimator: type) -> str:
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+", estimator.__name__)
    return "-".join(words).lower()


class _Wrapped(BaseEstimator):
    """What classes around a foreign one have in common; parameters are those of the foreign one.

    Attributes
    ----------
    estimator_ : object
        The fitted foreign estimator; None where there was one class only.
    """

    _foreign: type
    _unlabeled: str
    _named: frozenset[str]
    _further: frozenset[str]

    def __reduce__(self) -> tuple[Any, ...]:
        # the class is made, so it is found by what it was made of
        made_of = (self._foreign, self._unlabeled, isinstance(self, RegressorMixin), self._named)
        return _blank, made_of, self.__dict__

    def _make(self) -> Any:
        given = self.get_params(deep=False)
        absent = {name for name in self._further if given[name] is None}
        return self._foreign(**{name: v for name, v in given.items() if name not in absent})

    @property
    def n_iter_(self) -> Any:
        """Iterations that the foreign estimator took, where it says so; 1 without any."""
        found = getattr(self.estimator_, "n_iter_", None)
        return 1 if found is None else found

    def _checked(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return points and targets as arrays; points that are not finite are refused."""
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        X = validate_data(self, X, dtype=_TYPES)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, y

    def _new(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=_TYPES)


def _labeled(X: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the points that have a label: X itself if all have one."""
    if not known.any():
        raise ValueError("y has no labels: at least one point must have one")
    return X if known.all() else X[known]


def _has(name: str) -> Any:
    """Return whether the foreign class has a method, as `available_if` asks it."""

    def check(wrapped: _Wrapped) -> bool:
        fitted = getattr(wrapped, "estimator_", None)
        return hasattr(wrapped._make() if fitted is None else fitted, name)

    return check


class _WrappedClassifier(ClassifierMixin, _Wrapped):
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
        elif self._unlabeled == "self-training" and not known.all():
            every = np.full(len(y), -1)
            every[known] = codes
            self.estimator_ = SelfTrainingClassifier(self._make()).fit(X, every)
        else:
            self.estimator_ = self._make().fit(X_known, codes)
        return self

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator] # scikit-learn's
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the foreign classifier's scores."""
        X, model = self._new(X), self.estimator_
        return np.ones((len(X), 1)) if model is None else model.decision_function(X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator] # scikit-learn's
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the foreign classifier's probabilities."""
        X, model = self._new(X), self.estimator_
        return np.ones((len(X), 1)) if model is None else model.predict_proba(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return classes."""
        X, model = self._new(X), self.estimator_
        return self.classes_[np.zeros(len(X), int) if model is None else model.predict(X)]


class _WrappedRegressor(RegressorMixin, _Wrapped):
    """Around a regressor: y is NaN where a point has no value."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the points that have a value."""
        X, y = self._checked(X, y)
        known = ~np.isnan(y)
        X_known = _labeled(X, known)
        self.estimator_ = self._make().fit(X_known, y[known])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return values."""
        X = self._new(X)
        return self.estimator_.predict(X)


@functools.cache
def _wrapped(
    foreign: type, unlabeled: str, regresses: bool, named: frozenset[str]
) -> type[_Wrapped]:
    """Make the class around a foreign one, with its parameters.

    Of a constructor with `**kwargs`, as those of XGBoost and LightGBM, parameters are also what
    `get_params` tells, and what is named.
    """
    # a pipeline or a search is what its last step is, which its class does not say
    base: type[_Wrapped] = _WrappedRegressor if regresses else _WrappedClassifier
    signature = inspect.signature(foreign).parameters.values()
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature)
    names = {
        p.name: p.default for p in signature if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }
    further = frozenset[str]()
    if takes_any:
        with contextlib.suppress(TypeError):  # where the constructor needs arguments
            told = foreign().get_params(deep=False)
            names |= {name: value for name, value in told.items() if name not in names}
        further = named - names.keys()
        names |= dict.fromkeys(sorted(further))

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807
        unknown = given.keys() - names.keys()
        if unknown:
            raise TypeError(f"{foreign.__name__} has no parameter {sorted(unknown)[0]!r}")
        for name, default in names.items():
            setattr(self, name, given.get(name, default))

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in names.items()
    ]
    __init__.__signature__ = inspect.Signature([own, *parameters])  # type: ignore[attr-defined]
    content = {
        "__init__": __init__,
        "__doc__": foreign.__doc__,
        "__module__": __name__,
        "_foreign": foreign,
        "_unlabeled": unlabeled,
        "_named": named,
        "_further": further,
        "_parameter_constraints": getattr(foreign, "_parameter_constraints", {}),
    }
    return type(foreign.__name__, (base,), content)


def wraps(estimator: type) -> tuple[type, str] | None:
    """Return the class that a method of `sklearn_method` is around, and its `unlabeled`."""
    return (estimator._foreign, estimator._unlabeled) if issubclass(estimator, _Wrapped) else None


def foreign(estimator: object) -> Any:
    """Return the fitted estimator within one of `sklearn_method`, or itself if it is none.

    None where there was one class only.
    """
    return estimator.estimator_ if isinstance(estimator, _Wrapped) else estimator


def _blank(foreign: type, unlabeled: str, regresses: bool, named: frozenset[str]) -> _Wrapped:
    cls = _wrapped(foreign, unlabeled, regresses, named)
    return cls.__new__(cls)
