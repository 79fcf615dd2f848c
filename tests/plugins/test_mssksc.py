"""RFF-MSSKSC against dense solutions of its own problem, and against ridge regression."""

import numpy as np
import pytest
from conftest import blobs
from mssksc import RFFMSSKSC

SETTING = {"n_components": 60, "gamma2": 10.0, "random_state": 0}


def dense_parts(model, X, y, gamma1):
    Phi = model._features.transform(X).astype(float)
    degrees = np.maximum(Phi @ Phi.sum(0), 1)
    A = (y != -1).astype(float)
    Y = np.eye(3)[y] * 2 - 1 if len(model.classes_) == 3 else (2.0 * y - 1)[:, None]
    return Phi, 10.0 * A - gamma1 / degrees, 10.0 * A[:, None] * Y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("penalise", [False, True])
def test_streamed_solution_is_the_dense_one(n_classes, penalise):
    X, y, _ = blobs(80, n_classes)
    model = RFFMSSKSC(gamma1=0.5, penalise_bias=penalise, **SETTING).fit(X, y)
    Phi, R, c = dense_parts(model, X, y, 0.5)
    Phi = np.column_stack([Phi, np.ones(len(X))])
    identity = np.eye(61)
    identity[-1, -1] = penalise
    expected = np.linalg.solve(Phi.T @ (R[:, None] * Phi) + identity, Phi.T @ c)
    np.testing.assert_allclose(model.coef_, expected[:-1], atol=2e-3)
    np.testing.assert_allclose(model.intercept_, expected[-1], atol=2e-3)


@pytest.mark.parametrize("penalise", [False, True])
def test_primal_is_the_dual(penalise):
    """A penalised bias is the kernel Omega + 1; a free one makes the multipliers sum to zero."""
    X, y, _ = blobs(60, 2)
    model = RFFMSSKSC(gamma1=0.5, penalise_bias=penalise, **SETTING).fit(X, y)
    Phi, R, c = dense_parts(model, X, y, 0.5)
    Omega = Phi @ Phi.T
    n = len(X)
    if penalise:
        # e = (Omega + 1) alpha, alpha = c - R e
        e = np.linalg.solve(np.eye(n) + (Omega + 1) * R, (Omega + 1) @ c)
    else:
        system = np.block([[np.eye(n) + Omega * R, -np.ones((n, 1))], [R[None], np.zeros((1, 1))]])
        e = np.linalg.solve(system, np.vstack([Omega @ c, c.sum(0)]))[:n]
    np.testing.assert_allclose(model.decision_function(X), e[:, 0], atol=5e-3)


def test_without_the_spectral_term_it_is_ridge_regression():
    X, y, _ = blobs(60, 2)
    model = RFFMSSKSC(gamma1=0.0, **SETTING).fit(X, y)
    known = y != -1
    Z = model._features.transform(X).astype(float)
    centre, target = Z[known].mean(0), 2.0 * y[known] - 1
    G = (Z[known] - centre).T @ (Z[known] - centre) + np.eye(60) / 10
    w = np.linalg.solve(G, (Z[known] - centre).T @ (target - target.mean()))
    expected = (Z - centre) @ w + target.mean()
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3)


def test_two_classes_as_two_columns_would_be_opposite():
    X, y, _ = blobs(60, 2)
    one = RFFMSSKSC(**SETTING).fit(X, y).decision_function(X)
    other = RFFMSSKSC(**SETTING).fit(X, np.where(y == -1, -1, 1 - y)).decision_function(X)
    np.testing.assert_allclose(one, -other, atol=1e-4)


def test_a_problem_without_minimum_is_warned_of_and_still_solved():
    X, y, _ = blobs(60, 2)
    with pytest.warns(UserWarning, match="no minimum .smallest eigenvalue -"):
        model = RFFMSSKSC(gamma1=500.0, **SETTING).fit(X, y)
    Phi, R, c = dense_parts(model, X, y, 500.0)
    Phi = np.column_stack([Phi, np.ones(len(X))])
    H = Phi.T @ (R[:, None] * Phi) + np.diag([1.0] * 60 + [0.0])
    solution = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(H @ solution, (Phi.T @ c)[:, 0], rtol=1e-2, atol=0.05)
