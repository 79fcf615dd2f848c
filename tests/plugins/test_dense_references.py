"""Methods with a closed form against dense float64, at widths and penalties of every size."""

import numpy as np
import pytest
from budget_machines import BudgetLSSVM
from cluster_kernel import ClusterKernelSVM
from dense import SETS, gaussian, median, off, squared_hinge
from harmonic import HarmonicFunction
from kernel_ridge import CenteredKernelRidge, NystromKernelRidge
from laprls import LapRLS
from mssksc.exact import MSSKSC
from sklearn.exceptions import ConvergenceWarning
from sssl import SSSL, NystromSSSL
from views import XNV

from harness import kernels

ABSOLUTE = {"sigma_unit": "absolute"}
N, KNOWN = 200, 50
ROWS = np.arange(KNOWN)

every_width = pytest.mark.parametrize("width", [0.1, 1.0, 10.0])
every_penalty = pytest.mark.parametrize("penalty", [1e-8, 1.0, 1e4])
both_sets = pytest.mark.parametrize("data", SETS)


def problem(data, width):
    """Return points, all their signs, a width in their units, and their kernel matrix."""
    X, y = data(N)
    X -= X.mean(axis=0)
    sigma = width * median(X)
    return X, np.where(y == 1, 1.0, -1.0), sigma, gaussian(X, X, sigma)


def known_values(signs):
    return np.where(np.arange(N) < KNOWN, signs, np.nan)


def known_labels(signs):
    return np.where(np.arange(N) < KNOWN, signs > 0, -1)


def kernel_ridge(K, signs, penalty):
    """Return values that minimise sum (y - f - b)^2 + penalty |f|^2 over the known points."""
    system = np.zeros((KNOWN + 1, KNOWN + 1))
    system[:-1, :-1] = K[:KNOWN, :KNOWN] + penalty * np.eye(KNOWN)
    system[:-1, -1] = system[-1, :-1] = 1
    found = np.linalg.solve(system, np.append(signs[:KNOWN], 0))
    return K[:, :KNOWN] @ found[:-1] + found[-1]


def cluster_kernel(K, transfer):
    degrees = K.sum(axis=1)
    values, U = np.linalg.eigh(K / np.sqrt(np.outer(degrees, degrees)))
    return (U * transfer(values.clip(0, 1))) @ U.T, degrees


@both_sets
@every_width
@every_penalty
def test_kernel_ridge_regression_and_all_points_as_landmarks(penalty, width, data):
    X, signs, sigma, K = problem(data, width)
    y, expected = known_values(signs), kernel_ridge(K, signs, penalty)
    exact = CenteredKernelRidge(alpha=penalty, sigma=sigma, **ABSOLUTE).fit(X, y)
    assert off(exact.predict(X), expected) < 1e-7
    for model, alpha in ((NystromKernelRidge, penalty), (NystromSSSL, penalty / KNOWN)):
        on_all = model(N, alpha=alpha, sigma=sigma, random_state=0, **ABSOLUTE).fit(X, y)
        assert off(on_all.predict(X), expected) < 1e-6


@both_sets
@every_width
@every_penalty
@pytest.mark.parametrize("manifold", [1.0, 1e5])
def test_laprls(manifold, penalty, width, data):
    X, signs, sigma, K = problem(data, width)
    model = LapRLS(alpha=penalty / KNOWN, manifold=manifold, sigma=sigma, **ABSOLUTE)
    model.fit(X, known_values(signs))
    # of the same points as the model's, or equal distances have other nearest neighbors
    W = kernels.NeighborGraph(model._points, 10, sigma).multiply(np.arange(N), np.eye(N))
    laplacian = 2 * manifold * (np.diag(W.sum(axis=1)) - W) / W.sum()
    values, U = np.linalg.eigh(K)
    Z = U * np.sqrt(values.clip(0))
    deformed = Z @ np.linalg.solve(np.eye(N) + Z.T @ laplacian @ Z, Z.T)
    assert off(model.predict(X), kernel_ridge(deformed, signs, penalty)) < 1e-5


@both_sets
@every_width
def test_harmonic_functions(width, data):
    X, signs, sigma, W = problem(data, width)
    np.fill_diagonal(W, 0)
    degrees, free = W.sum(axis=1), np.arange(KNOWN, N)
    tie, known = 1e-10 * degrees[free], signs[:KNOWN] > 0
    system = np.diag(degrees[free] + tie) - W[np.ix_(free, free)]
    pull = W[np.ix_(free, ROWS)] @ known + tie * known.mean()
    expected = np.linalg.solve(system, pull)
    labels = known_labels(signs)
    model = HarmonicFunction(sigma=sigma, solver="cholesky", **ABSOLUTE).fit(X, labels)
    assert off(model.label_distributions_[free, 1], expected) < 1e-8
    model.set_params(solver="cg")
    if width == 0.1:  # where points hardly hold together, iterations say so
        with pytest.warns(ConvergenceWarning, match="hardly holds together"):
            model.fit(X, labels)
        return
    model.fit(X, labels)
    assert off(model.label_distributions_[free, 1], expected) < 1e-3


