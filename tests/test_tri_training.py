"""Tri-training, by itself and as what `sklearn_method` does with points that have no label."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from harness import sklearn_method
from harness.conformance import check_methods
from harness.errors import HarnessError
from harness.scikit_learn.tri_training import TriTraining, _rows_to_take


def clouds(n=300, labeled=10, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    X = rng.normal(size=(n, 5)) + 1.2 * truth[:, None]
    y = np.full(n, -1)
    for c in (0, 1):
        rows = np.flatnonzero(truth == c)[:labeled]
        y[rows] = c
    return X, y, truth


def test_three_trees_teach_each_other():
    gains = []
    for seed in range(16):
        X, y, truth = clouds(600, 50, seed)
        known, tree = y != -1, DecisionTreeClassifier(random_state=0)
        model = TriTraining(tree, random_state=seed).fit(X, y)
        alone = tree.fit(X[known], y[known])
        gains.append(model.score(X[~known], truth[~known]) - alone.score(X[~known], truth[~known]))
    assert np.mean(gains) > 0.005


def test_a_round_takes_points_only_while_the_bound_falls():
    rng, rows = np.random.RandomState(0), np.arange(100)
    assert len(_rows_to_take(rows, 0.2, 0.2, 10, rng)) == 0  # the error did not fall
    assert len(_rows_to_take(rows, 0.0, 0.5, 0, rng)) == 100
    assert len(_rows_to_take(rows, 0.1, 0.2, 60, rng)) == 100  # 10 < 12
    taken = _rows_to_take(rows, 0.1, 0.2, 40, rng)  # 10 > 8: as many as keep it below
    assert len(taken) == 79
    assert 0.1 * len(taken) < 0.2 * 40
    assert len(_rows_to_take(rows[:30], 0.1, 0.2, 40, rng)) == 0  # fewer than before


def test_without_other_points_there_are_three_bootstrap_samples():
    X, _, truth = clouds(60)
    model = TriTraining(DecisionTreeClassifier(random_state=0), random_state=0).fit(X, truth)
    assert model.n_iter_ == 1
    assert len({tuple(tree.tree_.threshold) for tree in model.estimators_}) == 3


def test_votes_stand_for_probabilities_where_there_are_none():
    X, y, truth = clouds()
    model = TriTraining(LinearSVC(), random_state=0).fit(X, y)
    shares = 3 * model.predict_proba(X)
    np.testing.assert_allclose(shares, np.rint(shares), atol=1e-9)
    assert model.score(X, truth) > 0.8


@pytest.mark.parametrize(
    "base",
    [KNeighborsClassifier, make_pipeline(StandardScaler(), LogisticRegression())],
    ids=["a class", "a pipeline"],
)
def test_the_conformance_kit_finds_nothing(base):
    method = sklearn_method(base, "tri", unlabeled="tri-training")
    assert method.uses_unlabeled
    assert "random_state" in method.parameters
    found = list(check_methods([method], seconds=60, measure=False))
    # variances of points far from the origin are the base's own matter
    failed = [f for f in found if f.result == "fails" and not f.check.startswith("far from")]
    assert failed == []


def test_a_regressor_has_no_classes_to_label():
    with pytest.raises(HarnessError, match="'tri-training' labels classes; a regressor has none"):
        sklearn_method(GaussianNB, unlabeled="tri-training", tasks={"regression"})
