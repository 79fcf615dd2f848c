"""Budgeted LS-SVMs solve the systems that are printed, and tell what rounding costs."""

import warnings

import numpy as np
import pytest
from budget_machines import BudgetLSSVM
from landmark_problem import pieces, problem


def test_lssvm_solves_the_normal_equations_of_the_printed_objective():
    X, y = problem()
    C = 3.0
    model = BudgetLSSVM(25, C=C, random_state=0).fit(X, y)
    K, k, T = pieces(model, X, y)
    # the gradient of a'Ka / 2 + C / 2 |T - k a - b|^2 in a and b
    a, left = model.coef_, T - k @ model.coef_ - model.intercept_
    assert np.abs(K @ a - C * k.T @ left).max() < 2e-3 * np.abs(C * k.T @ T).max()
    assert np.abs(left.sum(axis=0)).max() < 1e-2
    objective = np.trace(a.T @ K @ a) / 2 + C / 2 * (left**2).sum()
    assert model.objective_ == pytest.approx(objective, rel=1e-4)


def test_lssvm_on_all_points_is_the_system_of_equation_4_9():
    X, y = problem(80)
    gamma = 2.0
    model = BudgetLSSVM(80, C=gamma, sigma=1.0, sigma_unit="absolute", random_state=0).fit(X, y)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2)
    system = np.block([[K + np.eye(80) / gamma, np.ones((80, 1))], [np.ones((1, 80)), 0]])
    T = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    solution = np.linalg.solve(system, np.vstack([T, np.zeros((1, 3))]))
    expected = K @ solution[:-1] + solution[-1]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=2e-3)


@pytest.mark.parametrize("kernel", ["rbf", "poly2"])
@pytest.mark.parametrize("C", [0.02, 3.0, 1e5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_lssvm_with_the_multiplier_term_solves_equation_4_13(n_classes, C, kernel):
    X, y = problem()
    y = np.minimum(y, n_classes - 1)
    shown = np.where(np.arange(len(y)) % 3, y, -1)
    model = BudgetLSSVM(25, C=C, kernel=kernel, multiplier_term=True, random_state=0)
    model.fit(X, shown)
    K, k, T = pieces(model, X, y)
    labels_of = {point.tobytes(): i for i, point in enumerate(model._features.near(X))}
    rows = np.array([labels_of[point.tobytes()] for point in model.landmarks_])
    if n_classes == 2:
        T = T[:, 1:]
    own = T[rows] * (shown[rows] >= 0)[:, None]
    assert 0 < np.count_nonzero(own) < own.size
    known = shown >= 0
    k, T, a = k[known], T[known], model.coef_
    # the gradient of a'Ka / 2 - own'a + C / 2 |T - k a - b|^2 in a and b, through K^-1/2: where K
    # is nearly singular only that is determined
    left = T - k @ a - model.intercept_
    half = np.linalg.cholesky(K + 1e-9 * np.trace(K) * np.eye(len(K)))
    gradient = np.linalg.solve(half, K @ a - own - C * k.T @ left)
    scale = np.linalg.norm(np.linalg.solve(half, C * k.T @ T + np.abs(own)))
    assert np.linalg.norm(gradient) < 5e-3 * scale
    assert np.abs(left.mean(axis=0)).max() < 1e-3
    constant = np.sum(np.linalg.solve(half, own) ** 2) / 2
    value = np.trace(a.T @ K @ a) / 2 - np.sum(own * a) + constant + C / 2 * (left**2).sum()
    assert model.objective_ == pytest.approx(value, rel=1e-2)
    assert model.gap_ < 1e-2


def test_the_multiplier_term_matters_at_a_small_cost_alone():
    X, y = problem()

    def moved(C):
        with_it, without = (
            BudgetLSSVM(25, C=C, multiplier_term=term, random_state=0).fit(X, y)
            for term in (True, False)
        )
        difference = with_it.decision_function(X) - without.decision_function(X)
        return np.abs(difference).max() / np.abs(without.decision_function(X)).max()

    assert moved(1e5) < 0.01 < 0.5 < moved(0.01)


def test_sgd_has_the_multiplier_term_too():
    X, y = problem()
    # so narrow that K_BB has no small eigenvalues, in whose directions SGD is slow
    params = {"n_landmarks": 15, "C": 0.02, "sigma": 0.15, "random_state": 0}
    exact = BudgetLSSVM(**params, multiplier_term=True).fit(X, y)
    without = BudgetLSSVM(**params).fit(X, y)
    found = BudgetLSSVM(**params, multiplier_term=True, solver="sgd", epochs=400).fit(X, y)
    assert found.converged_
    scores = exact.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), scores, atol=0.05)
    assert np.abs(without.decision_function(X) - scores).max() > 0.2


