"""A method that learns in steps, its twin that does so at once, and one that takes too much."""

import time

import numpy as np
from sklearn.base import BaseEstimator

from harness import Method, hookimpl

STEP_S = 0.02
ASKED_S = 0.1


def busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


class AtOnce(BaseEstimator):
    """Perceptron: a step corrects the score of one labeled point that is drawn at random."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        for _ in self.learn(X, y):
            pass
        return self

    def learn(self, X, y):
        rng = np.random.default_rng(self.random_state)
        labeled = np.flatnonzero(y >= 0)
        self.center_, self.scale_ = X.mean(axis=0), X.std(axis=0)
        self.w_ = np.zeros(X.shape[1])
        for _ in range(6):
            i = rng.choice(labeled)
            self.w_ += (1 if y[i] == 1 else -1) * (X[i] - self.center_) / self.scale_
            busy(STEP_S)
            yield

    def decision_function(self, X):
        busy(ASKED_S)
        return (X - self.center_) / self.scale_ @ self.w_


class InSteps(AtOnce):
    def fit_steps(self, X, y):
        yield from self.learn(X, y)

    def diagnostics(self, X):
        return {"norm": np.linalg.norm(self.w_)}


class TakesTooMuch(InSteps):
    def diagnostics(self, X):
        return {"norm": np.ones(10_000_000).sum() if self.asked(X) > 1 else 0.0}

    def asked(self, X):
        self.asked_ = getattr(self, "asked_", 0) + 1
        return self.asked_


@hookimpl
def harness_methods():
    for name, estimator in {
        "at-once": AtOnce,
        "in-steps": InSteps,
        "takes-too-much": TakesTooMuch,
    }.items():
        yield Method(name, estimator, storage=lambda shape, size: 4 * shape.data_bytes)
