"""Methods whose models can be taken home, and some whose cannot."""

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from harness import Method, hookimpl, log_uniform


class Own(ClassifierMixin, BaseEstimator):
    """Holds an object of another class of its module."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        known = y >= 0
        self.inner_ = Inner(LogisticRegression(C=self.C).fit(X[known], y[known]))
        self.classes_ = self.inner_.fitted.classes_
        return self

    def decision_function(self, X):
        return self.inner_.fitted.decision_function(X)

    def predict(self, X):
        return self.inner_.fitted.predict(X)


class Inner:
    def __init__(self, fitted):
        self.fitted = fitted


class Unpicklable(Own):
    def fit(self, X, y):
        self.callback_ = lambda: 1
        return super().fit(X, y)


class Unrepeatable(Own):
    """Predicts something else in every process."""

    def decision_function(self, X):
        import time

        return super().decision_function(X) + (X * time.time_ns() % 1e3).sum(axis=1)


class Transductive(ClassifierMixin, BaseEstimator):
    """Labels the points of its fit, and no others."""

    def fit(self, X, y):
        known = y >= 0
        self.classes_ = LogisticRegression().fit(X[known], y[known]).classes_
        self.transduction_ = LogisticRegression().fit(X[known], y[known]).predict(X)
        return self


@hookimpl
def harness_methods():
    def storage(shape, size):
        return shape.data_bytes + 2e6

    common = {"storage": storage, "tasks": {"binary"}}
    space = {"C": log_uniform(0.01, 100)}
    yield Method("own", Own, uses_unlabeled=False, space=space, **common)
    yield Method("unpicklable", Unpicklable, uses_unlabeled=False, **common)
    yield Method("unrepeatable", Unrepeatable, uses_unlabeled=False, **common)
    yield Method("transductive", Transductive, **common)
