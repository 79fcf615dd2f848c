"""Small problems that methods are checked on: clouds that any learner can tell apart.

Rows are sorted by class and labeled points come first, as a worker hands them over, so that a
method that looks at the order of rows is seen to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.plugin.method import N_UNLABELED, Method
from harness.plugin.shape import Shape
from harness.trial.prediction import predict, transduction
from harness.trial.run import make_estimator

N_CLASSES = {"binary": 2, "multiclass": 3, "clustering": 3, "regression": 0}
_SIZE = 20
_LABELED_SHARE = 0.25


@dataclass(frozen=True)
class Problem:
    """Data for one fit, and points to predict afterwards.

    Attributes
    ----------
    task : str
    X : (n, d) array
    y : (n,) array
        -1 (classification, clustering) or NaN (regression) where there is no label.
    X_new : (m, d) array
    n_classes : int
        0 for regression.
    size : int or None
        The size of the method.
    """

    task: str
    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    n_classes: int
    size: int | None

    @property
    def labeled(self) -> np.ndarray:
        """Which rows have a label, (n,) of bool."""
        return ~np.isnan(self.y) if self.task == "regression" else self.y != -1


def make_problem(method: Method, task: str, n: int = 120, d: int = 4) -> Problem:
    """Return the problem that a method is checked on, with its size set to a small one.

    Parameters
    ----------
    method : Method
    task : str
    n : int, default 120
        Points of fit; the labeled quarter of them for a supervised method.
    d : int, default 4
    """
    rng = np.random.default_rng(0)
    n_classes = N_CLASSES[task]
    groups = max(2, n_classes)
    truth = np.sort(np.arange(n) % groups)
    centers = 3.0 * rng.standard_normal((groups, d))
    X = centers[truth] + rng.standard_normal((n, d))
    X_new = centers[np.arange(n // 2) % groups] + rng.standard_normal((n // 2, d))
    if task == "regression":
        y = X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n)
        unlabeled: float = np.nan
    else:
        y = truth.astype(np.int64)
        unlabeled = -1
    labeled = np.zeros(n, dtype=bool)
    if task != "clustering":
        labeled[np.round(np.linspace(0, n - 1, int(n * _LABELED_SHARE))).astype(int)] = True
    y[~labeled] = unlabeled
    order = np.argsort(~labeled, kind="stable")
    X, y = X[order], y[order]
    if not method.uses_unlabeled:
        X, y = X[: labeled.sum()], y[: labeled.sum()]
    problem = Problem(task, X, y, X_new, n_classes, None)
    return replace(problem, size=_small_size(method, problem))


def _small_size(method: Method, problem: Problem) -> int | None:
    if method.size in (None, N_UNLABELED) or method.size in method.params:
        return None
    low, high = method.sizes(shape_of(problem))
    return min(max(_SIZE, low), high)


def shape_of(problem: Problem) -> Shape:
    """Return the shape of a problem."""
    n_labeled = int(problem.labeled.sum())
    n, d = problem.X.shape
    return Shape(n_labeled, n - n_labeled, d, problem.n_classes, itemsize=problem.X.itemsize)


def build(method: Method, problem: Problem, random_state: int = 0, **params: Any) -> Any:
    """Return the method's estimator as a trial would make it for a problem."""
    return make_estimator(
        method,
        params,
        size=problem.size,
        n_classes=problem.n_classes,
        random_state=random_state,
    )


def fitted(method: Method, problem: Problem, random_state: int = 0, **params: Any) -> Any:
    """Return an estimator fitted to writable copies of a problem's data."""
    estimator = build(method, problem, random_state, **params)
    estimator.fit(problem.X.copy(), problem.y.copy())
    return estimator


def predictions(estimator: Any, problem: Problem) -> dict[str, np.ndarray]:
    """Return all that the harness would take from a fitted estimator.

    Returns
    -------
    dict
        "seen labels", "seen scores", "seen values" for the points of fit and "new ..." for others.

    Raises
    ------
    ValueError
        If something has another shape or type than it must have, or is not finite.
    """
    task, n_classes, n = problem.task, problem.n_classes, problem.X.shape[0]
    found = transduction(estimator, n, task, n_classes)
    if found is None:
        seen = predict(estimator, problem.X.copy(), task, n_classes)
    else:
        seen = found.rows(slice(0, n))
    new = predict(estimator, problem.X_new.copy(), task, n_classes)
    named = {f"seen {kind}": values for kind, values in seen.items()}
    return named | {f"new {kind}": values for kind, values in new.items()}
