"""Eigensystems and solutions of symmetric matrices against NumPy's."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from harness import kernels
from harness.kernels.symmetric import eigenvalues, restore_lower


def symmetric(n, order="F"):
    A = np.random.default_rng(n).normal(size=(n, n))
    return np.array(A + A.T, order=order)


def test_eigensystem_is_descending_and_reassembles():
    A = np.random.default_rng(0).normal(size=(51, 51))
    A = A + A.T
    e, U = kernels.eigensystem(A.copy())
    assert (np.diff(e) <= 0).all()
    np.testing.assert_allclose((U * e) @ U.T, A, atol=1e-10)


def centered_identity(n):
    """Return a matrix with n - 1 eigenvalues of 1, of which LAPACK finds none if asked for few."""
    return np.asfortranarray(np.eye(n) - 1 / n)


@pytest.mark.parametrize("make", [symmetric, centered_identity, np.eye])
@pytest.mark.parametrize("n", [1, 2, 3, 30, 100])
@pytest.mark.parametrize("n_pairs", [1, 2, 40])
def test_largest_eigenpairs_are_as_many_as_asked_for(make, n, n_pairs):
    A, n_pairs = np.asfortranarray(make(n)), min(n, n_pairs)
    found, U = kernels.largest_eigenpairs(A.copy(order="F"), n_pairs)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(A)[-n_pairs:], atol=1e-10)
    np.testing.assert_allclose(A @ U, U * found, atol=1e-10)
    np.testing.assert_allclose(U.T @ U, np.eye(n_pairs), atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5, 300])
def test_eigenvalues_leave_the_matrix_as_it_was(n):
    A = symmetric(n)
    before = A.copy()
    np.testing.assert_allclose(eigenvalues(A), np.linalg.eigvalsh(before), atol=1e-10)
    np.testing.assert_array_equal(A, before)


def test_restore_needs_the_upper_triangle_alone():
    A = symmetric(6)
    spoilt = np.triu(A, 1)
    restore_lower(spoilt, A.diagonal())
    np.testing.assert_array_equal(spoilt, A)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_positive_definite_system_needs_one_triangle(dtype):
    root = np.random.default_rng(0).normal(size=(30, 30))
    A, right = root @ root.T + np.eye(30), np.ones((30, 2))
    lower = np.asfortranarray(np.tril(A).astype(dtype))
    found = kernels.solve_positive_definite(lower, right)
    np.testing.assert_allclose(found, np.linalg.solve(A, right), atol=1e-3)


def test_what_is_not_positive_definite_or_not_finite_is_refused():
    with pytest.raises(LinAlgError):
        kernels.solve_positive_definite(np.diag([1.0, -1.0]).T, np.ones(2))
    with pytest.raises(ValueError, match="overflow"):
        kernels.solve_positive_definite(np.diag([1.0, np.inf]).T, np.ones(2))
