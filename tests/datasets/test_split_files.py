"""Splits in files: as benchmarks publish them, and as a study writes them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from harness.datasets import Split, split
from harness.datasets.split_files import read_splits, write_splits
from harness.errors import HarnessError

N = 12
LABELED = np.array([[0, 3], [4, 5], [0, 11]])
TEST = np.array([8, 9, 10])


def as_lists(parts):
    return [part.tolist() for part in parts]


def saved(path, **arrays):
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".mat":
        savemat(path, {name: a if name == "seeds" else a + 1 for name, a in arrays.items()})
    else:
        lines = ["seed,row,part"]
        for name, rows in arrays.items():
            for seed, part in enumerate(np.broadcast_to(rows, (3, np.shape(rows)[-1]))):
                lines += [f"{seed},{row},{name}" for row in part]
        path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("ending", ["npz", "mat", "csv"])
def test_index_files_of_each_kind_say_the_same(tmp_path, ending):
    test = TEST[:2]  # not in the last split's labeled rows
    found = read_splits(saved(tmp_path / f"s.{ending}", labeled=LABELED, test=test), N)
    assert found.seeds == (0, 1, 2)
    assert found.sizes == (2, 8, 2)
    for seed, labeled in enumerate(LABELED):
        others = sorted(set(range(N)) - set(labeled) - set(test))
        assert as_lists(found.split(seed)) == [sorted(labeled), others, test.tolist()]


@pytest.mark.parametrize("ending", ["npz", "mat", "csv"])
def test_unlabeled_rows_that_are_named_leave_others_out(tmp_path, ending):
    unlabeled = np.array([[1, 2, 6], [1, 2, 6], [1, 2, 6]])
    found = read_splits(saved(tmp_path / f"s.{ending}", labeled=LABELED, unlabeled=unlabeled), N)
    assert found.sizes == (2, 3, 0)
    assert as_lists(found.split(1)) == [[4, 5], [1, 2, 6], []]


@pytest.mark.parametrize("ending", ["npz", "mat"])
def test_splits_may_have_numbers_of_their_own(tmp_path, ending):
    found = read_splits(
        saved(tmp_path / f"s.{ending}", labeled=LABELED, seeds=np.array([7, 3, 5])), N
    )
    assert found.split(5).labeled.tolist() == [0, 11]
    found.refuse_unfit([3, 5], transductive=True)
    with pytest.raises(HarnessError, match=r"has no split 0; its splits are .*7, 3, 5"):
        found.refuse_unfit([0, 7], transductive=True)


def test_one_list_of_rows_is_one_split(tmp_path):
    found = read_splits(saved(tmp_path / "s.npz", labeled=np.array([2, 1])), N)
    assert found.seeds == (0,)
    assert found.split(0).labeled.tolist() == [1, 2]


@pytest.mark.parametrize("ending", ["npz", "mat", "csv"])
@pytest.mark.parametrize("named", [True, False])
def test_training_and_test_rows_alone_leave_labeled_ones_to_be_drawn(tmp_path, ending, named):
    others = [[row for row in range(N) if row not in TEST]]
    train = {"train": np.array(others)} if named or ending == "csv" else {}
    found = read_splits(saved(tmp_path / f"s.{ending}", test=np.array([TEST] * 3), **train), N)
    assert not found.says_labeled
    assert found.seeds == (0, 1, 2)
    assert found.train_sizes == (N - 3, N - 3)
    assert as_lists(found.split(1)) == [[], others[0], TEST.tolist()]


def test_parts_but_the_labeled_one_may_differ_in_size(tmp_path):
    """As folds do: of 10 points in 3 folds, one has a point more."""
    path = tmp_path / "folds.csv"
    lines = [
        f"{seed},{row},{'test' if row % 3 == seed else 'train'}"
        for seed in range(3)
        for row in range(10)
    ]
    path.write_text("\n".join(["seed,row,part", *lines]))
    found = read_splits(path, 10)
    assert found.sizes == (0, 7, 4)
    assert found.train_sizes == (6, 7)
    assert found.split(0).test.tolist() == [0, 3, 6, 9]


@given(st.integers(2, 5), st.integers(20, 300), st.booleans())
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_read_back(tmp_path_factory, count, n, held_out):
    y = np.arange(n) % 2
    rules = {"test": 0.3, "unlabeled_per_labeled": 2} if held_out else "transductive"
    splits = {3 * seed: split(y, "binary", 6, rules, seed) for seed in range(count)}
    path = tmp_path_factory.mktemp("splits") / "s.npz"
    write_splits(path, n, splits)
    found = read_splits(path, n)
    assert found.seeds == tuple(splits)
    for seed, parts in splits.items():
        assert isinstance(found.split(seed), Split)
        assert as_lists(found.split(seed)) == as_lists(parts)


def test_a_file_that_is_written_anew_is_read_anew(tmp_path):
    path = saved(tmp_path / "s.npz", labeled=LABELED)
    before = read_splits(path, N)
    assert read_splits(path, N) is before
    saved(path, labeled=LABELED[:1], seeds=np.array([4]))
    after = read_splits(path, N)
    assert (after.seeds, after.digest == before.digest) == ((4,), False)


def test_a_split_takes_a_tenth_of_a_byte_a_row_where_few_are_labeled(tmp_path):
    y = np.arange(10_000) % 2
    splits = {seed: split(y, "binary", 100, "transductive", seed) for seed in range(10)}
    write_splits(tmp_path / "s.npz", len(y), splits)
    assert (tmp_path / "s.npz").stat().st_size < 0.1 * 10 * len(y)


BAD = {
    "twice": ({"labeled": [[0, 0]]}, "'labeled' has row 0, which is twice in one split"),
    "in two parts": (
        {"labeled": [[0, 1]], "test": [[1, 2]]},
        "'test' has row 1, .* the labeled part as",
    ),
    "beyond": ({"labeled": [[0, 12]]}, "'labeled' has row 12; allowed are 0 to 11"),
    "below": ({"labeled": [[0, -1]]}, "'labeled' has row -1; allowed are 0 to 11"),
    "no numbers of rows": ({"labeled": [[0, 1.5]]}, "'labeled' is no list of row numbers"),
    "of other lengths": (
        {"labeled": [[0], [1], [2]], "test": [[3], [4]]},
        "'test' is no list of row numbers, or one list for each split",
    ),
    "none": ({"rows": [[0, 1]]}, "there is neither 'labeled' nor 'train' nor 'part' in it"),
    "other data": ({"part": np.ones((2, 9))}, "'part' is no matrix of 0 to 3 with 12 columns"),
    "unknown codes": ({"part": np.full((1, 12), 4)}, "'part' is no matrix of 0 to 3"),
    "uneven": (
        {"part": [[1, 2] * 6, [1, 1, 2, 2, 2, 2] * 2]},
        "its splits have 4 to 6 labeled rows; allowed is one number for all",
    ),
    "nothing to learn from": ({"part": [[3, 0] * 6]}, "or training and test rows each"),
    "learned from twice": ({"labeled": [[0]], "train": [[1]]}, "both 'labeled' and 'train'"),
    "nothing scored": ({"part": [[1, 0] * 6]}, "need labeled rows, and others to score"),
    "numbers twice": ({"labeled": LABELED, "seeds": [1, 1, 2]}, "'seeds' are not 3 different"),
    "too few numbers": ({"labeled": LABELED, "seeds": [1]}, "'seeds' are not 3|shorter"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_split_is_told(tmp_path, case):
    arrays, told = BAD[case]
    path = tmp_path / "s.npz"
    np.savez(path, **arrays)
    with pytest.raises(HarnessError, match=told) as caught:
        read_splits(path, N)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("s.xml", b"0 1", r"allowed are npz or npy \(NumPy\), mat \(MATLAB"),
        ("s.txt", b"0 1", r"s.txt is one list of rows: say which part they are, such as splits"),
        ("s.pkl", b"", r"as pickles, which may run programs .* numpy.savez"),
        ("s.npy", b"\x93NUMPY", "cannot be read as splits"),
        ("s.json", b"{", "cannot be read as splits"),
        ("s.json", b'{"distribution": [0.1], "label": [1]}', "`names` says what they are called"),
        ("s.npz", b"no archive", "cannot be read as splits of 12 rows"),
        ("s.npz", b"", "cannot be read as splits"),
        ("s.npz", b"PK\x03\x04damaged", "cannot be read as splits"),
        ("s.mat", b"nothing of the kind" * 20, "cannot be read as splits"),
        ("s.csv", b"seed,row\n0,1\n", "cannot be read as splits.*part"),
        ("s.csv", b"seed,row,part\n0,1,shown\n", "part is 'shown'; allowed are labeled"),
        ("s.csv", b"seed,row,part\n0,1,labeled\n1,1,labeled\n1,2,labeled\n", "labeled rows"),
        ("s.csv", b"\xff\xfe\x00", "cannot be read as splits"),
    ],
)
def test_files_that_are_damaged_or_of_another_kind_are_told(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(HarnessError, match=told):
        read_splits(tmp_path / name, N)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(HarnessError, match=r"gone\.npz: No such file"):
        read_splits(tmp_path / "gone.npz", N)


def test_what_is_scored_must_be_there(tmp_path):
    all_known = read_splits(saved(tmp_path / "a.npz", labeled=LABELED), N)
    with pytest.raises(HarnessError, match="no test rows: write transductive: true"):
        all_known.refuse_unfit([0], transductive=False)
    held_out = read_splits(saved(tmp_path / "b.npz", labeled=LABELED, test=TEST[:2]), N)
    with pytest.raises(HarnessError, match="has test rows: leave 'transductive' out"):
        held_out.refuse_unfit([0], transductive=True)
