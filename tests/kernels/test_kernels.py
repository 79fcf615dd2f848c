"""Kernels, degrees, feature maps and transfer functions against slow clear references."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from harness import kernels
from harness.kernels.features import landmark_spectrum
from harness.kernels.gaussian import CENTER_SAMPLE
from harness.kernels.landmarks import uniform_landmarks
from harness.kernels.symmetric import triangle_in_float32
from harness.kernels.transfer_functions import TRANSFERS, poly_step, step
from harness.kernels.width import median_distance
from harness.semi_supervised import expand_scores, read_labels


@pytest.fixture(name="X")
def points():
    return np.random.default_rng(0).normal(size=(300, 7)) + 3


def gaussian(X, Z, sigma):
    return np.exp(-cdist(X, Z, "sqeuclidean") / (2 * sigma**2))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_gaussian_kernel_keeps_its_type_and_writes_where_it_is_told(X, dtype, tolerance):
    X = X.astype(dtype)
    out = np.empty((300, 20), dtype)
    K = kernels.gaussian_kernel(X, X[:20], 2.0, out=out)
    assert K is out
    assert K.dtype == dtype
    assert K.max() <= 1
    np.testing.assert_allclose(K, gaussian(X, X[:20], 2.0), atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_gaussian_expansion_is_the_kernel_times_coefficients(X, dtype, tolerance):
    rng = np.random.default_rng(0)
    coef, intercept = rng.standard_normal((20, 3)), rng.standard_normal(3)
    center = X.mean(axis=0) + 1e3
    points = kernels.centered(X[:20] + 1e3, center, dtype)
    found = kernels.GaussianExpansion(points, 2.0, coef, intercept, center).values(X + 1e3)
    K = np.exp(-cdist(X, X[:20], "sqeuclidean") / 8)
    np.testing.assert_allclose(found, K @ coef + intercept, atol=tolerance * 20)
    plain = kernels.GaussianExpansion(X[:20].astype(dtype), 2.0, coef, intercept).values(X)
    np.testing.assert_allclose(plain, K @ coef + intercept, atol=tolerance * 20)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_picked_are_moved_before_they_are_rounded(dtype):
    rng = np.random.default_rng(0)
    X = (1000 + rng.standard_normal((300, 700))).astype(dtype)
    rows, center = rng.permutation(300)[:250], kernels.column_medians(X)
    found = kernels.centered_rows(X, rows, center)
    assert found.dtype == np.float32
    assert np.array_equal(found, kernels.centered(X[rows], center))
    assert np.array_equal(kernels.centered_rows(X, center=center), kernels.centered(X, center))


def test_row_blocks_cover_all_rows_once():
    blocks = list(kernels.row_blocks(10_000, 1000))
    assert np.array_equal(
        np.concatenate([np.arange(10_000)[b] for b in blocks]), np.arange(10_000)
    )
    assert max(b.stop - b.start for b in blocks) * 8000 <= kernels.BLOCK_BYTES


def test_median_distance_is_the_median_and_of_a_sample_nearly_so(X):
    assert median_distance(X) == pytest.approx(np.median(pdist(X)))
    large = np.random.default_rng(1).normal(size=(5000, 7))
    assert median_distance(large) == pytest.approx(np.median(pdist(large[:1500])), rel=0.05)
    assert median_distance(large) == median_distance(large)


def test_median_distance_of_equal_points_is_one_and_of_many_duplicates_not_zero():
    assert median_distance(np.full((50, 3), 0.1)) == 1
    X = np.zeros((50, 2))
    X[0] = [3, 4]
    assert median_distance(X) == pytest.approx(5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(40, 6), (500, 20), (60, 8_000), (900, 3_000)])
def test_widths_and_middles_of_many_columns_hold_a_block_of_them(n, d, dtype):
    X = np.random.default_rng(0).normal(size=(n, d)).astype(dtype) + 100
    sample = X[:: -(-n // CENTER_SAMPLE)]
    tracemalloc.start()
    try:
        width = median_distance(X)
        center = kernels.column_medians(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= kernels.width_bytes(n, d, X.itemsize) + 20_000
    np.testing.assert_array_equal(center, np.median(sample, axis=0).astype(np.float32))
    if n <= 300:
        np.testing.assert_allclose(width, np.median(pdist(X)), rtol=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 3e-6), (np.float64, 1e-12)])
@pytest.mark.parametrize("tile", [64, 300, 1024])
def test_exact_degrees_are_row_sums(X, dtype, tolerance, tile):
    expected = gaussian(X, X, 2.0).sum(axis=1)
    degrees = kernels.exact_degrees(X, 2.0, dtype, tile)
    np.testing.assert_allclose(degrees, expected, rtol=tolerance)


def test_degrees_are_at_least_one_where_features_are_few(X):
    features = kernels.RandomFourierFeatures(7, 10, 0.3, np.random.RandomState(0))
    Phi = features.transform(X).astype(float)
    raw = Phi @ Phi.sum(axis=0)
    assert raw.min() < 0
    np.testing.assert_allclose(
        kernels.feature_degrees(features, X), np.maximum(raw, 1), rtol=1e-4, atol=1e-4
    )


def test_degrees_from_all_points_as_landmarks_are_exact(X):
    nystrom = kernels.NystromFeatures(X, 1.0)
    expected = gaussian(X, X, 1.0).sum(axis=1)
    np.testing.assert_allclose(kernels.feature_degrees(nystrom, X), expected, rtol=1e-8)


def test_nystrom_features_are_exact_at_the_landmarks(X):
    Z = kernels.NystromFeatures(X[:40], 2.0).transform(X[:40])
    np.testing.assert_allclose(Z @ Z.T, gaussian(X[:40], X[:40], 2.0), atol=1e-9)


def test_error_of_random_features_falls_as_the_root_of_their_number(X):
    K = gaussian(X[:60], X[:60], 3.0)

    def error(n_components):
        errors = []
        for seed in range(20):
            rng = np.random.RandomState(seed)
            Phi = kernels.RandomFourierFeatures(7, n_components, 3.0, rng).transform(X[:60])
            errors.append(((Phi @ Phi.T - K) ** 2).mean())
        return np.mean(errors)

    assert error(50) / error(800) == pytest.approx(16, rel=0.3)


def test_random_features_have_unit_norm_and_come_back_with_the_seed(X):
    maps = [kernels.RandomFourierFeatures(7, 31, 2.0, np.random.RandomState(3)) for _ in range(2)]
    first, second = (m.transform(X) for m in maps)
    assert first.shape == (300, 30)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose((first**2).sum(axis=1), 1, rtol=1e-5)


def test_landmarks_are_distinct_and_no_more_than_there_are(X):
    rows = uniform_landmarks(X, 300, np.random.RandomState(0))
    np.testing.assert_array_equal(rows, np.arange(300))
    with pytest.raises(ValueError, match="n_landmarks=301 is more than the 300 points"):
        uniform_landmarks(X, 301, np.random.RandomState(0))


@pytest.mark.parametrize(("offset", "sigma"), [(0, 1), (0, 3), (30, 1), (30, 3)])
def test_what_is_kept_of_a_spectrum_in_float32_is_that_of_float64(offset, sigma):
    """Repeated landmarks make eigenvalues of zero, far points rounding: none of it is kept."""
    Z = np.random.default_rng(0).normal(size=(400, 3)) * 3 + offset
    Z = np.concatenate([Z, Z[:100]])
    single, _ = landmark_spectrum(Z.astype(np.float32), sigma, 0)
    exact = np.linalg.eigvalsh(kernels.gaussian_kernel(Z, Z, sigma))[::-1]
    assert 50 < len(single) <= 400
    np.testing.assert_allclose(single, exact[: len(single)], rtol=0.3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_point_that_repeats_is_a_landmark_once_while_others_are_left(dtype):
    X = np.random.default_rng(0).integers(3, size=(500, 4)).astype(dtype)
    X[X == 0] *= np.random.default_rng(1).choice([-1, 1], size=np.sum(X == 0))
    assert len(np.unique(X, axis=0)) == 81
    for wanted in (10, 81, 100):
        rows = uniform_landmarks(X, wanted, np.random.RandomState(0))
        assert len(np.unique(rows)) == wanted
        assert len(np.unique(X[rows], axis=0)) == min(wanted, 81)


def test_every_distinct_point_is_a_landmark_as_often_as_any_other():
    X = np.arange(20.0)[:, None]
    draws = [uniform_landmarks(X, 5, np.random.RandomState(s)) for s in range(4000)]
    counts = np.bincount(np.concatenate(draws), minlength=20)
    assert abs(counts - 1000).max() < 5 * np.sqrt(4000 * 0.25 * 0.75)


def test_poly_step_counts_from_one_and_is_strict():
    e = np.linspace(0.9, 0.1, 30)
    found = poly_step(e, h=12)
    assert np.sum(found == np.sqrt(e)) == 11
    np.testing.assert_array_equal(found[11:], e[11:] ** 2)
    np.testing.assert_array_equal(kernels.apply_transfer(e, "poly-step", n_labeled=3), found)


def test_transfers_are_nonnegative_and_the_regularised_laplacian_is_an_inverse():
    e = np.array([1.0, 0.5, 0.0, -1e-12])
    for name in TRANSFERS:
        assert (kernels.apply_transfer(e, name, 1) >= 0).all()
    expected = np.array([20, 1 / 0.55, 1 / 1.05]) - 1 / 1.05
    found = kernels.apply_transfer(e, "regularized-laplacian", 1, epsilon=0.05)
    np.testing.assert_allclose(found[:3], expected, atol=1e-15)
    np.testing.assert_array_equal(step(e, 2), [1, 1, 0, 0])


@pytest.mark.parametrize("n", [1, 2, 3, 5, 255, 256, 257, 513, 700])
def test_packed_matrix_solves_inverts_multiplies_and_reads_like_a_full_one(n):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n))
    A = A @ A.T + n * np.eye(n)
    b = rng.normal(size=(n, 2))

    def packed():
        matrix = kernels.PackedSymmetric(n)
        matrix.fill(lambda rows, columns: A[rows, columns])
        return matrix

    rows = rng.permutation(n)[: max(1, n // 2)]
    np.testing.assert_array_equal(packed().take(rows, rows), A[np.ix_(rows, rows)])
    np.testing.assert_array_equal(packed().diagonal(), np.diag(A))
    np.testing.assert_allclose(packed().multiply(b), A @ b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(A @ packed().solve(b), b, atol=1e-10)
    scaled, factors = packed(), rng.uniform(1, 2, n)
    scaled.scale(factors)
    scaled.add_to_diagonal(1.0)
    scaled.invert()
    expected = np.linalg.inv(A * np.outer(factors, factors) + np.eye(n))
    everything = np.arange(n)
    np.testing.assert_allclose(scaled.take(everything, everything), expected, atol=1e-12)


def test_packed_matrix_that_is_not_definite_is_refused():
    matrix = kernels.PackedSymmetric(4)
    matrix.fill(lambda rows, columns: -np.eye(4)[rows, columns])
    with pytest.raises(np.linalg.LinAlgError, match="minor of order 1"):
        matrix.solve(np.ones((4, 1)))


def test_single_gram_adds_up_as_float64_would():
    Z = np.random.default_rng(0).normal(size=(9000, 7)).astype(np.float32)
    gram = kernels.GramSum(7)
    for block in kernels.row_blocks(9000, 1000):
        gram.add(Z[block])
    exact = Z.T.astype(np.float64) @ Z
    np.testing.assert_allclose(gram.total(), exact, atol=1e-6 * exact.max())


def test_gram_is_summed_up_in_place():
    Z = np.random.default_rng(0).normal(size=(100, 30))
    G = np.zeros((30, 30), order="F")
    for block in (slice(0, 33), slice(33, 100)):
        kernels.add_gram(G, Z[block])
    kernels.mirror(G)
    np.testing.assert_allclose(G, Z.T @ Z, atol=1e-10)


def test_labels_without_a_point_keep_their_column():
    labels = read_labels(np.array([-1, 2, 0, -1]), n_classes=4)
    np.testing.assert_array_equal(labels.rows, [1, 2])
    np.testing.assert_array_equal(labels.prior, [0.5, 0, 0.5, 0])
    spread = expand_scores(np.array([3.0, -3.0]), labels.present, 4)
    np.testing.assert_array_equal(spread.argmax(axis=1), [2, 0])
    np.testing.assert_array_equal(labels.targets(), [[-1, -1, 1, -1], [1, -1, -1, -1]])


def test_a_class_takes_one_byte():
    y = np.array([-1, 2, 0, -1, 5])
    labels = read_labels(y)
    assert labels.codes.dtype == np.int8
    np.testing.assert_array_equal(labels.codes, [1, 0, 2])
    assert read_labels(y, n_classes=200).codes.dtype == np.int16
    np.testing.assert_array_equal(read_labels(y, n_classes=200).codes, [2, 0, 5])


@pytest.mark.parametrize(("n", "r"), [(1, 1), (2, 1), (7, 7), (300, 150), (301, 301)])
def test_a_triangle_in_float32_takes_the_place_of_its_matrix(n, r):
    A = np.asfortranarray(np.random.default_rng(0).random((n, n)))
    expected = np.tril(A[:r, :r]).astype(np.float32)
    found = triangle_in_float32(A, r)
    np.testing.assert_array_equal(found, expected)
    assert A.nbytes <= 4 * r * r + 8
    assert found.flags.f_contiguous
