"""Features of landmarks: the kernel at the landmarks, and which of them are kept."""

import tracemalloc

import numpy as np
import pytest
from hinge_problems import features_of, problem
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_matrix, random_array

from harness import kernels
from harness.plugin.shape import csr_bytes


@pytest.mark.parametrize("name", ["rbf", "linear", "poly2", "laplacian"])
def test_features_reproduce_the_kernel_at_the_landmarks(name):
    X, _ = problem()
    features = features_of(X, 40, name)
    B = X[:40].astype(np.float64)
    K = features.kernel(B, B)
    Z = features.transform(X[:40])
    np.testing.assert_allclose(Z @ Z.T, K, atol=2e-5 * K.max())
    # and an expansion in landmarks is the linear function of the features
    w = np.random.default_rng(1).normal(size=(features.n_components, 2))
    found = features.scores(X, features.expansion(w))
    np.testing.assert_allclose(found, features.transform(X) @ w, atol=1e-3)


def test_landmarks_that_others_span_are_dropped():
    X, _ = problem()
    twice = np.concatenate([X[:30], X[:30]])
    kernel = kernels.bind_kernel("rbf", X, 1.0, "absolute")
    features = kernels.LandmarkFeatures(twice, kernel)
    assert features.n_components == 30
    assert features_of(X, 100, "linear").n_components == X.shape[1]
    # nothing but zeros still leaves one, whose feature is zero
    nothing = kernels.LandmarkFeatures(0 * X[:5], kernels.bind_kernel("linear", X))
    assert nothing.transform(X).tolist() == [[0.0]] * len(X)


def test_each_landmark_is_kept_or_dropped_by_its_own_size():
    X, _ = problem()
    X = X[:40].copy()
    X[3] *= 1e4
    X[7] = 0
    kernel = kernels.bind_kernel("linear", X)
    features = kernels.LandmarkFeatures(X, kernel)
    assert features.n_components == X.shape[1]
    assert np.abs(features.landmarks).sum(axis=1).all()
    Z, K = features.transform(X), kernel(X.astype(np.float64), X.astype(np.float64))
    sizes = np.sqrt(np.maximum(K.diagonal(), 1))
    np.testing.assert_allclose(
        Z @ Z.T / np.outer(sizes, sizes), K / np.outer(sizes, sizes), atol=1e-4
    )


def test_landmarks_of_equal_size_are_not_scaled():
    X, _ = problem()
    for name in ("rbf", "laplacian"):
        features = features_of(X, 40, name)
        B = features.near(X[:40])
        K = features.kernel(B.astype(np.float64), B.astype(np.float64))
        L, pivots, rank, _ = dpstrf(K.T, tol=1e-5, lower=1)
        kept = pivots[:rank] - 1
        np.testing.assert_array_equal(features.landmarks, B[kept])
        np.testing.assert_array_equal(features.factor, np.tril(L)[:rank, :rank].astype(np.float32))


def test_landmarks_of_many_columns_are_picked_within_the_plan():
    """Kept in columns, several at once were copied first: 16 of 10,000 columns are 640 kB."""
    n, d = 200, 4_000
    X = random_array((n, d), density=0.001, format="csr", rng=np.random.default_rng(0))
    kernel = kernels.bind_kernel("rbf", csr_matrix(X), 1.0, "absolute")
    tracemalloc.start()
    kernels.LandmarkFeatures(csr_matrix(X), kernel)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    planned = kernels.LandmarkFeatures.building_bytes(n, d, 8, "rbf")
    assert 0.9 * planned < most <= planned + 4 * csr_bytes(n, X.nnz, 8)
