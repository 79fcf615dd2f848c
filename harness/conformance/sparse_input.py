"""Sparse input: a method whose tags say that it takes it does with it as with a dense one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.conformance.behaviour import SOLVER_SHARE
from harness.conformance.finding import NotApplicableError
from harness.conformance.problems import Problem, build, predictions
from harness.datasets.rows import read_only
from harness.datasets.sparse_rows import compressed
from harness.plugin.method import Method

_ZEROS = 0.5
"""Part of the elements that become 0."""


def is_same_of_sparse(method: Method, problem: Problem) -> str:
    """Fit on the same points, dense and in compressed rows, and compare what is said of them."""
    if not method.features or not method.takes_sparse({}):
        raise NotApplicableError("it takes dense data only: its tags say so")
    rng = np.random.default_rng(0)
    dense = replace(
        problem,
        X=np.where(rng.random(problem.X.shape) < _ZEROS, 0.0, problem.X),
        X_new=np.where(rng.random(problem.X_new.shape) < _ZEROS, 0.0, problem.X_new),
    )
    sparse = replace(dense, X=compressed(dense.X), X_new=compressed(dense.X_new))
    expected, found = (_said(method, one) for one in (dense, sparse))
    if found.keys() != expected.keys():
        return f"of a sparse X it says {', '.join(found)}, of a dense one {', '.join(expected)}"
    for name, values in expected.items():
        if "labels" in name and len(expected) > 2:
            continue  # that of a point between two classes may be either
        gap = np.abs(found[name] - values).max() / (float(values.std()) or 1.0)
        if gap > SOLVER_SHARE:
            return (
                f"{name} of a sparse X differ by up to {gap:.2g} spreads from those of the same "
                "points in a dense one"
            )
    return ""


def _said(method: Method, problem: Problem) -> dict[str, np.ndarray]:
    """Return predictions of points that nobody may write to, as in a trial."""
    estimator = build(method, problem)
    estimator.fit(read_only(problem.X.copy()), problem.y.copy())
    return predictions(estimator, problem)
