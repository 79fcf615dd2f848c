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


@pytest.mark.parametrize("scaling", ["minmax", "standard"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constant_columns_become_zero_never_nan(scaling, dtype):
    X = np.full((1000, 3), [0.1, 1e30, -7.0], dtype=dtype)
    assert (scaled(X, scaling) == 0).all()


def test_single_precision_is_as_good_as_it_gets():
    X = np.random.default_rng(0).normal(1000, 1, size=(5000, 2))
    got = scaled(X.astype(np.float32), "standard")
    assert np.abs(got - scaled(X, "standard")).max() < 1e-3
    assert got.dtype == np.float32


def test_none_changes_nothing_and_empty_rows_stay():
    X = np.zeros((2, 2))
    assert (scaled(X, "none") == X).all()
    assert (scaled(X, "unit") == 0).all()
