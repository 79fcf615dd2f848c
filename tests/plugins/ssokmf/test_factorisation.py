"""Factors of points and labels: gradients by finite differences, exact steps, codes."""

import numpy as np
import pytest
from ssokmf import factorisation
from ssokmf.factorisation import Factorisation, Moments

from harness.kernels import eigensystem


def toy(n=40, b=8, r=3, c=3, seed=0):
    """Return random factors and what they are asked on.

    That is the eigenvalues of K_BB, k in its eigenvectors, y, known, and Moments.
    """
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n + b, b + 2))
    G = A @ A.T / b
    (K, U), diagonal = eigensystem(G[:b, :b].copy()), np.diag(G)[b:].sum()
    k = G[b:, :b] @ U
    labels = rng.integers(-1, c, size=n)
    y, known = (labels[:, None] == np.arange(c)).astype(float), labels >= 0
    Wx, Wy = rng.normal(size=(b, r)), rng.normal(size=(c, r))
    model = Factorisation(K, Wx, Wy, alpha=1.3, beta=0.7, l1=0.4, l2=0.3, l3=0.2)
    ku, kl = k[~known], k[known]
    counts = y.sum(axis=0)
    return model, K, k, y, known, Moments(ku.T @ ku, kl.T @ kl, k.T @ y, counts, diagonal)


def objective(model, K, k, y, known, H, diagonal):
    """Equation 4-16, term by term."""
    coded = H @ model.Wx.T
    left = diagonal - 2 * np.sum(k * coded) + np.sum((coded * K) * coded)
    wrong = y[known] - H[known] @ model.Wy.T
    ridges = model.l1 * np.sum(model.Wx**2) + model.l2 * np.sum(model.Wy**2)
    ridges += model.l3 * np.sum(H**2)
    return (model.alpha * left + model.beta * np.sum(wrong**2) + ridges) / 2


def steps(epochs, batch, watch=lambda model: None):
    """Return factors after stochastic gradient descent; `watch` is called before each step."""
    model, _, k, y, known, _ = toy()

    def rows(rows):
        watch(model)
        return k[rows]

    labels = np.where(known, y.argmax(axis=1), -1)
    model.descend(rows, labels, epochs, batch, np.random.RandomState(0))
    return model


def all_codes(model, k, y, known, codes):
    return np.where(known[:, None], k @ codes.by_kernel + y @ codes.by_label, k @ codes.unlabeled)


def test_gradients_are_those_of_the_objective():
    model, K, k, y, known, moments = toy()
    H = np.random.default_rng(1).normal(size=(len(k), 3))
    n = len(k)
    found = model.gradients(k, y, known, H, n)
    for name, slope in zip(("Wx", "Wy"), found, strict=True):
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
    codes = model.codes(moments)
    H = all_codes(model, k, y, known, codes)
    np.testing.assert_allclose(codes.kernel_moment, k.T @ H)
    np.testing.assert_allclose(codes.label_moment, y[known].T @ H[known])
    np.testing.assert_allclose(codes.gram, H.T @ H)
    np.testing.assert_allclose(codes.labeled_gram, H[known].T @ H[known])
    expected = objective(model, K, k, y, known, H, moments.diagonal)
    assert model.objective(moments, codes) == pytest.approx(expected)


def test_codes_are_the_minimum_over_codes():
    model, K, k, y, known, moments = toy()
    H = all_codes(model, k, y, known, model.codes(moments))
    least = objective(model, K, k, y, known, H, moments.diagonal)
    rng = np.random.default_rng(2)
    for _ in range(20):
        moved = H + 1e-3 * rng.normal(size=H.shape)
        assert objective(model, K, k, y, known, moved, moments.diagonal) > least


def test_a_round_ends_where_both_gradients_vanish():
    model, _, k, y, known, moments = toy()
    H = all_codes(model, k, y, known, model.codes(moments))
    model.alternate(moments, 1, 0)
    for slope in model.gradients(k, y, known, H, len(k)):
        assert np.abs(slope).max() < 1e-10


def test_steps_from_all_points_lower_the_objective():
    moments, found = toy()[-1], []
    steps(100, 40, lambda model: found.append(model.objective(moments, model.codes(moments))))
    assert (np.diff(found) < 0).all()
    assert found[-1] < 0.9 * found[0]


def test_the_second_half_of_the_iterates_is_averaged():
    seen = []
    steps(4, 40, lambda model: seen.append(model.Wx.copy()))
    np.testing.assert_allclose(steps(3, 40).Wx, (seen[2] + seen[3]) / 2)


def test_gradient_descent_goes_where_alternating_least_squares_goes():
    model, *_, moments = toy()
    least = model.alternate(moments, 1000, 0).objectives[-1]
    above = []
    for epochs in (10, 100, 1000):
        model = steps(epochs, 8)
        above.append(model.objective(moments, model.codes(moments)) - least)
    assert above[0] > 2 * above[1] > 4 * above[2] > 0


@pytest.mark.parametrize(("falls", "near"), [([8, 4, 1], True), ([8, 4, 3], False), ([1], False)])
def test_falls_that_shrink_fast_leave_little(falls, near):
    objectives = 100.0 + sum(falls) - np.cumsum([0, *falls])
    assert factorisation._hardly_falls(list(objectives)) == near


def test_an_objective_that_rises_has_not_converged(monkeypatch):
    model, *_, moments = toy()
    values = iter([2.0, 2.1])
    monkeypatch.setattr(Factorisation, "objective", lambda *given: next(values))
    assert model.alternate(moments, 5, 0.1) == ([2.0, 2.1], False)
