"""LapRLS against the system it solves, and its graph through landmarks against the whole one."""

import numpy as np
import pytest
from blobs import blobs
from kernel_ridge import CenteredKernelRidge
from laprls import LandmarkLapRLS, LapRLS, _positive_part

from harness import kernels

WIDTH = {"sigma": 0.8, "sigma_unit": "absolute"}


@pytest.fixture
def waves():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(120, 2))
    truth = np.sin(2 * X[:, 0]) + X[:, 1] + 5
    y = truth.copy()
    y[30:] = np.nan
    return X, y, truth


def gaussian(X, Z, width=0.8):
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / (2 * width**2))


def test_without_a_graph_it_is_kernel_ridge_regression(waves):
    X, y, _ = waves
    expected = CenteredKernelRidge(alpha=30 * 1e-2, **WIDTH).fit(X, y).predict(X)
    exact = LapRLS(alpha=1e-2, manifold=0.0, **WIDTH).fit(X, y).predict(X)
    np.testing.assert_allclose(exact, expected, atol=1e-8)
    on_all = LandmarkLapRLS(120, alpha=1e-2, manifold=0.0, **WIDTH).fit(X, y).predict(X)
    np.testing.assert_allclose(on_all, expected, atol=1e-3)


@pytest.mark.parametrize("graph_sigma", [None, 0.3, 2.0])
def test_it_minimises_the_objective(waves, graph_sigma):
    """Its coefficients solve (J K + l alpha (I + M K)) a = J (y - b), sum J (y - b - K a) = 0."""
    X, y, _ = waves
    model = LapRLS(alpha=1e-2, manifold=5.0, n_neighbors=6, graph_sigma=graph_sigma, **WIDTH)
    model.fit(X, y)
    graph = kernels.NeighborGraph(X - X.mean(axis=0), 6, graph_sigma or 0.8)
    W = graph.multiply(np.arange(120), np.eye(120))
    M = 2 * 5.0 * (np.diag(W.sum(axis=1)) - W) / W.sum()
    K, a = gaussian(X, X), model.dual_coef_[:, 0]
    residual = np.where(np.isnan(y), 0, y - model.predict(X))
    np.testing.assert_allclose(residual, 30 * 1e-2 * (a + M @ (K @ a)), atol=1e-7)
    assert residual.sum() == pytest.approx(0, abs=1e-8)


def test_a_strong_graph_makes_values_vary_less_along_edges(waves):
    X, y, _ = waves
    graph = kernels.NeighborGraph(X, 10, 0.8)
    steps = []
    for manifold in (0, 1e2, 1e4):
        f = LapRLS(alpha=1e-3, manifold=manifold, **WIDTH).fit(X, y).predict(X)[:, None]
        f -= f.mean()
        along = graph.degrees @ f**2 - f[:, 0] @ graph.multiply(np.arange(120), f)
        steps.append(float(along[0] / (f**2).sum()))
    assert steps == sorted(steps, reverse=True)


@pytest.mark.parametrize("graph_sigma", [None, 0.3, 2.0])
def test_the_graph_through_landmarks_is_the_one_it_says(waves, monkeypatch, graph_sigma):
    X, y, _ = waves
    monkeypatch.setattr("harness.kernels.gaussian.BLOCK_BYTES", 10_000)
    options = {"alpha": 1e-2, "manifold": 20.0, "graph_sigma": graph_sigma, "random_state": 0}
    model = LandmarkLapRLS(15, n_neighbors=3, **options, **WIDTH).fit(X, y)
    landmarks = model._landmarks.astype(float) + model._center
    Z = gaussian(X, landmarks, graph_sigma or 0.8)
    nearest = np.argsort(-Z, axis=1)[:, :3]
    kept = np.zeros_like(Z)
    np.put_along_axis(kept, nearest, np.take_along_axis(Z, nearest, axis=1), axis=1)
    kept /= kept.sum(axis=1, keepdims=True)
    W = kept @ np.diag(1 / kept.sum(axis=0)) @ kept.T
    np.testing.assert_allclose(W.sum(axis=1), 1)
    L = np.eye(120) - W
    assert np.linalg.eigvalsh(L).min() > -1e-12
    # f = K c minimises mean (y - f - b)^2 + alpha (c'K_ZZ c + manifold 2 f'Lf / n)
    K, c = gaussian(X, landmarks), model.coef_[:, 0]
    residual = np.where(np.isnan(y), 0, y - model.predict(X))
    penalty = gaussian(landmarks, landmarks) @ c + 20.0 * 2 / 120 * K.T @ (L @ (K @ c))
    np.testing.assert_allclose(K.T @ residual, 30 * 1e-2 * penalty, atol=5e-3)


