"""A method that takes a second, so that a job can be hurt while it runs."""

import time

from sklearn.dummy import DummyClassifier

from harness import Method, hookimpl


class Sleeps(DummyClassifier):
    def fit(self, X, y):
        time.sleep(1)
        return super().fit(X[y >= 0], y[y >= 0])


@hookimpl
def harness_methods():
    yield Method("sleeps", Sleeps, tasks={"binary"}, storage=lambda shape, size: 10_000)
