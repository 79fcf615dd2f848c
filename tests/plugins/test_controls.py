"""Controls: chance level, the prior, and scores that depend on the point alone."""

import controls
import numpy as np
import pytest
from blobs import blobs
from sklearn.metrics import roc_auc_score


def test_random_scores_have_no_information():
    X, y, truth = blobs(1000, 2)
    aucs = [
        roc_auc_score(truth, controls.RandomScores(random_state=i).fit(X, y).decision_function(X))
        for i in range(20)
    ]
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.015)
    assert np.std(aucs) == pytest.approx(np.sqrt(1 / 6000), rel=0.6)  # 2000 points, half positive


def test_random_scores_are_uniform_and_depend_on_the_point_alone():
    X, y, _ = blobs(500, 3)
    model = controls.RandomScores(random_state=1).fit(X, y)
    scores = model.decision_function(X)
    assert np.abs(np.quantile(scores, [0.1, 0.5, 0.9]) - [0.1, 0.5, 0.9]).max() < 0.03
    np.testing.assert_array_equal(scores[::-1], model.decision_function(X[::-1]))
    np.testing.assert_array_equal(scores[7:8], model.decision_function(X[7:8]))


def test_prior_predicts_the_commonest_class_and_ranks_nothing():
    X, y, truth = blobs(50, 3)
    y = np.where(truth == 2, 2, y)
    model = controls.ClassPrior().fit(X, y)
    assert set(model.predict(X)) == {2}
    assert np.ptp(model.decision_function(X), axis=0).max() == 0


def test_regression_gives_the_mean_or_draws_like_the_labels():
    X, _, _ = blobs(2000, 2)
    y = np.where(np.arange(4000) < 100, 3 + np.sin(np.arange(4000.0)), np.nan)
    known = y[:100]
    np.testing.assert_allclose(controls.ClassPrior(n_classes=0).fit(X, y).predict(X), known.mean())
    drawn = controls.RandomScores(n_classes=0, random_state=0).fit(X, y).predict(X)
    assert drawn.mean() == pytest.approx(known.mean(), abs=0.05)
    assert drawn.std() == pytest.approx(known.std(), rel=0.05)


def test_clustering_gives_one_cluster_or_any():
    X, _, _ = blobs(100, 2)
    y = np.full(200, -1)
    assert set(controls.ClassPrior(n_clusters=4).fit(X, y).predict(X)) == {0}
    random = controls.RandomScores(n_clusters=4, random_state=0).fit(X, y).predict(X)
    assert set(random) == {0, 1, 2, 3}


def test_unlabeled_regression_is_refused():
    with pytest.raises(ValueError, match="no labeled point"):
        controls.ClassPrior(n_classes=0).fit(np.ones((3, 1)), np.full(3, np.nan))
