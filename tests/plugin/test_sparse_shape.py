"""Shapes of sparse data: what is counted of rows of which only the mean is known."""

from dataclasses import asdict, replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array

from harness import Shape
from harness.datasets.rows import x_bytes, x_row_bytes

SPARSE = Shape(100, 900, 300, 2, row_nnz=12.0)


def test_twelve_bytes_a_nonzero_and_four_a_row():
    assert SPARSE.matrix_bytes(1000) == 12 * SPARSE.nonzeros(1000) + 4 * 1001
    assert replace(SPARSE, itemsize=4).matrix_bytes(10) == 8 * SPARSE.nonzeros(10) + 4 * 11
    assert SPARSE.data_bytes == SPARSE.matrix_bytes(1000)
    assert replace(SPARSE, mapped=True).data_bytes == 0


def test_dense_data_are_as_they_were():
    dense = Shape(100, 900, 300, 2)
    assert (dense.nnz, dense.is_sparse, dense.density) == (None, False, 1.0)
    assert dense.data_bytes == dense.matrix_bytes(1000) == 8 * 300 * 1000
    assert Shape(**asdict(SPARSE)) == SPARSE


@given(st.integers(1, 5000), st.floats(0.1, 200))
def test_counts_are_never_below_the_mean_nor_above_all_elements(rows, mean):
    shape = replace(SPARSE, row_nnz=min(mean, 300.0))
    assert shape.row_nnz * rows <= shape.nonzeros(rows) + 1e-6
    assert shape.nonzeros(rows) <= 300 * rows
    assert shape.nonzeros(rows) <= shape.nonzeros(rows + 1)


def test_rows_that_are_drawn_are_within_the_count():
    """Rows of texts: how many nonzeros they have deviates as much as the mean."""
    rng = np.random.default_rng(0)
    lengths = rng.exponential(60, 20_000).astype(int)
    shape = Shape(0, 20_000, 5_000, 2, row_nnz=float(lengths.mean()))
    for m in (50, 1_000, 10_000):
        sums = [rng.permutation(lengths)[:m].sum() for _ in range(200)]
        assert np.mean([total <= shape.nonzeros(m) for total in sums]) > 0.98


def test_rows_of_a_matrix_have_the_bytes_that_its_shape_says():
    X = csr_matrix(random_array((1000, 300), density=0.04, rng=0))
    shape = replace(SPARSE, row_nnz=X.nnz / 1000)
    assert x_row_bytes(X) == shape.row_bytes
    assert x_bytes(X) == 12 * X.nnz + 4 * 1001 <= shape.data_bytes
