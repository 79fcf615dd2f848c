"""Kernels of differences, and landmarks chosen by them, are the same wherever the points lie.

Points far from the origin have lost digits before a kernel sees them: what is asked for are the
values of the same rounded points, moved back in float64.
"""

import numpy as np
import pytest

from harness import kernels


def clouds():
    """Return 300 points of two normal clouds."""
    rng = np.random.default_rng(0)
    return 1.5 * rng.normal(size=(2, 4))[np.arange(300) % 2] + rng.normal(size=(300, 4))


def moved(X, offset, dtype):
    """Return points far from the origin, and the same points in float64 where they were."""
    far = (X + offset).astype(dtype)
    return far, far.astype(np.float64) - offset


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("selector", kernels.SELECTORS)
def test_landmarks_do_not_depend_on_where_the_points_lie(selector, kernel, dtype):
    # of multiples of 1/16 an offset is exact in both types
    X = np.rint(16 * clouds()).astype(dtype) / dtype(16)

    def chosen(Z):
        bound = kernels.bind_kernel(kernel, Z)
        return kernels.select_landmarks(selector, Z, 20, np.random.RandomState(0), bound)

    for offset in (1e3, 1e5):
        np.testing.assert_array_equal(chosen(X + dtype(offset)), chosen(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_kernel_values_do_not_depend_on_where_the_points_lie(kernel, dtype):
    X = clouds()
    for offset in (1e3, 1e5):
        far, near = moved(X, offset, dtype)
        K = kernels.bind_kernel(kernel, far)(far, far)
        expected = kernels.bind_kernel(kernel, near)(near, near)
        np.testing.assert_allclose(K, expected, atol=2e-6)


def test_a_kernel_of_ones_own_is_given_points_near_the_origin():
    seen = []

    class Own:
        unit, diagonal, shift_invariant = None, None, True

        def function(self, X, Z, width):
            seen.append(max(np.abs(X).max(), np.abs(Z).max()))
            return np.exp(-((X[:, None] - Z) ** 2).sum(-1))

    X = clouds()
    bound = kernels.bind_kernel(Own(), X + 1e5)
    far = bound(X + 1e5, X[:9] + 1e5)
    np.testing.assert_allclose(far, Own().function(X, X[:9], 1), atol=1e-6)
    assert max(seen[:-1]) < 20
