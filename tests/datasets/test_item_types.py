"""Numbers in another type than they are prepared in; small integers that stay what they are."""

import json
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import random_array

from harness.datasets import Meta, numbers_at, prepare, read_rows, row_blocks, write_sparse
from harness.datasets.item_types import ItemType
from harness.datasets.raw_rows import learn_preparation
from harness.datasets.rows import open_mapped
from harness.datasets.sparse_rows import compressed
from harness.errors import HarnessError
from harness.kernels import ScaledIntegers

rng = np.random.default_rng(0)
CODES = rng.integers(0, 256, size=(30_000, 50)).astype(np.uint8)
GRAY = np.float32(255)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Files of small integers, of float64 and of float64 that is sparse; and what they hold."""
    folder = tmp_path_factory.mktemp("types")
    numbers = rng.random((30_000, 50))
    sparse = compressed(random_array((30_000, 50), density=0.1, rng=rng))
    np.save(folder / "codes.npy", CODES)
    np.save(folder / "numbers.npy", numbers)
    write_sparse(folder / "sparse.npz", sparse)
    return folder, numbers, sparse


@pytest.mark.parametrize("in_order", [True, False])
def test_rows_are_converted_as_they_are_read(stored, in_order):
    folder, numbers, sparse = stored
    rows = rng.permutation(30_000)[:20_000]
    rows = np.sort(rows) if in_order else rows
    cases = [
        ("numbers.npy", ItemType("float32"), numbers.astype(np.float32)),
        ("numbers.npy", ItemType("float64"), numbers),
        ("codes.npy", ItemType("float32", 255), CODES.astype(np.float32) / GRAY),
        ("codes.npy", ItemType("float64", 255), CODES / 255),
    ]
    for name, item, expected in cases:
        tracemalloc.start()
        got = read_rows(folder / name, rows, item)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert got.dtype == item.dtype
        np.testing.assert_array_equal(got, expected[rows])
        assert peak - got.nbytes < 1 << 20
    got = read_rows(folder / "sparse.npz", rows, ItemType("float32"))
    assert got.dtype == np.float32
    assert (got != sparse[rows].astype(np.float32)).nnz == 0


def test_a_sparse_row_that_is_larger_than_the_buffer_is_converted(tmp_path):
    X = compressed(random_array((3, 40_000), density=0.9, rng=rng))
    write_sparse(tmp_path / "X.npz", X)
    for rows in ([0, 1, 2], [2, 0]):
        got = read_rows(tmp_path / "X.npz", np.array(rows), ItemType("float32"))
        assert (got != X[rows].astype(np.float32)).nnz == 0


def test_small_integers_stay_what_they_are_until_they_are_looked_at(stored):
    folder, _, _ = stored
    rows, item = rng.permutation(30_000)[:20_000], ItemType("float32", 255, keeps_integers=True)
    tracemalloc.start()
    kept = read_rows(folder / "codes.npy", rows, item)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000 * 50 + (1 << 20)
    expected = CODES[rows].astype(np.float32) / GRAY
    assert isinstance(kept, ScaledIntegers)
    assert (kept.shape, kept.dtype, len(kept)) == (expected.shape, np.float32, len(expected))
    picks = [slice(5, 900), slice(None, None, 7), rng.permutation(20_000)[:999], 3]
    for pick in [*picks, expected[:, 0] > 0.5, (picks[2], slice(2, 9)), (slice(3), 4)]:
        np.testing.assert_array_equal(kept[pick], expected[pick])
    assert kept.max() == expected.max()
    np.testing.assert_array_equal(kept.min(axis=0), expected.min(axis=0))
    np.testing.assert_array_equal(kept.mean(axis=0), expected.mean(axis=0, dtype=np.float64))
    blocks = list(map(np.copy, row_blocks(folder / "codes.npy", rows, item)))
    np.testing.assert_array_equal(np.concatenate(blocks), expected)


def images(make_entry, tmp_path, X=None, **changes):
    X = rng.integers(0, 256, size=(40, 6)) if X is None else X
    y = np.arange(len(X)) % 2
    np.savez(tmp_path / "x.npz", X=X, y=y)
    body = {"task": "binary", "read": {"format": "npz"}, "divide_by": 255, "dtype": "uint8"}
    return X, make_entry(body | {"files": [{"path": "x.npz"}]} | changes)


def test_an_entry_of_small_integers_is_prepared_as_they_are(make_entry, tmp_path):
    X, entry = images(make_entry, tmp_path)
    meta = prepare(entry, tmp_path / "made")
    held = open_mapped(tmp_path / "made" / "X.npy")
    assert (held.dtype, meta.itemsize, entry.data_bytes) == (np.uint8, 1, X.size)
    np.testing.assert_array_equal(held, X)
    assert Meta.read(tmp_path / "made").divide_by == 255
    rows = np.array([3, 1])
    expected = X.astype(np.float32) / GRAY
    np.testing.assert_array_equal(numbers_at(tmp_path / "made" / "X.npy", rows), expected[rows])
    preparation, table = learn_preparation(entry, held)
    np.testing.assert_array_equal(preparation(table), expected)


def test_what_is_prepared_as_numbers_says_nothing_of_it(make_entry, tmp_path):
    _, entry = images(make_entry, tmp_path, dtype="float32")
    prepare(entry, tmp_path / "made")
    assert "divide_by" not in json.loads((tmp_path / "made" / "meta.json").read_text())


@pytest.mark.parametrize("value", [256, -1, 0.5, 1e9])
def test_what_is_no_small_integer_is_refused(make_entry, tmp_path, value):
    X = rng.integers(0, 256, size=(40, 6)).astype(float)
    X[7, 2] = value
    with pytest.raises(HarnessError, match=r"uint8, but row 7, column 2 is .*from 0 to 255"):
        images(make_entry, tmp_path, X)


@pytest.mark.parametrize("change", [{"scaling": "standard"}, {"sparse": True, "nnz": 9}])
def test_what_would_not_stay_a_small_integer_is_refused(make_entry, tmp_path, change):
    with pytest.raises(HarnessError, match="dtype uint8 is of dense features as they are"):
        images(make_entry, tmp_path, **change)
