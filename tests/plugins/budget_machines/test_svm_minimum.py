"""The exact budgeted SVM is at its minimum, and says so where it is not."""

import os
import warnings

import budget_machines
import numpy as np
import pytest
from blobs import blobs
from budget_machines import BudgetLSSVM, BudgetSVM
from budget_machines.feature_cache import FeatureCache
from budget_machines.one_vs_rest_hinge import train_hinge_machines
from landmark_problem import pieces, problem
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from harness.datasets import load_catalog
from harness.datasets.preparation import load


def test_svm_is_below_every_other_function_of_the_landmarks():
    X, y = problem()
    model = BudgetSVM(25, C=2.0, random_state=0).fit(X, y)
    K, k, T = pieces(model, X, y)

    def objective(a, b):
        return np.trace(a.T @ K @ a) + 2.0 * np.maximum(0, 1 - T * (k @ a + b)).sum()

    found = objective(model.coef_.astype(np.float64), model.intercept_)
    assert model.objective_ == pytest.approx(found, rel=1e-4)
    assert model.converged_
    assert 0 <= model.gap_ < 2e-3
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-2, 1e-1):
        for _ in range(20):
            moved = model.coef_ * (1 + scale * rng.normal(size=model.coef_.shape))
            assert objective(moved, model.intercept_) > found * (1 - 2e-3)


@pytest.mark.parametrize(("tol", "warnings_given"), [(0.01, 0), (0.5, 1)])
def test_the_exact_svm_warns_of_a_gap_beyond_two_percent(tol, warnings_given, monkeypatch):
    monkeypatch.setattr(budget_machines.svm, "EXACT", tol)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = BudgetSVM(40, random_state=0).fit(*problem(2000))
    assert tol / 100 < model.gap_ <= tol
    assert model.converged_ == (model.gap_ <= 0.02) == (not warnings_given)
    assert sum(w.category is ConvergenceWarning for w in caught) == warnings_given


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("held_rows", [400, 100])
@pytest.mark.parametrize("C", [10.0, 1e4, 1e6])
@pytest.mark.parametrize("kernel", ["rbf", "poly2"])
def test_the_gap_of_the_svm_is_that_of_what_predicts(kernel, C, held_rows, monkeypatch):
    X, y = problem(400)
    monkeypatch.setattr(budget_machines.svm, "cache_bytes", lambda n, r: 4 * held_rows * r)
    model = BudgetSVM(300, kernel=kernel, C=C, sigma=0.3, random_state=0).fit(X, y)
    assert model.gap_ >= 0
    w = model._features.factor.T @ model.coef_.astype(np.float64)
    scores = model.decision_function(X)
    signs = np.where(y[:, None] == model.classes_, 1.0, -1.0)
    objective = np.square(w).sum() + C * np.maximum(0, 1 - signs * scores).sum()
    assert objective <= (1 + 2e-3) * model.objective_
    assert objective * (1 - 0.02) <= model.objective_ or not model.converged_


def test_a_smooth_hinge_leaves_an_order_where_the_hinge_is_constant():
    """Three landmarks do not tell a class apart that is everywhere: it is never predicted."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)).astype(np.float32)
    y = np.where(rng.random(600) < 0.2, 2, (X[:, 0] > 0).astype(int))
    hinge, smooth = (
        BudgetSVM(3, C=1.0, smoothing=width, random_state=0).fit(X, y).decision_function(X)
        for width in (0, 2.0)
    )
    np.testing.assert_allclose(hinge[:, 2], -1, atol=1e-3)
    assert np.ptp(smooth[:, 2]) > 0.01


def test_smoothing_is_for_the_exact_solver():
    X, y = problem()
    with pytest.raises(ValueError, match=r"smoothing is 0\.5, but solver='sgd'"):
        BudgetSVM(10, smoothing=0.5, solver="sgd").fit(X, y)
    # a search sets it between the two stages
    staged = BudgetSVM(10, solver="sgd").fit_features(X, np.arange(300))
    with pytest.raises(ValueError, match=r"smoothing is 2, but solver='sgd'"):
        staged.set_params(smoothing=2.0).fit_labels(y)
    with pytest.raises(ValueError, match="'smoothing' parameter"):
        BudgetSVM(10, smoothing=-1.0).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("n_labeled", "C"), [(30, 1e4), (90, 1e4), (260, 1e4), (30, 1e10)])
def test_folds_of_few_labels_and_a_large_cost_are_fits_too(n_labeled, C):
    # features that many landmarks have and few labels see leave sums without full rank
    X, y = problem(300)
    labeled = np.arange(n_labeled)
    staged = BudgetLSSVM(120, C=C, sigma=2.0, random_state=0).fit_features(X, labeled)
    for fold in range(3):
        masked = np.where(labeled % 3 == fold, -1, y[labeled])
        whole = np.append(masked, np.full(300 - n_labeled, -1))
        fresh = BudgetLSSVM(120, C=C, sigma=2.0, random_state=0).fit(X, whole)
        staged.fit_labels(masked)
        known = X[labeled][masked >= 0]
        expected = fresh.decision_function(known)
        np.testing.assert_allclose(staged.decision_function(known), expected, atol=0.05)


def test_scores_of_the_folds_are_those_of_a_pass_over_the_rows():
    X, y, _ = blobs(200, 3, labeled=60)
    rows = np.flatnonzero(y >= 0)
    given = y[rows].copy()
    given[::4] = -1
    staged = BudgetSVM(30, n_classes=3, random_state=0).fit_features(X, rows).fit_labels(given)
    expected = staged.decision_function(X[rows[::4]])
    np.testing.assert_allclose(staged.held_out_scores_, expected, atol=1e-4)


def odd_digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y % 2


def a9a():
    if not os.environ.get("HARNESS_MIRROR"):
        pytest.skip("HARNESS_MIRROR names no mirror of the real data")
    X, y = load(load_catalog()["a9a"])
    rows = np.random.default_rng(0).choice(len(X), 2000, replace=False)
    return X[rows], y[rows]


def trained(features, X, y, C, held_rows, tol=1e-3):
    room = 4 * held_rows * features.n_components
    cache = FeatureCache(features, X, room, len(X))
    return train_hinge_machines(features, X, np.arange(len(X)), y, 2, C, cache, tol)


@pytest.mark.parametrize("held_rows", [60, 200, 2000])
@pytest.mark.parametrize("C", [1e-3, 1e-2, 0.1, 1.0, 100.0, 1e3, 1e4])
@pytest.mark.parametrize("data", [odd_digits, a9a])
def test_scores_are_those_of_libsvm_from_small_costs_to_large_ones(data, C, held_rows):
    """A gap in parts of the objective says little where C is small: all of it are losses."""
    X, y = data()
    codes = (y == 1).astype(int)
    features = BudgetSVM(60, random_state=0).fit_features(X, np.arange(60))._features
    found = trained(features, X, codes, C, held_rows)
    Z = features.transform(X).astype(np.float64)
    if C < 1e4:
        # the penalty of LIBSVM has a factor of 1/2
        machine = SVC(kernel="linear", C=C / 2, tol=1e-6).fit(Z, codes)
        expected = machine.decision_function(Z)
    else:  # where LIBSVM does not end
        expected = trained(features, X, codes, C, len(X), tol=1e-5).scores[:, 0]
    error = np.abs(found.scores[:, 0] - expected).max()
    assert error < 0.01 * np.ptp(expected)
