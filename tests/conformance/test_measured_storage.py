"""A model that promises too much or too little is measured, and the advice has the figures."""

import re
from types import SimpleNamespace

import pytest

from harness.conformance import measured_storage
from harness.conformance.measured_storage import ENOUGH, TOP, workloads
from harness.plugin.method import Method
from harness.sandbox import backends

KERNEL = "(3 * landmarks + 2 * shape.n_features)"
LANDMARKS = "+ 2 * landmarks * shape.n_features)"

pytestmark = pytest.mark.skipif(
    not any(report.available and report.name != "watch" for report in backends()),
    reason="nothing here measures a peak",
)


def test_a_model_below_the_peak(checked):
    failed = checked({KERNEL: "landmarks // 4"}, measure=True)
    advice = failed["storage honest"]
    assert "raise `storage`" in advice
    assert float(re.search(r"(\d+\.\d+) of the", advice)[1]) > 1.05
    assert "in fit" in advice or "in predict" in advice


def test_a_model_above_the_peak(checked):
    failed = checked({LANDMARKS: "+ 4 * kernel)"}, measure=True)
    assert list(failed) == ["storage honest"]
    assert "lower `storage`" in failed["storage honest"]
    assert float(re.search(r"(\d+\.\d+) of the", failed["storage honest"])[1]) < 0.5


def test_bytes_that_no_size_can_lower_are_missed_at_the_smallest_budget(checked):
    edits = {"        self._Z = X[": "        self._held = np.ones(10**6)\n        self._Z = X["}
    failed = checked(edits, measure=True)
    assert "at its smallest budget" in failed["smallest budget"]
    assert "over_budget" in failed["smallest budget"]


def test_bytes_that_only_a_fit_in_steps_holds(checked):
    steps = """    def fit_steps(self, X, y):
        held = np.ones(10**6)
        yield self.fit(X, y)
        del held

    def decision_function"""
    failed = checked({"    def decision_function": steps}, measure=True)
    assert list(failed) == ["storage honest"]
    assert "asked after steps [1, 2]); raise `storage`" in failed["storage honest"]


class Estimator:
    def __init__(self, rank=1):
        self.rank = rank


@pytest.mark.parametrize("size", [None, "rank", "n_unlabeled"])
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "clustering"])
def test_three_budgets_that_differ_and_are_used(size, task):
    def storage(shape, size):
        return shape.data_bytes + shape.block_bytes + 4000 * size

    method = Method("a", Estimator, storage, size=size, tasks={task})
    chosen = workloads(method, task)
    planned = [workload.plan.planned_bytes for workload in chosen]
    assert len(set(planned)) == 3
    assert max(planned) <= 2.2 * TOP
    assert min(planned) >= TOP / 10
    for workload in chosen:
        assert workload.plan.feasible
        assert workload.plan.planned_bytes <= workload.budget
        assert workload.shape.n_classes == {"binary": 2, "regression": 0}.get(task, 3)
        assert not (workload.inductive and task == "clustering")


@pytest.mark.parametrize("size", [None, "n_unlabeled"])
@pytest.mark.parametrize("task", ["binary", "clustering"])
def test_what_grows_as_the_points_do_is_measured_on_no_more_of_them_than_are_enough(size, task):
    def in_line(shape, size):
        return 2 * shape.data_bytes

    def in_pairs(shape, size):
        return shape.data_bytes + 4 * shape.n**2

    few = workloads(Method("a", Estimator, in_line, size=size, tasks={task}), task)
    assert ENOUGH <= max(workload.plan.planned_bytes for workload in few) <= 2.2 * ENOUGH
    assert min(workload.plan.planned_bytes for workload in few) >= ENOUGH / 4
    large = workloads(Method("a", Estimator, in_pairs, size=size, tasks={task}), task)
    assert max(workload.plan.planned_bytes for workload in large) >= 0.9 * TOP


@pytest.mark.parametrize(
    ("parts", "fails"),
    [((1.2, 0.9, 0.9), False), ((1.2, 0.9, 1.3), True), ((0.4, 0.3, 0.9), True)],
)
def test_of_readings_beside_the_plan_the_middle_one_counts(parts, fails, monkeypatch):
    left = iter(parts)

    def run(method, task, workload, *_):
        peak = int(next(left, 0.9) * workload.plan.planned_bytes)
        return SimpleNamespace(outcome="ok", peak_bytes=peak, stages={})

    monkeypatch.setattr(measured_storage, "_run", run)
    method = Method("a", Estimator, lambda shape, size: 2 * shape.data_bytes, tasks={"binary"})
    advice = measured_storage.is_honest(method, "binary", None, None, 1)
    assert bool(advice) == fails


@pytest.mark.parametrize(
    ("readings", "fails"),
    [
        # ended by the limit, with room within the budget, and again at the budget
        ([("over_budget", 1.0), ("ok", 0.9), ("ok", 0.9)], False),
        ([("over_budget", 1.0), ("ok", 0.9), ("over_budget", 1.0)], True),
        ([("over_budget", 1.0), ("ok", 1.3)], True),
        ([("over_budget", 1.0), ("over_budget", 1.3)], True),
    ],
)
def test_a_trial_that_the_limit_ended_once_is_taken_again_if_it_fits_with_more_room(
    readings, fails, monkeypatch
):
    left = iter(readings)

    def run(method, task, workload, *_):
        outcome, part = next(left, ("ok", 0.9))
        peak = int(part * workload.budget)
        return SimpleNamespace(outcome=outcome, peak_bytes=peak, stages={}, reason="")

    monkeypatch.setattr(measured_storage, "_run", run)
    method = Method("a", Estimator, lambda shape, size: 2 * shape.data_bytes, tasks={"binary"})
    advice = measured_storage.is_honest(method, "binary", None, None, 1)
    assert bool(advice) == fails