@pytest.mark.parametrize("model", [LapRLS, LandmarkLapRLS])
def test_a_graph_has_a_width_of_its_own_in_the_unit_of_the_kernel_s(model, waves):
    X, y, _ = waves
    options = {"manifold": 100.0, "n_neighbors": 6, "sigma": 1.0}
    options |= {"random_state": 0} if model is LandmarkLapRLS else {}
    values = [model(graph_sigma=width, **options).fit(X, y).predict(X) for width in (None, 1, 0.1)]
    np.testing.assert_allclose(values[0], values[1], atol=1e-4)
    assert np.abs(values[2] - values[0]).max() > 1e-3
    width = kernels.kernel_width(X, 1.0, "median")
    options |= {"sigma": width, "graph_sigma": 0.1 * width, "sigma_unit": "absolute"}
    np.testing.assert_allclose(model(**options).fit(X, y).predict(X), values[2], atol=1e-6)


@pytest.mark.parametrize("graph_sigma", [1e-300, 1e-30, 1e30, 1e300])
@pytest.mark.parametrize("model", [LapRLS, LandmarkLapRLS])
def test_a_graph_of_any_width_overflows_nowhere(model, waves, graph_sigma):
    """Warnings are errors here; widths a million times the kernel's are as good as any."""
    X, y, _ = waves
    options = {"random_state": 0} if model is LandmarkLapRLS else {}
    values, bound = (
        model(graph_sigma=width, **options).fit(X, y).predict(X)
        for width in (graph_sigma, 1e-6 if graph_sigma < 1 else 1e6)
    )
    np.testing.assert_allclose(values, bound, atol=1e-9)


@pytest.mark.parametrize("model", [LapRLS, LandmarkLapRLS])
def test_the_wider_the_graph_the_more_it_smooths(model, waves):
    X, y, _ = waves
    ranges = [
        np.ptp(model(manifold=1e5, graph_sigma=width).fit(X, y).predict(X))
        for width in (1e-3, 1.0, 1e3)
    ]
    assert ranges[0] > ranges[1] > ranges[2]
    assert ranges[0] > 2 * ranges[2]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", [LapRLS, LandmarkLapRLS])
def test_classes_are_regressed_one_against_the_rest(model, n_classes):
    X, y, truth = blobs(60, n_classes, labeled=12)
    assert np.mean(model(n_classes=n_classes).fit(X, y).predict(X) == truth) > 0.65


def test_a_matrix_loses_the_negative_part_that_rounding_gave_it():
    U = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    eigenvalues = np.array([3.0, 1.0, 0.1, 1e-9, -1e-7, -0.01])
    found = _positive_part(U * eigenvalues @ U.T)
    np.testing.assert_allclose(found, U * eigenvalues.clip(0) @ U.T, atol=1e-12)


def test_two_moons_need_the_graph():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 200)
    truth = np.repeat([0, 1], 100)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[truth == 1] = [1, 0.4] - X[truth == 1]
    X += 0.05 * rng.normal(size=X.shape)
    y = np.full(200, -1)
    y[[0, 1, 100, 101]] = truth[[0, 1, 100, 101]]
    shared = {"alpha": 1e-5, "sigma": 0.3, "sigma_unit": "absolute", "n_classes": 2}
    for model in (LapRLS, LandmarkLapRLS):
        right = [
            np.mean(model(manifold=m, **shared).fit(X, y).predict(X) == truth) for m in (0, 1e3)
        ]
        assert right[1] > right[0]
        assert right[1] > 0.95


@pytest.mark.parametrize("model", [LapRLS, LandmarkLapRLS])
def test_outliers_do_not_spoil_the_rest_and_one_point_has_the_mean(model, waves):
    X, y, truth = waves
    outliers = X.copy()
    outliers[[3, 100], [0, 1]] = 1e6
    errors = np.delete(model().fit(outliers, y).predict(outliers) - truth, [3, 100])
    assert errors.var() < 0.1 * truth.var()
    np.testing.assert_allclose(model().fit(np.ones_like(X), y).predict(X), np.nanmean(y))
    constant = np.where(np.isnan(y), y, 2.0)
    np.testing.assert_allclose(model().fit(X, constant).predict(X), 2.0, atol=1e-12)


def test_a_graph_whose_edges_are_all_too_light_is_none():
    X = np.random.default_rng(0).standard_normal((400, 50))
    y = np.where(np.arange(400) < 60, X[:, 0], np.nan)
    found = LapRLS(manifold=10.0, sigma=0.01).fit(X, y).predict(X)
    np.testing.assert_allclose(found, LapRLS(manifold=0.0, sigma=0.01).fit(X, y).predict(X))
