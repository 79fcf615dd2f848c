"""What a trial gives its estimator, and what it sends and says of itself."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from harness import Method, choice
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.plugin.registry import Registry
from harness.sandbox import Monitor
from harness.study.schema import Tuning
from harness.trial.assignment import Assignment
from harness.trial.run import run_trial

N, D = 40, 3


class Sender:
    def __init__(self):
        self.sent = {}

    def event(self, kind, **facts):
        pass

    def array(self, name, array):
        self.sent.setdefault(name.rpartition(" ")[0] or name, []).append(np.array(array))


class Nearest(BaseEstimator):
    """Answers with the target of the nearest labeled point, and keeps what it was given."""

    given = None
    asked: ClassVar[list] = []

    def __init__(self, a=1):
        self.a = a

    def fit(self, X, y):
        type(self).given = X, y
        known = np.isfinite(y) if y.dtype.kind == "f" else y >= 0
        self.X_, self.y_ = X[known], y[known]
        return self

    def predict(self, X):
        self.asked.append(len(X))
        if not len(self.y_):
            return np.zeros(len(X))
        return self.y_[np.abs(X[:, :1] - self.X_[:, 0]).argmin(axis=1)]


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a trial on 40 points; 10 are labeled, 10 are for testing."""

    def run(task="regression", y=None, looks=("fit", "predict"), tuned=False, wide=1, **changes):
        X = np.arange(N, dtype=float)[:, None] + np.zeros(D)
        X = np.tile(X, (1, wide))
        np.save(tmp_path / "X.npy", X)
        y = 100 + 5 * X[:, 0] if y is None else y
        labeled, unlabeled, test = np.split(np.random.default_rng(0).permutation(N), [10, 30])
        method = Method(
            "m",
            Nearest,
            lambda shape, size: 1.0,
            tasks={task},
            features=looks,
            space={"a": choice([1, 2])} if tuned else {},
        )
        told = {
            "method": method,
            "params": {},
            "size": None,
            "task": task,
            "n_classes": 0 if task == "regression" else 2,
            "features": tmp_path / "X.npy",
            "labeled": labeled,
            "unlabeled": unlabeled,
            "test": test,
            "y_labeled": y[labeled],
            "transductive": False,
            "mapped": None,
            "tuning": Tuning(folds=2, trials=2) if tuned else None,
            "metric": primary_metric(task, (), BUILT_IN),
            "seed": np.random.SeedSequence(0),
            "search": Registry([]).get("searches", "grid")[0],
        }
        trial = Assignment(**told | changes)
        sender = Sender()
        facts, _ = run_trial(trial, Monitor(sender, None, None, -1))
        arrays = [array for arrays in sender.sent.values() for array in arrays]
        return trial, facts, arrays, y

    return run


def test_targets_are_standardised_by_the_labeled_ones_and_answers_are_not(run):
    trial, facts, sent, y = run()
    X, targets = Nearest.given
    assert np.mean(targets[:10]) == pytest.approx(0)
    assert np.std(targets[:10]) == pytest.approx(1)
    assert np.isnan(targets[10:]).all()
    assert len(X) == len(targets) == 30
    values = np.concatenate(sent)
    nearest = np.abs(trial.test[:, None] - trial.labeled).argmin(axis=1)
    np.testing.assert_allclose(values, y[trial.labeled[nearest]])
    assert facts["data_bytes"] == 30 * D * 8 + 30 * 8
    assert (facts["tuned_score"], facts["warnings"], facts["end"]) == (None, [], None)
    assert facts["params"] == {"a": 1}
    with pytest.raises(ValueError, match="read-only"):
        targets[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        X[0] = 0


def test_equal_targets_have_no_scale(run):
    _, _, sent, _ = run(y=np.full(N, 7.0))
    assert (Nearest.given[1][:10] == 0).all()
    assert (np.concatenate(sent) == 7).all()


def test_nothing_is_known_of_clusters(run):
    # what the referee hands out has no labels, but none would be passed on either
    run("clustering", y=np.arange(N) % 2)
    assert (Nearest.given[1] == -1).all()


def test_classes_are_told_where_they_are_known(run):
    trial, facts, _, y = run("binary", y=np.arange(N) % 2)
    np.testing.assert_array_equal(Nearest.given[1][:10], y[trial.labeled])
    assert (Nearest.given[1][10:] == -1).all()
    assert facts["data_bytes"] == 30 * D * 8 + 30
    with pytest.raises(ValueError, match="read-only"):
        Nearest.given[1][0] = 0


def test_wide_points_of_the_fit_are_predicted_in_small_blocks(run):
    Nearest.asked.clear()
    run(transductive=True, wide=4000)
    assert Nearest.asked == [16, 4]


def test_features_that_are_mapped_or_not_looked_at_are_no_bytes_of_the_trial(run, tmp_path):
    targets = 30 * 8
    assert run(looks=("predict",))[1]["data_bytes"] == targets
    mapped = tmp_path / "rows.npy"
    np.save(mapped, np.arange(30.0)[:, None] + np.zeros(D))
    assert run(mapped=mapped)[1]["data_bytes"] == targets
    np.testing.assert_array_equal(Nearest.given[0][:, 0], np.arange(30))


def test_new_points_are_not_looked_at_where_a_method_does_not(run):
    sent = run(looks=("fit",))[2]
    # all are told what the point nearest to zero was
    assert len(np.unique(np.concatenate(sent))) == 1
    assert len(np.unique(np.concatenate(run()[2]))) > 1


def test_what_a_search_scored_is_told(run):
    _, facts, _, _ = run(tuned=True)
    assert 0 < facts["tuned_score"] < 1
    # a fold of one kind of label has no AUC: there is no score, and none is told
    y = np.arange(N) % 2
    assert run("binary", y=0 * y, tuned=True)[1]["tuned_score"] is None
