"""A fit that is paused: its clock, its points, and the same end as without pauses."""

import ctypes
import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from harness.metrics.functions import BUILT_IN, primary_metric
from harness.plugin.method import Method
from harness.trial.assignment import Assignment
from harness.trial.checkpoints import fit_in_steps, point
from harness.trial.run import run_trial


def joined(parts):
    parts = list(parts)
    return {kind: np.concatenate([part[kind] for part in parts]) for kind in parts[0]}


class Clock:
    """Stands in for a monitor; time passes only where somebody says so."""

    def __init__(self):
        self.now = 0
        self.stages = []
        self.deliveries = []
        self._spent = {}

    @contextmanager
    def stage(self, name):
        began = self.now
        yield
        self._spent[name] = self._spent.get(name, 0) + self.now - began
        self.stages.append(name)

    def spent(self, name):
        return self._spent.get(name, 0), self._spent.get(name, 0) / 2

    def send(self, parts):
        self.sent = joined(parts)

    def deliver(self, value, parts):
        self.now += 1000
        self.deliveries.append((value, joined(parts)))


class Halving:
    """Its error halves with every step; a step takes a second, each question a hundred."""

    def __init__(self, clock, steps):
        self.clock, self.steps, self.error = clock, steps, 1.0

    def fit_steps(self, X, y):
        for _ in range(self.steps):
            self.clock.now += 1
            self.error /= 2
            yield
        self.clock.now += 0.5

    def diagnostics(self, X):
        self.clock.now += 100
        return {"error": np.float64(self.error), "rows": len(X)}


def halved(steps, checkpoints):
    clock = Clock()
    estimator = Halving(clock, steps)

    def predict():
        clock.now += 100
        return [{"values": np.full(2, estimator.error)}]

    X = np.zeros((7, 1))
    done = fit_in_steps(estimator, X, None, checkpoints, clock, predict)
    return clock, done, point(estimator, X, done, clock)


def test_only_steps_are_on_the_clock():
    clock, done, end = halved(10, [1, 2, 5])
    assert done == 10
    reached = [value for value, _ in clock.deliveries]
    assert [value["step"] for value in reached] == [1, 2, 5]
    assert [value["fit_s"] for value in reached] == [1, 2, 5]
    assert [value["fit_cpu_s"] for value in reached] == [0.5, 1, 2.5]
    assert [value["diagnostics"] for value in reached] == [
        {"error": 2.0**-step, "rows": 7.0} for step in (1, 2, 5)
    ]
    assert [arrays["values"][0] for _, arrays in clock.deliveries] == [2.0**-s for s in (1, 2, 5)]
    assert (end["step"], end["fit_s"]) == (10, 10.5)
    assert set(clock.stages) == {"fit", "checkpoint", "finish"}


@pytest.mark.parametrize(
    ("steps", "checkpoints", "paused"),
    [(3, [5, 9], []), (0, [1], []), (5, [5], [5]), (4, [1, 4, 6], [1, 4]), (2, [], [])],
)
def test_a_fit_that_ends_early_has_the_points_it_came_to(steps, checkpoints, paused):
    clock, done, end = halved(steps, checkpoints)
    assert [value["step"] for value, _ in clock.deliveries] == paused
    assert done == end["step"] == steps


def test_what_is_left_at_a_stop_counts_there_and_at_the_end():
    class Finished(Halving):
        def finish_fit(self):
            self.clock.now += 10

    clock = Clock()
    estimator = Finished(clock, 5)
    done = fit_in_steps(estimator, (), None, [1, 3, 5], clock, lambda: [{}])
    assert [value["fit_s"] for value, _ in clock.deliveries] == [11, 13, 15]
    assert [value["fit_cpu_s"] for value, _ in clock.deliveries] == [5.5, 6.5, 7.5]
    assert point(estimator, (), done, clock)["fit_s"] == 15.5
    assert clock.spent("fit")[0] == 15.5


@pytest.mark.parametrize("given", [3, [("error", 1)], {"error": "small"}, {"error": [1, 2]}, None])
def test_diagnostics_that_are_no_numbers_are_an_error(given):
    class Wrong:
        def diagnostics(self, X):
            return given

    with pytest.raises(ValueError, match=f"diagnostics gave {type(given).__name__}, not a dict"):
        point(Wrong(), None, 1, Clock())


