"""The inverse of a kernel matrix that follows its support vectors."""

import numpy as np
import pytest
from online_kernels.support import RIDGE, InverseGram, SupportSet

from harness import kernels


def filled(n, capacity=20):
    rng = np.random.default_rng(0)
    kernel = kernels.BoundKernel(kernels.KERNELS["rbf"], 1.0)
    support = SupportSet(capacity, 3, 1)
    inverse = InverseGram(support, kernel)
    for point in rng.normal(size=(n, 3)).astype(np.float32):
        k = kernel(point[None], support.points[: support.size])[0].astype(float)
        inverse.insert(*inverse.project(k, 1.0), 1.0)
        support.insert(point, np.ones(1), 1.0)
    return support, inverse, kernel


def dense(support, kernel):
    points = support.points[: support.size].astype(float)
    return kernel(points, points) + RIDGE * np.eye(len(points))


def test_updates_of_rank_one_are_the_inverse():
    support, inverse, kernel = filled(20)
    np.testing.assert_allclose(inverse._inverse @ dense(support, kernel), np.eye(20), atol=1e-4)


@pytest.mark.parametrize("slot", [0, 7, 19])
def test_one_is_taken_out(slot):
    support, inverse, kernel = filled(20)
    K = dense(support, kernel)
    others = np.delete(np.arange(20), slot)
    nearest = np.linalg.solve(K[np.ix_(others, others)], K[slot, others])
    np.testing.assert_allclose(inverse.without(slot)[others], nearest, atol=1e-3)
    assert inverse.without(slot)[slot] == 0
    distance = K[slot, slot] - K[slot, others] @ nearest
    assert inverse.distances()[slot] == pytest.approx(distance, rel=1e-3)
    inverse.remove(slot)
    support.remove(slot)
    np.testing.assert_allclose(
        inverse._inverse[:19, :19] @ dense(support, kernel), np.eye(19), atol=1e-4
    )


def test_rounding_is_forgotten_when_it_is_renewed():
    support, inverse, kernel = filled(20)
    inverse._inverse[:] += 1e-3
    inverse._removed = 20
    assert inverse.is_worn
    inverse.renew()
    assert not inverse.is_worn
    np.testing.assert_allclose(inverse._inverse @ dense(support, kernel), np.eye(20), atol=1e-4)
