"""Peaks of trials on generated data, measured by a sandbox that holds little else."""

from dataclasses import replace
from functools import partial

import numpy as np
import threadpoolctl

from harness.conformance.finding import NotApplicableError
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.plugin.registry import Registry
from harness.sandbox import Limits, Sandbox
from harness.study.schema import Tuning
from harness.trial.assignment import Assignment
from harness.trial.run import run_trial
from harness.trial.warm_up import warm_up

sandboxes = []


def start():
    """Make this process what a worker's is before its first trial."""
    threadpoolctl.threadpool_limits(1)
    warm_up()
    sandboxes.append(Sandbox())


def measure(method, shape, size, task, folder, tuning=None):
    """Return outcome, reason and peak in bytes of one trial."""
    assignment = assign(method, shape, size, task, folder)
    if tuning is not None:
        search, _ = Registry([]).get("searches", "grid")
        assignment = replace(assignment, tuning=Tuning(**tuning), search=search)
    trial = partial(run_trial, assignment)
    result = sandboxes[0].run(trial, Limits(seconds=300))
    return result.outcome, result.reason, result.peak_bytes


def ask(check, method, task, folder):
    """Return the advice of a measuring check, and why it does not apply."""
    try:
        return check(method, task, sandboxes[0], folder, 300), ""
    except NotApplicableError as why:
        return "", str(why)


def assign(method, shape, size, task, folder):
    """Put a trial together on generated data: transductive, or inductive with all test points.

    Mapped data are mapped in the order of their file, whose labels are then as good as random.
    """
    n = shape.n + shape.n_test
    rng = np.random.default_rng(0)
    groups = max(2, shape.n_classes)
    truth = rng.integers(groups, size=n)
    dtype = np.float32 if shape.itemsize == 4 else np.float64
    X = rng.standard_normal((n, shape.n_features), dtype=dtype)
    # Classes overlap however many features there are: else few points are support vectors.
    centres = rng.standard_normal((groups, shape.n_features), dtype=dtype)
    X += (centres / dtype(np.sqrt(shape.n_features)))[truth]
    if method.params.get("kernel") == "chi2":
        np.abs(X, out=X)
    np.save(folder / "X.npy", X)
    rows = rng.permutation(n)
    labeled, unlabeled, test = np.split(rows, np.cumsum([shape.n_labeled, shape.n_unlabeled]))
    # A label of each class at the least.
    truth[labeled[:groups]] = np.arange(groups)[: len(labeled)]
    y = truth if task != "regression" else truth + rng.standard_normal(n)
    return Assignment(
        method=method,
        params={},
        size=size,
        task=task,
        n_classes=shape.n_classes,
        features=folder / "X.npy",
        labeled=np.sort(labeled),
        unlabeled=unlabeled,
        test=np.sort(test),
        y_labeled=y[np.sort(labeled)],
        transductive=not shape.n_test,
        part=shape.part,
        mapped=folder / "X.npy" if shape.mapped else None,
        tuning=None,
        metric=primary_metric(task, (), BUILT_IN),
        seed=np.random.SeedSequence(0),
    )