def test_running_out_of_memory_is_passed_on():
    class Greedy(Halving):
        def diagnostics(self, X):
            raise MemoryError

    clock = Clock()
    with pytest.raises(MemoryError):
        fit_in_steps(Greedy(clock, 3), None, None, [2], clock, dict)


class Descent(BaseEstimator):
    """Least squares by gradient steps that are drawn at random."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        for _ in self.fit_steps(X, y):
            pass
        return self

    def fit_steps(self, X, y):
        rng = np.random.default_rng(self.random_state)
        known = np.flatnonzero(np.isfinite(y) & (y != -1))
        self.classes_ = np.array([0, 1])
        self.w_ = np.zeros(X.shape[1])
        for _ in range(12):
            for i in rng.choice(known, 5):
                self.w_ += 0.05 * (y[i] - X[i] @ self.w_) * X[i]
            yield


class Regressor(Descent):
    def predict(self, X):
        return X @ self.w_


class Classifier(Descent):
    def decision_function(self, X):
        return X @ self.w_ - 0.5


class AtOnce(BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X):
        return X[:, 0]


def assign(folder, estimator, task, transductive, checkpoints):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = X[:, 0] * 3 + 5 if task == "regression" else (X[:, 0] > 0).astype(int)
    np.save(folder / "X.npy", X)
    rows = np.arange(60)
    return Assignment(
        method=Method("m", estimator, lambda shape, size: 1.0, tasks={task}),
        params={},
        size=None,
        task=task,
        n_classes=0 if task == "regression" else 2,
        features=folder / "X.npy",
        labeled=rows[:20],
        unlabeled=rows[20:40],
        test=rows[40:],
        y_labeled=y[:20],
        transductive=transductive,
        mapped=None,
        tuning=None,
        metric=primary_metric(task, (), BUILT_IN),
        seed=np.random.SeedSequence(3),
        checkpoints=checkpoints,
    )


@pytest.mark.parametrize("transductive", [True, False])
@pytest.mark.parametrize(
    ("estimator", "task"), [(Regressor, "regression"), (Classifier, "binary")]
)
def test_pauses_change_nothing(tmp_path, estimator, task, transductive):
    plain, paused = Clock(), Clock()
    facts, _ = run_trial(assign(tmp_path, estimator, task, transductive, ()), plain)
    told, _ = run_trial(assign(tmp_path, estimator, task, transductive, (1, 6, 12)), paused)
    wanted, found = plain.sent, paused.sent
    assert facts.pop("end") is None
    assert told.pop("end")["step"] == 12
    assert facts == told
    assert plain.deliveries == []
    assert set(found) == set(wanted)
    for kind, values in wanted.items():
        assert np.array_equal(found[kind], values)
    delivered = [arrays for _, arrays in paused.deliveries]
    # what is delivered is in the units of the targets, as the end is
    for kind, values in wanted.items():
        assert np.array_equal(delivered[2][kind], values)
        assert not np.array_equal(delivered[0][kind], values) or kind == "labels"


def test_a_method_without_steps_has_the_end_of_its_fit(tmp_path):
    clock = Clock()
    facts, _ = run_trial(assign(tmp_path, AtOnce, "binary", True, (1, 6)), clock)
    assert clock.deliveries == []
    assert facts["end"] == {"step": None, "fit_s": 0, "fit_cpu_s": 0, "diagnostics": {}}


def resident_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Crumbling:
    """Stopping it takes 60 MB of small blocks, the last of which it keeps."""

    def fit_steps(self, X, y):
        yield
        self.stopped = resident_bytes()
        yield

    def finish_fit(self):
        if not hasattr(self, "kept"):
            blocks = [bytearray(50_000) for _ in range(1200)]
            self.held, self.kept = resident_bytes(), blocks[-1]


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="libc is not glibc")
def test_a_fit_that_goes_on_does_not_hold_what_stopping_it_took():
    estimator = Crumbling()
    before = resident_bytes()
    fit_in_steps(estimator, np.zeros((7, 1)), None, [1], Clock(), lambda: [{}])
    assert estimator.held - before > 50e6
    assert estimator.stopped - before < 10e6
