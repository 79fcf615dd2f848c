"""Storage models against the measured peak of load, fit and predict."""

import importlib

import pytest

from harness.method import Shape, plan

MODULES = (
    "controls",
    "supervised",
    "harmonic",
    "cluster_kernel",
    "nysck",
    "mssksc",
    "kernel_ridge",
    "kmedoids",
)
METHODS = [m for name in MODULES for m in importlib.import_module(name).harness_methods()]
BUDGETS = (10_000_000, 20_000_000, 40_000_000)


def case(method, budget):
    """Return a shape and size whose plan comes to about the budget, and a task."""
    task = "binary" if "binary" in method.tasks else min(method.tasks)
    n_classes = 3 if task == "clustering" else 2
    if method.size is not None:
        shape = Shape(200, 2600, 30, n_classes, n_test=200)
        planned = plan(method, shape, budget)
        return shape, planned, task
    # Nothing can be turned: as many features as fill the budget.
    points = 600
    for d in range(20, 16000, 20):
        labeled = points if not method.uses_unlabeled else 200
        shape = Shape(labeled, points - labeled, d, n_classes, n_test=200)
        planned = plan(method, shape, None)
        if planned.planned_bytes > 0.97 * budget:
            return shape, planned, task
    raise AssertionError("no shape fills the budget")


@pytest.mark.parametrize("budget", BUDGETS, ids=lambda budget: f"{budget // 10**6}MB")
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_measured_peak_is_what_the_storage_model_says(method, budget, measured_trial):
    shape, planned, task = case(method, budget)
    assert planned.feasible
    peak = measured_trial(method, shape, planned.size, task)
    assert 0.5 <= peak / planned.planned_bytes <= 1.05


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_storage_does_not_fall_as_the_size_grows(method):
    shape = Shape(100, 3000, 20, 3)
    needed = [
        method.storage_bytes(method.seen(shape, size), size, {}) for size in range(1, 3001, 37)
    ]
    assert needed == sorted(needed)


def test_names_are_the_ones_that_studies_use():
    names = "random prior oracle 1nn svm linear-svm harmonic cmn clusk nysck rff-mssksc"
    names += " nystrom-krr budget-kmedoids"
    assert sorted(method.name for method in METHODS) == sorted(names.split())
