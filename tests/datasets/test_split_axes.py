"""Splits in the columns of a matrix: read as what they are, or refused, never read as rows."""

import json

import numpy as np
import pytest
from scipy.io import savemat

from harness.datasets.split_files import read_splits
from harness.datasets.split_sources import SplitSource
from harness.errors import HarnessError
from harness.study.evaluation import FromFile

N, COUNT = 30, 3
DRAWN = np.array([np.random.default_rng(seed).permutation(N) for seed in range(COUNT)])
LABELED, TEST = DRAWN[:, :5], DRAWN[:, 5:12]
DISTINCT = DRAWN[0, :15].reshape(5, 3)  # no number is there twice, by rows or by columns


def source(path, transpose=None, part="", **told):
    return SplitSource(((part, path),), transpose=transpose, **told)


def write(path, **arrays):
    """Write arrays of row numbers from 0 as a program would, those of MATLAB from 1."""
    if path.suffix == ".mat":
        savemat(path, {name: array + (array.dtype != bool) for name, array in arrays.items()})
    elif path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".npy":
        np.save(path, *arrays.values())
    else:
        np.savetxt(path, *arrays.values(), "%d", delimiter="," if path.suffix == ".csv" else " ")
    return path


def assert_drawn(found, test=True):
    assert found.seeds == tuple(range(COUNT))
    for seed in range(COUNT):
        parts = found.split(seed)
        assert parts.labeled.tolist() == sorted(LABELED[seed])
        assert parts.test.tolist() == (sorted(TEST[seed]) if test else [])


@pytest.mark.parametrize("ending", ["mat", "npz"])
def test_splits_in_columns_are_read_when_the_study_says_so(tmp_path, ending):
    path = write(tmp_path / f"s.{ending}", labeled=LABELED.T, test=TEST.T)
    assert_drawn(read_splits(source(path, True), N))
    path = write(tmp_path / f"rows.{ending}", labeled=LABELED, test=TEST)
    assert_drawn(read_splits(source(path), N))  # lists differ in length: no doubt
    assert_drawn(read_splits(source(path, False), N))


@pytest.mark.parametrize("ending", ["mat", "npz", "npy", "txt", "csv"])
def test_a_matrix_that_may_be_either_is_refused(tmp_path, ending):
    path = write(tmp_path / f"s.{ending}", labeled=DISTINCT)
    part = "labeled"
    with pytest.raises(HarnessError, match=r"is 5 x 3, and its rows as well .*transpose: false"):
        read_splits(source(path, part=part), N)
    by_columns = read_splits(source(path, True, part), N)
    by_rows = read_splits(source(path, False, part), N)
    assert by_columns.codes.shape == (3, N)
    assert by_rows.codes.shape == (5, N)
    assert by_columns.split(1).labeled.tolist() == sorted(DISTINCT[:, 1])
    assert by_rows.split(1).labeled.tolist() == sorted(DISTINCT[1])
    assert by_columns.digest != by_rows.digest


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"labeled": np.array([[0, 1, 1], [1, 0, 2]])}, "'labeled' has row 2, which is twice"),
        ({"labeled": LABELED.T, "test": TEST.T}, "'labeled' is no list of row numbers, or one"),
        ({"labeled": np.eye(N, 4, dtype=bool)}, "'labeled' has row 0; allowed are 1 to 30"),
    ],
)
def test_what_is_no_split_by_rows_and_is_one_by_columns_is_told(tmp_path, arrays, told):
    path = write(tmp_path / "s.mat", **arrays)
    with pytest.raises(HarnessError, match=told + ".*column is a split, write `transpose: true`"):
        read_splits(source(path), N)


def test_lists_that_are_sorted_tell_their_axis(tmp_path):
    path = write(tmp_path / "s.mat", labeled=np.sort(LABELED, axis=1))
    assert_drawn(read_splits(source(path), N), test=False)
    folds = np.sort(np.random.default_rng(0).permutation(N).reshape(COUNT, -1), axis=1)
    path = write(tmp_path / "folds.npz", test=folds)
    assert read_splits(source(path), N).split(1).test.tolist() == folds[1].tolist()
    path = write(tmp_path / "columns.npz", test=folds.T)
    with pytest.raises(HarnessError, match="transpose: true"):
        read_splits(source(path), N)
    in_order = np.arange(N).reshape(COUNT, -1)  # both axes ascend
    with pytest.raises(HarnessError, match="transpose: true"):
        read_splits(source(write(tmp_path / "in_order.npz", test=in_order)), N)


