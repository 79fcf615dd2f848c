from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator
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

    def __init__(self, a=0):
        self.a = a

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
        [{"a": 1}, {"a": 2}],
        np.zeros((4, 1)),
        y,
        **arguments(uses_unlabeled=True, metric=METRICS["auc"]),
    )
    assert best == {"a": 1}
    assert np.isnan(score)


def test_the_only_point_of_a_class_is_never_held_out():
    y = np.array([0] * 6 + [1] + [-1] * 3)
    SeesUnlabeled.seen = ()
    tune(SeesUnlabeled, [{}], np.zeros((10, 1)), y, **arguments(uses_unlabeled=True))
    assert len(SeesUnlabeled.seen) == 5
    assert all(fold[6] == 1 for fold in SeesUnlabeled.seen)


def test_of_equally_good_settings_the_middle_one_is_taken():
    y = np.array([0] * 5 + [1] * 5 + [-1] * 10)
    settings = [{"a": i} for i in range(5)]
    best, _ = tune(
        SeesUnlabeled,
        settings,
        np.arange(20.0)[:, None],
        y,
        **arguments(uses_unlabeled=True),
    )
    assert best == {"a": 2}


class Staged(BaseEstimator):
    """Kernel smoothing of labels: a width that features decide, a power that labels do."""

    log: ClassVar[list] = []

    def __init__(self, width=1.0, power=1.0):
        self.width = width
        self.power = power

    def fit_features(self, X, labeled):
        Staged.log.append(("features", self.width))
        self._labeled = labeled
        self._K = np.exp(-((X - X.T) ** 2) / self.width)
        return self

    def fit_labels(self, y):
        Staged.log.append(("labels", self.width, self.power))
        self.classes_ = np.array([0, 1])
        known = np.where(y < 0, 0.0, np.where(y == 1, 1.0, -1.0))
        self._scores = self._K[:, self._labeled] @ known
        self.labeled_scores_ = np.sign(self._scores[self._labeled]) ** self.power
        return self

    def fit(self, X, y):
        self.fit_features(X, np.flatnonzero(y >= 0)).fit_labels(y[y >= 0])
        self.decision_scores_ = np.sign(self._scores) ** self.power
        return self


def test_a_split_fit_computes_once_what_no_label_decides():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = np.where(np.arange(60) < 30, X[:, 0] > 0, -1).astype(np.int64)
    settings = [{"power": p, "width": w} for p in (1.0, 3.0, 5.0) for w in (0.1, 100.0)]
    Staged.log.clear()
    staged = tune(Staged, settings, X, y, **arguments(uses_unlabeled=True, label_params={"power"}))
    assert [entry for entry in Staged.log if entry[0] == "features"] == [
        ("features", 0.1),
        ("features", 100.0),
    ]
    assert len(Staged.log) == 2 + 5 * len(settings)
    whole = tune(_Generic, settings, X, y, **arguments(uses_unlabeled=True))
    assert staged == whole


class _Generic:
    """Hides the stages of `Staged`."""

    def __init__(self, **params):
        self._model = Staged(**params)

    def fit(self, X, y):
        self._model.fit(X, y)
        self.classes_, self.decision_scores_ = self._model.classes_, self._model.decision_scores_


class Noisy(SeesUnlabeled):
    """Scores that know the truth of a share `a` of the points."""

    truth = np.tile([0, 1], 100)

    def fit(self, X, y):
        rng = np.random.default_rng(0)
        known = rng.permutation(len(y)) < self.a * len(y)
        self.decision_scores_ = np.where(
            known, 2 * self.truth[: len(y)] - 1, rng.normal(size=len(y))
        )
        self.classes_ = np.array([0, 1])


@pytest.mark.parametrize(("better", "chosen"), [(0.52, 0.5), (0.9, 0.9)])
def test_defaults_stand_unless_they_are_clearly_beaten(better, chosen):
    y = Noisy.truth.copy()
    found, _ = tune(
        Noisy,
        [{"a": better}],
        np.zeros((len(y), 1)),
        y,
        **arguments(uses_unlabeled=True, metric=METRICS["auc"]),
        defaults={"a": 0.5},
        standard_errors=2.0,
    )
    assert found == {"a": chosen}


def test_with_no_standard_error_the_best_mean_wins():
    y = Noisy.truth.copy()
    shared = {"defaults": {"a": 0.5}, "standard_errors": 0.0}
    found, score = tune(
        Noisy,
        [{"a": 0.1}, {"a": 0.6}],
        np.zeros((len(y), 1)),
        y,
        **arguments(uses_unlabeled=True, metric=METRICS["auc"]),
        **shared,
    )
    assert found == {"a": 0.6}
    assert score > 0.6
