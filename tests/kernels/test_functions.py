"""Kernels by name: what they compute, in what precision, and the width they are bound to."""

import pickle
import re
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.metrics import pairwise

from harness import kernels
from harness.kernels.gaussian import squared_norms

REFERENCES = {
    "rbf": lambda X, Z, width: pairwise.rbf_kernel(X, Z, gamma=1 / (2 * width**2)),
    "linear": lambda X, Z, width: pairwise.linear_kernel(X, Z),
    "poly2": lambda X, Z, width: pairwise.polynomial_kernel(X, Z, degree=2, gamma=width**-2),
    "chi2": lambda X, Z, width: pairwise.chi2_kernel(X, Z, gamma=1 / (2 * width**2)),
    "laplacian": lambda X, Z, width: pairwise.laplacian_kernel(X, Z, gamma=1 / width),
}


def points(n, d, zeros=0.0, seed=0):
    """Return values of at least zero, a share of them zero."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n, d))
    X[rng.random((n, d)) < zeros] = 0
    return X


def test_every_kernel_has_a_reference_here():
    assert set(REFERENCES) == set(kernels.KERNELS)


@pytest.mark.parametrize("shape", [(40, 300, 5), (300, 40, 5), (7, 2500, 90)])
@pytest.mark.parametrize("zeros", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("name", REFERENCES)
def test_kernels_are_scikit_learns(name, zeros, shape):
    n, m, d = shape
    X, Z = points(n, d, zeros), points(m, d, zeros, seed=1)
    bound = kernels.bind_kernel(name, Z, sigma=0.7)
    expected = REFERENCES[name](X, Z, bound.width)
    np.testing.assert_allclose(bound(X, Z), expected, rtol=1e-9, atol=1e-14)
    out = np.full((n, m), np.nan)
    assert bound(X, Z, out=out) is out
    np.testing.assert_array_equal(out, bound(X, Z))
    single = bound(X.astype(np.float32), Z.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["laplacian", "rbf", "linear", "poly2"])
def test_values_below_zero(name):
    X = np.random.default_rng(0).normal(size=(60, 6))
    X[:, 0] = 0
    bound = kernels.bind_kernel(name, X)
    expected = REFERENCES[name](X, X, bound.width)
    np.testing.assert_allclose(bound(X, X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", REFERENCES)
def test_kernels_are_positive_semidefinite_with_the_diagonal_they_state(name):
    X = points(120, 4, zeros=0.3)
    X[60:80] = X[:20]
    bound = kernels.bind_kernel(name, X)
    K = bound(X, X)
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    np.testing.assert_allclose(np.diag(K), bound.diagonal(X), rtol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * np.linalg.norm(K, 2)


def test_a_chi_squared_kernel_of_values_near_the_smallest_float():
    X = np.array([[1e-38, 1.0], [0.0, 1.0], [1e-45, 0.0]], np.float32)
    K = kernels.bind_kernel("chi2", X, 1.0, "absolute")(X, X)
    np.testing.assert_allclose(K, pairwise.chi2_kernel(X.astype(float), gamma=0.5), rtol=1e-6)


@pytest.mark.parametrize(("row", "column"), [(0, 0), (250, 2)])
def test_chi_squared_names_the_value_below_zero(row, column):
    X = points(400, 3)
    X[row, column] = -0.25
    bound = kernels.bind_kernel("chi2", points(9, 3))
    for name, pair in {"X": (X, points(5, 3)), "Z": (points(5, 3), X)}.items():
        with pytest.raises(ValueError, match=f"{name} has -0.25 in row {row}, column {column}"):
            bound(*pair)
    with pytest.raises(ValueError, match=f"X has -0.25 in row {row}, column {column}"):
        kernels.bind_kernel("chi2", X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", REFERENCES)
def test_values_of_which_squares_or_sums_overflow_are_refused(name, dtype):
    X = points(50, 3).astype(dtype)
    for scale in (1e-15, 1e10, 1e16, 1e20, 1e25, 1e37):
        scaled = X * dtype(scale)
        if scale > (1e36 if name == "laplacian" else 1e17):
            kernel = "gaussian" if name == "rbf" else name
            words = f"X holds features of {scaled.max():.2g} and the {kernel} kernel is "
            with pytest.raises(ValueError, match=re.escape(words) + ".* overflows"):
                kernels.bind_kernel(name, scaled)
        else:
            single = scaled.astype(np.float32)
            assert np.isfinite(kernels.bind_kernel(name, scaled)(single, single)).all()


@pytest.mark.parametrize("name", REFERENCES)
def test_float64_that_overflows_is_refused_without_a_warning(name):
    for scale in (1e100, 1e160, 1e200, 1e300):
        with pytest.raises(ValueError, match="overflow"):
            kernels.bind_kernel(name, points(50, 3) * scale)


@pytest.mark.parametrize("name", REFERENCES)
def test_looking_for_overflow_holds_nothing(name):
    X = points(40_000, 20).astype(np.float32)
    kernels.bind_kernel(name, X[:400])
    tracemalloc.start()
    kernels.bind_kernel(name, X)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < kernels.binding_bytes(name, *X.shape, 4) + 100_000


def test_the_unit_of_a_width_is_the_median_distance_of_the_kernels_own_kind():
    X = points(200, 5, zeros=0.2)
    chi2 = -pairwise.additive_chi2_kernel(X)[np.triu_indices(200, 1)]
    units = {
        "rbf": np.median(pdist(X)),
        "chi2": np.median(np.sqrt(chi2)),
        "laplacian": np.median(pdist(X, "cityblock")),
        "poly2": np.sqrt(np.mean(np.sum(X**2, axis=1))),
    }
    for name, unit in units.items():
        assert kernels.bind_kernel(name, X, 0.5).width == pytest.approx(0.5 * unit)
        assert kernels.bind_kernel(name, X, 0.5, "absolute").width == pytest.approx(0.5)
        # scale: a kernel in units of its median does not see the unit of the features
        scaled = kernels.bind_kernel(name, 16 * X)
        np.testing.assert_allclose(
            scaled(16 * X[:9], 16 * X), kernels.bind_kernel(name, X)(X[:9], X), rtol=1e-9
        )


@pytest.mark.parametrize("name", ["rbf", "chi2", "laplacian"])
def test_equal_points_have_a_width(name):
    X = np.ones((5, 3))
    np.testing.assert_allclose(kernels.bind_kernel(name, X)(X, X), 1)
    assert kernels.bind_kernel(name, X[:1]).width == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rbf_is_the_gaussian_kernel_at_its_width(dtype):
    X = np.random.default_rng(0).normal(size=(500, 7)).astype(dtype)
    width = kernels.kernel_width(X, 0.7, "median")
    bound = kernels.bind_kernel("rbf", X, 0.7)
    assert bound.width == width
    expected = kernels.gaussian_kernel(X, X[:9], width, center=kernels.column_medians(X))
    np.testing.assert_array_equal(bound(X, X[:9]), expected)


def power(X, Z, width):
    return (X @ Z.T) ** width


def test_a_kernel_of_ones_own():
    X = points(30, 4)
    kernel = SimpleNamespace(
        function=power,
        unit=lambda X: 3.0,
        diagonal=lambda X, width: squared_norms(X) ** width,
    )
    bound = kernels.bind_kernel(kernel, X, sigma=2.0)
    np.testing.assert_allclose(bound(X, X[:3]), (X @ X[:3].T) ** 6)
    np.testing.assert_allclose(bound.diagonal(X), np.diag(bound(X, X)))
    out = np.empty((30, 3), np.float32)
    assert bound(X, X[:3], out=out) is out
    np.testing.assert_allclose(out, bound(X, X[:3]), rtol=1e-6)
    without = SimpleNamespace(function=power, unit=None, diagonal=None)
    assert kernels.bind_kernel(without, X, sigma=2.0).width == 1
    assert (kernels.bind_kernel(without, X).diagonal(X) == 1).all()


def test_what_a_kernel_of_ones_own_holds_is_what_it_says_or_what_doubles_take():
    kernel = SimpleNamespace(function=power, unit=None, diagonal=None)
    assert kernels.kernel_bytes(kernel, 3, 5, 7, 4) == 8 * (2 * 15 + 8 * 7)
    kernel.storage = lambda n, m, n_features, itemsize: n * m * n_features * itemsize
    assert kernels.kernel_bytes(kernel, 3, 5, 7, 4) == 3 * 5 * 7 * 4


def test_a_kernel_that_does_not_write_where_it_is_told_to():
    X = points(30, 4)
    kernel = SimpleNamespace(
        function=lambda X, Z, width, out=None: X @ Z.T, unit=None, diagonal=None
    )
    out = np.zeros((30, 30))
    assert kernels.bind_kernel(kernel, X)(X, X, out=out) is out
    np.testing.assert_array_equal(out, X @ X.T)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Z, width: Z @ X.T, r"kernel mine: .* shape \(30, 3\) is wanted, not \(3, 30\)"),
        (lambda X, Z, width: np.full((len(X), len(Z)), np.nan), "kernel mine gives values that"),
        (lambda X, Z, width: -np.full((len(X), len(Z)), np.inf), "kernel mine gives values that"),
    ],
)
def test_a_kernel_that_gives_no_kernel_matrix_is_named(function, message):
    X = points(30, 4)
    kernel = SimpleNamespace(name="mine", function=function, unit=None, diagonal=None)
    with pytest.raises(ValueError, match=message):
        kernels.bind_kernel(kernel, X)(X, X[:3])


def test_bound_kernels_can_be_pickled():
    X = points(30, 4)
    for name in kernels.KERNELS:
        bound = kernels.bind_kernel(name, X)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(bound))(X, X), bound(X, X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", REFERENCES)
def test_a_kernel_at_points_is_the_kernel(name, dtype):
    X, Z = points(300, 20).astype(dtype), points(40, 20, seed=1).astype(dtype)
    bound = pickle.loads(pickle.dumps(kernels.bind_kernel(name, X, sigma=0.5)))
    at = bound.at(Z)
    rounding = 1e-5 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(at(X), bound(X, Z), rtol=rounding, atol=rounding)
    out = np.full((300, 40), np.nan, dtype)
    assert at(X, out=out) is out
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(at))(X), out)
    for elsewhere in (np.empty((40, 300), dtype).T, np.empty((300, 40), np.float64)):
        assert at(X, out=elsewhere) is elsewhere
        np.testing.assert_allclose(elsewhere, out, rtol=rounding, atol=rounding)
    assert bound.at(X)(X).diagonal().max() <= bound.diagonal(X).max() * (1 + 10 * rounding)


def test_the_gaussian_kernel_at_points_copies_no_points():
    X, Z = (points(n, 120).astype(np.float32) for n in (1000, 200))
    at, out = kernels.bind_kernel("rbf", X).at(Z), np.empty((1000, 200), np.float32)
    assert at(X[:0]).shape == (0, 200)
    tracemalloc.start()
    at(X, out=out)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 50_000  # numpy's own buffers; X has 480,000


def test_an_unknown_name_is_told_what_there_is():
    with pytest.raises(ValueError, match="kernel='gauss' is not one of rbf, linear, poly2, chi2"):
        kernels.bind_kernel("gauss", points(3, 2))


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("shape", [(1000, 200), (60, 4000)])
def test_what_a_kernel_holds_is_what_it_says(name, shape):
    X, Z = (points(n, 120, zeros=0.5).astype(np.float32) for n in shape)
    bound = kernels.bind_kernel(name, X)
    out = np.empty(shape, np.float32)
    bound(X[:2], Z[:2])
    tracemalloc.start()
    bound(X, Z, out=out)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    stated = kernels.kernel_bytes(name, *shape, 120, 4)
    assert held < 1.05 * stated + 20_000
    assert held > 0.5 * stated


@pytest.mark.parametrize("exponent", [0, 6, 12, 15])
def test_chi2_is_the_same_in_other_units(exponent):
    X = points(60, 5).astype(np.float32)
    tiny = X * np.float32(10.0**-exponent)
    K, found = (kernels.bind_kernel("chi2", Z)(Z, Z) for Z in (X, tiny))
    np.testing.assert_allclose(found, K, atol=1e-5)


@pytest.mark.parametrize("exponent", [20, 22, 25])
def test_chi2_of_features_whose_squares_vanish_is_refused(exponent):
    tiny = points(60, 5).astype(np.float32) * np.float32(10.0**-exponent)
    with pytest.raises(ValueError, match=r"the chi2 kernel is .* overflows"):
        kernels.bind_kernel("chi2", tiny)