def test_numbers_of_splits_tell_the_axis(tmp_path):
    path = write(tmp_path / "s.npz", labeled=DISTINCT, seeds=np.arange(5))
    assert read_splits(source(path), N).seeds == tuple(range(5))
    path = write(tmp_path / "columns.npz", labeled=DISTINCT, seeds=np.arange(3))
    with pytest.raises(HarnessError, match="'seeds' are not 5 different"):
        read_splits(source(path), N)
    assert read_splits(source(path, True), N).seeds == (0, 1, 2)


def test_a_vector_beside_columns_is_of_all_splits(tmp_path):
    shared = np.setdiff1d(np.arange(N), DRAWN[:, :5])[:4]
    for ending, vector in (("mat", shared[None]), ("mat", shared[:, None]), ("npz", shared)):
        path = write(tmp_path / f"s.{ending}", labeled=LABELED.T, test=vector)
        found = read_splits(source(path, True), N)
        assert found.split(2).labeled.tolist() == sorted(LABELED[2])
        assert found.split(2).test.tolist() == shared.tolist()
    one_each = write(tmp_path / "one.mat", labeled=DRAWN[:, :1].T, test=TEST.T)
    assert read_splits(source(one_each, True), N).split(1).labeled.tolist() == [DRAWN[1, 0]]


def test_a_column_is_one_split_in_matlab_unless_rows_are_said(tmp_path):
    path = write(tmp_path / "s.mat", labeled=DRAWN[0][:4, None])
    assert read_splits(source(path), N).split(0).labeled.tolist() == sorted(DRAWN[0, :4])
    assert read_splits(source(path, False), N).codes.shape == (4, N)
    path = write(tmp_path / "s.npz", labeled=DRAWN[0][:4, None])
    with pytest.raises(HarnessError, match="is 4 x 1, and its rows as well"):
        read_splits(source(path), N)


def test_masks_and_codes_in_columns(tmp_path):
    masks = np.zeros((N, COUNT), bool)
    np.put_along_axis(masks.T, LABELED, True, axis=1)
    path = write(tmp_path / "s.npz", train_mask=masks)
    told = {"names": (("labeled", "train_mask"),)}
    assert_drawn(read_splits(source(path, True, **told), N), test=False)
    with pytest.raises(HarnessError, match=r"'train_mask' is no list.*transpose: true"):
        read_splits(source(path, **told), N)
    path = write(tmp_path / "codes.npz", part=np.where(masks, 1, 2))
    assert_drawn(read_splits(source(path, True), N), test=False)


def test_files_of_one_split_each_may_have_columns(tmp_path):
    for seed in range(COUNT):
        write(tmp_path / f"s{seed}.npy", labeled=LABELED[seed][:, None])
    assert_drawn(read_splits(source(tmp_path / "s{seed}.npy", part="labeled"), N), test=False)


def test_lists_within_a_list_are_splits_and_lines_may_differ_in_length(tmp_path):
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"labeled": DISTINCT.tolist()}))
    assert read_splits(path, N).split(0).labeled.tolist() == sorted(DISTINCT[0])
    assert read_splits(source(path, True), N).split(0).labeled.tolist() == sorted(DISTINCT[:, 0])
    path.write_text(json.dumps({"test": [[0, 1], [2]]}))
    with pytest.raises(HarnessError, match="lines of different lengths: leave `transpose` out"):
        read_splits(source(path, True), N)


def test_a_study_says_which_axis_it_is(tmp_path):
    write(tmp_path / "s.npy", labeled=DISTINCT)
    evaluation = FromFile(splits={"labeled": "s.npy"}, transpose=True)
    found = read_splits(evaluation.source(tmp_path, "any", None), N)
    assert found.split(2).labeled.tolist() == sorted(DISTINCT[:, 2])
    # rows of studies that do not say it stay what they are
    assert "transpose" not in FromFile(splits={"labeled": "s.npy"}).model_dump()
