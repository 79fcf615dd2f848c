"""Iterative solvers end near enough the minimum at any cost: scores are those of dense references.

What is left above a minimum is small in parts of an objective that is mostly losses, and may still
be all that scores are.
"""

import numpy as np
import pytest
from budget_machines import BudgetSVM
from budget_machines.feature_cache import FeatureCache
from budget_machines.one_vs_rest_hinge import train_hinge_machines
from dense import SETS, gaussian, median, off, smooth_hinge, squared_hinge
from kmedoids import BudgetKernelKMedoids
from sklearn.svm import SVC
from supervised import KernelSVM, LinearSVM
from tsvm import TransductiveSVM

from harness.semi_supervised import GramProduct, LinearProduct, read_labels, train_machines

COSTS = [1e-3, 0.01, 1.0, 100.0, 1e4]


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("kernel", ["rbf", "wide", "linear"])
def test_machines_of_the_squared_hinge(kernel, n, C, data):
    X, y = data(n)
    X -= X.mean(axis=0)
    width = median(X) * (5 if kernel == "wide" else 1)
    K = X @ X.T if kernel == "linear" else gaussian(X, X, width)
    small = K.astype(np.float32)
    linear = LinearProduct(X.astype(np.float32))
    product = linear if kernel == "linear" else GramProduct(small)
    a, b = train_machines(product, read_labels(y, 2), C)
    expected = squared_hinge(K, np.where(y == 1, 1.0, -1.0), C)
    assert off(K @ a[:, 0] + b[0], expected) < 0.01


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("form", ["switching", "cccp"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_transductive_machines_at_the_labels_they_end_with(kernel, form, C, data):
    n, u = 60, 240
    X, y = data(n + u)
    X -= X.mean(axis=0)
    width = median(X)
    model = TransductiveSVM(C=C, form=form, kernel=kernel, sigma=width, sigma_unit="absolute")
    scores = model.fit(X, np.where(np.arange(n + u) < n, y, -1)).decision_scores_
    K = X @ X.T if kernel == "linear" else gaussian(X, X, width)
    signs, unlabeled = np.where(y == 1, 1.0, -1.0), np.arange(n, n + u)
    share = (y[:n] == 1).mean()
    if form == "switching":
        signs[n:] = -1
        signs[n + np.argsort(-scores[n:], kind="stable")[: int(share * u + 0.5)]] = 1
        expected = squared_hinge(K, signs, np.where(np.arange(n + u) < n, C, 0.1 * C))
    else:  # both labels, those of a flat loss at no cost
        about = np.eye(n + u)
        about[:, n:] -= 1 / u
        rows = np.concatenate([np.arange(n + u), unlabeled])
        costs = 0.1 * C * np.concatenate([scores[n:] >= 0, scores[n:] < 0])
        expected = squared_hinge(
            (about @ K @ about.T)[np.ix_(rows, rows)],
            np.concatenate([signs[:n], np.ones(u), -np.ones(u)]),
            np.concatenate([np.full(n, C), costs]),
            bias=2 * share - 1,
        )[: n + u]
    assert off(scores, expected) < 0.01


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("sigma", [0.25, 5.0])
@pytest.mark.parametrize("n", [40, 300])
def test_libsvm_is_asked_for_scores_of_their_own_size(n, sigma, C, data):
    X, y = data(1000)
    model = KernelSVM(C=C, sigma=sigma, sigma_unit="absolute").fit(X[:n], y[:n])
    exact = SVC(C=C, gamma=0.5 / sigma**2, tol=1e-10).fit(X[:n], y[:n])
    assert off(model.decision_function(X), exact.decision_function(X)) < 0.01


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("C", COSTS)
@pytest.mark.parametrize("n", [40, 300])
def test_the_linear_svm_is_that_of_points_about_their_mean(n, C, data):
    X, y = data(n)
    scores = LinearSVM(C=C, random_state=0).fit(X, y).decision_function(X)
    Z = np.column_stack([X - X.mean(axis=0), np.ones(n)])
    expected = squared_hinge(Z @ Z.T, np.where(y == 1, 1.0, -1.0), C, bias=0.0)
    assert off(scores, expected) < 0.01


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("C", [1e-3, 0.01, 1.0, 10.0])
@pytest.mark.parametrize("smoothing", [0.05, 1.0])
@pytest.mark.parametrize("held_rows", [100, 1000])
def test_budget_svm_of_a_smooth_hinge(held_rows, smoothing, C, data):
    X, y = data(1000)
    features = BudgetSVM(40, random_state=0).fit_features(X, np.arange(40))._features
    cache = FeatureCache(features, X, 4 * held_rows * features.n_components, 1000)
    problem = features, X, np.arange(1000), y, 2, C, cache
    found = train_hinge_machines(*problem, smoothing=smoothing)
    Z = features.transform(X).astype(np.float64)
    expected = smooth_hinge(Z, np.where(y == 1, 1.0, -1.0), C, smoothing)
    assert off(found.scores[:, 0], expected) < 0.02


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("sigma", [1.0, 10.0, 100.0])
def test_k_medoids_end_as_low_in_single_precision(sigma, data):
    X, _ = data(600)
    single, double = (
        BudgetKernelKMedoids(5, 300, sigma=sigma, random_state=0).fit(X.astype(dtype)).objective_
        for dtype in (np.float32, np.float64)
    )
    assert single[-1] == pytest.approx(double[-1], rel=0.01)
