"""FALKON and LogFALKON: what their iterations end in is what the whole systems give."""

import warnings

import numpy as np
import pytest
from blobs import blobs
from falkon import Falkon, LogFalkon
from falkon.preconditioner import FalkonPreconditioner
from kernel_ridge import CenteredKernelRidge, NystromKernelRidge
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from harness import kernels


@pytest.fixture(scope="module")
def waves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=600) + 5
    return X, y


def distance(found, expected):
    """Return the deviation of values in parts of that of the expected ones."""
    return np.std(found - expected) / np.std(expected)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_with_all_points_as_landmarks_it_is_kernel_ridge(waves, sigma, alpha):
    X, y = waves
    setting = {"alpha": alpha, "sigma": sigma}
    exact = CenteredKernelRidge(**setting).fit(X, y).predict(X)
    found = Falkon(600, tol=1e-9, max_iter=200, dtype="float64", **setting).fit(X, y)
    assert distance(found.predict(X), exact) < 1e-6
    single = Falkon(600, **setting).fit(X, y)
    assert distance(single.predict(X), exact) < 5e-3
    np.testing.assert_allclose(single.predict(X).mean(), y.mean(), rtol=1e-3)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_on_landmarks_it_is_the_direct_solve(waves, alpha):
    X, y = waves
    setting = {"n_landmarks": 60, "alpha": alpha, "random_state": 0}
    direct = NystromKernelRidge(**setting).fit(X, y).predict(X)
    found = Falkon(tol=1e-9, max_iter=200, dtype="float64", **setting).fit(X, y)
    assert distance(found.predict(X), direct) < 1e-5


def test_passes_do_not_grow_with_the_points(waves):
    """With a penalty of lambda = 1 / sqrt(n), as in the paper's theorem 1."""
    rng = np.random.default_rng(1)
    passes = []
    for n in (500, 2000, 8000):
        X = rng.normal(size=(n, 3))
        y = np.sin(2 * X[:, 0]) + rng.normal(size=n)
        passes.append(Falkon(200, alpha=n**0.5, random_state=0).fit(X, y).n_iter_)
    assert max(passes) <= 15


@pytest.mark.parametrize("kernel", ["linear", "poly2", "laplacian"])
def test_other_kernels_fit_as_well(waves, kernel):
    X, y = waves
    setting = {"alpha": 0.1, "kernel": kernel, "random_state": 0}
    model = Falkon(100, dtype="float64", **setting).fit(X, y)
    bound = kernels.bind_kernel(kernel, X)
    B = model.landmarks_ + (0 if bound.center is None else bound.center)
    C, K = bound(X, B), bound(B, B)
    mean = C.mean(axis=0)
    right = (C - mean).T @ (y - y.mean())
    system = (C - mean).T @ (C - mean) + 0.1 * K
    coef = np.linalg.lstsq(system, right, rcond=1e-12)[0]
    expected = (C - mean) @ coef + y.mean()
    assert distance(model.predict(X), expected) < 0.01


def test_the_preconditioned_system_is_near_the_identity(waves):
    """Both halves of the square are the factors that it says, with and without weights."""
    X = waves[0][:80]
    kernel = kernels.bind_kernel("rbf", X).at_origin
    K, weights = kernel(X, X), np.linspace(0.1, 1, 80)
    preconditioner = FalkonPreconditioner(X, kernel)
    K[np.diag_indices(80)] += preconditioner.jitter
    for w in (None, weights):
        preconditioner.weigh(80, 0.3, w)
        w = np.ones(80) if w is None else w
        about = np.diag(w) - np.outer(w, w) / w.sum()
        system = K @ about @ K + 0.3 * K
        B = preconditioner.solve(np.eye(80))
        np.testing.assert_allclose(B.T @ system @ B, np.eye(80), atol=1e-5)
        np.testing.assert_allclose(
            preconditioner.solve_transposed(np.eye(80)), B.T, rtol=1e-5, atol=1e-5
        )
        penalty = preconditioner.penalty(np.eye(80))
        np.testing.assert_allclose(penalty, B.T @ K @ B, atol=1e-5)
    u = np.arange(80.0)
    a = preconditioner.solve_t(u[:, None])[:, 0]
    np.testing.assert_allclose(preconditioner.values_at_landmarks(u), K @ a, atol=1e-6)


def test_a_fit_that_has_not_converged_says_so(waves):
    with pytest.warns(ConvergenceWarning, match="after 2 passes a part of 0.* raise alpha or max"):
        Falkon(200, alpha=1e-6, max_iter=2).fit(*waves)
    y = (waves[1] > waves[1].mean()).astype(int)
    with pytest.warns(ConvergenceWarning, match="after 1 Newton steps .* raise alpha or max_iter"):
        LogFalkon(200, alpha=1e-6, max_iter=1).fit(waves[0], y)


def test_equal_landmarks_are_no_harm(waves):
    X, y = np.repeat(waves[0][:50], 6, axis=0), np.repeat(waves[1][:50], 6)
    exact = CenteredKernelRidge(0.1).fit(X, y).predict(X)
    assert distance(Falkon(300, alpha=0.1).fit(X, y).predict(X), exact) < 0.01


@pytest.mark.parametrize("estimator", [Falkon, LogFalkon])
def test_unlabeled_points_have_no_part_but_as_landmarks(estimator):
    X, y, _ = blobs(60, 2, labeled=30)
    known = y >= 0
    setting = {"n_landmarks": len(X), "n_classes": 2, "sigma": 5.0, "sigma_unit": "absolute"}
    with_all = estimator(**setting).fit(X, y).decision_function(X)
    model = estimator(**setting).fit(X[known], y[known])
    assert np.corrcoef(with_all, model.decision_function(X))[0, 1] > 0.99


def logistic_regression(X, y, chosen, kernel, alpha):
    """Return scores of scikit-learn's on the features L^-1 k(Z, x) of landmarks."""
    K = kernel(X[chosen], X[chosen]) + 1e-10 * np.eye(len(chosen))
    features = np.linalg.solve(np.linalg.cholesky(K), kernel(X[chosen], X)).T
    model = LogisticRegression(C=1 / alpha, max_iter=5000, tol=1e-8)
    return model.fit(features, y).decision_function(features)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_logistic_regression_on_features_of_landmarks(waves, n_classes, alpha):
    X, values = waves
    y = np.digitize(values, np.quantile(values, np.arange(1, n_classes) / n_classes))
    kernel = kernels.bind_kernel("rbf", X)
    chosen = kernels.select_landmarks("uniform", X, 60, np.random.RandomState(0), kernel)
    setting = {"alpha": alpha, "random_state": 0}
    exact = LogFalkon(60, tol=1e-10, dtype="float64", **setting).fit(X, y)
    single = LogFalkon(60, **setting).fit(X, y)
    for own in range(1 if n_classes == 2 else n_classes):
        truth = y if n_classes == 2 else (y == own).astype(int)
        expected = logistic_regression(X, truth, chosen, kernel, alpha)
        scores = (exact.decision_function(X), single.decision_function(X))
        scores = [found if n_classes == 2 else found[:, own] for found in scores]
        assert distance(scores[0], expected) < 1e-3
        assert distance(scores[1], expected) < 0.03
        np.testing.assert_allclose(scores[0].mean(), expected.mean(), atol=1e-3)


def test_separable_classes_end_at_a_minimum():
    X, _, truth = blobs(50, 2)
    X = X + 100 * truth[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogFalkon(50, alpha=1e-3, random_state=0).fit(X, truth)
    assert (model.predict(X) == truth).all()
    assert model.gap_ <= 1e-3
