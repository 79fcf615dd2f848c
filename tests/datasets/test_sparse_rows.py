"""Rows of a sparse matrix in a file, against SciPy's own reading and indexing."""

import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, load_npz, random_array, save_npz

from harness.datasets import open_mapped, read_rows, row_blocks, x_slice
from harness.datasets.buffers import sparse_reading_bytes
from harness.datasets.sparse_rows import compressed, write_sparse
from harness.errors import DamagedFileError, HarnessError
from harness.plugin.shape import csr_bytes

N, D = 900, 40


def drawn(n=N, d=D, density=0.1, dtype=np.float64):
    return compressed(random_array((n, d), density=density, dtype=dtype, rng=0))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    X = drawn()
    path = tmp_path_factory.mktemp("sparse") / "X.npz"
    write_sparse(path, X)
    return path, X


def equal(found, expected):
    return found.shape == expected.shape and (found != expected).nnz == 0


def nbytes(X):
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def test_scipy_reads_what_is_written(written):
    path, X = written
    found = load_npz(path)
    assert equal(found, X)
    assert found.indices.dtype == np.int32


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, N - 1), max_size=60))
def test_any_rows_in_any_order(written, rows):
    path, X = written
    rows = np.array(rows, dtype=np.int64)
    found = read_rows(path, rows)
    assert equal(found, X[rows])
    assert found.dtype == X.dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_rows_permuted_across_several_buffers(tmp_path, dtype):
    """More nonzeros than a buffer has, more rows than a chunk, and one row larger than both."""
    X = drawn(9_000, 12_000, 0.0005, dtype).tolil()
    X[5] = 1
    X = compressed(X.astype(dtype))
    write_sparse(tmp_path / "X.npz", X)
    for rows in (np.arange(9_000), np.random.default_rng(0).permutation(9_000)):
        assert equal(read_rows(tmp_path / "X.npz", rows), X[rows])


def test_what_is_read_holds_its_own_bytes_and_those_planned(tmp_path):
    X = drawn(20_000, 300, 0.04)
    write_sparse(tmp_path / "X.npz", X)
    rows = np.random.default_rng(0).permutation(20_000)[:15_000]
    read_rows(tmp_path / "X.npz", rows[:9])  # what is imported and kept is not the rows'
    tracemalloc.start()
    found = read_rows(tmp_path / "X.npz", rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert nbytes(found) == csr_bytes(15_000, found.nnz)
    assert peak - nbytes(found) <= sparse_reading_bytes(15_000, found.nnz)


def test_blocks_are_the_rows_in_their_order(written):
    path, X = written
    rows = np.random.default_rng(1).permutation(N)
    blocks = list(row_blocks(path, rows))
    assert equal(csr_matrix(np.vstack([block.toarray() for block in blocks])), X[rows])
    with pytest.raises(ValueError, match="read-only"):
        blocks[0].data[:] = 0


def test_a_map_and_a_slice_of_it_copy_nothing(written):
    path, X = written
    mapped = open_mapped(path)
    assert equal(mapped, X)
    part = x_slice(mapped, 100, 10_000)
    assert equal(part, X[100:])
    assert np.shares_memory(part.data, mapped.data)
    assert np.shares_memory(part.indices, mapped.indices)


def test_the_same_matrix_is_the_same_bytes(tmp_path):
    for name in ("one.npz", "two.npz"):
        write_sparse(tmp_path / name, drawn())
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_stored_zeros_and_repeated_columns_do_not_stay():
    X = csr_matrix((np.array([0.0, 1.0, 2.0]), np.array([1, 3, 3]), np.array([0, 3])), (1, 5))
    assert compressed(X).data.tolist() == [3.0]


def test_a_row_that_is_not_there(written):
    with pytest.raises(HarnessError, match=rf"rows 0 .. {N} asked for, it has {N}"):
        read_rows(written[0], np.array([0, N]))


@pytest.mark.parametrize("cut", [0, 30, 0.5, 0.99])
def test_a_file_that_was_cut_short(tmp_path, written, cut):
    raw = written[0].read_bytes()
    path = tmp_path / "X.npz"
    path.write_bytes(raw[: int(cut * len(raw)) if cut < 1 else cut])
    with pytest.raises(DamagedFileError, match=r"X\.npz: not an \.npz of a sparse matrix"):
        read_rows(path, np.arange(3))


def test_a_file_that_is_packed_or_lacks_an_array(tmp_path):
    save_npz(tmp_path / "X.npz", drawn(), compressed=True)
    with pytest.raises(DamagedFileError, match=r"data\.npy is compressed"):
        read_rows(tmp_path / "X.npz", np.arange(3))
    with zipfile.ZipFile(tmp_path / "X.npz", "w"):
        pass
    with pytest.raises(DamagedFileError, match=r"no item named 'data\.npy'"):
        read_rows(tmp_path / "X.npz", np.arange(3))
    with pytest.raises(DamagedFileError, match="cannot be read: No such file"):
        read_rows(tmp_path / "other.npz", np.arange(3))
