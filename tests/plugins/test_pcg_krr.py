"""Preconditioned kernel ridge regression: the function of exact regression, in few iterations."""

import numpy as np
import pytest
from kernel_ridge import CenteredKernelRidge
from pcg_krr import PreconditionedKernelRidge
from pcg_krr.low_rank import LowRankPreconditioner
from sklearn.exceptions import ConvergenceWarning

from harness import kernels


@pytest.fixture(scope="module")
def waves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=700) + 5
    return X, y


@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("sigma", [0.5, 2.0])
@pytest.mark.parametrize("n_landmarks", [5, 80])
def test_it_is_exact_kernel_ridge_regression(waves, n_landmarks, sigma, alpha):
    X, y = waves
    setting = {"alpha": alpha, "sigma": sigma}
    expected = CenteredKernelRidge(**setting).fit(X, y).predict(X)
    exactly = {"tol": 1e-8, "max_iter": 2000, "dtype": "float64"}
    found = PreconditionedKernelRidge(n_landmarks, random_state=0, **exactly, **setting).fit(X, y)
    np.testing.assert_allclose(found.predict(X), expected, atol=1e-5)
    single = PreconditionedKernelRidge(80, random_state=0, **setting).fit(X, y).predict(X)
    assert np.std(single - expected) < 5e-3 * np.std(expected)


def test_landmarks_save_iterations_and_change_nothing_else(waves):
    iterations = {
        n_landmarks: PreconditionedKernelRidge(n_landmarks, alpha=0.1, random_state=0)
        .fit(*waves)
        .n_iter_
        for n_landmarks in (1, 30, 300)
    }
    assert iterations[300] <= 5
    assert iterations[300] < iterations[30] < iterations[1]


def test_iterations_do_not_grow_with_the_points():
    """With more pivots than the effective dimension (theorem 2.2 of Diaz et al. 2023)."""
    rng = np.random.default_rng(0)
    iterations = []
    for n in (300, 900, 2700):
        X = rng.normal(size=(n, 2))
        y = np.sin(2 * X[:, 0]) + rng.normal(size=n)
        model = PreconditionedKernelRidge(100, alpha=0.1, random_state=0).fit(X, y)
        iterations.append(model.n_iter_)
    assert max(iterations) <= 8


def test_the_preconditioner_is_the_inverse_that_it_says(waves):
    X = waves[0]
    kernel = kernels.bind_kernel("rbf", X)
    chosen = kernels.select_landmarks("uniform", X, 50, np.random.RandomState(0), kernel)
    features = kernels.LandmarkFeatures(X, kernel, chosen)
    rows = np.arange(0, 700, 2)
    inverse = LowRankPreconditioner(features, X, rows, 1e-4)
    F = features.transform(X[rows]).astype(np.float64)
    F -= F.mean(axis=0)
    np.testing.assert_allclose(inverse._F, F, atol=1e-6)
    F = inverse._F.astype(np.float64)
    vectors = np.random.default_rng(1).normal(size=(350, 2))
    solved = inverse.solve(vectors.copy())
    np.testing.assert_allclose(F @ (F.T @ solved) + 1e-4 * solved, vectors, atol=1e-6)


def test_one_tile_serves_both_sides_of_the_diagonal(waves):
    X = np.repeat(waves[0], 2, axis=0)[:1000]
    kernel, rows = kernels.bind_kernel("rbf", X), np.arange(1, 1000)
    vectors = np.random.default_rng(0).normal(size=(999, 2))
    model = PreconditionedKernelRidge(dtype="float64")
    found = model._products(X, rows, kernel, vectors)
    np.testing.assert_allclose(found, kernel(X[rows], X[rows]) @ vectors, atol=1e-9)


def test_unlabeled_points_have_no_part_but_as_landmarks(waves):
    X, y = waves
    some = y.copy()
    some[300:] = np.nan
    setting = {"alpha": 0.1, "tol": 1e-8, "max_iter": 500, "dtype": "float64", "sigma": 3.0}
    setting |= {"sigma_unit": "absolute", "random_state": 0}
    with_all = PreconditionedKernelRidge(50, **setting).fit(X, some).predict(X)
    alone = PreconditionedKernelRidge(50, **setting).fit(X[:300], y[:300]).predict(X)
    np.testing.assert_allclose(with_all, alone, atol=1e-5)


def test_a_fit_that_has_not_converged_says_so(waves):
    with pytest.warns(ConvergenceWarning, match="after 2 iterations .* raise alpha, n_landmarks"):
        PreconditionedKernelRidge(5, alpha=1e-6, max_iter=2).fit(*waves)
