"""Every method whose kernel is one of differences gives the same scores wherever its points lie.

Points far from the origin have lost digits before a method sees them: what is asked for are the
scores of the same rounded points, moved back in float64.
"""

import kmedoids
import ksc
import numpy as np
import pytest
from blobs import blobs
from sklearn.metrics import adjusted_rand_score
from test_bad_input import CASES, all_scores, build

from harness import kernels

pytestmark = pytest.mark.filterwarnings("ignore:after .* (epochs|rounds) the objective")

# Methods to which the origin means something, and why.
BOUND_TO_THE_ORIGIN = {
    "rbf-sampler-ridge": "scikit-learn's random features: others where points are moved",
}


def is_bound(case):
    method, params = case.values
    known = params.get("kernel", "rbf")
    if method.name == "linear-svm":  # moves points to their mean
        return False
    return method.name in BOUND_TO_THE_ORIGIN or not kernels.is_shift_invariant(known)


def moved(X, offset, dtype):
    """Return points far from the origin, and the same points in float64 where they were."""
    far = (X + offset).astype(dtype)
    return far, far.astype(np.float64) - offset


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [1e3, 1e5])
@pytest.mark.parametrize(("method", "params"), [case for case in CASES if not is_bound(case)])
def test_scores_do_not_depend_on_where_the_points_lie(method, params, offset, dtype):
    X, y, _ = blobs(50, 2)
    far, near = moved(X, offset, dtype)
    found = all_scores(build(method, params).fit(far, y), far)
    expected = all_scores(build(method, params).fit(near, y), near)
    # descents and truncated ranks make more of rounding than it is
    for some, others in zip(found, expected, strict=True):
        np.testing.assert_allclose(some, others, rtol=0, atol=5e-3 * np.ptp(others))


@pytest.mark.parametrize("name", BOUND_TO_THE_ORIGIN)
def test_what_is_bound_to_the_origin_is(name):
    """Or it would be left out of the others for nothing."""
    X, y, _ = blobs(50, 2)
    method = next(case.values[0] for case in CASES if case.values[0].name == name)
    expected = all_scores(build(method, {}).fit(X, y), X)[0]
    found = all_scores(build(method, {}).fit(X + 1, y), X + 1)[0]
    assert np.abs(found - expected).max() > 0.01 * np.ptp(expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [1e3, 1e5])
@pytest.mark.parametrize("module", [ksc, kmedoids], ids=lambda module: module.__name__)
def test_clusters_do_not_depend_on_where_the_points_lie(module, offset, dtype):
    X, _, _ = blobs(60, 3)
    far, near = moved(X, offset, dtype)
    for method in module.harness_methods():
        given = {"n_clusters": 3, "random_state": 0} | dict(method.params)
        found, expected = (method.estimator(**given).fit(Z).labels_ for Z in (far, near))
        assert adjusted_rand_score(found, expected) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("selector", kernels.SELECTORS)
def test_landmarks_do_not_depend_on_where_the_points_lie(selector, kernel, dtype):
    # of multiples of 1/16 an offset is exact in both types
    X = np.rint(16 * blobs(150, 2)[0]).astype(dtype) / dtype(16)

    def chosen(Z):
        bound = kernels.bind_kernel(kernel, Z)
        return kernels.select_landmarks(selector, Z, 20, np.random.RandomState(0), bound)

    for offset in (1e3, 1e5):
        np.testing.assert_array_equal(chosen(X + dtype(offset)), chosen(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_kernel_values_do_not_depend_on_where_the_points_lie(kernel, dtype):
    X = blobs(150, 2)[0]
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

    X = blobs(150, 2)[0]
    bound = kernels.bind_kernel(Own(), X + 1e5)
    far = bound(X + 1e5, X[:9] + 1e5)
    np.testing.assert_allclose(far, Own().function(X, X[:9], 1), atol=1e-6)
    assert max(seen[:-1]) < 20
