from typing import ClassVar

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from tuning_problems import METRICS, arguments, every

from harness.plugin.search_space import uniform
from harness.plugin.shape import PREDICT_BLOCK
from harness.trial.folds import single_folds
from harness.trial.search import random
from harness.trial.tuning import _best, tune


def test_the_better_setting_wins():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.where(np.arange(90) < 60, X[:, 0] > 0, -1).astype(np.int64)
    settings = [{"n_neighbors": 45}, {"n_neighbors": 3}]
    best, score = tune(KNeighborsClassifier, {}, X, y, **every(settings), **arguments())
    assert best == {"n_neighbors": 3}
    assert score > 0.8


def test_errors_are_minimised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(np.arange(60) < 40, X @ [1.0, 2.0, 3.0], np.nan)
    best, score = tune(
        Ridge,
        {},
        X,
        y,
        **every([{"alpha": 1e4}, {"alpha": 1e-3}]),
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
    tune(SeesUnlabeled, {}, X, y, **every([{}]), **arguments(uses_unlabeled=True))
    held = [np.flatnonzero((y >= 0) & (fold < 0)) for fold in SeesUnlabeled.seen]
    assert len(held) == 5
    assert sorted(np.concatenate(held)) == list(range(10))
    assert all({y[i] for i in fold} == {0, 1} for fold in held)


def test_a_rare_class_lowers_the_number_of_folds():
    y = np.array([0] * 9 + [1] * 2 + [-1] * 3)
    SeesUnlabeled.seen = ()
    tune(SeesUnlabeled, {}, np.zeros((14, 1)), y, **every([{}]), **arguments(uses_unlabeled=True))
    assert len(SeesUnlabeled.seen) == 2


def test_where_nothing_can_be_scored_the_first_setting_stands():
    y = np.array([0, 0, 0, -1])
    best, score = tune(
        SeesUnlabeled,
        {},
        np.zeros((4, 1)),
        y,
        **every([{"a": 1}, {"a": 2}]),
        **arguments(uses_unlabeled=True, metric=METRICS["auc"]),
    )
    assert best == {"a": 1}
    assert np.isnan(score)


def test_the_only_point_of_a_class_is_never_held_out():
    y = np.array([0] * 6 + [1] + [-1] * 3)
    SeesUnlabeled.seen = ()
    tune(SeesUnlabeled, {}, np.zeros((10, 1)), y, **every([{}]), **arguments(uses_unlabeled=True))
    assert len(SeesUnlabeled.seen) == 5
    assert all(fold[6] == 1 for fold in SeesUnlabeled.seen)


def test_of_equally_good_settings_the_middle_one_is_taken():
    y = np.array([0] * 5 + [1] * 5 + [-1] * 10)
    settings = [{"a": i} for i in range(5)]
    best, _ = tune(
        SeesUnlabeled,
        {},
        np.arange(20.0)[:, None],
        y,
        **every(settings),
        **arguments(uses_unlabeled=True),
    )
    assert best == {"a": 2}


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
        {},
        np.zeros((len(y), 1)),
        y,
        **every([{"a": better}]),
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
        {},
        np.zeros((len(y), 1)),
        y,
        **every([{"a": 0.1}, {"a": 0.6}]),
        **arguments(uses_unlabeled=True, metric=METRICS["auc"]),
        **shared,
    )
    assert found == {"a": 0.6}
    assert score > 0.6


class Counting(Noisy):
    """Knows which values of `a` were fitted."""

    fitted: ClassVar[list] = []

    def fit(self, X, y):
        Counting.fitted.append(self.a)
        super().fit(X, y)


def tune_counting(search, trials, **changes):
    Counting.fitted.clear()
    y = Noisy.truth.copy()
    shared = arguments(uses_unlabeled=True, metric=METRICS["auc"], folds=2) | changes
    return tune(
        Counting,
        {"a": uniform(0, 1)},
        np.zeros((200, 1)),
        y,
        search=search,
        trials=trials,
        **shared,
    )


def test_a_setting_is_scored_once_however_often_it_is_asked_for():
    def search(space, evaluate, trials, rng):
        first = evaluate([{"a": 0.2}, {"a": 0.9}, {"a": 0.2}])
        again = evaluate([{"a": 0.9}, {"a": 0.5}, {"a": 0.7}])
        assert first[0] == first[2] < first[1] == again[0]
        assert again[1] < again[2] < again[0]

    found, _ = tune_counting(search, 3, defaults={"a": 0.5})
    assert Counting.fitted == [a for a in (0.5, 0.2, 0.9, 0.7) for _ in range(2)]
    assert found == {"a": 0.9}


def test_a_search_gets_scores_of_which_the_greater_is_better():
    told = []

    def search(space, evaluate, trials, rng):
        told.extend(evaluate([{"a": 0.2}, {"a": 0.9}]))

    found, error = tune_counting(search, 2, metric=METRICS["error_rate"])
    assert told[0] < told[1] == -error
    assert found == {"a": 0.9}


def test_a_search_that_takes_more_trials_than_it_has_is_stopped():
    def search(space, evaluate, trials, rng):
        for i in range(10):
            evaluate([{"a": i / 10}])

    with pytest.raises(ValueError, match="asks for setting 4; it may have 3 scored"):
        tune_counting(search, 3, defaults={"a": 0.5})
    assert sorted(set(Counting.fitted)) == [0, 0.1, 0.2, 0.5]


def test_a_search_that_has_nothing_scored_is_an_error():
    with pytest.raises(ValueError, match="no setting scored"):
        tune_counting(lambda space, evaluate, trials, rng: None, 3)


