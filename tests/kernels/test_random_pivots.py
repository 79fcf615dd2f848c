"""Random pivots, and recursive leverage scores: their distributions and what they leave."""

import numpy as np
import pytest
from landmark_choices import bind, choose, clusters
from scipy.stats import chi2

from harness import kernels
from harness.kernels.landmarks import recursion

PIVOTS = ["rpcholesky", "rpcholesky-accelerated"]


def smile(n=2000):
    """Return a face of points: a circle, a mouth and two eyes of few (Chen et al. 2025)."""
    rng, few, mouth = np.random.default_rng(0), int(n**0.5), n // 10
    radius, angle = np.sqrt(rng.uniform(size=2 * few)), rng.uniform(0, 2 * np.pi, 2 * few)
    eyes = radius[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    eyes += np.c_[np.repeat([-4, 4], few), np.full(2 * few, 4)]
    x, around = np.linspace(-5, 5, mouth), np.linspace(0, 2 * np.pi, n - 2 * few - mouth)
    face = 10 * np.c_[np.cos(around), np.sin(around)]
    return np.concatenate([eyes, np.c_[x, x**2 / 16 - 5], face])


def spiral(n=2000):
    """Return points of a spiral, most of them in its middle (Chen et al. 2025)."""
    t = np.linspace(0, 2, n)[::-1] ** 6
    return np.exp(0.2 * t)[:, None] * np.c_[np.cos(t), np.sin(t)]


@pytest.mark.parametrize("selector", PIVOTS)
@pytest.mark.parametrize(
    ("X", "width", "rank"),
    [(smile(1000), 2.0, 20), (spiral(1000), 1000.0, 30)],
    ids=["smile", "spiral"],
)
def test_random_pivots_keep_the_bound_of_their_theorem(selector, X, width, rank):
    """With r / e + r log(1 / (e q)) pivots the trace error is at most 1 + e times the best.

    Theorem 2.3 of Chen et al. 2025, of the mean; r is the rank, and q what the best leaves.
    """
    bound = kernels.bind_kernel("rbf", X, width, "absolute")
    eigenvalues = np.linalg.eigvalsh(bound(X, X))[::-1]
    best = eigenvalues[rank:].sum() / len(X)
    n_landmarks = int(rank + rank * np.log(1 / best)) + 1
    lefts = []
    for seed in range(5):
        chosen = (selector, X, n_landmarks, np.random.RandomState(seed), bound)
        lefts.append(trace_left(X, kernels.select_landmarks(*chosen), bound))
    assert np.mean(lefts) <= 2 * best


def test_random_pivots_leave_less_of_the_smile_than_any_other_selector():
    X = smile()
    bound = kernels.bind_kernel("rbf", X, 2.0, "absolute")
    lefts = {}
    for selector in kernels.SELECTORS:
        rows = [
            kernels.select_landmarks(selector, X, 100, np.random.RandomState(seed), bound)
            for seed in range(3)
        ]
        lefts[selector] = np.median([trace_left(X, found, bound) for found in rows])
    pivots = [lefts.pop(selector) for selector in PIVOTS]
    assert max(pivots) < 1e-5 < 1e-4 < min(lefts.values())


def trace_left(X, rows, bound):
    C = bound(X, X[rows])
    eigenvalues, U = np.linalg.eigh(C[rows])
    kept = eigenvalues > 1e-13 * eigenvalues[-1]
    F = C @ U[:, kept] / np.sqrt(eigenvalues[kept])
    return max(0, 1 - np.sum(F**2) / bound.diagonal(X).sum())


@pytest.mark.parametrize("selector", PIVOTS)
def test_pivots_are_drawn_by_what_those_before_leave(selector):
    """Counts of all sets of three among seven points against their exact chances."""
    X = clusters(7, 2)
    K = bind(X, "poly2")(X, X)
    chances, draws = {}, 600

    def follow(rows, residual, chance):
        if len(rows) == 3:
            chances[frozenset(rows)] = chances.get(frozenset(rows), 0) + chance
            return
        for row in set(range(7)) - set(rows):
            of_row = residual[row, row] / residual.trace()
            left = residual - np.outer(residual[row], residual[row]) / residual[row, row]
            follow([*rows, row], left, chance * of_row)

    follow([], K, 1.0)
    counts = dict.fromkeys(chances, 0)
    for seed in range(draws):
        counts[frozenset(int(row) for row in choose(selector, X, 3, seed, "poly2"))] += 1
    expected = draws * np.array(list(chances.values()))
    often = expected > 5
    found, rare = np.array(list(counts.values())), expected[~often].sum()
    statistic = ((found[often] - expected[often]) ** 2 / expected[often]).sum()
    statistic += (found[~often].sum() - rare) ** 2 / max(rare, 1)
    assert statistic < chi2.ppf(0.999, often.sum())


def test_no_pivot_is_drawn_twice_where_the_kernel_is_narrow():
    """In float32 the distance of a point from itself is rounding, of many widths here."""
    X = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    bound = kernels.bind_kernel("rbf", X, 1e-6)
    for selector in PIVOTS:
        for seed in range(5):
            random_state = np.random.RandomState(seed)
            assert len(kernels.select_landmarks(selector, X, 20, random_state, bound)) == 20


def test_bounds_are_lowered_where_proposals_are_rejected():
    """A dense line of points is spanned soon: what is left is far from it."""
    X = np.concatenate([np.linspace(0, 1, 3000)[:, None], 50.0 + 9 * np.arange(40)[:, None]])
    bound = kernels.bind_kernel("rbf", X, 2.0, "absolute")
    rows = kernels.select_landmarks(
        "rpcholesky-accelerated", X, 44, np.random.RandomState(0), bound
    )
    assert np.sum(rows >= 3000) == 40


def test_a_recursion_scores_points_like_all_of_them():
    """With as many landmarks as points in the last half, scores are those by the definition."""
    X = clusters(120)
    bound, rng = bind(X), np.random.RandomState(0)
    sample = rng.permutation(120)[:80]
    found = recursion._scores(X, np.arange(120), sample, np.ones(80), 80, bound)
    K = bound(X, X)
    S = K[np.ix_(sample, sample)]
    rank = int(np.ceil(80 / (4 * np.log(80))))
    mu = np.sort(np.linalg.eigvalsh(S))[:-rank].sum() / rank
    inverse = np.linalg.inv(S + mu * np.eye(80))
    expected = np.diag(K) - np.einsum("is,st,it->i", K[:, sample], inverse, K[:, sample])
    np.testing.assert_allclose(found, expected / mu, atol=1e-8)
