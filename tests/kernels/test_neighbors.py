"""The search for nearest neighbors, against a full sort of exact distances."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from harness.kernels.neighbors import NeighborSearch

WIDTH = 2.0


def sorted_neighbors(X, Z, k, others=False):
    squares = cdist(X, Z, "sqeuclidean")
    if others:
        np.fill_diagonal(squares, np.inf)
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(squares, order, axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 7, 40])
def test_of_points_equally_far_the_first_are_neighbors(k, dtype):
    """Distances of points on a grid are exact and most are tied, in a tile and between tiles."""
    X = np.random.default_rng(0).integers(0, 4, (700, 3)).astype(dtype)
    search = NeighborSearch(X, k, WIDTH)
    for found, expected in (
        (search.nearest_others(), sorted_neighbors(X, X, k, others=True)),
        (search.nearest(X[100:450] + 1), sorted_neighbors(X[100:450] + 1, X, k)),
    ):
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1], np.exp(-expected[1] / (2 * WIDTH**2)), rtol=1e-14)


def test_tiles_of_many_columns_find_the_neighbors_of_a_full_sort():
    X = np.random.default_rng(0).normal(size=(300, 3_000)) + 100
    points, weights = NeighborSearch(X, 10, None).nearest_others()
    expected, squares = sorted_neighbors(X, X, 10, others=True)
    np.testing.assert_array_equal(points, expected)
    np.testing.assert_allclose(weights, np.exp(-4 * squares / squares[:, -1:]), rtol=1e-9)


@pytest.mark.parametrize(("n", "k"), [(1, 10), (5, 10), (300, 400)])
def test_all_points_are_neighbors_where_there_are_fewer_than_k(n, k):
    X = np.random.default_rng(0).normal(size=(n, 2))
    search = NeighborSearch(X, k, WIDTH)
    assert search.nearest_others()[0].shape == (n, n - 1)
    np.testing.assert_array_equal(search.nearest(X)[0], sorted_neighbors(X, X, n)[0])


@pytest.mark.parametrize(
    ("n", "d", "k"),
    [(100, 3, 10), (4_000, 8, 10), (2_000, 60, 200), (2_000, 784, 10), (60, 9_000, 5)],
)
def test_a_search_holds_what_is_planned(n, d, k):
    X = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    search, plan = NeighborSearch(X, k, None), NeighborSearch.bytes(n, d, k)
    for find, m in ((search.nearest_others, n), (lambda: search.nearest(X), n)):
        tracemalloc.start()
        try:
            find()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert 0.9 * plan < peak - 12 * m * k < plan + 4_000
