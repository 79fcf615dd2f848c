"""Graphs and harmonic functions on them, against dense matrices."""

import tracemalloc

import numpy as np
import pytest
from harmonic.graph import TIE, CompleteGraph, extend_harmonically
from harmonic.laplacian import GroundedLaplacian
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from harness import kernels

WIDTH = 1.0


@pytest.fixture(name="X")
def points():
    return np.random.default_rng(0).normal(size=(700, 4)) + 5


def complete_weights(X, width=WIDTH):
    W = np.exp(-cdist(X, X, "sqeuclidean") / (2 * width**2))
    np.fill_diagonal(W, 0)
    return W


def neighbor_weights(X, k, width=WIDTH):
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    nearest = distances <= np.sort(distances, axis=1)[:, k - 1 : k]
    return np.where(nearest | nearest.T, complete_weights(X, width), 0)


def harmonic(W, known, values):
    free = np.setdiff1d(np.arange(len(W)), known)
    laplacian = np.diag((1 + TIE) * W.sum(axis=1)) - W
    extended = np.zeros((len(W), values.shape[1]))
    extended[known] = values
    pull = W[np.ix_(free, known)] @ values
    extended[free] = np.linalg.solve(laplacian[np.ix_(free, free)], pull)
    return extended


def given(X, n_known=60, k=2):
    rng = np.random.default_rng(1)
    return np.sort(rng.choice(len(X), n_known, replace=False)), rng.normal(size=(n_known, k))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_parts_are_those_of_the_dense_matrix(X, dtype):
    rows = np.random.default_rng(1).permutation(700)[:600]
    V = np.random.default_rng(2).normal(size=(600, 3))
    for graph, W, tolerance in (
        (CompleteGraph(X.astype(dtype), WIDTH), complete_weights(X), 1e-4),
        (kernels.NeighborGraph(X.astype(dtype), 9, WIDTH), neighbor_weights(X, 9), 1e-5),
    ):
        np.testing.assert_allclose(graph.degrees, W.sum(axis=1), rtol=1e-5)
        product = W[np.ix_(rows, rows)] @ V
        np.testing.assert_allclose(graph.multiply(rows, V), product, atol=tolerance)


