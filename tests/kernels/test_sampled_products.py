"""Lemma 3.2.1 of Castellanos (2021): a product of matrices, sampled, is unbiased.

c indices are drawn with replacement from {1..n} by probabilities p, and S (n x c; the thesis
prints p x c) has 1 / sqrt(c p_i) where index i is drawn in trial t. Then E[A S S' B] = A B, and
Var[(A S S' B)_ij] = sum_k A_ik^2 B_kj^2 / (c p_k) - (A B)_ij^2 / c. With uniform probabilities
this says of a budget of c points drawn uniformly that (n / c) k(X, B) alpha_B has the mean
k(X, X) alpha (corollary 3.2.1.1).
"""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness import kernels

entries = st.floats(-10, 10, allow_subnormal=False)


@st.composite
def products(draw):
    """Draw A, B, probabilities and c, small enough to go through every draw."""
    m, n, q, c = (draw(st.integers(1, most)) for most in (3, 4, 3, 3))
    A, B = (draw(arrays.arrays(float, shape, elements=entries)) for shape in ((m, n), (n, q)))
    weights = draw(arrays.arrays(float, n, elements=st.floats(0.05, 1)))
    return A, B, weights / weights.sum(), c


def moments(values, weights):
    mean = np.tensordot(weights, values, 1)
    return mean, np.tensordot(weights, (values - mean) ** 2, 1)


@settings(deadline=None)
@given(products())
def test_a_sampled_product_has_the_mean_and_the_variance_of_the_lemma(product):
    A, B, p, c = product
    n = len(p)
    draws = list(itertools.product(range(n), repeat=c))
    values = []
    for draw in draws:
        S = np.zeros((n, c))
        S[draw, range(c)] = 1 / np.sqrt(c * p[list(draw)])
        values.append(A @ S @ S.T @ B)
    mean, variance = moments(np.array(values), np.array([p[list(draw)].prod() for draw in draws]))
    size = (np.abs(A) @ np.abs(B)).max() + 1e-140  # its square is a number, too
    np.testing.assert_allclose(mean, A @ B, rtol=0, atol=1e-10 * size)
    expected = A**2 / (c * p) @ B**2 - (A @ B) ** 2 / c
    np.testing.assert_allclose(variance, expected, rtol=0, atol=1e-9 * size**2 / p.min())


@settings(deadline=None)
@given(products())
def test_a_uniform_budget_without_repetition_varies_less(product):
    """As `uniform` draws: the same mean, (n - c) / (n - 1) of the variance, none for c = n."""
    A, B, p, c = product
    n = len(p)
    c = min(c, n)
    subsets = list(itertools.combinations(range(n), c))
    values = np.array([n / c * A[:, rows] @ B[rows, :] for rows in map(list, subsets)])
    mean, variance = moments(values, np.full(len(subsets), 1 / len(subsets)))
    size = (np.abs(A) @ np.abs(B)).max() + 1e-140  # its square is a number, too
    np.testing.assert_allclose(mean, A @ B, rtol=0, atol=1e-10 * size)
    with_repetition = n / c * (A**2 @ B**2 - (A @ B) ** 2 / n)
    expected = with_repetition * (n - c) / max(1, n - 1)
    np.testing.assert_allclose(variance, expected, rtol=0, atol=1e-9 * n * size**2)


def test_the_harness_own_uniform_landmarks_are_such_a_budget():
    """4,000 draws: mean and variance of (n / c) k(X, B) alpha_B, within their sampling errors."""
    rng = np.random.default_rng(0)
    n, c, repeats = 60, 12, 4000
    X, alpha = rng.standard_normal((n, 3)), rng.standard_normal(n)
    kernel = kernels.bind_kernel("rbf", X, 1.0)
    terms = kernel(X, X)[0] * alpha
    scores = np.empty(repeats)
    for seed in range(repeats):
        chosen = kernels.select_landmarks("uniform", X, c, np.random.RandomState(seed), kernel)
        scores[seed] = n / c * terms[chosen].sum()
    variance = n / c * (np.sum(terms**2) - terms.sum() ** 2 / n) * (n - c) / (n - 1)
    assert abs(scores.mean() - terms.sum()) < 4 * np.sqrt(variance / repeats)
    assert abs(scores.var() / variance - 1) < 4 * np.sqrt(2 / repeats)
