"""SSOKMF: gradients by finite differences, exact steps, codes, and labels that are few."""

import numpy as np
import pytest
from blobs import blobs
from sklearn.metrics import roc_auc_score
from ssokmf import SSOKMF, Moments, gradients


def toy(n=40, b=8, r=3, c=3, seed=0):
    """Return a model with random factors and what it is asked on.

    That is the eigenvalues of K_BB, k in its eigenvectors, y, known, and Moments.
    """
    rng = np.random.default_rng(seed)
    model = SSOKMF(b, r, alpha=1.3, beta=0.7, l1=0.4, l2=0.3, l3=0.2)
    A = rng.normal(size=(n + b, b + 2))
    G = A @ A.T / b
    (K, U), diagonal = np.linalg.eigh(G[:b, :b]), np.diag(G)[b:].sum()
    k = G[b:, :b] @ U
    labels = rng.integers(-1, c, size=n)
    y, known = (labels[:, None] == np.arange(c)).astype(float), labels >= 0
    model.Wx_, model.Wy_ = rng.normal(size=(b, r)), rng.normal(size=(c, r))
    ku, kl = k[~known], k[known]
    counts = y.sum(axis=0)
    return model, K, k, y, known, Moments(ku.T @ ku, kl.T @ kl, k.T @ y, counts, diagonal)


def objective(model, K, k, y, known, H, diagonal):
    """Equation 4-16, term by term."""
    coded = H @ model.Wx_.T
    left = diagonal - 2 * np.sum(k * coded) + np.sum((coded * K) * coded)
    wrong = y[known] - H[known] @ model.Wy_.T
    ridges = model.l1 * np.sum(model.Wx_**2) + model.l2 * np.sum(model.Wy_**2)
    ridges += model.l3 * np.sum(H**2)
    return (model.alpha * left + model.beta * np.sum(wrong**2) + ridges) / 2


def all_codes(model, k, y, known, codes):
    return np.where(known[:, None], k @ codes.by_kernel + y @ codes.by_label, k @ codes.unlabeled)


def test_gradients_are_those_of_the_objective():
    model, K, k, y, known, moments = toy()
    H = np.random.default_rng(1).normal(size=(len(k), 3))
    n = len(k)
    found = gradients(model, K, k, y, known, H, n)
    for name, slope in zip(("Wx_", "Wy_"), found, strict=True):
        W = getattr(model, name)
        for position in np.ndindex(*W.shape):
            values = []
            for sign in (1, -1):
                W[position] += sign * 1e-5
                values.append(objective(model, K, k, y, known, H, moments.diagonal))
                W[position] -= sign * 1e-5
            assert slope[position] * n == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-4)


def test_moments_stand_for_the_codes_of_all_points():
    model, K, k, y, known, moments = toy()
    codes = model.codes(K, moments)
    H = all_codes(model, k, y, known, codes)
    np.testing.assert_allclose(codes.kernel_moment, k.T @ H)
    np.testing.assert_allclose(codes.label_moment, y[known].T @ H[known])
    np.testing.assert_allclose(codes.gram, H.T @ H)
    np.testing.assert_allclose(codes.labeled_gram, H[known].T @ H[known])
    expected = objective(model, K, k, y, known, H, moments.diagonal)
    assert model.objective(K, moments, codes) == pytest.approx(expected)


def test_codes_are_the_minimum_over_codes():
    model, K, k, y, known, moments = toy()
    H = all_codes(model, k, y, known, model.codes(K, moments))
    least = objective(model, K, k, y, known, H, moments.diagonal)
    rng = np.random.default_rng(2)
    for _ in range(20):
        moved = H + 1e-3 * rng.normal(size=H.shape)
        assert objective(model, K, k, y, known, moved, moments.diagonal) > least


def test_a_round_ends_where_both_gradients_vanish():
    model, K, k, y, known, moments = toy()
    H = all_codes(model, k, y, known, model.codes(K, moments))
    model.max_iter = 1
    model._alternate(K, moments)
    for slope in gradients(model, K, k, y, known, H, len(k)):
        assert np.abs(slope).max() < 1e-10


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly2"])
def test_the_objective_never_rises(kernel):
    X, y, _ = blobs(50, 3, labeled=20)
    model = SSOKMF(40, 10, kernel=kernel, tol=0, random_state=0).fit(X, y)
    found = np.array(model.objective_)
    assert len(found) == 50
    assert (np.diff(found) <= 1e-9 * found[0]).all()
    assert found[-1] < 0.9 * found[0]


def test_gradient_descent_goes_where_alternating_least_squares_goes():
    X, y, _ = blobs(60, 3, labeled=30)

    def value(solver, rounds):
        settings = {"beta": 1.0, "selector": lambda X, b, rng, kernel: np.arange(0, 180, 12)}
        model = SSOKMF(15, 4, solver=solver, max_iter=rounds, tol=0, random_state=0, **settings)
        model.fit(X, y)
        kernel, codes = model._kernel, np.where(y >= 0, y, -1)
        K, U = np.linalg.eigh(kernel(model.landmarks_, model.landmarks_).astype(float))
        model._basis, model.Wx_ = U, U.T @ model.Wx_
        moments = model._moments(X, codes)
        return model.objective(K, moments, model.codes(K, moments))

    above = [value("sgd", epochs) - value("als", 200) for epochs in (1, 10, 100)]
    assert above[0] > 2 * above[1] > 4 * above[2] > 0


@pytest.mark.parametrize("solver", ["als", "sgd"])
def test_few_labels_tell_classes_apart_that_are_apart(solver):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 60)
    X = rng.normal(size=(180, 3)) + 6 * np.eye(3)[truth]
    y = np.full(180, -1)
    y[::12] = truth[::12]
    model = SSOKMF(60, 20, solver=solver, max_iter=20, random_state=0).fit(X, y)
    assert (model.predict(X) == truth).mean() > 0.95


def test_rank_and_landmarks_above_what_there_is():
    X, y, _ = blobs(10, 3)
    model = SSOKMF(500, 1000, random_state=0).fit(X, y)
    assert model.Wx_.shape == (30, 30)
    assert np.isfinite(model.decision_function(X)).all()
    one = SSOKMF(1, 5, random_state=0).fit(X, y)
    assert one.Wx_.shape == (1, 1)


@pytest.mark.parametrize("solver", ["als", "sgd"])
def test_two_classes_are_told_apart_and_a_third_without_a_label_is_not_seen(solver):
    X, y, truth = blobs(100, 2)
    model = SSOKMF(30, 5, solver=solver, random_state=0).fit(X, y)
    scores = model.decision_function(X)[y == -1]
    assert roc_auc_score(truth[y == -1], scores) > 0.8
    third = SSOKMF(30, 5, solver=solver, n_classes=3, random_state=0)
    third.fit(X, np.where(y >= 0, y + 1, -1))
    assert (third.predict(np.concatenate([X, X + 100])) > 0).all()
