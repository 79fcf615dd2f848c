"""Label spreading and Poisson learning against dense systems and their own iterations."""

import numpy as np
import pytest
from neighbor_graph.diffusion import poisson, spread
from sklearn.exceptions import ConvergenceWarning

from harness.kernels import NeighborGraph


def graph_of(n=80, gap=0.0, k=8):
    X = np.random.default_rng(0).normal(size=(n, 2))
    X[: n // 2] += gap
    return NeighborGraph(X, k, None), X


def dense(graph):
    return graph.multiply(np.arange(len(graph.degrees)), np.eye(len(graph.degrees)))


ROWS, CODES = np.array([3, 20, 50, 70, 75]), np.array([0, 1, 2, 0, 1])


def test_weights_are_those_of_the_distance_to_the_last_neighbor():
    graph, X = graph_of()
    apart = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    last = np.sort(apart, axis=1)[:, 7:8]
    directed = np.where(apart <= last, np.exp(-4 * (apart / last) ** 2), 0)
    np.testing.assert_allclose(dense(graph), np.maximum(directed, directed.T), atol=1e-9)


def test_weights_do_not_depend_on_the_unit():
    _, X = graph_of()
    one, other = NeighborGraph(X, 5, None), NeighborGraph(1e3 * X, 5, None)
    np.testing.assert_allclose(dense(one), dense(other), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.2, 0.99])
def test_spreading_is_the_limit_of_its_iteration(alpha):
    graph, _ = graph_of()
    W = dense(graph)
    S = W / np.sqrt(np.outer(graph.degrees, graph.degrees))
    Y = np.zeros((80, 3))
    Y[ROWS, CODES] = 1
    F = Y.copy()
    for _ in range(5_000):
        F = alpha * S @ F + (1 - alpha) * Y
    np.testing.assert_allclose(spread(graph, ROWS, CODES, 3, alpha), F, atol=1e-8)


def test_poisson_learning_is_the_dense_solution_and_sums_to_zero():
    graph, _ = graph_of()
    assert len(np.unique(graph.components())) == 1
    found = poisson(graph, ROWS, CODES, 3)
    W = dense(graph)
    sources = np.zeros((80, 3))
    sources[ROWS, CODES] = 1
    sources[ROWS] -= np.array([2, 2, 1]) / 5
    expected = np.linalg.lstsq(np.diag(graph.degrees) - W, sources, rcond=1e-12)[0]
    expected -= graph.degrees @ expected / graph.degrees.sum()
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.ptp(expected))
    np.testing.assert_allclose(graph.degrees @ found, 0, atol=1e-9 * graph.degrees.sum())
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-3 * np.ptp(expected))


def test_poisson_learning_in_parts_is_the_iteration_of_its_algorithm():
    graph, _ = graph_of(gap=50.0)
    assert len(np.unique(graph.components())) == 2
    W, sources = dense(graph), np.zeros((80, 3))
    sources[ROWS, CODES] = 1
    sources[ROWS] -= np.array([2, 2, 1]) / 5
    u, laplacian = np.zeros((80, 3)), np.diag(graph.degrees) - W
    for _ in range(1_000):
        u += (sources - laplacian @ u) / graph.degrees[:, None]
    found = poisson(graph, ROWS, CODES, 3)
    np.testing.assert_allclose(found, u, atol=2e-3 * np.ptp(u))
    assert (found.argmax(axis=1) == u.argmax(axis=1)).all()


def test_a_part_without_labels_has_the_value_zero():
    graph, _ = graph_of(gap=50.0)
    known = ROWS >= 40
    found = poisson(graph, ROWS[known], CODES[known], 3)
    np.testing.assert_allclose(found[:40], 0, atol=1e-9)
    assert np.ptp(found[40:], axis=0).min() > 0


def test_iterations_that_do_not_suffice_are_told_of(monkeypatch):
    monkeypatch.setattr("neighbor_graph.diffusion.ITERATIONS", 2)
    graph, _ = graph_of()
    with pytest.warns(ConvergenceWarning, match="after 2 iterations.* try more neighbors"):
        poisson(graph, ROWS, CODES, 3)
    with pytest.warns(ConvergenceWarning, match="try a smaller alpha"):
        spread(graph, ROWS, CODES, 3, 0.999)
