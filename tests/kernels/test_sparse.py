"""Kernels of sparse points against the same of dense ones."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from harness import kernels
from harness.kernels.landmarks.uniform import uniform_landmarks
from harness.kernels.sparse import products, sparse_squares
from harness.kernels.width import median_distance

X = random_array((700, 90), density=0.08, rng=0).toarray()
Z = random_array((40, 90), density=0.3, rng=1).toarray()
SPARSE_X, SPARSE_Z = csr_matrix(X), csr_matrix(Z)


@pytest.mark.parametrize(
    ("left", "right"), [(SPARSE_X, Z), (X, SPARSE_Z), (SPARSE_X, SPARSE_Z), (X, Z)]
)
def test_products_and_the_gaussian_kernel(left, right):
    np.testing.assert_allclose(products(left, right), X @ Z.T, atol=1e-12)
    out = np.empty((700, 40))
    assert products(left, right, out) is out
    np.testing.assert_allclose(out, X @ Z.T, atol=1e-12)
    expected = kernels.gaussian_kernel(X, Z, 1.5)
    np.testing.assert_allclose(kernels.gaussian_kernel(left, right, 1.5), expected, rtol=1e-12)


def test_norms():
    np.testing.assert_allclose(sparse_squares(SPARSE_X), (X**2).sum(axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernel_of_landmarks(dtype):
    points = np.asfortranarray(Z.astype(dtype))
    at = kernels.GaussianAt(points, 1.5)
    expected = kernels.gaussian_kernel(X, Z, 1.5)
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(at(SPARSE_X.astype(dtype)), expected, rtol=rtol)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly2"])
def test_a_bound_kernel_has_the_same_width_and_values(kernel):
    dense, sparse = (kernels.bind_kernel(kernel, points) for points in (X, SPARSE_X))
    assert sparse.width == pytest.approx(dense.width, rel=1e-12)
    assert sparse.center is None
    values = sparse(SPARSE_X[:50], SPARSE_X[50:90])
    np.testing.assert_allclose(values, dense(X[:50], X[50:90]), rtol=1e-10)
    np.testing.assert_allclose(sparse.diagonal(SPARSE_X), dense.diagonal(X))


def test_rows_that_are_equal_are_no_distance_apart():
    repeated = np.repeat(X[:3], 60, axis=0)
    assert median_distance(csr_matrix(repeated)) == pytest.approx(median_distance(repeated))
    assert median_distance(csr_matrix(np.repeat(X[:1], 20, axis=0))) == 1


def test_the_width_holds_what_is_counted():
    wide = csr_matrix(random_array((2000, 50_000), density=0.002, rng=0))
    median_distance(wide)
    tracemalloc.start()
    median_distance(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.3 < peak / kernels.sparse_width_bytes(2000, 12 * 100 + 4) < 1


def test_uniform_landmarks_pass_over_the_same_repeated_rows():
    repeated = np.concatenate([X[:200], X[:200], X[:200]])
    dense, sparse = (
        uniform_landmarks(points, 150, np.random.RandomState(3))
        for points in (repeated, csr_matrix(repeated))
    )
    np.testing.assert_array_equal(sparse, dense)


def test_landmark_features():
    rows = np.arange(0, 700, 20)
    dense, sparse = (
        kernels.LandmarkFeatures(points, kernels.bind_kernel("rbf", points), rows)
        for points in (X, SPARSE_X)
    )
    # pivots may be taken in another order, which turns features and leaves their products
    a, b = dense.transform(X), sparse.transform(SPARSE_X)
    np.testing.assert_allclose(b @ b.T, a @ a.T, atol=2e-5)
    assert sparse.landmarks.flags.f_contiguous
