"""Linear machines on explicit features: optimality, and what scikit-learn finds."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from harness.semi_supervised import read_labels, train_linear_machines


def problem(n_classes, dtype, n=60, k=90):
    rng = np.random.default_rng(0)
    F = rng.normal(size=(n, k)).astype(dtype)
    codes = rng.integers(n_classes, size=n)
    return F, read_labels(codes, n_classes)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("k", [3, 90])
def test_it_is_scikit_learns_but_for_the_penalty_of_the_bias(C, k):
    F, labels = problem(2, np.float64, k=k)
    weights, intercepts = train_linear_machines(F, labels, C, tol=1e-10)
    # a bias that is scaled up costs nothing
    reference = LinearSVC(C=C, dual=False, tol=1e-10, intercept_scaling=100, max_iter=100_000)
    reference.fit(F, labels.codes)
    np.testing.assert_allclose(weights[:, 0], reference.coef_[0], atol=2e-3 * abs(weights).max())
    np.testing.assert_allclose(intercepts, reference.intercept_, atol=5e-3)


def test_the_gradient_vanishes():
    F, labels = problem(3, np.float64)
    weights, intercepts = train_linear_machines(F, labels, 10.0, tol=1e-12)
    slack = np.maximum(0, 1 - labels.targets() * (F @ weights + intercepts))
    pull = 20.0 * slack * labels.targets()
    np.testing.assert_allclose(weights, F.T @ pull, atol=1e-4)
    np.testing.assert_allclose(pull.sum(axis=0), 0, atol=1e-4)


def test_float32_features_give_float32_weights():
    F, labels = problem(2, np.float32)
    weights, intercepts = train_linear_machines(F, labels, 1.0)
    exact, bias = train_linear_machines(F.astype(np.float64), labels, 1.0)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights, exact, atol=1e-2 * abs(exact).max())
    np.testing.assert_allclose(intercepts, bias, atol=1e-2)


def test_a_class_without_a_labeled_point_is_below_all_others():
    F, _ = problem(2, np.float64)
    labels = read_labels(np.arange(len(F)) % 2, 3)
    weights, intercepts = train_linear_machines(F, labels, 1.0)
    assert not weights[:, 2].any()
    assert intercepts[2] == -1
