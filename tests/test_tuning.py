import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from harness import choice, log_uniform, uniform
from harness.metrics import BUILT_IN
from harness.settings import Tuning
from harness.tuning import candidates, tune

METRICS = {metric.name: metric for metric in BUILT_IN}


@pytest.mark.parametrize("search", ["grid", "random", "sobol"])
@pytest.mark.parametrize("trials", [1, 7, 16])
def test_candidates_stay_in_range_and_number(search, trials):
    space = {"C": log_uniform(1e-3, 1e3), "a": uniform(-1, 1), "k": choice(["x", "y"])}
    rng = np.random.default_rng(0)
    settings = candidates(space, Tuning(search=search, trials=trials), rng)
    assert 1 <= len(settings) <= trials
    for setting in settings:
        assert 1e-3 <= setting["C"] <= 1e3
        assert -1 <= setting["a"] <= 1
        assert setting["k"] in ("x", "y")


def test_a_grid_reaches_both_ends():
    settings = candidates({"C": log_uniform(1, 100)}, Tuning(trials=3), np.random.default_rng(0))
    assert [setting["C"] for setting in settings] == pytest.approx([1, 10, 100])


def arguments(**changes):
    return {
        "task": "binary",
        "n_classes": 2,
        "uses_unlabeled": False,
        "metric": METRICS["accuracy"],
        "folds": 5,
        "rng": np.random.default_rng(0),
    } | changes


def test_the_better_setting_wins():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.where(np.arange(90) < 60, X[:, 0] > 0, -1).astype(np.int64)
    settings = [{"n_neighbors": 45}, {"n_neighbors": 3}]
    best, score = tune(KNeighborsClassifier, settings, X, y, **arguments())
    assert best == {"n_neighbors": 3}
    assert score > 0.8


def test_errors_are_minimised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(np.arange(60) < 40, X @ [1.0, 2.0, 3.0], np.nan)
    best, score = tune(
        Ridge,
        [{"alpha": 1e4}, {"alpha": 1e-3}],
        X,
        y,
        **arguments(task="regression", n_classes=0, metric=METRICS["nmse"]),
    )
    assert best == {"alpha": 1e-3}
    assert score < 0.01


class SeesUnlabeled:
    """Records what fit is given."""

    seen = ()

    def fit(self, X, y):
        SeesUnlabeled.seen = (*SeesUnlabeled.seen, y.copy())
        self.decision_scores_ = X[:, 0]
        self.classes_ = np.array([0, 1])


def test_a_held_out_fold_becomes_unlabeled():
    X = np.arange(20.0)[:, None] - 5
    y = np.array([0] * 5 + [1] * 5 + [-1] * 10)
    SeesUnlabeled.seen = ()
    tune(SeesUnlabeled, [{}], X, y, **arguments(uses_unlabeled=True))
    held = [np.flatnonzero((y >= 0) & (fold < 0)) for fold in SeesUnlabeled.seen]
    assert len(held) == 5
    assert sorted(np.concatenate(held)) == list(range(10))
    assert all({y[i] for i in fold} == {0, 1} for fold in held)


def test_a_rare_class_lowers_the_number_of_folds():
    y = np.array([0] * 9 + [1] * 2 + [-1] * 3)
    SeesUnlabeled.seen = ()
    tune(SeesUnlabeled, [{}], np.zeros((14, 1)), y, **arguments(uses_unlabeled=True))
    assert len(SeesUnlabeled.seen) == 2


def test_where_nothing_can_be_scored_the_first_setting_stands():
    y = np.array([0, 0, 0, -1])
    best, score = tune(
        SeesUnlabeled,
        [{}, {}],
        np.zeros((4, 1)),
        y,
        **arguments(uses_unlabeled=True, metric=METRICS["auc"]),
    )
    assert best == {}
    assert np.isnan(score)
