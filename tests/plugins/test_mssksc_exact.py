"""Exact MSSKSC: the stationary point of its objective, its limits, and what has no minimum."""

import numpy as np
import pytest
from blobs import blobs
from mssksc.exact import MSSKSC
from sklearn.kernel_ridge import KernelRidge

from harness import kernels

SETTING = {"gamma1": 0.8, "gamma2": 10.0, "sigma": 0.7}


def parts(model, X, y, n_classes):
    """Return Omega, V, A and c of a problem."""
    Omega = kernels.gaussian_kernel(X, X, kernels.kernel_width(X, model.sigma, "median"))
    A = (y != -1).astype(float)
    c = np.where(y[:, None] == (np.arange(n_classes) if n_classes > 2 else 1), 1.0, -1.0)
    return Omega, 1 / Omega.sum(1), A, A[:, None] * c


def objective(model, X, y, alpha, b):
    """Return equation 5 at w = Phi' alpha, as a sum over the classes."""
    Omega, V, A, c = parts(model, X, y, len(model.classes_))
    e = Omega @ alpha + b
    value = 0.5 * np.sum(alpha * (Omega @ alpha)) + 0.5 * model.penalise_bias * np.sum(b**2)
    value -= 0.5 * model.gamma1 * np.sum(V[:, None] * e**2)
    return value + 0.5 * model.gamma2 * np.sum(A[:, None] * (e - c) ** 2)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("penalise", [False, True])
def test_objective_is_stationary_and_least(n_classes, penalise):
    X, y, _ = blobs(40, n_classes)
    model = MSSKSC(**SETTING, penalise_bias=penalise).fit(X, y)
    assert model.curvature_ > 0
    alpha, b = model.dual_coef_, model.intercept_
    least = objective(model, X, y, alpha, b)
    rng = np.random.default_rng(0)
    for _ in range(10):
        # of unit norm in the space of w, as b is
        step = rng.normal(size=alpha.shape)
        step /= np.sqrt(np.sum(step * (parts(model, X, y, n_classes)[0] @ step)))
        step_b = rng.normal(size=b.shape)
        ahead, back = (
            objective(model, X, y, alpha + h * step, b + h * step_b) for h in (1e-3, -1e-3)
        )
        assert abs(ahead - back) / 2e-3 < 1e-7 * least
        assert min(ahead, back) > least


@pytest.mark.parametrize("n_classes", [2, 3])
def test_solution_satisfies_equation_7(n_classes):
    X, y, _ = blobs(40, n_classes)
    model = MSSKSC(**SETTING).fit(X, y)
    Omega, V, A, c = parts(model, X, y, n_classes)
    R = np.diag(0.8 * V - 10 * A)
    one = np.ones((len(X), 1))
    total = (one.T @ R @ one).item()
    left = 10 * (c - R @ one @ (one.T @ c) / total)
    right = model.dual_coef_ - R @ (np.eye(len(X)) - one @ one.T @ R / total) @ Omega @ (
        model.dual_coef_
    )
    np.testing.assert_allclose(left, right, atol=1e-9 * np.abs(left).max())
    np.testing.assert_allclose(model.dual_coef_.sum(0), 0, atol=1e-9)
    scores = Omega @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_scores_.reshape(scores.shape), scores, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), model.decision_scores_, atol=1e-9)
    np.testing.assert_allclose(model.degrees_, Omega.sum(1))


def test_penalised_bias_is_the_kernel_plus_one_without_bias():
    X, y, _ = blobs(40, 2)
    model = MSSKSC(**SETTING, penalise_bias=True).fit(X, y)
    Omega, V, A, c = parts(model, X, y, 2)
    R = (10 * A - 0.8 * V)[:, None]
    alpha = np.linalg.solve(np.eye(len(X)) + R * (Omega + 1), 10 * c)
    np.testing.assert_allclose(model.dual_coef_, alpha, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, alpha.sum(0))


def test_without_the_spectral_term_it_is_a_least_squares_svm():
    X, y, _ = blobs(40, 2)
    model = MSSKSC(gamma1=0.0, gamma2=10.0).fit(X, y)
    known = y != -1
    width = kernels.kernel_width(X, 1.0, "median")
    # a free intercept is ridge regression in centred features
    K = kernels.gaussian_kernel(X, X[known], width)
    centre = K[known].mean(0)
    total = centre.mean()
    centred = K[known] - centre - centre[:, None] + total
    target = 2.0 * y[known] - 1
    ridge = KernelRidge(alpha=0.1, kernel="precomputed").fit(centred, target - target.mean())
    new = K - centre - K.mean(1)[:, None] + total
    expected = ridge.predict(new) + target.mean()
    np.testing.assert_allclose(model.decision_scores_, expected, atol=1e-10)
    assert not model.dual_coef_[~known].any()


