"""A plugin that provides one of everything."""

from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator

from harness import (
    GeneratedDataset,
    Kernel,
    LandmarkSelector,
    Method,
    Metric,
    ReportSection,
    Search,
    choice,
    hookimpl,
)


def blobs(rng):
    y = np.arange(120) % 2
    return rng.normal(size=(120, 3)) + 4 * y[:, None], y


def overlap(X, Z):
    return X @ Z.T


def first_rows(X, n_landmarks, random_state):
    return np.arange(n_landmarks)


class KernelMean(BaseEstimator):
    def __init__(self, kernel=None, selector=None, sign=-1):
        self.kernel = kernel
        self.selector = selector
        self.sign = sign

    def fit(self, X, y):
        labeled = np.flatnonzero(y >= 0)
        sign = np.where(y[labeled] == 1, 1.0, -1.0)
        self.landmarks_ = X[self.selector(X, len(labeled), 0)]
        self.offset_ = self.decision(X[labeled]).mean()
        self.sign_ = self.sign * np.sign(sign @ (self.decision(X[labeled]) - self.offset_))
        return self

    def decision(self, X):
        return self.kernel(X, self.landmarks_).mean(axis=1)

    def decision_function(self, X):
        return self.sign_ * (self.decision(X) - self.offset_)


@hookimpl
def harness_methods():
    yield Method(
        "kernel-mean",
        KernelMean,
        storage=lambda shape, size: 3 * shape.data_bytes,
        space={"sign": choice([-1, 1])},
    )


@hookimpl
def harness_datasets():
    yield GeneratedDataset("blobs", blobs, "binary", n=120, d=3, n_classes=2)


@hookimpl
def harness_metrics():
    tasks = frozenset({"binary"})
    yield Metric("hits", lambda y, labels: float(np.sum(y == labels)), tasks)


@hookimpl
def harness_kernels():
    yield Kernel("overlap", overlap)


@hookimpl
def harness_landmark_selectors():
    yield LandmarkSelector("first-rows", first_rows)


def one_by_one(space, evaluate, trials, rng):
    for sign in (-1, 1)[:trials]:
        evaluate([{"sign": sign}])


@hookimpl
def harness_searches():
    yield Search("one-by-one", one_by_one)


@hookimpl
def harness_report_sections():
    yield ReportSection("Mine", lambda rows: f"<p>rows of mine: {len(rows)}</p>")


@hookimpl
def harness_trial_started(trial):
    with Path("told.txt").open("a") as file:
        file.write(f"started {trial.method} {trial.seed}\n")


@hookimpl
def harness_trial_finished(trial, record):
    with Path("told.txt").open("a") as file:
        file.write(f"finished {trial.method} {trial.seed} {record['outcome']}\n")
