"""Folds in which no group is held out in part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from harness.metrics.functions import BUILT_IN
from harness.trial.folds import grouped_folds
from harness.trial.tuning import tune


@given(st.integers(0, 200), st.integers(2, 12), st.integers(2, 6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_each_group_is_held_out_once_and_whole(seed, n_groups, folds, regression):
    rng = np.random.default_rng(seed)
    groups, y = rng.integers(0, n_groups, 60) * 7, rng.integers(0, 3, 60)
    task = "regression" if regression else "multiclass"
    found = list(grouped_folds(y, task, folds, np.random.default_rng(seed), groups))
    held = np.concatenate(found) if found else np.empty(0, int)
    assert len(np.unique(held)) == len(held)
    for part in found:
        others = np.setdiff1d(np.arange(60), part)
        assert not set(groups[part]) & set(groups[others])
        assert set(y[others]) == set(y) or regression
    most = min(folds, len(set(groups)))
    assert len(found) <= most
    if regression:
        assert len(found) == most
        assert sorted(held) == list(range(60))


def test_classes_are_spread_over_folds_as_groups_allow():
    """Of eight groups of one class each and four folds, each fold gets one of each class."""
    groups = np.repeat(np.arange(8), 5)
    y = groups % 2
    for seed in range(5):
        found = grouped_folds(y, "binary", 4, np.random.default_rng(seed), groups)
        assert [np.bincount(y[part]).tolist() for part in found] == [[5, 5]] * 4


def test_a_class_of_one_group_leaves_out_the_fold_that_would_hold_it_out():
    groups = np.array([0, 0, 1, 1, 2, 2])
    y = np.array([0, 0, 0, 0, 1, 1])
    found = list(grouped_folds(y, "binary", 3, np.random.default_rng(0), groups))
    assert sorted(part.tolist() for part in found) == [[0, 1], [2, 3]]
    assert not list(grouped_folds(y, "binary", 5, np.random.default_rng(0), np.zeros(6, int)))


@pytest.mark.parametrize("grouped", [False, True])
def test_a_search_is_fooled_by_points_of_one_group_unless_groups_are_held_out_whole(grouped):
    """A width that knows each group by heart is best, if its other points are among the labeled.

    Groups are tight clusters of one class each; which class, their place does not say.
    """
    rng = np.random.default_rng(0)
    places, classes = rng.normal(size=(40, 8)), np.arange(40) % 2
    groups = np.repeat(np.arange(40), 5)
    X = places[groups] + 1e-3 * rng.normal(size=(200, 8))
    y = classes[groups]
    (accuracy,) = (metric for metric in BUILT_IN if metric.name == "accuracy")
    _, score = tune(
        lambda **setting: SVC(**setting),
        {},
        X,
        y,
        search=lambda space, evaluate, trials, rng: evaluate([{"gamma": 10.0}]),
        trials=1,
        task="binary",
        n_classes=2,
        uses_unlabeled=False,
        metric=accuracy,
        folds=5,
        rng=np.random.default_rng(1),
        groups=groups if grouped else None,
    )
    assert (score < 0.6) if grouped else (score == 1)
