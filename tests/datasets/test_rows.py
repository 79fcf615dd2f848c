import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.datasets import open_mapped, read_rows, row_blocks
from harness.errors import HarnessError

rng = np.random.default_rng(0)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "X.npy"
    X = rng.random((40_000, 50))
    np.save(path, X)
    return path, X


@given(st.lists(st.integers(0, 39_999), max_size=50))
@settings(max_examples=50, deadline=None)
def test_any_rows_in_any_order(stored, rows):
    path, X = stored
    assert (read_rows(path, np.array(rows, dtype=np.int64)) == X[rows]).all()


@pytest.mark.parametrize("share", [0.001, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("in_order", [True, False])
def test_many_rows_in_little_memory(stored, share, in_order):
    path, X = stored
    rows = rng.permutation(len(X))[: int(share * len(X))]
    rows = np.sort(rows) if in_order else rows
    tracemalloc.start()
    got = read_rows(path, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (got == X[rows]).all()
    assert got.flags.owndata
    assert peak - got.nbytes < 1 << 20


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_other_dtypes_and_one_dimension(tmp_path, dtype):
    values = rng.integers(0, 100, 1000).astype(dtype)
    np.save(tmp_path / "y.npy", values)
    rows = rng.permutation(1000)[:300]
    got = read_rows(tmp_path / "y.npy", rows)
    assert got.dtype == values.dtype
    assert (got == values[rows]).all()


def test_rows_larger_than_the_buffer(tmp_path):
    X = rng.random((5, 100_000))
    np.save(tmp_path / "X.npy", X)
    assert (read_rows(tmp_path / "X.npy", np.array([4, 0, 2])) == X[[4, 0, 2]]).all()
    assert (read_rows(tmp_path / "X.npy", np.array([0, 2, 4])) == X[[0, 2, 4]]).all()


def test_blocks_are_the_rows_and_share_their_memory(stored):
    path, X = stored
    rows = np.sort(rng.permutation(len(X))[:2500])
    copies, places = [], set()
    for block in row_blocks(path, rows):
        copies.append(block.copy())
        places.add(block.__array_interface__["data"][0])
        assert not block.flags.writeable
    assert [len(block) for block in copies] == [1024, 1024, 452]
    assert (np.concatenate(copies) == X[rows]).all()
    assert len(places) == 1


def test_a_block_of_wide_rows_has_few_of_them(tmp_path):
    X = rng.random((50, 12_000), dtype=np.float32)
    np.save(tmp_path / "X.npy", X)
    blocks = [block.copy() for block in row_blocks(tmp_path / "X.npy", np.arange(50))]
    assert {len(block) for block in blocks} == {21, 8}
    assert (np.concatenate(blocks) == X).all()


def test_mapped_is_read_only(stored):
    path, X = stored
    mapped = open_mapped(path)
    assert (mapped[::999] == X[::999]).all()
    with pytest.raises(ValueError, match="read-only"):
        mapped[0, 0] = 1


@pytest.mark.parametrize("row", [-1, 40_000])
def test_rows_outside_are_refused(stored, row):
    with pytest.raises(HarnessError, match=r"X.npy: rows .* asked for, it has 40000"):
        read_rows(stored[0], np.array([0, row]))


@pytest.mark.parametrize("read", [open_mapped, lambda path: read_rows(path, np.array([0]))])
def test_damaged_files_are_named(tmp_path, read):
    path = tmp_path / "X.npy"
    with pytest.raises(HarnessError, match=r"X.npy: cannot be read: No such file"):
        read(path)
    np.save(path, np.ones((10, 3)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    with pytest.raises(HarnessError, match=r"has 360 bytes, its header says 368; 'harness run'"):
        read(path)
    path.write_bytes(b"PK" + whole[2:])
    with pytest.raises(HarnessError, match=r"not an \.npy file"):
        read(path)
    path.write_bytes(whole[:30])
    with pytest.raises(HarnessError, match=r"not an \.npy file"):
        read(path)
    np.save(path, np.asfortranarray(np.ones((10, 3))))
    with pytest.raises(HarnessError, match="not a C-ordered"):
        read(path)
    np.save(path, np.array([None, 1]), allow_pickle=True)
    with pytest.raises(HarnessError, match="plain numbers"):
        read(path)
