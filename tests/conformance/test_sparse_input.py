"""The check of sparse input, on a method that keeps what its tags say and on some that do not."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import RidgeClassifier
from sklearn.utils.validation import validate_data

from harness import Method
from harness.conformance.finding import NotApplicableError
from harness.conformance.problems import make_problem
from harness.conformance.sparse_input import is_same_of_sparse
from harness.scikit_learn import sklearn_method


class Sums(ClassifierMixin, BaseEstimator):
    """Scores a point by the sum of its row."""

    sparse = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.sparse
        return tags

    def fit(self, X, y):
        validate_data(self, X, accept_sparse="csr")
        self.classes_ = np.arange(2)
        return self

    def decision_function(self, X):
        return self._sums(X)

    def _sums(self, X):
        return np.asarray(X.sum(axis=1)).ravel()


class Wrong(Sums):
    """Takes the mean of what is stored for that of the row."""

    def _sums(self, X):
        if not issparse(X):
            return X.mean(axis=1)
        return super()._sums(X) / np.maximum(1, np.diff(X.indptr))


class Writes(Sums):
    """Writes to the points of the fit."""

    def fit(self, X, y):
        if issparse(X):
            X.data *= 2
        return super().fit(X, y)


class Dense(Sums):
    sparse = False


def checked(estimator):
    method = estimator
    if not isinstance(estimator, Method):
        method = Method("sums", estimator, uses_unlabeled=False)
    return is_same_of_sparse(method, make_problem(method, "binary"))


def test_what_keeps_its_word_passes():
    assert checked(Sums) == ""
    assert checked(sklearn_method(RidgeClassifier)) == ""


def test_other_scores_of_a_sparse_matrix_are_told():
    told = checked(Wrong)
    assert told.startswith("seen scores of a sparse X differ by up to ")
    assert told.endswith("spreads from those of the same points in a dense one")


def test_points_that_are_written_to_are_read_only_as_in_a_trial():
    with pytest.raises(ValueError, match="read-only"):
        checked(Writes)


def test_what_takes_dense_data_is_not_asked():
    with pytest.raises(NotApplicableError, match="it takes dense data only: its tags say so"):
        checked(Dense)
