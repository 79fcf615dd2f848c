"""Frequencies of random Fourier features: what they estimate, how well, in how many bytes."""

import tracemalloc

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.special import hyp1f1

from harness import kernels
from harness.kernels.frequencies import HadamardFrequencies, draw_frequencies

NAMES = ("gaussian", "orthogonal", "hadamard")


def estimates(name, d, z, n, m=None):
    """Return n estimates of k(x, y) at |x - y| = z sigma, each of m frequencies, d by default."""
    m = m or d
    rng = np.random.default_rng(0)
    apart = rng.normal(size=(1, d))
    apart *= 3.0 * z / np.linalg.norm(apart)
    W = draw_frequencies(name, d, m * n, 3.0, rng, np.dtype(float))
    phases = W.phases(apart, np.empty((1, m * n)))
    return np.cos(phases).reshape(n, m).mean(axis=1)


def independent_variance(z, m):
    """Rahimi & Recht's: (1 - k^2)^2 / 2 m."""
    return (1 - np.exp(-z * z)) ** 2 / (2 * m)


def orthogonal_variance(d, z):
    """Return that of d orthogonal frequencies, exactly.

    The sum and the difference of two of them are uniform in direction, and their squared norms
    are chi-squared of 2 d degrees: the mean of cos(w x) cos(v x) is 1F1(d; d / 2; -z^2 / 2).
    """
    shared = hyp1f1(d, d / 2, -z * z / 2) - np.exp(-z * z)
    return independent_variance(z, d) + (d - 1) / d * shared


@pytest.mark.parametrize("z", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("d", [4, 16])
def test_orthogonal_frequencies_are_unbiased_and_vary_as_they_should(d, z):
    found = estimates("orthogonal", d, z, 4000)
    exact = orthogonal_variance(d, z)
    assert found.mean() == pytest.approx(np.exp(-z * z / 2), abs=4 * (exact / 4000) ** 0.5)
    assert found.var() == pytest.approx(exact, rel=0.12)
    assert exact < 0.99 * independent_variance(z, d)
    assert estimates("gaussian", d, z, 4000).var() == pytest.approx(
        independent_variance(z, d), rel=0.12
    )


def test_blocks_of_orthogonal_frequencies_stand_upright_with_norms_of_gaussian_ones():
    d, n = 6, 2000
    W = draw_frequencies("orthogonal", d, d * n, 1.0, np.random.default_rng(0), np.dtype(float))
    blocks = W.matrix().T.reshape(n, d, d)
    products = blocks @ blocks.transpose(0, 2, 1)
    norms = np.einsum("bii->bi", products)
    np.testing.assert_allclose(products - norms[:, :, None] * np.eye(d), 0, atol=1e-12)
    # chi-squared of d degrees
    assert norms.mean() == pytest.approx(d, rel=0.02)
    assert norms.var() == pytest.approx(2 * d, rel=0.1)
    # every direction alike
    np.testing.assert_allclose(np.mean(blocks, axis=(0, 1)), 0, atol=0.05)


@pytest.mark.parametrize(("d", "z"), [(1, 1.0), (1, 2.0), (5, 1.5), (64, 1.0), (64, 2.0)])
def test_structured_frequencies_have_little_bias(d, z):
    """It falls with p, which is 64 at the least: a rotation of one dimension would give cos(z)."""
    found = estimates("hadamard", d, z, 2000, 64)
    assert found.mean() == pytest.approx(np.exp(-z * z / 2), abs=0.015)
    assert found.var() < (0.8 if d == 64 else 1.1) * independent_variance(z, 64)


@pytest.mark.parametrize("d", [3, 64, 200])
def test_structured_frequencies_are_products_of_signs_and_hadamard_matrices(d):
    """Yu et al. 2016, section 4; with one product of matrices, and with two small ones."""
    p = 64 if d <= 64 else 256
    W = HadamardFrequencies(d, p + 9, 0.5, np.random.default_rng(0), np.dtype(float))
    H = hadamard(p) / p**0.5
    for block, (first, second, third) in enumerate(W._signs):
        whole = p**0.5 / 0.5 * H @ np.diag(first) @ H @ np.diag(second) @ H @ np.diag(third)
        columns = W.matrix()[:, block * p : (block + 1) * p]
        np.testing.assert_allclose(columns, whole.T[:d, : columns.shape[1]], atol=1e-12)
        np.testing.assert_allclose(whole @ whole.T, p / 0.25 * np.eye(p), atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_phases_of_many_points_are_products_with_the_matrix(name, dtype):
    X = np.random.default_rng(1).normal(size=(700, 20)).astype(dtype)
    W = draw_frequencies(name, 20, 150, 2.0, np.random.default_rng(0), np.dtype(dtype))
    out = np.full((700, 150), np.nan, dtype)
    assert W.phases(X, out) is out
    assert W.matrix().dtype == dtype
    np.testing.assert_allclose(out, X @ W.matrix(), atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_features_have_unit_norm_and_come_back_with_the_seed(name):
    X = np.random.default_rng(0).normal(size=(30, 7))
    maps = [
        kernels.RandomFourierFeatures(7, 200, 2.0, np.random.RandomState(3), frequencies=name)
        for _ in range(2)
    ]
    first, second = (m.transform(X) for m in maps)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose((first**2).sum(axis=1), 1, rtol=1e-5)


def test_structured_frequencies_are_three_bytes_each():
    W = HadamardFrequencies(784, 2048, 1.0, np.random.default_rng(0), np.dtype(np.float32))
    assert W._signs.nbytes == 3 * 2048 == kernels.frequency_bytes("hadamard", 784, 2048, 4)
    assert kernels.frequency_bytes("gaussian", 784, 2048, 4) == 4 * 784 * 2048


@pytest.mark.parametrize(("d", "m"), [(301, 800), (301, 301), (300, 800), (900, 100)])
def test_orthogonal_frequencies_are_made_where_they_stay(d, m):
    # a block of odd d does not begin at 16 bytes, which LAPACK's wrapper asks for
    draw_frequencies("orthogonal", 4, 4, 1.0, np.random.default_rng(0), np.dtype(np.float32))
    tracemalloc.start()
    draw_frequencies("orthogonal", d, m, 1.0, np.random.default_rng(0), np.dtype(np.float32))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    stated = kernels.frequency_bytes("orthogonal", d, m, 4)
    assert 0.9 * stated < held < stated + 25_000
