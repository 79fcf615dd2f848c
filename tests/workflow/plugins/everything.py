"""A plugin that provides one of everything."""

from pathlib import Path
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

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
    kernels,
)


def blobs(rng):
    y = np.arange(120) % 2
    return rng.normal(size=(120, 3)) + 4 * y[:, None], y


def overlap(X, Z, width):
    return X @ Z.T


def squared_norms(X):
    return np.sum(X**2, axis=1)


def first_rows(X, n_landmarks, random_state, kernel):
    return np.arange(n_landmarks)


def storage_of_rows(n, n_features, n_landmarks, itemsize):
    return 8 * n_landmarks


class KernelMean(BaseEstimator):
    _parameter_constraints: ClassVar[dict] = {"kernel": [StrOptions({"cosine", "rbf"}), callable]}

    def __init__(self, n_landmarks=10, kernel="rbf", selector="uniform", sign=-1):
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.selector = selector
        self.sign = sign

    def fit(self, X, y):
        labeled = np.flatnonzero(y >= 0)
        sign = np.where(y[labeled] == 1, 1.0, -1.0)
        self.bound_ = kernels.bind_kernel(self.kernel, X)
        random_state = np.random.RandomState(0)
        n_landmarks = min(self.n_landmarks, len(X))
        rows = kernels.select_landmarks(self.selector, X, n_landmarks, random_state, self.bound_)
        self.landmarks_ = X[rows]
        self.offset_ = self.decision(X[labeled]).mean()
        self.sign_ = self.sign * np.sign(sign @ (self.decision(X[labeled]) - self.offset_))
        return self

    def decision(self, X):
        return self.bound_(X, self.landmarks_).mean(axis=1)

    def decision_function(self, X):
        return self.sign_ * (self.decision(X) - self.offset_)


def storage(shape, size, selector="uniform"):
    selecting = kernels.selection_bytes(selector, shape.n, shape.n_features, size)
    return 3 * shape.data_bytes + 8 * size * shape.n_features + selecting


@hookimpl
def harness_methods():
    yield Method(
        "kernel-mean",
        KernelMean,
        storage=storage,
        size="n_landmarks",
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
    yield Kernel("overlap", overlap, diagonal=lambda X, width: squared_norms(X))


@hookimpl
def harness_landmark_selectors():
    yield LandmarkSelector("first-rows", first_rows, storage_of_rows)


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
