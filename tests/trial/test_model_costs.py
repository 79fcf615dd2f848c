"""What a fitted model costs in use: bytes of its file, and the prediction of one row."""

import time
from contextlib import contextmanager
from typing import ClassVar

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from harness import Method
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.trial.assignment import Assignment
from harness.trial.model_costs import (
    CALLS,
    HELD,
    ROW,
    Count,
    _Stopwatch,
    model_bytes,
    model_costs,
    percentiles,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
Y = (X[:, 0] > 0).astype(int)


class Stages:
    def __init__(self, spent=0.0):
        self.names = []
        self._spent = spent

    @contextmanager
    def stage(self, name):
        self.names.append(name)
        yield

    def spent(self, name):
        return self._spent, self._spent


@pytest.fixture
def costs(tmp_path):
    np.save(tmp_path / "X.npy", X)

    def costs(estimator, spent=10.0, **changes):
        made = Assignment(
            **{
                "method": Method("m", type(estimator), lambda shape, size: 1.0, tasks={"binary"}),
                "params": {},
                "size": None,
                "task": "binary",
                "n_classes": 2,
                "features": tmp_path / "X.npy",
                "labeled": np.arange(20),
                "unlabeled": np.arange(20, 200),
                "test": np.arange(200, 300),
                "y_labeled": Y[:20],
                "transductive": False,
                "mapped": None,
                "tuning": None,
                "metric": primary_metric("binary", [], BUILT_IN),
                "seed": np.random.SeedSequence(0),
            }
            | changes
        )
        stages = Stages(spent)
        return model_costs(estimator, made, stages), stages.names

    return costs


@pytest.mark.parametrize(
    "estimator", [SVC(), RandomForestClassifier(5), KNeighborsClassifier()], ids=str
)
def test_a_models_bytes_are_those_of_its_file(tmp_path, estimator):
    estimator.fit(X, Y)
    joblib.dump(estimator, tmp_path / "model.joblib")
    assert model_bytes(estimator) == ((tmp_path / "model.joblib").stat().st_size, "")


def test_a_model_that_cannot_be_pickled_says_so_and_is_timed_all_the_same(costs):
    estimator = SVC().fit(X, Y)
    estimator.callback_ = lambda: 0
    told, _ = costs(estimator)
    assert told["model_bytes"] is None
    assert told["reason"].startswith("the fitted model cannot be pickled: ")
    assert "lambda" in told["reason"]
    assert len(told["row_seconds"]) == CALLS


class Sized(SVC):
    """Takes so many bytes to predict, and refuses single rows if it is told to."""

    def decision_function(self, X):
        if self.coef0 == 1 and len(X) == 1:
            raise ValueError("one is too few")
        if self.coef0 == 2:
            until = time.process_time() + 0.01
            while time.process_time() < until:
                pass
        return np.ones(100_000 * len(X))[: len(X)]


def test_one_row_is_predicted_at_a_time(costs):
    told, stages = costs(Sized().fit(X, Y))
    assert stages == [HELD, ROW]
    assert 800_000 <= told["row_bytes"] < 810_000
    assert told["reason"] == ""


def test_slow_predictions_are_timed_less_often(costs):
    told, _ = costs(Sized(coef0=2.0).fit(X, Y), spent=0.0)
    assert len(told["row_seconds"]) == 1
    assert told["row_seconds"][0] >= 0.009
    told, _ = costs(Sized(coef0=2.0).fit(X, Y), spent=1.0)  # 2 % of three stages
    assert 5 <= len(told["row_seconds"]) <= 7


def test_a_model_that_takes_no_single_row_has_bytes_all_the_same(costs):
    told, _ = costs(Sized(coef0=1.0).fit(X, Y))
    assert told["row_seconds"] == []
    assert told["row_bytes"] is None
    assert told["model_bytes"] > 0
    assert told["reason"] == ("one row by itself cannot be predicted: ValueError: one is too few")


class Transductive(BaseEstimator):
    """Has labels for the points of its fit, and for no others."""


def test_a_method_that_predicts_no_new_rows_has_no_latency_and_needs_no_reason(costs):
    told, _ = costs(Transductive())
    assert (told["row_seconds"], told["reason"]) == ([], "")
    assert told["model_bytes"] > 0


def test_percentiles_are_of_the_calls():
    assert percentiles([3.0, 1.0, 2.0]) == (2.0, 3.0)
    assert percentiles([float(i) for i in range(1, 101)]) == (50.5, 99.0)
    assert percentiles([5.0]) == (5.0, 5.0)


@pytest.mark.parametrize(("switches", "counts"), [([0, 0], True), ([0, 1], False)])
def test_waiting_counts_as_latency_and_other_processes_do_not(monkeypatch, switches, counts):
    left = iter(switches)
    usage = type("Usage", (), {"ru_nivcsw": property(lambda _: next(left))})
    monkeypatch.setattr("resource.getrusage", lambda _: usage())
    with _Stopwatch() as call:
        time.sleep(0.02)
    assert (call.seconds >= 0.02) == counts


class Looks(Sized):
    """Notes the first number of every row that it predicts."""

    seen: ClassVar[list] = []

    def decision_function(self, X):
        self.seen.extend(X[:, 0].tolist())
        return np.zeros(len(X))


@pytest.mark.parametrize("transductive", [True, False])
def test_rows_are_those_that_the_trial_predicts(costs, transductive):
    Looks.seen.clear()
    told, _ = costs(Looks().fit(X, Y), transductive=transductive)
    rows = X[20:52, 0] if transductive else X[200:232, 0]
    assert len(told["row_seconds"]) == CALLS
    # once for its memory, once traced, then a hundred times in turn
    np.testing.assert_array_equal(Looks.seen, rows[[0, 0, *(np.arange(CALLS) % 32)]])


def test_a_method_that_looks_at_no_features_is_given_none(costs):
    Looks.seen.clear()
    method = Method("m", Looks, lambda shape, size: 1.0, tasks={"binary"}, features={"fit"})
    costs(Looks().fit(X, Y), method=method)
    assert set(Looks.seen) == {0}


def test_a_file_begins_at_its_first_byte():
    count = Count()
    assert count.tell() == 0
    assert count.write(b"abc") == 3
    assert count.write(np.zeros(2)) == 16
    assert count.tell() == count.bytes == 19
