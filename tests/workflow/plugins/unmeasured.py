"""Methods without a storage model: their memory is measured."""

from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestCentroid
from sklearn.semi_supervised import LabelSpreading

from harness import Method, hookimpl

GROWN = Path(__file__).with_name("grown")


class Landmarks(ClassifierMixin, BaseEstimator):
    """Holds a row of `rank` numbers for each point; a third more once a file is there."""

    def __init__(self, rank=10):
        self.rank = rank

    def fit(self, X, y):
        rows = len(X) + len(X) // 3 if GROWN.exists() else len(X)
        self._held = np.ones((rows, self.rank))
        known = y != -1
        self._means = NearestCentroid().fit(X[known], y[known])
        self.classes_ = self._means.classes_
        return self

    def predict(self, X):
        return self._means.predict(X)


class Unlucky(Landmarks):
    def fit(self, X, y):
        raise ValueError("y holds labels below zero")


@hookimpl
def harness_methods():
    yield Method("spread", LabelSpreading, params={"kernel": "knn"})
    yield Method("held", Landmarks, size="rank", sizes=lambda shape: (1, 100_000))
    yield Method("unlucky", Unlucky)
