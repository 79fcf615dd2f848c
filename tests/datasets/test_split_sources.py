"""Files of row numbers as public benchmarks have them: in several files, under other names."""

import json

import numpy as np
import pytest
from scipy.io import savemat

from harness.datasets.split_files import read_splits
from harness.datasets.split_sources import SplitSource
from harness.errors import HarnessError

N = 12
DRAWN = np.array([np.random.default_rng(seed).permutation(N) for seed in range(3)])


def source(*paths, **told):
    return SplitSource(tuple((part, path) for part, path in paths), **told)


def assert_split(found, seed, labeled, unlabeled, test=()):
    parts = found.split(seed)
    assert [part.tolist() for part in parts] == [sorted(p) for p in (labeled, unlabeled, test)]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float64])
def test_arrays_of_other_names_as_in_chapelles_benchmark(tmp_path, kind):
    path = tmp_path / "SSL,set=1,splits,labeled=4.mat"
    rows = (DRAWN + 1).astype(kind)
    savemat(path, {"idxLabs": rows[:, :4], "idxUnls": rows[:, 4:]})
    names = (("labeled", "idxLabs"), ("unlabeled", "idxUnls"))
    found = read_splits(source(("", path), names=names), N)
    for seed, row in enumerate(DRAWN):
        assert_split(found, seed, row[:4], row[4:])
    savemat(path, {"idxLabs": rows[:, :4] - 1})
    with pytest.raises(HarnessError, match=r"'idxLabs' has row 0; allowed are 1 to 12.*first_row"):
        read_splits(source(("", path), names=names[:1]), N)
    found = read_splits(source(("", path), names=names[:1], first_row=0, transpose=False), N)
    assert_split(found, 2, DRAWN[2, :4], DRAWN[2, 4:])


def test_fields_of_a_structure_as_in_raetschs_benchmark(tmp_path):
    path = tmp_path / "benchmarks.mat"
    savemat(path, {"banana": {"train": DRAWN[:, :8] + 1.0, "test": DRAWN[:, 8:] + 1.0}})
    names = (("labeled", "banana.train"), ("test", "banana.test"))
    found = read_splits(source(("", path), names=names), N)
    assert_split(found, 1, DRAWN[1, :8], [], DRAWN[1, 8:])


def test_a_file_for_each_split_and_part(tmp_path):
    for seed, row in enumerate(DRAWN):
        np.savetxt(tmp_path / f"index_train_{seed}.txt", row[:8])  # as 3.000000000000000000e+00
        np.savetxt(tmp_path / f"index_test_{seed}.txt", row[8:], "%d")
    paths = [(part, tmp_path / f"index_{part}_{{seed}}.txt") for part in ("train", "test")]
    found = read_splits(source(*paths), N)
    assert found.seeds == (0, 1, 2)
    assert_split(found, 2, [], DRAWN[2, :8], DRAWN[2, 8:])
    (tmp_path / "index_test_1.txt").unlink()
    with pytest.raises(HarnessError, match=r"index_test_\{seed\}.txt: there is none for .* 1"):
        read_splits(source(*paths), N)
    with pytest.raises(HarnessError, match=r"absent_\{seed\}.npy: there is no such file"):
        read_splits(source(("train", tmp_path / "absent_{seed}.npy")), N)


@pytest.mark.parametrize("ending", ["txt", "npy", "json"])
def test_a_line_for_each_split(tmp_path, ending):
    path = tmp_path / f"fold_indices.{ending}"
    lists = DRAWN[:, :4]
    if ending == "npy":
        np.save(path, lists)
    elif ending == "json":
        path.write_text(json.dumps({"distribution": [0.5, 0.5], "label": lists.tolist()}))
    else:
        path.write_text("".join(" ".join(map(str, row)) + " \n" for row in lists))
    names = (("labeled", "label"),) if ending == "json" else ()
    by_rows = None if ending == "json" else False  # lists within a list leave no doubt
    found = read_splits(source(("labeled", path), names=names, transpose=by_rows), N)
    assert found.seeds == (0, 1, 2)
    assert_split(found, 1, DRAWN[1, :4], DRAWN[1, 4:])


def test_labeled_rows_beside_the_official_test_part(tmp_path):
    """As FixMatch and its successors have it."""
    np.save(tmp_path / "lb.npy", [3, 1])
    labeled = ("labeled", tmp_path / "lb.npy")
    found = read_splits(source(labeled, n_train=8), N)
    assert_split(found, 0, [1, 3], [0, 2, 4, 5, 6, 7], range(8, 12))
    np.save(tmp_path / "lb.npy", [3, 9])
    with pytest.raises(HarnessError, match=r"'labeled' has row 9.* in the test part as well"):
        read_splits(source(labeled, n_train=8), N)
    np.save(tmp_path / "test.npy", [0])
    with pytest.raises(HarnessError, match="has test rows: leave `test: official` out"):
        read_splits(source(labeled, ("test", tmp_path / "test.npy"), n_train=8), N)


@pytest.mark.parametrize("kind", [bool, int, float])
def test_masks_of_all_rows(tmp_path, kind):
    """As of the graphs of Planetoid."""
    masks = {name: np.zeros(N, kind) for name in ("train_mask", "test_mask")}
    masks["train_mask"][[0, 1, 5]] = masks["test_mask"][[7, 8]] = 1
    np.savez(tmp_path / "graph.npz", **masks)
    names = (("labeled", "train_mask"), ("test", "test_mask"))
    found = read_splits(source(("", tmp_path / "graph.npz"), names=names), N)
    assert_split(found, 0, [0, 1, 5], [2, 3, 4, 6, 9, 10, 11], [7, 8])


def test_what_is_said_decides_the_digest_and_not_where(tmp_path):
    np.save(tmp_path / "a.npy", [3, 1])
    np.savetxt(tmp_path / "b.txt", [1, 3], "%d")
    found = [read_splits(source(("labeled", tmp_path / name)), N) for name in ("a.npy", "b.txt")]
    assert found[0].digest == found[1].digest
    assert found[0].digest != read_splits(source(("labeled", tmp_path / "a.npy")), N + 1).digest
    other = source(("labeled", tmp_path / "a.npy"), first_row=1)
    assert found[0].digest != read_splits(other, N).digest


@pytest.mark.parametrize(
    ("name", "write", "told"),
    [
        ("perm.npz", lambda p: np.savez(p, perm=np.array([[1], 2], object)), "as pickles, which"),
        ("rows.txt", lambda p: p.write_text("row\n1\n"), "line 1 is no list of row numbers"),
        ("mask.npy", lambda p: np.save(p, np.ones(N - 1, bool)), "is no list of row numbers"),
        ("nan.npy", lambda p: np.save(p, [1, np.nan]), "'labeled' is no list of row numbers"),
        ("text.json", lambda p: p.write_text('["a"]'), "'labeled' is no list of row numbers"),
        ("empty.txt", lambda p: p.write_text("\n"), r"'labeled' is empty in one split \(0\)"),
        ("two.npz", lambda p: np.savez(p, a=[1], b=[2]), "there is no 'labeled'; it holds a, b"),
        ("v73.mat", lambda p: p.write_bytes(b"MATLAB 7.3 MAT-file"), "7.3: save it with `-v7`"),
    ],
)
def test_what_is_no_list_of_rows_is_told(tmp_path, name, write, told):
    write(tmp_path / name)
    with pytest.raises(HarnessError, match=told) as caught:
        read_splits(source(("labeled", tmp_path / name)), N)
    assert str(tmp_path / name) in str(caught.value)
