"""Forward substitution by panels: the solution, its rounding, and what it holds."""

import tracemalloc

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from harness import kernels
from harness.kernels.triangular_solve import (
    PANEL,
    ForwardSubstitution,
    inverses_bytes,
    substitution_bytes,
)


def factor(r, width=1.0):
    """Return the factor of a kernel matrix, the worse conditioned the wider the kernel is."""
    X = np.random.default_rng(0).standard_normal((r, 20)).astype(np.float32)
    kernel = kernels.bind_kernel("rbf", X, width)
    return kernels.LandmarkFeatures(X, kernel).factor


@pytest.mark.parametrize("r", [1, 5, PANEL - 1, PANEL, PANEL + 1, 2 * PANEL, 300])
def test_rows_are_solved(r):
    L = factor(r)
    K = np.random.default_rng(1).standard_normal((37, r)).astype(np.float32)
    exact = solve_triangular(L.astype(np.float64), K.T.astype(np.float64), lower=True).T
    found = ForwardSubstitution(L).solve_rows(K)
    assert found is K
    np.testing.assert_allclose(found, exact, atol=2e-5 * max(1, np.abs(exact).max()))


@pytest.mark.parametrize("width", [0.3, 1.0, 3.0, 10.0])
def test_it_rounds_as_blas_does(width):
    """By the residue: solutions themselves are as far apart as the condition number lets them."""
    L = factor(400, width)
    K = np.random.default_rng(1).standard_normal((50, len(L))).astype(np.float32)
    blas = solve_triangular(L, K.T, lower=True).T
    found = ForwardSubstitution(L).solve_rows(K.copy())
    L = L.astype(np.float64)

    def residue(Z):
        return np.abs(Z @ L.T - K).max() / np.abs(Z).max()

    assert 0 < residue(found) < 3 * residue(blas) < 1e-4


def test_it_holds_what_it_is_charged_for():
    n, r = 4000, 300
    L = factor(r)
    solver, K = ForwardSubstitution(L), np.ones((n, r), np.float32)
    assert solver._inverses.nbytes == inverses_bytes(r)
    tracemalloc.start()
    solver.solve_rows(K)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    charged = substitution_bytes(n, r)
    assert 0.9 * charged < held <= charged + 50_000