@both_sets
@every_width
@every_penalty
@pytest.mark.filterwarnings("ignore:.*curvature")
@pytest.mark.parametrize("gamma1", [0.5, 0.99])
def test_mssksc(gamma1, penalty, width, data):
    X, signs, sigma, K = problem(data, width)
    model = MSSKSC(gamma1=gamma1, gamma2=1 / penalty, sigma=sigma, **ABSOLUTE)
    model.fit(X, known_labels(signs))
    turned, degrees = cluster_kernel(K, lambda e: e / (1 - gamma1 * e))
    turned *= np.sqrt(np.outer(degrees, degrees))
    u = np.linalg.solve(np.eye(N) - gamma1 * K / degrees, np.ones(N))
    system = np.zeros((KNOWN + 1, KNOWN + 1))
    system[:-1, :-1] = turned[:KNOWN, :KNOWN] + penalty * np.eye(KNOWN)
    system[:-1, -1] = system[-1, :-1] = u[:KNOWN]
    system[-1, -1] = gamma1 * np.sum(u / degrees)
    found = np.linalg.solve(system, np.append(signs[:KNOWN], 0))
    expected = turned[:, :KNOWN] @ found[:-1] + found[-1] * u
    assert off(model.decision_scores_, expected) < 1e-6


@both_sets
@every_width
@pytest.mark.parametrize("epsilon", [0.01, 0.3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_clusk(C, epsilon, width, data):
    X, signs, sigma, K = problem(data, width)
    model = ClusterKernelSVM(C=C, epsilon=epsilon, sigma=sigma, **ABSOLUTE)
    model.fit(X, known_labels(signs))
    L, _ = cluster_kernel(K, lambda e: 1 / (1 + epsilon - e) - 1 / (1 + epsilon))
    L /= np.sqrt(np.outer(np.diag(L), np.diag(L)))
    expected = squared_hinge(L[:KNOWN, :KNOWN], signs[:KNOWN], C)
    assert off(model.decision_scores_[:KNOWN], expected) < 0.01


@both_sets
@every_width
@pytest.mark.filterwarnings("ignore:.*objective")
@pytest.mark.parametrize("C", [1e-8, 1.0, 1e4])
@pytest.mark.parametrize("n_landmarks", [60, N])
def test_budget_lssvm_on_the_landmarks_that_it_keeps(n_landmarks, C, width, data):
    X, signs, sigma, _ = problem(data, width)
    model = BudgetLSSVM(n_landmarks, C=C, sigma=sigma, random_state=0, **ABSOLUTE)
    model.fit(X, signs > 0)
    landmarks = model.landmarks_ + model.center_
    L = np.linalg.cholesky(gaussian(landmarks, landmarks, sigma))
    F = np.linalg.solve(L, gaussian(landmarks, X, sigma)).T
    F -= F.mean(axis=0)
    w = np.linalg.solve(F.T @ F + np.eye(len(L)) / C, F.T @ (signs - signs.mean()))
    # at a large C and a wide kernel coefficients cancel in float32, and `gap_` tells
    assert off(model.decision_function(X), F @ w + signs.mean()) < 0.01 or model.gap_ > 5e-4
    assert C > 100 or model.gap_ < 1e-3


@both_sets
@pytest.mark.parametrize("width", [0.3, 10.0])  # below, all eigenvalues are about 1
@pytest.mark.parametrize("n_components", [4, 32])
def test_sssl(n_components, width, data):
    X, signs, sigma, K = problem(data, width)
    model = SSSL(n_components, sigma=sigma, **ABSOLUTE).fit(X, known_values(signs))
    F = np.linalg.eigh(K)[1][:, ::-1][:, : len(model.eigenvalues_)][:, :n_components]
    center = F[:KNOWN].mean(axis=0)
    values, offset = signs[:KNOWN], signs[:KNOWN].mean()
    w = np.linalg.lstsq(F[:KNOWN] - center, values - offset, rcond=0.03)[0]
    assert off(model.predict(X), (F - center) @ w + offset) < 0.01


@both_sets
@pytest.mark.parametrize("width", [0.3, 10.0])  # below, views have nothing in common
@every_penalty
@pytest.mark.parametrize("ridge", [1e-6, 1e-2])
def test_xnv(ridge, penalty, width, data):
    X, signs, sigma, _ = problem(data, width)
    model = XNV(
        20, alpha=penalty, ridge=ridge, sigma=sigma, combine=True, random_state=0, **ABSOLUTE
    )
    model.fit(X, known_values(signs))
    views = []
    for view in model._views:
        landmarks = view._landmarks + model._center
        views.append(gaussian(X, landmarks, sigma) @ view._projection.astype(np.float64))
    whitened = []
    for F in views:
        F -= F.mean(axis=0)
        covariance = F.T @ F / N
        k = len(covariance)
        factor = np.linalg.cholesky(covariance + ridge * np.trace(covariance) / k * np.eye(k))
        whitened.append(np.linalg.solve(factor, F.T).T)
    U, c, V = np.linalg.svd(whitened[0].T @ whitened[1] / N)
    k = len(U)
    c = np.concatenate([c, np.zeros(k)])[:k].clip(1e-6)
    values, offset, expected = signs[:KNOWN], signs[:KNOWN].mean(), 0.0
    for Z in (whitened[0] @ U, whitened[1] @ V.T[:, :k]):
        A = Z[:KNOWN] - Z[:KNOWN].mean(axis=0)
        shrink = KNOWN * (penalty + (1 - c) / c)[: A.shape[1]]
        w = np.linalg.solve(A.T @ A + np.diag(shrink), A.T @ (values - offset))
        expected = expected + ((Z - Z[:KNOWN].mean(axis=0)) @ w + offset) / 2
    assert off(model.predict(X), expected) < 0.01
