"""The check of points in parts, on methods that keep to it and on some that do not."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge, SGDClassifier, SGDRegressor

from harness import Method
from harness.conformance.finding import NotApplicableError
from harness.conformance.points_in_parts import keeps_no_part
from harness.conformance.problems import make_problem
from harness.scikit_learn import sklearn_method


class Last(ClassifierMixin, BaseEstimator):
    """Scores a point by its nearness to the last one that it was given, of which it has a copy."""

    def partial_fit(self, X, y, classes=None):
        self.classes_ = classes
        self.last_ = X[-1].copy()
        return self

    def fit(self, X, y):
        return self.partial_fit(X, y, np.arange(2))

    def decision_function(self, X):
        return np.nan_to_num(-np.linalg.norm(X - self.last_, axis=1))


class Keeps(Last):
    """Keeps a view instead."""

    def partial_fit(self, X, y, classes=None):
        super().partial_fit(X, y, classes)
        self.last_ = X[-1]
        return self


class Counts(Last):
    """Moves on whenever it is asked."""

    def decision_function(self, X):
        self.last_ = self.last_ + 1
        return super().decision_function(X)


def found(estimator, task="binary"):
    method = Method("m", estimator, lambda shape, size: 0, tasks={task}, uses_unlabeled=False)
    return keeps_no_part(method, make_problem(method, task))


@pytest.mark.parametrize("estimator", [Keeps, Counts])
def test_what_keeps_a_part_or_moves_when_it_is_asked_is_told(estimator):
    assert "where each part of X takes the place of the one before" in found(estimator)
    assert found(Last) == ""


@pytest.mark.parametrize(
    ("foreign", "task"),
    [(SGDClassifier, "binary"), (SGDClassifier, "multiclass"), (SGDRegressor, "regression")],
)
def test_foreign_ones_pass(foreign, task):
    method = sklearn_method(foreign)
    assert keeps_no_part(method, make_problem(method, task)) == ""


def test_of_others_it_does_not_apply():
    method = sklearn_method(Ridge)
    with pytest.raises(NotApplicableError, match="learns from all points at once"):
        keeps_no_part(method, make_problem(method, "regression"))
    trained = sklearn_method(SGDClassifier, "trained", unlabeled="self-training")
    assert not trained.learns_in_parts({})
