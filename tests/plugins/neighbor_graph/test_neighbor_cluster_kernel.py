"""The cluster kernel of a sparse graph against dense ones, and its spectrum by Lanczos steps."""

import numpy as np
import pytest
from blobs import blobs
from dense import dense_cluster_kernel, gaussian, off
from neighbor_graph.cluster_kernel import NeighborClusterKernelSVM
from neighbor_graph.spectrum import first_eigenvectors
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from harness import kernels
from harness.kernels.transfer_functions import TRANSFERS

ABSOLUTE = {"sigma": 0.8, "sigma_unit": "absolute"}


def sparse_normalised(X, k, width):
    """L of the graph of k nearest neighbors, and the roots of its degrees."""
    K = gaussian(X, X, width)
    near = np.argsort(-K + 2 * np.eye(len(X)), axis=1)[:, :k]
    W = np.zeros_like(K)
    np.put_along_axis(W, near, np.take_along_axis(K, near, axis=1), axis=1)
    W = np.maximum(W, W.T)
    np.fill_diagonal(W, 1)
    roots = np.sqrt(W.sum(axis=1))
    return W / np.outer(roots, roots), roots


def seen_samples(model):
    return model._virtual_samples(model._vectors.copy())


@pytest.mark.parametrize("transfer", TRANSFERS)
def test_with_all_neighbors_it_is_the_cluster_kernel(transfer):
    X, y, _ = blobs(40, 2)
    options = {"transfer": transfer, "epsilon": 0.05, "degree": 3.0}
    model = NeighborClusterKernelSVM(rank=80, n_neighbors=79, **options, **ABSOLUTE).fit(X, y)
    F = seen_samples(model)
    K = dense_cluster_kernel(
        X,
        0.8,
        lambda e: kernels.apply_transfer(e, transfer, 12, epsilon=0.05, degree=3.0) * (e > 1e-3),
    )
    np.testing.assert_allclose(F @ F.T, K, atol=1e-3)
    # out of sample it is the same but for one neighbor
    F_new = model._features(X)
    np.testing.assert_allclose(F_new @ F_new.T, K, atol=0.02)


def test_lanczos_finds_the_first_eigenvectors_of_the_sparse_graph():
    X, _, _ = blobs(60, 2)
    L, expected_roots = sparse_normalised(X, 5, 0.8)
    graph = kernels.NeighborGraph(X, 5, 0.8)
    roots = np.sqrt(graph.row_sums + 1)
    np.testing.assert_allclose(roots, expected_roots)
    e = np.linalg.eigvalsh(L)[::-1]
    values, U = first_eigenvectors(graph, roots, 8)
    np.testing.assert_allclose(values, e[:8], atol=1e-5)
    np.testing.assert_allclose(L @ U, U * values, atol=1e-4)
    np.testing.assert_allclose(U.T @ U, np.eye(8), atol=1e-4)


def test_each_part_of_a_graph_has_its_eigenvector():
    rng = np.random.default_rng(0)
    X = np.repeat(100.0 * np.arange(5), [20, 30, 25, 35, 10])[:, None] + rng.normal(size=(120, 1))
    graph = kernels.NeighborGraph(X, 6, 1.0)
    roots = np.sqrt(graph.row_sums + 1)
    L, _ = sparse_normalised(X, 6, 1.0)
    n_parts = len(np.unique(graph.components()))
    assert n_parts >= 5
    values, U = first_eigenvectors(graph, roots, n_parts + 4)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(L)[::-1][: n_parts + 4], atol=1e-5)
    np.testing.assert_allclose(U.T @ U, np.eye(n_parts + 4), atol=1e-4)
    # of fewer, those of the largest parts
    values, U = first_eigenvectors(graph, roots, 2)
    assert values.tolist() == [1, 1]
    np.testing.assert_allclose(L @ U, U, atol=1e-5)


def test_a_fold_is_scored_as_the_points_of_a_fit_are():
    X, y, _ = blobs(60, 2, labeled=12)
    rows, settings = np.flatnonzero(y != -1), {"rank": 15, **ABSOLUTE}
    model = NeighborClusterKernelSVM(**settings).fit_features(X, rows)
    for held in (rows[:3], rows[5:9]):
        masked = y.copy()
        masked[held] = -1
        whole = NeighborClusterKernelSVM(**settings).fit(X, masked)
        found = model.fit_labels(masked[rows]).held_out_scores_
        assert off(found, whole.decision_scores_[held]) < 1e-4


def test_two_moons_with_few_labels():
    X, truth = make_moons(400, noise=0.06, random_state=1)
    found, induced, supervised = [], [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        known = np.concatenate([rng.choice(np.flatnonzero(truth == c), 4) for c in (0, 1)])
        y = np.full(400, -1)
        y[known] = truth[known]
        model = NeighborClusterKernelSVM(rank=50, sigma=0.15, epsilon=0.002, C=10.0).fit(X, y)
        found.append((model.transduction_ == truth).mean())
        induced.append(model.predict(X) == truth)
        supervised.append(SVC(C=10.0).fit(X[known], truth[known]).score(X, truth))
    assert np.mean(found) > np.mean(supervised) + 0.03
    assert np.mean(induced) > np.mean(supervised) + 0.03
