"""Streamed canonical correlations against QR and SVD, and their invariances."""

import numpy as np
import pytest
from scipy.linalg import qr
from views.canonical_correlation import CanonicalCorrelations, RowSketch


def views(n=300, k1=5, k2=4, shared=3, seed=0):
    """Two views of which some directions have causes in common."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=(n, shared))
    first = cause @ rng.normal(size=(shared, k1)) + rng.normal(size=(n, k1))
    second = cause @ rng.normal(size=(shared, k2)) + rng.normal(size=(n, k2))
    return first, second + 3


def textbook(first, second):
    """Correlations by orthonormal bases of the centred views (Bjorck & Golub 1973)."""
    Q1, Q2 = (qr(Z - Z.mean(axis=0), mode="economic")[0] for Z in (first, second))
    return np.linalg.svd(Q1.T @ Q2, compute_uv=False)


def analyse(first, second, ridge=0.0, dtype=np.float64, step=1000):
    analysis = CanonicalCorrelations(first.shape[1], second.shape[1], ridge, dtype)
    Z = np.concatenate([first, second], axis=1).astype(dtype)
    for start in range(0, len(Z), step):
        analysis.add(np.ascontiguousarray(Z[start : start + step]))
    return analysis.solve()


def test_without_a_ridge_they_are_those_of_the_textbook():
    first, second = views()
    pairs = analyse(first, second)
    np.testing.assert_allclose(pairs.correlations[:4], textbook(first, second), atol=1e-10)
    np.testing.assert_allclose(pairs.correlations[4:], 0, atol=1e-6)


def test_coordinates_are_uncorrelated_but_in_pairs():
    first, second = views(k1=4)
    pairs = analyse(first, second)
    z1, z2 = first @ pairs.bases[0], second @ pairs.bases[1]
    both = np.cov(np.concatenate([z1, z2], axis=1).T, bias=True)
    np.testing.assert_allclose(both[:4, :4], np.eye(4), atol=1e-10)
    np.testing.assert_allclose(both[4:, 4:], np.eye(4), atol=1e-10)
    np.testing.assert_allclose(both[:4, 4:], np.diag(pairs.correlations), atol=1e-10)


def test_without_a_ridge_no_linear_map_of_a_view_changes_them():
    first, second = views()
    scales = 10.0 ** np.arange(-2, 3)
    expected = analyse(first, second).correlations
    for changed in (first * scales, first / scales, first @ qr(views(seed=1)[0][:5])[0]):
        found = analyse(changed, second).correlations
        np.testing.assert_allclose(found[:4], expected[:4], atol=1e-8)


def test_a_ridge_depends_on_the_scale_and_lowers_them():
    first, second = views()
    plain = analyse(first, second).correlations
    lowered = analyse(first, second, ridge=0.1).correlations
    stretched = analyse(first * 10.0 ** np.arange(-2, 3), second, ridge=0.1).correlations
    assert (lowered[:4] < plain[:4]).all()
    assert np.abs(stretched - lowered)[:4].max() > 0.01
    # counted in mean variances, so that a common factor is no matter
    same = analyse(7 * first, second / 9, ridge=0.1).correlations
    np.testing.assert_allclose(same[:4], lowered[:4], atol=1e-10)


def test_blocks_make_no_difference():
    first, second = views(n=10_000)
    whole = analyse(first, second, 1e-2, step=10_000)
    parts = analyse(first, second, 1e-2, step=77)
    single = analyse(first, second, 1e-2, np.float32, step=501)
    np.testing.assert_allclose(parts.correlations, whole.correlations, atol=1e-7)
    np.testing.assert_allclose(single.correlations[:4], whole.correlations[:4], atol=1e-5)


def test_equal_views_are_correlated_as_far_as_the_ridge_lets_them():
    first, _ = views()
    np.testing.assert_allclose(analyse(first, first).correlations, 1, atol=1e-10)
    C = np.cov(first.T, bias=True)
    variances = np.linalg.eigvalsh(C)[::-1]
    expected = variances / (variances + 0.1 * variances.mean())
    found = analyse(first, first, ridge=0.1).correlations
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_views_without_spread_or_of_rank_one_have_an_answer(dtype):
    first, second = views(k1=4)
    flat = np.repeat(first[:, :1], 4, axis=1)
    for view in (np.zeros_like(first), np.full_like(first, 1e3), flat, 1e6 * flat):
        for pairs in (analyse(view, second, 1e-2, dtype), analyse(second, view, 1e-2, dtype)):
            assert np.isfinite(np.concatenate(pairs.bases, axis=None)).all()
            assert (pairs.correlations >= 0).all()
            assert (pairs.correlations <= 1).all()
    correlations = analyse(flat, second, 1e-6, dtype).correlations
    expected = textbook(first[:, :1], second)[0]
    assert correlations[0] == pytest.approx(expected, abs=1e-3)
    np.testing.assert_allclose(correlations[1:], 0, atol=1e-2)


def sketched(first, second, n_rows, seed):
    Z = np.concatenate([first, second], axis=1).astype(np.float32)
    sketch = RowSketch(n_rows, Z.shape[1], np.random.RandomState(seed))
    for start in range(0, len(Z), 700):
        sketch.add(Z[start : start + 700].copy())
    k1, k2 = first.shape[1], second.shape[1]
    analysis = CanonicalCorrelations(k1, k2)
    total = np.zeros((k1 + k2, k1 + k2))
    for block in sketch.blocks(128):
        analysis.add(block)
        total += block.T @ block
    return analysis.solve().correlations, total / n_rows


def test_a_sketch_has_the_covariance_on_average():
    first, second = views(n=4000)
    expected = np.cov(np.concatenate([first, second], axis=1).T, bias=True)
    found = np.mean([sketched(first, second, 200, seed)[1] for seed in range(40)], axis=0)
    # 40 x 200 rows: three standard errors of a covariance
    assert np.abs(found - expected).max() < 3 * np.abs(expected).max() * np.sqrt(2 / 8000)


def test_the_error_of_a_sketch_falls_as_the_root_of_its_rows():
    first, second = views(n=20_000)
    exact = analyse(first, second, 1e-2).correlations[:4]

    def error(n_rows):
        found = [sketched(first, second, n_rows, seed)[0][:4] for seed in range(12)]
        return np.sqrt(np.mean((np.array(found) - exact) ** 2))

    coarse, fine = error(250), error(4000)
    assert fine < 0.02
    assert 2.5 < coarse / fine < 7
