"""A fit in two parts that is not the fit is found."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from harness import Method
from harness.conformance.finding import NotApplicableError
from harness.conformance.problems import make_problem
from harness.conformance.split_fit import split_fit_agrees


class Smoother(ClassifierMixin, BaseEstimator):
    """Mean label of all points, weighted by a kernel."""

    forgets = True

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Any:
        self._labeled, self._y = labeled, np.full(len(labeled), -1)
        self._K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
        return self

    def fit_labels(self, y: np.ndarray) -> Any:
        self._y = y if self.forgets else np.where(y < 0, self._y, y)
        self.classes_ = np.array([0, 1])
        signs = np.where(self._y < 0, 0.0, 2.0 * self._y - 1)
        self.decision_scores_ = self.C * self._K[:, self._labeled] @ signs
        self.held_out_scores_ = self.decision_scores_[self._labeled[y < 0]]
        return self

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        rows = np.flatnonzero(y >= 0)
        return self.fit_features(X, rows).fit_labels(y[rows])


class Remembering(Smoother):
    """Goes on using labels that an earlier fold gave it."""

    forgets = False


class Ridge(RegressorMixin, BaseEstimator):
    """Least squares on X; fits held-out points too where it takes NaN for 0."""

    takes_nan_for_zero = False

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Any:
        self._F = X[labeled]
        return self

    def fit_labels(self, y: np.ndarray) -> Any:
        known = np.isfinite(y) | self.takes_nan_for_zero
        self._w = np.linalg.lstsq(self._F[known], np.nan_to_num(y[known]))[0]
        self.held_out_values_ = self._F[np.isnan(y)] @ self._w
        return self

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        rows = np.flatnonzero(np.isfinite(y))
        return self.fit_features(X, rows).fit_labels(y[rows])

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X @ self._w


class Zeroing(Ridge):
    """Fits 0 where a value is held out."""

    takes_nan_for_zero = True


class Whole(ClassifierMixin, BaseEstimator):
    """A fit in one part."""


def method(estimator: type, task: str = "binary") -> Method:
    return Method("example", estimator, lambda shape, size: 1, tasks={task})


def test_a_split_fit_that_is_the_fit_passes():
    found = method(Smoother)
    assert split_fit_agrees(found, make_problem(found, "binary")) == ""


def test_labels_remembered_from_another_fold_are_found():
    found = method(Remembering)
    advice = split_fit_agrees(found, make_problem(found, "binary"))
    assert "train on the labels they are given" in advice


@pytest.mark.parametrize(("estimator", "agrees"), [(Ridge, True), (Zeroing, False)])
def test_values_are_compared_in_regression(estimator, agrees):
    found = method(estimator, "regression")
    assert (split_fit_agrees(found, make_problem(found, "regression")) == "") == agrees


def test_a_fit_in_one_part_is_not_asked():
    found = method(Whole)
    with pytest.raises(NotApplicableError):
        split_fit_agrees(found, make_problem(found, "binary"))
