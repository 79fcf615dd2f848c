"""Least squares with a free intercept against the systems it must solve."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from harness.semi_supervised import centered_kernel_ridge, centered_ridge
from harness.semi_supervised.least_squares import read_targets


@pytest.fixture(params=[(40, 6), (6, 40)], ids=["tall", "wide"])
def problem(request):
    rng = np.random.default_rng(0)
    n, k = request.param
    return rng.normal(size=(n, k)) + 2, rng.normal(size=(n, 2)) - 5


def test_ridge_with_one_penalty_is_scikit_learns(problem):
    F, values = problem
    w, b = centered_ridge(F, values, 0.3)
    other = Ridge(alpha=0.3).fit(F, values)
    np.testing.assert_allclose(w, other.coef_.T, atol=1e-10)
    np.testing.assert_allclose(b, other.intercept_, atol=1e-10)


def test_the_gradient_vanishes_with_a_penalty_for_each_feature(problem):
    F, values = problem
    penalty = np.geomspace(1e-3, 1e3, F.shape[1])
    w, b = centered_ridge(F, values, penalty)
    residual = values - F @ w - b
    np.testing.assert_allclose(F.T @ residual, penalty[:, None] * w, atol=1e-8)
    np.testing.assert_allclose(residual.sum(axis=0), 0, atol=1e-9)


def test_on_a_kernel_matrix_it_is_ridge_on_the_features(problem):
    F, values = problem
    a, b = centered_kernel_ridge(F @ F.T, values, 0.3)
    w, expected = centered_ridge(F, values, 0.3)
    np.testing.assert_allclose(F.T @ a, w, atol=1e-9)
    np.testing.assert_allclose(b, expected, atol=1e-9)


def test_targets_are_values_or_classes():
    values = read_targets(np.array([1.5, np.nan, -2.0]))
    np.testing.assert_array_equal(values.rows, [0, 2])
    np.testing.assert_array_equal(values.values, [[1.5], [-2.0]])
    classes = read_targets(np.array([1, -1, 0]), 3)
    np.testing.assert_array_equal(classes.values, [[-1, 1, -1], [1, -1, -1]])
    np.testing.assert_array_equal(classes.classes, [0, 1, 2])
    for y, told in (([np.inf, 1.0], "infinite"), ([np.nan, np.nan], "no labeled point")):
        with pytest.raises(ValueError, match=told):
            read_targets(np.array(y))
