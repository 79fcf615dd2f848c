"""Any classifier or regressor that speaks scikit-learn, as a method of a study.

Most know nothing of points without a label. `sklearn_method` wraps them: labels are numbered, the
points without one are left out or labeled by self-training, and what a study may ask of a method
(one class, points that are not finite) has an answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Literal

from sklearn.base import clone, is_classifier, is_clusterer, is_regressor

from harness.errors import HarnessError, shown
from harness.plugin.method import N_UNLABELED, Method
from harness.scikit_learn.of_class import around_class
from harness.scikit_learn.of_object import around_object
from harness.scikit_learn.wrapped import Wrapped, class_name

Unlabeled = Literal["ignored", "self-training", "tri-training", "seen"]

UNLABELED = ("ignored", "self-training", "tri-training", "seen")


def sklearn_method(
    estimator: Any,
    name: str | None = None,
    *,
    unlabeled: Unlabeled | None = None,
    **about: Any,
) -> Method:
    """Return a method around what speaks scikit-learn: a class, or a pipeline of steps.

    Parameters
    ----------
    estimator : type or object
        A class of classifiers, regressors or clusterers: `fit`, `predict`, parameters in its
        constructor. Or an estimator around others, such as a pipeline. Its parameters are then
        also theirs (`svc__C`), by default as they are set here, and `random_state` seeds each of
        them.
    name : str, optional
        What studies call it; by default that of the class, or of the steps, in lower case with
        hyphens.
    unlabeled : {"ignored", "self-training", "tri-training", "seen"}, optional
        What becomes of points without a label. "ignored" leaves them out. "self-training" lets
        scikit-learn's `SelfTrainingClassifier` label them. "tri-training" has three of the
        classifiers label them for each other (Zhou & Li 2005). "seen" hands them over as they are:
        y is -1 or NaN there. By default "seen" for what `sklearn.semi_supervised` has and for
        clusterers, "ignored" for all others.
    **about : object
        Further arguments of `Method`, such as `size`, `space` and `storage`.

    Raises
    ------
    HarnessError
        If it is no such class or object, or an argument is not allowed.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> sklearn_method(KNeighborsClassifier).name
    'k-neighbors-classifier'
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> sklearn_method(make_pipeline(StandardScaler(), KNeighborsClassifier())).name
    'standard-scaler-k-neighbors-classifier'
    """
    tasks = about.pop("tasks", None) or _tasks(estimator)
    if unlabeled is None:
        unlabeled = "seen" if "clustering" in tasks or _knows(estimator) else "ignored"
    if unlabeled not in UNLABELED:
        allowed = ", ".join(map(repr, UNLABELED))
        raise HarnessError(f"unlabeled = {shown(unlabeled)}; allowed are {allowed}")
    if unlabeled.endswith("training") and "regression" in tasks:
        raise HarnessError(f"unlabeled = {unlabeled!r} labels classes; a regressor has none")
    named = {about.get("size"), *about.get("params", {}), *about.get("space", {})}
    named -= {None, N_UNLABELED}
    cls = estimator
    if not isinstance(estimator, type):
        cls = around_object(clone(estimator), unlabeled, _regresses(tasks))
    elif unlabeled != "seen":
        cls = around_class(estimator, unlabeled, _regresses(tasks), frozenset(named))
    return Method(
        name or _name(estimator),
        cls,
        tasks=tasks,
        uses_unlabeled=about.pop("uses_unlabeled", unlabeled != "ignored"),
        **{"reference": estimator.__module__.partition(".")[0], **about},
    )


def _tasks(estimator: Any) -> set[str]:
    made, name = estimator, class_name(estimator)
    if not isinstance(estimator, type) and not hasattr(estimator, "get_params"):
        message = f"{shown(estimator)} is neither a class nor an estimator with parameters"
        raise HarnessError(message)
    for needed in ("fit", "predict"):
        if not hasattr(estimator, needed):
            raise HarnessError(f"{name} has no {needed!r}: it is no estimator")
    if isinstance(estimator, type):
        try:
            made = estimator()
        except TypeError as error:
            message = f"{name} cannot be made without arguments ({error}); say "
            raise HarnessError(message + "tasks={...}, and give them as params={...}") from None
    if is_classifier(made):
        return {"binary", "multiclass"}
    if is_regressor(made):
        return {"regression"}
    if is_clusterer(made):
        if not isinstance(estimator, type):
            raise HarnessError(f"{name} clusters: give the class, not an object of it")
        return {"clustering"}
    raise HarnessError(f"{name} does not say what it is; say tasks={{...}}")


def _knows(estimator: Any) -> bool:
    """Whether it, or an estimator within it, knows of points without a label."""
    parts = [] if isinstance(estimator, type) else estimator.get_params().values()
    modules = [getattr(part, "__module__", None) or "" for part in (estimator, *parts)]
    return any(module.startswith("sklearn.semi_supervised") for module in modules)


def _regresses(tasks: Collection[str]) -> bool:
    return "regression" in tasks


def _name(estimator: Any) -> str:
    parts = [step for _, step in getattr(estimator, "steps", [])] or [estimator]
    names = [class_name(part) for part in parts if not isinstance(part, str | None)]
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+", " ".join(names))
    return "-".join(words).lower()


def wraps(estimator: type) -> tuple[Any, str] | None:
    """Return the class or object that `sklearn_method` is around, and its `unlabeled`."""
    return (estimator._foreign, estimator._unlabeled) if issubclass(estimator, Wrapped) else None


def foreign(estimator: object) -> Any:
    """Return the fitted estimator within one of `sklearn_method`, or itself if it is none.

    None where there was one class only.
    """
    return estimator.estimator_ if isinstance(estimator, Wrapped) else estimator
