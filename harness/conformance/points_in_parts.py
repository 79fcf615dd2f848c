"""Points in parts: a method that is given some at a time keeps none of the memory they lie in."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.conformance.finding import NotApplicableError
from harness.conformance.problems import Problem, build
from harness.plugin.method import Method
from harness.trial.prediction import predict

_PARTS = 4


def keeps_no_part(method: Method, problem: Problem) -> str:
    """Learn from parts that stay, and from parts that each take the place of the one before.

    The first part lacks a class. The second time predictions are asked for between parts. Both
    must say the same of new points, bit for bit.
    """
    if problem.task == "clustering" or not method.learns_in_parts({}):
        raise NotApplicableError("it has no partial_fit: it learns from all points at once")
    expected = _said(build(method, problem), problem, passing=False)
    found = _said(build(method, problem), problem, passing=True)
    for name, values in expected.items():
        if not np.array_equal(found[name], values):
            gap = np.abs(found[name] - values).max()
            return (
                f"{name} differ by up to {gap:.2g} where each part of X takes the place of the "
                "one before, and points are predicted between them: copy what is kept of X, and "
                "let predictions change nothing"
            )
    return ""


def _said(estimator: Any, problem: Problem, passing: bool) -> dict[str, np.ndarray]:
    rows = np.flatnonzero(problem.labeled)  # sorted by class
    room = np.empty_like(problem.X)
    for part in np.array_split(rows, _PARTS):
        X = room[: len(part)] if passing else np.empty_like(problem.X[part])
        X.flags.writeable = True
        X[:] = problem.X[part]
        X.flags.writeable = False
        y = problem.y[part].copy()
        if problem.n_classes:
            estimator.partial_fit(X, y, classes=np.arange(problem.n_classes))
        else:
            estimator.partial_fit(X, y)
        if passing:
            room.fill(np.nan)
            predict(estimator, problem.X_new, problem.task, problem.n_classes)
    return predict(estimator, problem.X_new, problem.task, problem.n_classes)
