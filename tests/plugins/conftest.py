"""Plugins as modules, a toy problem, and the peak of one trial as the sandbox measures it."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

from harness.metrics import BUILT_IN, primary_metric
from harness.sandbox import Limits, Sandbox
from harness.trial import Assignment, run_trial
from harness.worker import warm_up

sys.path.insert(0, str(Path(__file__).parents[2] / "plugins"))


@pytest.fixture
def two_blobs():
    """120 points of two overlapping normal clouds; the first 6 of each are labeled."""
    return blobs(60, 2)


def blobs(per_class, n_classes, d=4, labeled=6, seed=0):
    """Return X, y with -1 where unlabeled, and the whole truth."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_classes), per_class)
    centres = 1.5 * rng.normal(size=(n_classes, d))
    X = centres[truth] + rng.normal(size=(len(truth), d))
    y = np.full(len(truth), -1)
    for label in range(n_classes):
        y[np.flatnonzero(truth == label)[:labeled]] = label
    order = rng.permutation(len(truth))
    X = X[order]
    X.setflags(write=False)
    return X, y[order], truth[order]


@pytest.fixture(scope="session")
def measured_trial(tmp_path_factory):
    """Return a function that runs one trial as a study does, and returns its peak in bytes."""
    folder = tmp_path_factory.mktemp("trials")
    with threadpoolctl.threadpool_limits(1):
        warm_up()
        with Sandbox() as sandbox:

            def measure(method, shape, size, task, **params):
                assignment = assign(method, shape, size, task, params, folder)
                result = sandbox.run(partial(run_trial, assignment), Limits(seconds=60))
                assert result.outcome == "ok", result.reason
                if result.peak_bytes is None:
                    pytest.skip("this machine cannot measure peaks")
                return result.peak_bytes

            yield measure


def assign(method, shape, size, task, params, folder):
    """Put a trial together on generated data: transductive, or inductive with all test points."""
    n = shape.n + shape.n_test
    rng = np.random.default_rng(0)
    groups = max(2, shape.n_classes)
    truth = rng.integers(groups, size=n)
    dtype = np.float32 if shape.itemsize == 4 else np.float64
    X = rng.standard_normal((n, shape.n_features), dtype=dtype)
    X += 0.25 * rng.standard_normal((groups, shape.n_features), dtype=dtype)[truth]
    np.save(folder / "X.npy", X)
    rows = rng.permutation(n)
    labeled, unlabeled, test = np.split(rows, np.cumsum([shape.n_labeled, shape.n_unlabeled]))
    # A label of each class at the least.
    truth[labeled[:groups]] = np.arange(groups)[: len(labeled)]
    y = truth if task != "regression" else truth + rng.standard_normal(n)
    return Assignment(
        method=method,
        params=params,
        size=size,
        task=task,
        n_classes=shape.n_classes,
        features=folder / "X.npy",
        labeled=np.sort(labeled),
        unlabeled=unlabeled,
        test=np.sort(test),
        y_labeled=y[np.sort(labeled)],
        transductive=not shape.n_test,
        mapped=None,
        tuning=None,
        metric=primary_metric(task, (), BUILT_IN),
        seed=np.random.SeedSequence(0),
    )
