"""A linear SVM on features of which an author wrote the map alone."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from harness import Shape
from harness.semi_supervised import SVMOnFeatures, machine_bytes, svm_phases


class Squares(SVMOnFeatures):
    """Features and their squares; counts its calls."""

    def _learn(self, X, labeled):
        self.learned = getattr(self, "learned", 0) + 1
        self._of_labeled = self._features(X[labeled])

    def _labeled_features(self, n_labels):
        return self._of_labeled

    def _features(self, X):
        return np.column_stack([X, X**2]).astype(np.float32)

    def _blocks(self, n):
        return [slice(start, start + 7) for start in range(0, n, 7)]


def rings(n=200, known=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = (np.hypot(*X.T) > 1.2).astype(int)
    hidden = y.copy()
    hidden[known:] = -1
    return X, y, hidden


def test_it_is_the_machine_on_the_features_of_the_labeled_points():
    X, y, hidden = rings()
    model = Squares(C=10.0).fit(X, hidden)
    F = np.column_stack([X, X**2])
    # its intercept is penalised: a large one of the features makes that nothing
    other = LinearSVC(C=10.0, intercept_scaling=1e3, tol=1e-8, max_iter=10**6)
    expected = other.fit(F[:60], y[:60]).decision_function(F)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=2e-3)
    assert roc_auc_score(y, model.decision_function(X)) > 0.99


def test_folds_share_the_map_and_score_what_is_held_out():
    X, y, hidden = rings()
    rows = np.flatnonzero(hidden >= 0)
    model = Squares().fit_features(X, rows)
    for fold in range(3):
        labels = y[rows].copy()
        labels[fold::3] = -1
        found = model.fit_labels(labels).held_out_scores_
        alone = hidden.copy()
        alone[rows[fold::3]] = -1
        expected = Squares().fit(X, alone).decision_function(X[rows[fold::3]])
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert model.learned == 1


@pytest.mark.parametrize("threshold", ["share", "zero"])
def test_decisions_have_the_shares_of_the_labels_where_asked_for(threshold):
    X, y, hidden = rings()
    model = Squares(decision_threshold=threshold).fit(X, hidden)
    if threshold == "zero":
        assert model.offset_ == 0
    else:
        share = (model.predict(X[60:]) == 1).mean()
        assert share == pytest.approx(y[:60].mean(), abs=0.02)


def test_a_class_without_a_label_is_never_predicted():
    X, _, hidden = rings()
    model = Squares(n_classes=3).fit(X, hidden)
    assert model.decision_function(X).shape == (200, 3)
    assert set(model.predict(X)) == {0, 1}


def test_phases_count_features_and_machines():
    shape = Shape(n_labeled=50, n_unlabeled=450, n_features=10, n_classes=3)
    once, tuned = (svm_phases(shape, 20, 100, 30, tuned) for tuned in (False, True))
    assert once["machines"] == {
        "labeled_features": 4 * 50 * 20,
        "machines": machine_bytes(50, 3),
    }
    assert tuned["machines"]["labeled_features"] == 2 * once["machines"]["labeled_features"]
    assert once["labeled features"]["rows"] == 30 * 100
    assert set(once["threshold"]) == {"threshold", "rows"}