def test_folds_are_drawn_after_the_settings_of_a_random_search():
    X, y = np.zeros((20, 1)), np.tile([0, 1], 10)
    SeesUnlabeled.seen = ()
    rng = np.random.default_rng(7)
    shared = arguments(uses_unlabeled=True, rng=rng, folds=2)
    tune(SeesUnlabeled, {"a": uniform(0, 1)}, X, y, search=random, trials=3, **shared)
    rng = np.random.default_rng(7)
    rng.random((3, 1))
    order = rng.permutation(20)
    order = order[np.argsort(y[order], kind="stable")]
    for fold in (0, 1):
        assert sorted(np.flatnonzero(SeesUnlabeled.seen[fold] < 0)) == sorted(order[fold::2])


def test_one_target_tunes_nothing():
    X, y = np.arange(10.0)[:, None], np.where(np.arange(10) < 1, 1.0, np.nan)
    chosen, score = tune(
        Ridge,
        {},
        X,
        y,
        **every([{"alpha": 1e4}, {"alpha": 1e-3}]),
        **arguments(task="regression", n_classes=0, metric=METRICS["nmse"]),
    )
    assert chosen in ({}, {"alpha": 1e4}, {"alpha": 1e-3})
    assert np.isnan(score)


def test_what_is_held_out_is_predicted_in_blocks():
    asked = []

    class Counts(DummyClassifier):
        def predict_proba(self, X):
            asked.append(len(X))
            return super().predict_proba(X)

    n = 3 * PREDICT_BLOCK
    X, y = np.zeros((n, 1)), np.arange(n) % 2
    tune(lambda **_: Counts(), {}, X, y, **arguments(folds=2, **every([{}])))
    assert max(asked) == PREDICT_BLOCK
    assert sum(asked) == n


@pytest.mark.parametrize(("standard_errors", "chosen"), [(3.4, 1), (3.5, 0)])
def test_the_error_of_a_mean_gain_shrinks_with_the_root_of_the_folds(standard_errors, chosen):
    # the mean gain is 2, its standard error sqrt(4 / 3) / sqrt(4): 3.46 times smaller
    scores = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 3.0, 3.0]])
    assert _best(scores, standard_errors, defaults_first=True) == chosen
    assert _best(scores, standard_errors, defaults_first=False) == 1


def test_a_setting_that_one_fold_scored_has_its_mean():
    scores = np.array([[0.0, 0.0], [5.0, np.nan], [1.0, 1.0]])
    assert _best(scores, 0.0, defaults_first=False) == 1


def test_a_gain_in_one_fold_alone_leaves_the_defaults():
    scores = np.array([[0.0, np.nan, 0.0], [5.0, 5.0, np.nan]])
    assert _best(scores, 0.0, defaults_first=True) == 0


@pytest.mark.parametrize(
    ("scores", "standard_errors", "chosen"),
    [
        # a gain of just so many standard errors is in doubt: mean 2, error sqrt(8 / 2) / sqrt(2)
        ([[0.0, 0.0], [0.0, 4.0]], 1.0, 0),
        ([[0.0, 0.0], [0.0, 4.0]], 0.99, 1),
        # no gain at all: the defaults stay though nothing is in doubt
        ([[1.0, 2.0], [2.0, 1.0]], 0.0, 0),
        # a setting without any score is none, and one fold is enough to be compared by its mean
        ([[0.0, 0.0], [np.nan, np.nan], [1.0, 1.0]], 0.0, 2),
        # defaults that could not be scored in any fold are beaten by what could
        ([[np.nan, np.nan], [-5.0, -4.0]], 9.0, 1),
        # those of one fold stand, where the two have no other fold in common
        ([[1.0, np.nan], [2.0, 3.0]], 0.0, 0),
    ],
)
def test_what_replaces_the_defaults(scores, standard_errors, chosen):
    assert _best(np.array(scores), standard_errors, defaults_first=True) == chosen


def test_a_gain_counts_where_nobody_says_by_how_much():
    y = Noisy.truth.copy()
    found, _ = tune(
        Noisy,
        {},
        np.zeros((len(y), 1)),
        y,
        **every([{"a": 0.505}]),
        **arguments(uses_unlabeled=True, metric=METRICS["auc"]),
        defaults={"a": 0.5},
    )
    assert found == {"a": 0.505}


@pytest.mark.parametrize(("task", "y"), [("regression", [0.5, 2.0]), ("binary", [0, 0, 1, 1])])
def test_two_targets_of_a_kind_are_the_fewest_that_can_be_held_out(task, y):
    y = np.array(y)
    folds = list(single_folds(y, task, 5, np.random.default_rng(0)))
    assert [len(fold) for fold in folds] == [len(y) // 2] * 2
    assert sorted(np.concatenate(folds)) == list(range(len(y)))
    assert not list(single_folds(y[:1], task, 5, np.random.default_rng(0)))


def test_a_metric_of_probabilities_tunes_what_gives_them():
    """Of neighbours that are all alike, few are too sure."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(np.arange(80) < 60, rng.integers(0, 2, 80), -1)
    settings = [{"n_neighbors": 1}, {"n_neighbors": 40}]
    asked = arguments(metric=METRICS["log_loss"])
    best, score = tune(KNeighborsClassifier, {}, X, y, **every(settings), **asked)
    assert best == {"n_neighbors": 40}
    assert 0.5 < score < 0.8  # a coin has 0.69, one neighbour some 18


def test_what_gives_no_probabilities_is_not_tuned_by_them():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.arange(40) % 2
    asked = arguments(metric=METRICS["log_loss"])
    settings = [{"alpha": 1.0}, {"alpha": 2.0}]
    best, score = tune(RidgeClassifier, {}, X, y, **every(settings), **asked)
    assert best == {"alpha": 1.0}
    assert np.isnan(score)