@pytest.mark.parametrize(("n", "d", "k"), [(60, 12_000, 10), (2_000, 20, 30)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_search_for_neighbors_copies_a_few_rows_whatever_their_number_of_columns(n, d, k, dtype):
    """Float64 copies of 256 rows of both sides, 49 MB at 12,000 columns, were made of float32."""
    X = np.random.default_rng(0).normal(size=(n, d)).astype(dtype)
    tracemalloc.start()
    try:
        kernels.NeighborGraph(X, k, np.sqrt(d))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    making, _ = kernels.NeighborGraph.bytes(n, d, k)
    assert 0.4 * making < peak < making + 50_000


def test_equal_points_are_neighbors_but_none_is_its_own():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    graph = kernels.NeighborGraph(X, 3, WIDTH)
    own = graph.multiply(np.arange(40), np.eye(40))
    assert not own.diagonal().any()
    np.testing.assert_allclose(own, own.T)
    assert (graph.degrees >= 3).all()


def test_more_neighbors_than_points_are_all(X):
    few = X[:10]
    graph = kernels.NeighborGraph(few, 50, WIDTH)
    product = graph.multiply(np.arange(10), np.eye(10))
    np.testing.assert_allclose(product, complete_weights(few), atol=1e-12)


@pytest.mark.parametrize("width", [0.5, 1.0, 3.0, 100.0])
def test_conjugate_gradients_and_factorisation_are_the_closed_form(X, width):
    known, values = given(X)
    expected = harmonic(complete_weights(X, width), known, values)
    found, n_iterations = extend_harmonically(CompleteGraph(X, width), known, values)
    assert n_iterations < 150
    # Rounding of the exponents in float32 grows as the width shrinks.
    np.testing.assert_allclose(found, expected, atol=1e-6 if width >= 1 else 2e-5)
    free = np.setdiff1d(np.arange(700), known)
    laplacian = GroundedLaplacian(X, width, free, known)
    np.testing.assert_allclose(laplacian.extend(values), expected[free], atol=1e-7)


def test_on_a_neighbor_graph_too(X):
    known, values = given(X)
    expected = harmonic(neighbor_weights(X, 12), known, values)
    found, _ = extend_harmonically(kernels.NeighborGraph(X, 12, WIDTH), known, values)
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_columns_of_which_one_is_solved_at_once(X):
    known, values = given(X)
    values[:, 0] = 0
    graph = CompleteGraph(X, WIDTH)
    both, _ = extend_harmonically(graph, known, values)
    alone, _ = extend_harmonically(graph, known, values[:, 1:])
    assert not both[:, 0].any()
    np.testing.assert_allclose(both[:, 1:], alone, atol=2e-6)


def test_an_error_that_is_left_is_told(X):
    known, values = given(X)
    graph = CompleteGraph(X, 0.5)
    with pytest.warns(ConvergenceWarning, match="after 3 iterations"):
        found, _ = extend_harmonically(graph, known, values, max_iterations=3)
    # What is left is still a mean of what was given.
    assert (found >= values.min(axis=0)).all()
    assert (found <= values.max(axis=0)).all()


def test_parts_that_hold_no_value_stay_at_zero(X):
    apart = np.concatenate([X, X + 1e3])
    known, values = given(X)
    for graph in (
        CompleteGraph(apart, WIDTH),
        kernels.NeighborGraph(apart, 10, WIDTH),
    ):
        found, _ = extend_harmonically(graph, known, values)
        np.testing.assert_allclose(found[700:], 0, atol=1e-12)
    free = np.setdiff1d(np.arange(1400), known)
    found = GroundedLaplacian(apart, WIDTH, free, known).extend(values)
    np.testing.assert_allclose(found[free >= 700], 0, atol=1e-12)


@pytest.mark.parametrize("n_known", [2, 61, 300])
@pytest.mark.parametrize("width", [0.5, 1.0, 5.0])
def test_a_reduced_laplacian_serves_every_choice_of_known_points(X, width, n_known):
    known, values = given(X, n_known)
    free = np.setdiff1d(np.arange(700), known)
    reduced = GroundedLaplacian(X, width, free, known).reduce()
    W = complete_weights(X, width)
    for kept in (np.arange(0, n_known, 2), np.arange(1, n_known), np.arange(n_known)):
        found, total = reduced.extend(kept, values[kept])
        expected = harmonic(W, known[kept], values[kept])
        np.testing.assert_allclose(found, expected[known], atol=1e-8)
        np.testing.assert_allclose(
            total, expected.sum(axis=0) - values[kept].sum(axis=0), atol=1e-5
        )


@pytest.mark.parametrize("width", [1e-3, 1e-2, 0.05, 0.1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_graph_that_falls_apart_gives_finite_bounded_values(X, width, dtype):
    X = np.concatenate([X, X[:50]]).astype(dtype)
    known, values = given(X)
    free = np.setdiff1d(np.arange(len(X)), known)
    laplacian = GroundedLaplacian(X, width, free, known)
    bound = np.abs(values).max() * (1 + 1e-2)
    assert np.abs(laplacian.extend(values)).max() <= bound
    found, total = laplacian.reduce().extend(np.arange(30), values[:30])
    assert np.abs(found).max() <= bound
    assert np.isfinite(total).all()


def test_nothing_unknown_is_nothing_to_solve(X):
    everyone = np.arange(50)
    values = np.ones((50, 1))
    laplacian = GroundedLaplacian(X[:50], WIDTH, everyone[:0], everyone)
    assert laplacian.extend(values).shape == (0, 1)
    found, total = laplacian.reduce().extend(everyone[:25], values[:25])
    np.testing.assert_allclose(found, 1, atol=1e-7)
    np.testing.assert_allclose(total, 25)
    graph = CompleteGraph(X[:50], WIDTH)
    assert extend_harmonically(graph, everyone, values)[1] == 0
