"""SSSL against its eigenfunctions, and on landmarks against kernel ridge regression."""

import numpy as np
import pytest
from blobs import blobs
from kernel_ridge import CenteredKernelRidge
from sssl import SSSL, NystromSSSL


@pytest.fixture
def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(150, 2))
    truth = np.sin(2 * X[:, 0]) + X[:, 1] + 5
    y = truth.copy()
    y[50:] = np.nan
    return X, y, truth


def test_it_is_least_squares_on_the_first_eigenvectors(waves):
    X, y, _ = waves
    model = SSSL(6, sigma=1.5, sigma_unit="absolute").fit(X, y)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * 1.5**2))
    eigenvalues, U = np.linalg.eigh(K)
    F = np.column_stack([U[:, :-7:-1], np.ones(150)])
    expected = F @ np.linalg.lstsq(F[:50], y[:50])[0]
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-3)
    np.testing.assert_allclose(model.eigenvalues_[:6], eigenvalues[:-7:-1], rtol=1e-5)


def test_with_all_eigenfunctions_and_labels_it_interpolates(waves):
    X, _, truth = waves
    model = SSSL(150, sigma=0.05).fit(X, truth)
    assert len(model.eigenvalues_) == 150
    np.testing.assert_allclose(model.predict(X), truth, atol=2e-4)


def test_an_eigenfunction_of_an_unlabeled_outlier_gets_no_weight(waves):
    X, y, _ = waves
    X[149] = 7, 0
    model = SSSL(12, sigma=1.0).fit(X, y)
    # its own eigenfunction, of which the labeled points see next to nothing, is among the twelve
    U = np.linalg.eigh(np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * model._width**2)))[1]
    assert np.abs(U[149, :-13:-1]).max() > 0.9
    assert abs(model.predict(X)[149] - y[:50].mean()) < 3 * np.nanstd(y)


def test_the_first_eigenfunctions_of_all_points_serve_every_number(waves):
    X, y, _ = waves
    model = SSSL(sigma=1.0).fit_features(X, np.arange(50))
    y[:10] = np.nan
    for s in (2, 8, 16):
        split = model.set_params(n_components=s).fit_labels(y[:50]).held_out_values_
        whole = SSSL(s, sigma=1.0).fit(X, y).predict(X[:10])
        np.testing.assert_allclose(split, whole, atol=1e-3)


def test_more_eigenfunctions_than_were_computed_are_refused(waves):
    X, y, _ = waves
    model = SSSL(sigma=1.0).fit_features(X, np.arange(50)).set_params(n_components=129)
    with pytest.raises(ValueError, match="n_components=129: 128 eigenfunctions were computed"):
        model.fit_labels(y[:50])


def test_no_eigenfunction_is_rounding(waves):
    """K u = lambda u holds of those that are kept: the function is what was fitted."""
    X, y, _ = waves
    model = SSSL(64, sigma=1.5).fit_features(X, np.arange(50)).fit_labels(y[:50])
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * model._width**2))
    U, eigenvalues = model._functions, model.eigenvalues_
    assert 10 < len(eigenvalues) < 64
    assert np.abs(K @ U - U * eigenvalues).max() < 0.2 * eigenvalues[-1]


@pytest.mark.parametrize("n_views", [1, 2])
def test_with_all_points_as_landmarks_it_is_kernel_ridge_regression(waves, n_views):
    X, y, _ = waves
    width = {"sigma": 0.7, "sigma_unit": "absolute"}
    model = NystromSSSL(150, n_views, alpha=0.1 / 50, random_state=0, **width).fit(X, y)
    expected = CenteredKernelRidge(alpha=0.1, **width).fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-5)


def test_two_views_are_twice_the_landmarks(waves):
    X, y, _ = waves
    expected = NystromSSSL(40, random_state=0).fit(X, y).predict(X)
    np.testing.assert_array_equal(
        NystromSSSL(20, 2, random_state=0).fit(X, y).predict(X), expected
    )


@pytest.mark.parametrize("model", [SSSL(20), NystromSSSL(40, random_state=0)], ids=["all", "some"])
def test_points_or_targets_that_are_all_the_same_give_their_mean_everywhere(model, waves):
    X, y, _ = waves
    np.testing.assert_allclose(model.fit(np.ones_like(X), y).predict(X), np.nanmean(y))
    few = np.full(150, np.nan)
    few[0] = 3.0
    np.testing.assert_allclose(model.fit(X, few).predict(X), 3.0)
    np.testing.assert_allclose(model.fit(X, np.where(y > 0, 2.0, y)).predict(X), 2.0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", [SSSL(8), NystromSSSL(40, alpha=1e-2)], ids=["all", "some"])
def test_classes_are_regressed_one_against_the_rest(model, n_classes):
    X, y, truth = blobs(60, n_classes, labeled=12)
    model.set_params(n_classes=n_classes).fit(X, y)
    assert np.mean(model.predict(X) == truth) > 0.65


def test_an_outlier_does_not_spoil_the_rest():
    X = np.random.default_rng(0).uniform(-2, 2, (400, 3))
    target = np.sin(X[:, 0]) + X[:, 1]
    y = np.where(np.arange(400) < 60, target, np.nan)
    moved = X.copy()
    moved[399, 1] = 1e6
    errors = [
        np.mean((SSSL(32).fit(points, y).predict(points)[60:399] - target[60:399]) ** 2)
        for points in (X, moved)
    ]
    assert errors[1] < 2 * errors[0]


def test_points_that_repeat_get_the_mean_of_their_targets(waves):
    X, y, _ = waves
    five = np.repeat(X[:5], 30, axis=0)
    order = np.random.default_rng(0).permutation(150)
    means = [np.nanmean(y[order // 30 == i]) for i in range(5)]
    np.testing.assert_allclose(SSSL(20).fit(five[order], y).predict(X[:5]), means, atol=1e-4)
