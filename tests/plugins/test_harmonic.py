"""Harmonic functions against their closed form, and what class mass normalisation changes."""

import numpy as np
import pytest
from conftest import blobs
from harmonic import ClassMassNormalization, HarmonicFunction
from sklearn.metrics import roc_auc_score

WIDTH = 0.8


def weights(X, Z=None):
    Z = X if Z is None else Z
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / (2 * WIDTH**2))


def closed_form(X, y, n_classes):
    W, u, known = weights(X), y == -1, y != -1
    laplacian = np.diag(W.sum(axis=1)) - W
    return np.linalg.solve(
        laplacian[np.ix_(u, u)], W[np.ix_(u, known)] @ np.eye(n_classes)[y[known]]
    )


@pytest.fixture(params=[2, 3])
def fitted(request):
    X, y, truth = blobs(70, request.param)
    model = HarmonicFunction(sigma=WIDTH, sigma_unit="absolute").fit(X, y)
    return X, y, truth, model


def test_it_equals_the_closed_form(fitted):
    X, y, _, model = fitted
    expected = closed_form(X, y, len(model.classes_))
    np.testing.assert_allclose(model.label_distributions_[y == -1], expected, atol=1e-7)


def test_it_is_harmonic_a_distribution_and_keeps_the_labels(fitted):
    X, y, _, model = fitted
    f = model.label_distributions_
    W = weights(X)
    np.fill_diagonal(W, 0)
    mean = W @ f / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(f[y == -1], mean[y == -1], atol=1e-7)
    assert f.min() >= 0
    assert f.max() <= 1
    np.testing.assert_allclose(f.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.transduction_[y != -1], y[y != -1])


def test_induction_is_the_weighted_mean(fitted):
    X, _, _, model = fitted
    new = X[:5] + 0.1
    W = weights(new, X)
    expected = W @ model.label_distributions_ / W.sum(axis=1, keepdims=True)
    expected = expected[:, 1] - expected[:, 0] if expected.shape[1] == 2 else expected
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10)


def test_mass_normalisation_moves_the_threshold_and_not_the_ranking():
    X, y, truth = blobs(70, 2)
    harmonic, cmn = HarmonicFunction().fit(X, y), ClassMassNormalization().fit(X, y)
    u = y == -1
    aucs = [roc_auc_score(truth[u], m.decision_scores_[u]) for m in (harmonic, cmn)]
    assert aucs[0] == aucs[1]
    assert (harmonic.transduction_ != cmn.transduction_).any()


def test_masses_match_the_prior():
    X, y, _ = blobs(70, 3)
    cmn = ClassMassNormalization().fit(X, y)
    mass = (cmn.label_distributions_ * cmn._mass_weights)[y == -1].mean(axis=0)
    np.testing.assert_allclose(mass, np.full(3, 1 / 3))


def test_points_that_no_edge_reaches_get_the_prior():
    X = np.array([[0.0], [0.1], [1.0], [1e4], [2e4]])
    model = HarmonicFunction(sigma=0.3, sigma_unit="absolute").fit(X, [0, 0, 1, -1, -1])
    np.testing.assert_allclose(model.label_distributions_[3:], [[2 / 3, 1 / 3]] * 2)
    assert np.isfinite(model.decision_function([[1e6]])).all()
