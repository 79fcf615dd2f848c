"""Symmetric systems that need not have a minimum."""

import numpy as np
import pytest
from mssksc.stationary import solve_indefinite
from scipy.linalg import LinAlgError


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_indefinite_system_is_solved(order):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 40))
    A = np.array(A + A.T, order=order)
    right = rng.normal(size=(40, 2))
    assert np.linalg.eigvalsh(A)[0] < 0
    expected = np.linalg.solve(A, right)
    np.testing.assert_allclose(solve_indefinite(A, right), expected, atol=1e-9)


def test_a_singular_system_is_refused():
    with pytest.raises(LinAlgError, match="singular"):
        solve_indefinite(np.zeros((3, 3)), np.ones((3, 1)))
