import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import MinMaxScaler, StandardScaler, normalize

from harness.datasets.scaling import scale

MATRICES = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12),
    elements=st.integers(-1000, 1000).map(lambda value: value / 8),
)


def scaled(X, scaling):
    X = X.copy()
    scale(X, scaling)
    return X


@given(MATRICES)
@settings(max_examples=100, deadline=None)
def test_minmax_and_unit_are_scikit_learn_s(X):
    assert np.allclose(scaled(X, "minmax"), MinMaxScaler().fit_transform(X), atol=1e-12)
    assert np.allclose(scaled(X, "unit"), normalize(X), atol=1e-12)


@given(MATRICES)
@settings(max_examples=100, deadline=None)
def test_standard_is_scikit_learn_s_but_for_dummies(X):
    got = scaled(X, "standard")
    dummies = np.isin(X, (0, 1)).all(axis=0)
    assert np.allclose(got[:, ~dummies], StandardScaler().fit_transform(X)[:, ~dummies], atol=1e-9)
    varying = dummies & (X.min(axis=0) < X.max(axis=0))
    assert (got[:, varying] == X[:, varying]).all()
    assert (got[:, dummies & ~varying] == 0).all()


@given(MATRICES)
@settings(max_examples=100, deadline=None)
def test_whitened_columns_are_uncorrelated_and_near_the_standardised_ones(X):
    white, standard = scaled(X, "whiten"), StandardScaler().fit_transform(X)
    covariance = white.T @ white / len(X)
    # a projection: the identity where there is spread, nothing where there is none
    assert np.allclose(covariance @ covariance, covariance, atol=1e-4)
    assert round(np.trace(covariance)) == np.linalg.matrix_rank(standard, tol=1e-4)
    together = white.T @ standard
    assert np.allclose(together, together.T, atol=1e-4 * len(X))
    assert (np.linalg.eigvalsh(together + together.T) > -1e-3 * len(X)).all()


def test_whitening_in_blocks_of_single_precision_is_that_of_one_in_double():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300_000, 4)) @ rng.standard_normal((4, 4))
    got = scaled(X.astype(np.float32), "whiten")
    assert got.dtype == np.float32
    assert np.abs(np.cov(got.T, bias=True) - np.eye(4)).max() < 1e-4


@pytest.mark.parametrize("scaling", ["minmax", "standard", "whiten"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constant_columns_become_zero_never_nan(scaling, dtype):
    X = np.full((1000, 3), [0.1, 1e30, -7.0], dtype=dtype)
    assert (scaled(X, scaling) == 0).all()


def test_single_precision_is_as_good_as_it_gets():
    X = np.random.default_rng(0).normal(1000, 1, size=(5000, 2))
    got = scaled(X.astype(np.float32), "standard")
    assert np.abs(got - scaled(X.astype(np.float32).astype(np.float64), "standard")).max() < 1e-6
    assert got.dtype == np.float32


def test_none_changes_nothing_and_empty_rows_stay():
    X = np.zeros((2, 2))
    assert (scaled(X, "none") == X).all()
    assert (scaled(X, "unit") == 0).all()


@pytest.mark.parametrize("scaling", ["minmax", "standard", "whiten"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [1e3, 1e5, 1e7])
def test_scaled_features_do_not_depend_on_where_the_points_lie(offset, dtype, scaling):
    """Of points that have lost digits before: what is asked for are those, moved back."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 6)) @ rng.standard_normal((6, 6))
    far = (X + offset).astype(dtype)
    near = far.astype(np.float64) - offset
    error = np.abs(scaled(far, scaling) - scaled(near, scaling)).max()
    # whitening multiplies rounding by the inverse root of the smallest correlation
    assert error < (100 if scaling == "whiten" else 16) * np.finfo(dtype).eps


@pytest.mark.parametrize("scaling", ["none", "minmax", "standard", "whiten", "unit"])
def test_further_rows_are_scaled_as_the_first_were(scaling):
    """A row by itself, and one whose column was constant before."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(5, 3, 200), rng.normal(0, 1, 200), np.full(200, 4.0)])
    X = np.column_stack([X, np.arange(200) % 2])
    expected = X.copy()
    fitted = scale(expected, scaling)
    again = X.copy()
    fitted.apply(again)
    np.testing.assert_allclose(again, expected, atol=1e-12)
    if scaling == "standard":
        # a column of zeros and ones stays what it is, and one without spread becomes 0
        np.testing.assert_array_equal(expected[:, 3], np.arange(200) % 2)
        assert [float(shift[3]) for shift in fitted.shifts] == [0.0, 0.0]
        assert fitted.divisor[2] == fitted.divisor[3] == 1


def test_a_column_of_zeros_twos_and_ones_is_no_dummy():
    X = np.array([[0.0], [1.0], [2.0], [1.0]])
    assert scaled(X, "standard").mean() == pytest.approx(0)
    assert scaled(X, "standard").std() == pytest.approx(1)