def test_folds_with_the_multiplier_term_are_fits_on_the_labels_shown():
    X, y = problem()
    split = BudgetLSSVM(25, C=0.05, multiplier_term=True, random_state=0)
    split.fit_features(X, np.arange(len(y)))
    for fold in range(3):
        shown = np.where(np.arange(len(y)) % 3 == fold, -1, y)
        whole = BudgetLSSVM(25, C=0.05, multiplier_term=True, random_state=0).fit(X, shown)
        scores = split.fit_labels(shown).held_out_scores_
        np.testing.assert_allclose(scores, whole.decision_function(X[shown < 0]), atol=2e-3)


def least_squares(model, X, y, C):
    """Return the objective of an LS-SVM and its minimum, both in float64."""
    _, k, T = pieces(model, X, y)
    L = model._features.factor.astype(np.float64)
    left = T - k @ model.coef_ - model.intercept_
    found = ((L.T @ model.coef_) ** 2).sum() / 2 + C / 2 * (left**2).sum()
    Z = np.linalg.solve(L, k.T).T
    U, S, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    centred = T - T.mean(axis=0)
    weights = (U.T @ centred) * (S / (S**2 + 1 / C))[:, None]
    left = centred - U @ (S[:, None] * weights)
    return found, (weights**2).sum() / 2 + C / 2 * (left**2).sum()


@pytest.mark.parametrize(
    ("C", "sigma"), [(10.0, 1.0), (1e4, 1.0), (1e4, 4.0), (1e6, 1.0), (1e8, 1.0)]
)
def test_the_exact_lssvm_tells_what_rounding_costs(C, sigma):
    X, y = problem()
    model = BudgetLSSVM(300, C=C, sigma=sigma, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    found, least = least_squares(model, X, y, C)
    assert model.objective_ == pytest.approx(found, rel=1e-4)
    assert model.objective_ >= least * (1 - 1e-4)
    assert model.objective_ * (1 - model.gap_) <= least * (1 + 1e-4)
    assert model.converged_ == (C <= 1e4)
    assert len(caught) == (not model.converged_)
    assert found <= 1.02 * least


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("factor", [30, 300, 3000])
def test_a_labeled_outlier_does_not_pass_for_converged(factor):
    X, y = problem()
    X[0] *= factor
    params = {"kernel": "poly2", "sigma": 1.0, "sigma_unit": "absolute", "random_state": 0}
    model = BudgetLSSVM(300, **params).fit(X, y)
    found, least = least_squares(model, X, y, 10.0)
    assert model.converged_ == (factor == 30)
    assert (found <= 1.02 * least) >= model.converged_


@pytest.mark.parametrize("seed", [1, 3, 14, 18])
def test_an_outlier_that_is_held_out_leaves_the_sums_of_the_others(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((600, 5))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(600) > 0).astype(int) + (X[:, 2] > 0.8)
    outlier = rng.integers(600)
    X[outlier] *= 100
    held = np.append(rng.permutation(600)[:120], outlier)
    labels = np.where(np.isin(np.arange(600), held), -1, y)
    params = {"kernel": "poly2", "sigma": 1.0, "sigma_unit": "absolute", "random_state": seed}
    model = BudgetLSSVM(20, **params).fit_features(X, np.arange(600)).fit_labels(labels)
    known = labels >= 0
    found, least = least_squares(model, X[known], y[known], 10.0)
    assert model.converged_
    assert found <= 1.001 * least
