"""Kernel ridge regression with a free intercept, exact and on landmarks."""

import numpy as np
import pytest
from blobs import blobs
from kernel_ridge import CenteredKernelRidge, NystromKernelRidge
from sklearn.kernel_ridge import KernelRidge


def kernel_ridge(X, rows, y, sigma, alpha):
    """Values at X of the minimiser of |y - f - b|^2 + alpha |f|^2, by its saddle-point system."""
    K = np.exp(-((X[:, None] - X[rows][None]) ** 2).sum(-1) / (2 * sigma**2))
    n = len(rows)
    system = np.block([[K[rows] + alpha * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), 0]])
    solution = np.linalg.solve(system, np.append(y[rows], 0))
    return K @ solution[:-1] + solution[-1]


@pytest.fixture
def sines():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(90, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 5
    y[50:] = np.nan
    return X, y


def test_with_all_points_as_landmarks_it_is_kernel_ridge(sines):
    X, y = sines
    model = NystromKernelRidge(90, alpha=0.1, sigma=0.7, sigma_unit="absolute").fit(X, y)
    expected = kernel_ridge(X, np.arange(50), y, 0.7, 0.1)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-5)


def test_exactly_it_is_the_saddle_point(sines):
    X, y = sines
    model = CenteredKernelRidge(alpha=0.1, sigma=0.7, sigma_unit="absolute").fit(X, y)
    expected = kernel_ridge(X, np.arange(50), y, 0.7, 0.1)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-8)


def test_with_a_centred_kernel_scikit_learns_is_the_same(sines):
    X, y = sines
    X, y = X[:50], y[:50]
    model = CenteredKernelRidge(alpha=0.1, sigma=0.7, sigma_unit="absolute").fit(X, y)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * 0.7**2))
    H = np.eye(50) - 1 / 50
    other = KernelRidge(alpha=0.1, kernel="precomputed").fit(H @ K @ H, y - y.mean())
    np.testing.assert_allclose(model.predict(X), other.predict(H @ K @ H) + y.mean(), atol=1e-9)


def test_unlabeled_points_have_no_part_in_it(sines):
    X, y = sines
    expected = CenteredKernelRidge().fit(X[:50], y[:50]).predict(X)
    np.testing.assert_array_equal(CenteredKernelRidge().fit(X, y).predict(X), expected)


@pytest.mark.parametrize(
    "model", [CenteredKernelRidge(1e-5), NystromKernelRidge(20, alpha=1e-5, random_state=0)]
)
def test_outliers_do_not_spoil_the_rest_and_one_point_has_the_mean(model, sines):
    X, y = sines
    truth = np.sin(2 * X[:, 0]) + X[:, 1] + 5
    outliers = X.copy()
    outliers[[3, 80], [0, 1]] = 1e6
    errors = np.delete(model.fit(outliers, y).predict(outliers) - truth, [3, 80])
    assert errors.var() < 0.02 * truth.var()
    np.testing.assert_allclose(model.fit(np.ones_like(X), y).predict(X), np.nanmean(y))


def test_a_shift_of_the_targets_shifts_the_values(sines):
    X, y = sines
    setting = {"n_landmarks": 30, "alpha": 10.0, "random_state": 0}
    low = NystromKernelRidge(**setting).fit(X, y).predict(X)
    high = NystromKernelRidge(**setting).fit(X, y + 1000).predict(X)
    np.testing.assert_allclose(high - low, 1000, atol=1e-6)


def test_more_landmarks_fit_better(sines):
    X, y = sines
    errors = []
    for n_landmarks in (2, 10, 40):
        model = NystromKernelRidge(n_landmarks, alpha=1e-3, random_state=0).fit(X, y)
        errors.append(np.mean((model.predict(X[:50]) - y[:50]) ** 2))
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_regressed_one_against_the_rest(n_classes):
    X, y, truth = blobs(60, n_classes, labeled=12)
    model = NystromKernelRidge(60, alpha=0.1, n_classes=n_classes, random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == truth) > 0.65
    target = np.where(y == 1, 1.0, -1.0)
    target[y == -1] = np.nan
    own = NystromKernelRidge(60, alpha=0.1, random_state=0).fit(X, target).predict(X)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores if n_classes == 2 else scores[:, 1], own, atol=1e-9)


def some(alpha=0.1):
    return NystromKernelRidge(
        15, alpha=alpha, sigma=0.7, sigma_unit="absolute", random_state=0, n_classes=None
    )


def test_a_single_part_is_a_fit(sines):
    X, y = sines
    expected = some().fit(X[:50], y[:50]).predict(X)
    np.testing.assert_array_equal(some().partial_fit(X[:50], y[:50]).predict(X), expected)


def test_parts_are_least_squares_on_all_of_them(sines):
    """On kernel functions of landmarks of the first part, whose norm is the penalty."""
    X, y = sines
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 5
    model = some().partial_fit(X[:30], y[:30])
    model.predict(X)  # which must not end the sums
    model.partial_fit(X[30:31], np.array([np.nan]))
    model.partial_fit(X[30:], y[30:])
    Z = model.landmarks_ + model._center
    K = np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / (2 * 0.7**2))
    S = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / (2 * 0.7**2))
    A, ones = K.T @ K + 0.1 * S, K.sum(axis=0)
    system = np.block([[A, ones[:, None]], [ones[None], np.array([[len(X)]])]])
    solution = np.linalg.lstsq(system, np.append(K.T @ y, y.sum()), rcond=1e-12)[0]
    expected = K @ solution[:-1] + solution[-1]
    np.testing.assert_allclose(model.predict(X), expected, atol=2e-3)


def test_classes_may_be_absent_from_a_part():
    y = np.repeat(np.arange(3), 60)
    X = np.random.default_rng(0).normal(3.0 * y[:, None], 1, (180, 2))
    model = NystromKernelRidge(30, random_state=0, n_classes=3)
    for part in np.array_split(np.arange(len(X)), 4):
        model.partial_fit(X[part], y[part], classes=np.arange(3))
    assert model.decision_function(X).shape == (len(X), 3)
    assert np.mean(model.predict(X) == y) > 0.8
