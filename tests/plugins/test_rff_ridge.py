"""Ridge regression on random Fourier features: what it solves, in which bits and bytes."""

import numpy as np
import pytest
from kernel_ridge import CenteredKernelRidge
from rff_ridge import RandomFourierRidge
from rff_ridge.storage import is_direct
from rff_ridge.stored_features import StoredFeatures
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from harness import Shape
from harness.planning.size import plan
from harness.plugin.registry import Registry

NAMES = ("gaussian", "orthogonal", "hadamard")


@pytest.fixture(scope="module")
def waves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=600) + 5
    return X, y


def distance(found, expected):
    """Return the deviation of values in parts of that of the expected ones."""
    return np.std(found - expected) / np.std(expected)


@pytest.mark.parametrize("frequencies", NAMES)
@pytest.mark.parametrize(("m", "bits"), [(16, 32), (700, 32)])
def test_both_ways_end_at_ridge_regression_on_the_features(waves, frequencies, m, bits):
    X, y = waves
    assert is_direct(len(X), m, 3, 1, 8, frequencies, bits) == (m == 16)
    setting = {"n_components": m, "bits": bits, "frequencies": frequencies, "random_state": 0}
    model = RandomFourierRidge(alpha=0.3, tol=1e-7, **setting).fit(X, y)
    Z = model._map.transform(X).astype(float)
    expected = Ridge(0.3).fit(Z, y).predict(Z)
    assert distance(model.predict(X), expected) < 1e-4
    np.testing.assert_allclose(model.predict(X).mean(), y.mean(), rtol=1e-5)


@pytest.mark.parametrize("frequencies", NAMES)
def test_with_many_features_it_is_kernel_ridge_regression(waves, frequencies):
    X, y = waves
    exact = CenteredKernelRidge(1.0).fit(X, y).predict(X)
    setting = {"alpha": 1.0, "frequencies": frequencies, "bits": 8, "random_state": 0}
    errors = [
        distance(RandomFourierRidge(m, **setting).fit(X, y).predict(X), exact) for m in (60, 6000)
    ]
    assert errors[1] < 0.05
    assert errors[1] < errors[0] / 2


@pytest.mark.parametrize(("bits", "most"), [(8, 0.01), (4, 0.1)])
def test_few_bits_cost_little_accuracy(waves, bits, most):
    X, y = waves
    setting = {"n_components": 1000, "alpha": 1.0, "tol": 1e-6, "random_state": 0}
    exact = RandomFourierRidge(bits=32, **setting).fit(X, y).predict(X)
    assert distance(RandomFourierRidge(bits=bits, **setting).fit(X, y).predict(X), exact) < most


def kept(features, bits, seed):
    """Return features as they come back."""
    store = StoredFeatures(*features.shape, bits, 0.5, np.random.default_rng(seed))
    for start in range(0, len(features), 3):
        store.put(slice(start, start + 3), features[start : start + 3].copy())
    return np.concatenate([Z.copy() for _, Z in store.blocks()])


@pytest.mark.parametrize("bits", [8, 4])
def test_rounding_is_unbiased_and_never_off_by_a_step(bits):
    """Its variance is f (1 - f) steps squared, where f is the part of a step that is lost."""
    features = np.random.default_rng(1).uniform(-0.5, 0.5, (6, 10)).astype(np.float32)
    features[0, :2] = -0.5, 0.5
    step = 1 / (2**bits - 1)
    draws = np.stack([kept(features, bits, seed) for seed in range(2000)])
    assert np.abs(draws - features).max() < 1.001 * step
    part = (features + 0.5) / step % 1
    variance = part * (1 - part) * step**2
    off = np.abs(draws.mean(axis=0) - features)
    assert (off <= 5 * np.sqrt(variance / 2000) + 1e-6).all()
    np.testing.assert_allclose(draws.var(axis=0), variance, atol=0.05 * step**2)
    np.testing.assert_allclose(draws[:, 0, :2], np.broadcast_to((-0.5, 0.5), (2000, 2)), atol=1e-6)


def test_products_of_rounded_features_are_unbiased():
    """Those of two points: their errors are independent (Zhang et al. 2019)."""
    features = np.random.default_rng(1).uniform(-0.5, 0.5, (2, 40)).astype(np.float32)
    draws = [kept(features, 4, seed) for seed in range(2000)]
    products = np.array([first @ second for first, second in draws])
    error = products.std() / 2000**0.5
    assert abs(products.mean() - features[0] @ features[1]) < 4 * error


def test_features_of_thirty_two_bits_are_kept_as_they_are():
    features = np.random.default_rng(1).uniform(-0.5, 0.5, (7, 10)).astype(np.float32)
    np.testing.assert_array_equal(kept(features, 32, 0), features)


def size(shape, budget, **params):
    method, _ = Registry.load().get("methods", "rff-ridge")
    return plan(method, shape, budget, params).size


def test_fewer_bytes_for_a_feature_buy_more_features():
    wide = Shape(300, 0, 700, 2, n_test=100, itemsize=4)
    found = [size(wide, 4_000_000, frequencies=name) for name in ("gaussian", "hadamard")]
    assert found[1] > 3 * found[0]
    narrow = Shape(1000, 0, 10, 2, n_test=100, itemsize=4)
    found = [size(narrow, 4_000_000, bits=bits) for bits in (32, 8, 4)]
    assert found[1] > 2 * found[0]
    assert found[2] > 1.5 * found[1]


def test_a_fit_that_has_not_converged_says_so(waves):
    with pytest.warns(ConvergenceWarning, match="after 2 iterations a part of 0.* raise alpha or"):
        RandomFourierRidge(2000, alpha=1e-6, max_iter=2).fit(*waves)
