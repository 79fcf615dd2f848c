"""Products with kernel matrices, and the Newton solver against closed forms and LIBLINEAR."""

import tracemalloc

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from harness.semi_supervised import LinearProduct
from harness.semi_supervised.gaussian_triangle import BAND, GaussianTriangle
from harness.semi_supervised.kernel_operators import CenteredProduct
from harness.semi_supervised.squared_hinge import Expansion, HingeLosses, minimise, newton_step


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def gaussian(X, width):
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * width**2))


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_triangle_multiplies_as_the_whole_matrix_and_takes_half_the_bytes(n, dtype, rng):
    X = rng.normal(size=(n, 3)).astype(dtype)
    triangle = GaussianTriangle(X, 1.3)
    vector = rng.normal(size=n)
    K = gaussian(X.astype(float), 1.3)
    product = triangle.multiply(vector)
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, K @ vector, atol=1e-6 * (K @ abs(vector)).max())
    assert sum(band.nbytes for band in triangle._bands) == GaussianTriangle.bytes(n)
    assert GaussianTriangle.bytes(n) <= 2 * n * (n + BAND)


def test_linear_and_centered_products(rng):
    X, vector, rows = rng.normal(size=(30, 4)), rng.normal(size=30), np.arange(5, 25)
    linear = LinearProduct(X)
    np.testing.assert_allclose(linear.multiply(vector), X @ X.T @ vector)
    moved = X - X[rows].mean(axis=0)
    centered = CenteredProduct(linear, rows)
    np.testing.assert_allclose(centered.multiply(vector), moved @ moved.T @ vector)
    plain = linear.multiply(centered.uncentered(vector))
    np.testing.assert_allclose(np.diff(plain), np.diff(centered.multiply(vector)), atol=1e-12)


def problem(n=80, C=3.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    return X, y, HingeLosses(C * (y > 0), C * (y < 0))


def test_derivatives_are_those_of_the_value(rng):
    _, _, losses = problem()
    losses = HingeLosses(losses.positive, losses.negative + 0.5)
    scores, direction, h = 2 * rng.normal(size=80), rng.normal(size=80), 1e-5
    up, down = losses.value(scores + h * direction), losses.value(scores - h * direction)
    slope = losses.gradient(scores) @ direction
    np.testing.assert_allclose((up - down) / (2 * h), slope, rtol=1e-7)
    bend = losses.gradient(scores + h * direction) - losses.gradient(scores - h * direction)
    np.testing.assert_allclose(bend / (2 * h), losses.curvature(scores) * direction, atol=1e-6)


def test_it_is_the_linear_svm_of_liblinear():
    X, y, losses = problem()
    kernel = LinearProduct(X)
    f = minimise(kernel, Expansion.zero(80), losses, 1e-12)
    # A large constant feature leaves the intercept nearly free of the penalty.
    peer = LinearSVC(C=3.0, dual=False, intercept_scaling=1e3, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(kernel.weights(f.coefficients), peer.coef_[0], rtol=1e-4)
    np.testing.assert_allclose(f.bias, peer.intercept_[0], rtol=1e-4)


@pytest.mark.parametrize("free_bias", [True, False])
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2])
def test_optimality_conditions_hold_and_the_objective_falls(free_bias, C):
    X, _, losses = problem(C=C)
    kernel = GaussianTriangle(X, 1.5)
    f, path = Expansion.zero(80, 0.2), []
    for _ in range(60):
        path.append(f.objective(losses))
        f, done = newton_step(kernel, f, losses, 1e-9 * path[-1], free_bias)
        if done:
            break
    assert done
    assert np.all(np.diff(path) <= 1e-9 * path[0])
    gradient = losses.gradient(f.scores)
    off = kernel.multiply(f.coefficients + gradient)
    assert np.abs(off).max() <= 1e-3 * np.sqrt(path[-1])
    if free_bias:
        assert abs(gradient.sum()) <= 1e-3 * np.abs(gradient).sum()
    else:
        assert f.bias == 0.2


def test_two_equal_points_have_a_closed_form():
    """At one place with k = 1 the margin equation is a = 2 C (1 - a - b)."""
    kernel = LinearProduct(np.ones((1, 1)))
    losses = HingeLosses(np.array([4.0]), np.zeros(1))
    f = minimise(kernel, Expansion.zero(1), losses, 1e-14, free_bias=False)
    np.testing.assert_allclose(f.coefficients, 8 / 9)
    free = minimise(kernel, Expansion.zero(1), losses, 1e-14)
    np.testing.assert_allclose([free.coefficients[0], free.bias], [0, 1], atol=1e-12)


def test_the_bound_on_the_excess_holds():
    X, _, losses = problem()
    kernel = LinearProduct(X)
    best = minimise(kernel, Expansion.zero(80), losses, 1e-13, free_bias=False)
    least = best.objective(losses)
    for tol in (1e-1, 1e-3, 1e-6):
        f = minimise(kernel, Expansion.zero(80), losses, tol, free_bias=False)
        assert least <= f.objective(losses) * (1 + 1e-12) <= least / (1 - tol) * (1 + 1e-9)


@pytest.mark.parametrize("free_bias", [True, False])
def test_a_newton_step_holds_eleven_vectors(free_bias, rng):
    n = 20_000
    kernel = LinearProduct(rng.normal(size=(n, 1)))
    signs = rng.integers(2, size=n)
    losses = HingeLosses(signs.astype(float), 1.0 - signs)
    start = Expansion.zero(n)
    tracemalloc.start()
    _, solved = newton_step(kernel, start, losses, 0.0, free_bias)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not solved
    # two arrays of the result are among them; a product may convert one more
    assert held < 11.2 * 8 * n
