"""Bounds of minima: below them always, near them where the coefficients are the best."""

import numpy as np
import pytest
from budget_machines.duality_gap import objective_bounds
from budget_machines.feature_cache import FeatureCache
from budget_machines.least_squares import ROUNDINGS, refine_ridge_machines, train_ridge_machines
from budget_machines.objective import LandmarkProblem
from budget_machines.one_vs_rest_hinge import train_hinge_machines
from sklearn.datasets import load_breast_cancer, load_digits

from harness import kernels
from harness.kernels import landmark_features
from harness.semi_supervised import read_labels


def toy(n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)


def problem_of(X, y, b, C, loss="hinge", kernel="rbf", sigma=1.0, n_classes=None):
    labels = read_labels(y, n_classes)
    chosen = np.random.default_rng(0).permutation(len(X))[:b]
    features = kernels.LandmarkFeatures(X, kernels.bind_kernel(kernel, X, sigma), chosen)
    return LandmarkProblem(features, X, np.arange(len(X)), labels, C, loss)


def solved(problem, tol=1e-3):
    """Return the machines of the exact solver."""
    n, r = len(problem.rows), problem.features.n_components
    cache = FeatureCache(problem.features, problem.X, 4 * n * r, n)
    classes = len(problem.labels.classes)
    given = (problem.features, problem.X, problem.rows, problem.labels.codes, classes, problem.C)
    return train_hinge_machines(*given, cache, tol)


def gap_at(problem, found):
    objective, least = objective_bounds(problem, found.coefficients, found.intercepts)
    assert objective == pytest.approx(found.objective, rel=1e-4)
    return (objective - least) / objective


@pytest.mark.parametrize(
    ("data", "b", "C", "sigma"),
    [
        ("digits", 100, 10.0, 1.0),
        ("digits", 100, 0.1, 1.0),
        ("breast_cancer", 50, 10.0, 1.0),
        ("toy", 15, 10.0, 0.5),
        ("toy", 15, 0.01, 0.5),
    ],
)
def test_the_bound_at_the_exact_hinge_machines_is_within_two_percent(data, b, C, sigma):
    if data == "toy":
        X, y = toy()
    else:
        X, y = {"digits": load_digits, "breast_cancer": load_breast_cancer}[data](return_X_y=True)
        X, y = X[:900], y[:900]
    problem = problem_of(X, y, b, C, sigma=sigma)
    assert 0 <= gap_at(problem, solved(problem)) < 0.02


@pytest.mark.parametrize("rows", [16, 10**6])
def test_blocks_of_few_rows_bound_as_well(rows, monkeypatch):
    problem = problem_of(*toy(), 15, 10.0, sigma=0.5)
    found = solved(problem)
    monkeypatch.setattr(landmark_features, "block_rows", lambda *_: rows)
    assert 0 <= gap_at(problem, found) < 0.02


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_no_coefficients_raise_the_bound_above_the_minimum(C, n_classes):
    X, y = toy()
    # of four classes one has no row: its machine says -1 everywhere, at no loss
    y = np.minimum(y, 1) if n_classes == 2 else y
    problem = problem_of(X, y, 40, C, n_classes=n_classes)
    found = solved(problem, tol=1e-5)
    rng, bounds = np.random.default_rng(1), []
    for noise in (0.0, 0.01, 0.1, 1.0, 10.0):
        size = found.coefficients.shape
        a = (found.coefficients * (1 + noise * rng.normal(size=size))).astype(np.float32)
        b = found.intercepts + noise * rng.normal(size=size[1])
        objective, least = objective_bounds(problem, a, b)
        assert objective >= found.objective * (1 - 1e-4)
        assert 0 <= least <= found.objective * (1 + 1e-4)
        bounds.append(least)
    assert bounds[0] > bounds[-1]


@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
def test_the_bound_of_least_squares_is_below_the_minimum(C):
    X, y = toy(900)
    problem = problem_of(X, y, 40, C, "squared", sigma=2.0)
    near = problem.features.near(X, np.float64)
    K = problem.features.kernel(near, problem.features.landmarks.astype(np.float64))
    Z = np.linalg.solve(problem.features.factor.astype(np.float64), K.T).T
    T = problem.labels.targets()
    centred, left = Z - Z.mean(axis=0), T - T.mean(axis=0)
    gram = centred.T @ centred + np.eye(Z.shape[1]) / C
    w = np.linalg.solve(gram, centred.T @ left)
    minimum = (w**2).sum() / 2 + C / 2 * ((left - centred @ w) ** 2).sum()
    sums = np.stack([Z[y == q].sum(axis=0) for q in range(3)], axis=1)
    system = (np.array(Z.T @ Z, order="F"), sums, np.bincount(y), C, ROUNDINGS[0])
    machines = train_ridge_machines(problem.features, *system)
    a = problem.features.expansion(machines.weights)
    for found in (a, 0.9 * a):
        objective, bound = objective_bounds(problem, found, machines.intercepts)
        assert objective >= minimum * (1 - 1e-3)
        assert bound <= minimum * (1 + 1e-4)
    _, _, objective, bound = refine_ridge_machines(problem, machines, 1e-3)
    assert minimum * (1 - 1e-3) <= bound <= minimum * (1 + 1e-4)
    assert minimum * (1 - 1e-4) <= objective <= minimum * (1 + 1e-3)