def test_spectral_term_vanishes_continuously():
    X, y, _ = blobs(40, 2)
    at_zero = MSSKSC(gamma1=0.0).fit(X, y).decision_scores_
    gaps = [
        np.abs(MSSKSC(gamma1=g).fit(X, y).decision_scores_ - at_zero).max()
        for g in (1e-2, 1e-4, 1e-12)
    ]
    assert gaps[1] == pytest.approx(gaps[0] / 100, rel=0.05)
    assert gaps[2] < 1e-11


@pytest.mark.parametrize("gamma1", [0.0, 0.8])
def test_folds_are_fits_of_their_own(gamma1):
    X, y, _ = blobs(40, 3)
    rows = np.flatnonzero(y != -1)
    staged = MSSKSC(gamma1=gamma1).fit_features(X, rows)
    for held in (rows[::3], rows[1::3]):
        masked = y.copy()
        masked[held] = -1
        staged.set_params(gamma2=7.0).fit_labels(masked[rows])
        whole = MSSKSC(gamma1=gamma1, gamma2=7.0).fit(X, masked)
        np.testing.assert_allclose(
            staged.held_out_scores_, whole.decision_scores_[held], atol=1e-9
        )


def test_order_and_single_precision():
    X, y, _ = blobs(40, 2)
    order = np.random.default_rng(0).permutation(len(X))
    scores = MSSKSC(**SETTING).fit(X, y).decision_scores_
    shuffled = MSSKSC(**SETTING).fit(X[order], y[order]).decision_scores_
    np.testing.assert_allclose(shuffled, scores[order], atol=1e-10)
    single = MSSKSC(**SETTING).fit(X.astype(np.float32), y).decision_scores_
    np.testing.assert_allclose(single, scores, atol=1e-3)


def test_two_classes_as_two_columns_would_be_opposite():
    X, y, _ = blobs(40, 2)
    one = MSSKSC(**SETTING).fit(X, y)
    other = MSSKSC(**SETTING).fit(X, np.where(y == -1, -1, 1 - y))
    assert one.dual_coef_.shape == (80, 1)
    np.testing.assert_allclose(one.decision_scores_, -other.decision_scores_, atol=1e-10)


def test_gamma1_of_one_is_refused_with_the_smallest_eigenvalue():
    X, y, _ = blobs(40, 2)
    with pytest.raises(ValueError, match=r"gamma1=1.5 must be below 1.*1 - gamma1 = -0.5"):
        MSSKSC(gamma1=1.5).fit(X, y)
    # and that is what it is
    Omega, V, _, _ = parts(MSSKSC(), X, y, 2)
    system = np.eye(80) - 1.5 * np.sqrt(V) * Omega * np.sqrt(V)[:, None]
    assert np.linalg.eigvalsh(system)[0] == pytest.approx(-0.5)


def test_a_problem_without_minimum_is_warned_of_and_its_stationary_point_is_right():
    X, y, _ = blobs(40, 2, labeled=1)
    with pytest.warns(UserWarning, match="no minimum .curvature along the bias -"):
        model = MSSKSC(gamma1=0.9, gamma2=0.01, sigma=0.1).fit(X, y)
    assert model.curvature_ < 0
    Omega, V, A, c = parts(model, X, y, 2)
    e = Omega @ model.dual_coef_ + model.intercept_
    alpha = 0.01 * A[:, None] * (c - e) + 0.9 * V[:, None] * e
    np.testing.assert_allclose(model.dual_coef_, alpha, atol=1e-8 * np.abs(alpha).max())
    assert abs(model.dual_coef_.sum()) < 1e-8 * np.abs(alpha).max()


@pytest.mark.filterwarnings("ignore:the problem has no minimum")
@pytest.mark.parametrize("gamma1", [0.1, 0.9, 0.99])
@pytest.mark.parametrize("n_classes", [3, 10])
def test_a_class_without_labeled_point_ranks_last(gamma1, n_classes):
    X, _, truth = blobs(40, 3)
    y = np.full(len(X), -1)
    for label in (0, 1):
        y[np.flatnonzero(truth == label)[0]] = label
    model = MSSKSC(gamma1, 10.0, n_classes=n_classes).fit(X, y)
    assert model.decision_scores_.shape == (120, n_classes)
    for scores in (model.decision_scores_, model.decision_function(X)):
        assert scores[:, 2:].max() < scores[:, :2].min()


def test_a_singular_system_is_refused():
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="singular: lower gamma2"):
        MSSKSC(0.0, 1e300).fit(X, np.array([0, 1, 0]))
