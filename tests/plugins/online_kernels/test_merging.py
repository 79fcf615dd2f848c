"""Where two support vectors meet: on the segment between them, at the best place of it."""

import numpy as np
import pytest
from online_kernels.merging import best_share, kept_norm, merge
from online_kernels.support import SupportSet
from online_kernels.windows import KernelWindow

from harness import kernels

GRID = np.linspace(0, 1, 20_001)


def bound(width):
    return kernels.BoundKernel(kernels.KERNELS["rbf"], width, np.zeros(3))


def lost_norm(points, coef, width, z, coef_z):
    """|sum_j a_j k(x_j, .) - a_z k(z, .)|^2, in float64."""
    both = np.vstack([points, z]).astype(float)
    a = np.vstack([coef, -coef_z])
    K = np.exp(-((both[:, None] - both[None]) ** 2).sum(-1) / (2 * width**2))
    return float(np.trace(a.T @ K @ a))


@pytest.mark.parametrize("n_machines", [1, 3])
@pytest.mark.parametrize("width", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_partner_and_the_best_place_are_taken(seed, width, n_machines):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(9, 3)).astype(np.float32)
    coef = rng.normal(size=(9, n_machines)) + 0.1
    support = SupportSet(9, 3, n_machines)
    for point, a in zip(points, coef, strict=True):
        support.insert(point, a, 1.0)
    codes, room = np.zeros(1, int), np.empty(100, np.float32)
    window = KernelWindow(support, bound(width), points[:1], codes, np.empty(0, int), room)
    before = window.scores.copy()
    merge(support, bound(width), window)
    assert support.size == 8
    # by coefficients: of two far apart, the place of the partner is the best one
    (slot,) = (i for i in range(8) if not (support.coef[i] == coef).all(axis=1).any())
    z, coef_z = support.points[slot].copy(), support.coef[slot].copy()
    gone = [i for i in range(9) if not (support.coef[:8] == coef[i]).all(axis=1).any()]
    light = int((coef**2).sum(axis=1).argmin())
    assert light in gone
    assert len(gone) == 2
    found = lost_norm(points[gone], coef[gone], width, z, coef_z)
    least = np.inf
    for partner in set(range(9)) - {light}:
        for h in np.linspace(0, 0.5, 501):
            near = h * points[light] + (1 - h) * points[partner]
            k = [
                np.exp(-np.sum((points[i] - near) ** 2) / (2 * width**2)) for i in (light, partner)
            ]
            a = k[0] * coef[light] + k[1] * coef[partner]
            pair = [light, partner]
            least = min(least, lost_norm(points[pair], coef[pair], width, near, a))
    # partners are compared at eleven places
    assert found <= least * 1.01 + 1e-5
    # scores follow: they are those of the expansion as it is now
    K = np.exp(-((points[:1, None] - support.points[None, :8]) ** 2).sum(-1) / (2 * width**2))
    np.testing.assert_allclose(window.scores, K @ support.coef[:8], atol=1e-5)
    assert not np.array_equal(window.scores, before)


@pytest.mark.parametrize("exponent", [-0.01, -0.5, -2.0, -5.0, -50.0])
@pytest.mark.parametrize("heavy", [1.0, 1.5, 10.0])
@pytest.mark.parametrize("cosine", [1.0, 0.3, 0.0])
def test_the_share_of_the_lighter_one_is_the_best_on_the_whole_segment(exponent, heavy, cosine):
    """Of two that do not point apart, as those of one class do not."""
    arguments = exponent, 1.0, heavy, cosine * np.sqrt(heavy)
    coarse = kept_norm(np.linspace(0, 0.5, 11), *arguments)
    h = best_share(int(coarse.argmax()), *arguments)
    assert 0 <= h <= 0.5
    best = kept_norm(GRID, *arguments).max()
    assert kept_norm(h, *arguments) >= best * (1 - 2e-3)
