"""Hard inputs: each must be learned from, or refused with a ValueError that says why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from harness.conformance.finding import NotApplicableError
from harness.conformance.isolation import describe
from harness.conformance.problems import Problem, fitted, make_problem, predictions
from harness.plugin.method import N_UNLABELED, Method

Make = Callable[[Method, Problem], Problem]
_CLASSIFICATION = ("binary", "multiclass")


def survives(method: Method, problem: Problem, make: Make) -> str:
    """Fit a hard input: finite predictions or a ValueError with a message are right."""
    hard = make(method, problem)
    must_refuse = bool(np.isnan(hard.X).any())
    try:
        estimator = fitted(method, hard)
        if must_refuse:
            return (
                "fit accepted X with NaN; refuse it with a ValueError that names NaN "
                "(sklearn.utils.validation.validate_data does)"
            )
    except ValueError as error:
        return _judge_refusal(error, must_refuse)
    except MemoryError:
        raise
    except Exception as error:
        return f"fit raised {describe(error)}; cope with it or raise a ValueError that says why"
    try:
        predictions(estimator, hard)
    except Exception as error:
        return (
            f"fit accepted it, then prediction failed: {describe(error)}; give finite "
            "predictions, or refuse it in fit with a ValueError"
        )
    return ""


def _judge_refusal(error: ValueError, must_refuse: bool) -> str:
    if not str(error).strip():
        return "fit raised a ValueError without a message; say what is wrong with the input"
    if must_refuse and "nan" not in str(error).lower():
        return (
            f"fit refused X with NaN by {str(error)!r}, which does not name NaN; check X first "
            "(sklearn.utils.validation.validate_data does)"
        )
    return ""


def _one_class(method: Method, problem: Problem) -> Problem:
    if problem.task not in _CLASSIFICATION:
        raise NotApplicableError("there are no classes in y")
    return replace(problem, y=np.where(problem.labeled, 0, problem.y))


def _missing_class(method: Method, problem: Problem) -> Problem:
    if problem.task != "multiclass":
        raise NotApplicableError("only with more than two classes can one be missing")
    keep = problem.y != 1
    return replace(problem, X=problem.X[keep], y=problem.y[keep])


def _one_labeled_point(method: Method, problem: Problem) -> Problem:
    if problem.task == "clustering":
        raise NotApplicableError("clustering is given no labels")
    first = int(np.flatnonzero(problem.labeled)[0])
    if not method.uses_unlabeled:
        return replace(problem, X=problem.X[first : first + 1], y=problem.y[first : first + 1])
    y = np.full_like(problem.y, np.nan if problem.task == "regression" else -1)
    y[first] = problem.y[first]
    return replace(problem, y=y)


def _no_unlabeled_point(method: Method, problem: Problem) -> Problem:
    if problem.task == "clustering" or not method.uses_unlabeled:
        raise NotApplicableError("every input of this method is of one kind")
    known = problem.labeled
    return replace(problem, X=problem.X[known], y=problem.y[known])


def _constant_features(method: Method, problem: Problem) -> Problem:
    return replace(problem, X=np.ones_like(problem.X), X_new=np.ones_like(problem.X_new))


def _duplicates(method: Method, problem: Problem) -> Problem:
    """Repeat a few points many times: fewer different points than any size."""
    rows = np.arange(len(problem.X)) % 6
    chosen = np.linspace(0, len(problem.X) - 1, 6).astype(int)
    return replace(problem, X=problem.X[chosen][rows])


def _nan_in_features(method: Method, problem: Problem) -> Problem:
    X = problem.X.copy()
    X[0, 0] = X[-1, -1] = np.nan
    return replace(problem, X=X)


def _one_feature(method: Method, problem: Problem) -> Problem:
    return make_problem(method, problem.task, len(problem.X), d=1)


def _sized(method: Method, problem: Problem) -> int:
    if problem.size is None:
        kept = " but the number of points kept" if method.size == N_UNLABELED else ""
        raise NotApplicableError(f"the method has no size{kept}")
    return problem.size


def _fewer_unlabeled_than_size(method: Method, problem: Problem) -> Problem:
    size = _sized(method, problem)
    if problem.task == "clustering" or not method.uses_unlabeled:
        raise NotApplicableError("every input of this method is of one kind")
    n_labeled = int(problem.labeled.sum())
    kept = slice(0, n_labeled + min(3, size))
    return replace(problem, X=problem.X[kept], y=problem.y[kept], size=max(4, size))


def _fewer_points_than_size(method: Method, problem: Problem) -> Problem:
    _sized(method, problem)
    return replace(problem, size=2 * len(problem.X))


INPUTS: dict[str, Make] = {
    "one class": _one_class,
    "a class without labels": _missing_class,
    "one labeled point": _one_labeled_point,
    "no unlabeled point": _no_unlabeled_point,
    "constant features": _constant_features,
    "duplicate points": _duplicates,
    "NaN in X": _nan_in_features,
    "one feature": _one_feature,
    "fewer unlabeled points than size": _fewer_unlabeled_than_size,
    "fewer points than size": _fewer_points_than_size,
}
"""What a check is called, and how it changes the problem."""
