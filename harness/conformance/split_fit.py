"""A fit that is split in two must be the fit: what tuning scores is what the trial then trains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.conformance.behaviour import SOLVER_SHARE
from harness.conformance.finding import NotApplicableError
from harness.conformance.problems import Problem, build
from harness.plugin.abilities import splits_fit
from harness.plugin.method import Method
from harness.trial.prediction import held_out_predictions, predict, transduction


def split_fit_agrees(method: Method, problem: Problem) -> str:
    """Compare held-out scores of `fit_features` with `fit_labels`, twice, with those of `fit`."""
    if not splits_fit(method.estimator):
        raise NotApplicableError("fit is not split in two")
    if problem.task == "clustering":
        raise NotApplicableError("clustering is not tuned")
    if "decision_threshold" in method.parameters:
        # that of a fold is found from the points held out, that of a fit from all without a label
        method = replace(method, params={**method.params, "decision_threshold": "zero"})
    rows = np.flatnonzero(problem.labeled)
    estimator = build(method, problem).fit_features(problem.X, rows)
    for first in (0, 1):
        held = _held_out(problem, rows, first)
        masked = problem.y[rows].copy()
        masked[held] = _unknown(problem)
        estimator.fit_labels(masked)
        found = held_out_predictions(estimator, len(held), problem.task, problem.n_classes)
        expected = _fitted(method, problem, rows, held)
        difference = np.abs(_numbers(found) - expected).max()
        if difference > SOLVER_SHARE * (np.ptp(expected) or 1):
            return (
                f"fit_labels scores held-out points otherwise than fit on the same labels, by up "
                f"to {difference:.3g}; both must train on the labels they are given and no others"
            )
    return ""


def _held_out(problem: Problem, rows: np.ndarray, first: int) -> np.ndarray:
    """Take every third labeled point, of each class, from its `first` on."""
    if problem.task == "regression":
        return np.arange(len(rows))[first::3]
    y = problem.y[rows]
    parts = [np.flatnonzero(y == label)[first::3] for label in np.unique(y)]
    return np.sort(np.concatenate(parts))


def _unknown(problem: Problem) -> float:
    return np.nan if problem.task == "regression" else -1


def _numbers(found: dict[str, np.ndarray]) -> np.ndarray:
    return found["values"] if "values" in found else found["scores"]


def _fitted(method: Method, problem: Problem, rows: np.ndarray, held: np.ndarray) -> np.ndarray:
    y = problem.y.copy()
    y[rows[held]] = _unknown(problem)
    estimator = build(method, problem)
    task, n_classes = problem.task, problem.n_classes
    if not method.uses_unlabeled:
        kept = np.setdiff1d(rows, rows[held])
        estimator.fit(problem.X[kept], y[kept])
        return _numbers(predict(estimator, problem.X[rows[held]], task, n_classes))
    estimator.fit(problem.X, y)
    seen = transduction(estimator, len(y), task, n_classes)
    if seen is None:
        return _numbers(predict(estimator, problem.X[rows[held]], task, n_classes))
    return _numbers(seen.rows(rows[held]))
