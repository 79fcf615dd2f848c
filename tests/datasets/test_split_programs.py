"""Studies' splits beside small programs that read the files of splits themselves.

The programs share no code with the harness: they read with scikit-learn, NumPy and the standard
library. Each says which points, and which labels, are for learning and for the test.
"""

import csv
import gzip
import json
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from sklearn.datasets import load_breast_cancer, load_svmlight_file
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import minmax_scale, normalize

from harness.datasets.preparation import prepare
from harness.datasets.rows import read_rows
from harness.jobs.drawn_splits import BlockSplits
from harness.planning.workload import load_workload

MIRROR = os.environ.get("HARNESS_MIRROR", "")
needs_mirror = pytest.mark.skipif(not MIRROR, reason="HARNESS_MIRROR names no mirror of real data")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Of plugins, which takes seconds to make."""
    return tmp_path_factory.mktemp("index")


@pytest.fixture
def splits_of(tmp_path, index, monkeypatch):
    """Return a function that prepares a study's data set and gives the split of a seed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".harness").symlink_to(index)
    if MIRROR:
        monkeypatch.setenv("HARNESS_MIRROR", MIRROR)

    def splits_of(dataset, **study):
        content = {"datasets": [dataset], "methods": ["prior"]} | study
        (tmp_path / "s.yaml").write_text(yaml.safe_dump(content))
        workload = load_workload(tmp_path / "s.yaml")
        (block,) = {block.dataset: block for block in workload.blocks}.values()
        folder = workload.prepared(dataset)
        meta = prepare(workload.catalog[dataset], folder)
        y = np.load(folder / "y.npy")
        drawn = BlockSplits(workload, block, meta, y)
        return SimpleNamespace(
            draw=drawn.draw,
            labels=lambda rows: y[rows],
            points=lambda rows: read_rows(folder / meta.features, rows),
            seeds=content.get("seeds", 1),
        )

    return splits_of


def assert_same(found, seed, train, test):
    """Compare a split with a program's training and test points, (X, y) each."""
    parts = found.draw(seed)
    learned = np.sort(np.concatenate([parts.labeled, parts.unlabeled]))
    for rows, (X, y) in ((learned, train), (parts.test, test)):
        np.testing.assert_array_equal(found.labels(rows), y)
        np.testing.assert_allclose(found.points(rows), X, atol=1e-6)


def test_repeated_folds_in_a_table_are_those_of_a_program_that_reads_it(splits_of, tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    malignant = 1 - y
    folds = list(RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(X, y))
    with (tmp_path / "folds.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["seed", "row", "part"])
        for seed, (train, test) in enumerate(folds):
            table.writerows((seed, row, "train") for row in train)
            table.writerows((seed, row, "test") for row in test)
    found = splits_of("breast_cancer", seeds=10, labeled=40, evaluation={"splits": "folds.csv"})
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    with (tmp_path / "folds.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    for seed in range(10):
        mine = [line for line in lines if int(line["seed"]) == seed]
        train, test = (
            np.sort([int(line["row"]) for line in mine if line["part"] == part])
            for part in ("train", "test")
        )
        assert_same(
            found, seed, (scaled[train], malignant[train]), (scaled[test], malignant[test])
        )
        assert len(found.draw(seed).labeled) == 40


def as_labels(target, positive):
    return (np.asarray(target) == positive).astype(int)


@needs_mirror
def test_official_parts_of_a9a_are_those_of_its_two_files(splits_of):
    found = splits_of("a9a-all", labeled=100, evaluation="official")
    parts = []
    for name in ("a9a.gz", "a9a.t.gz"):
        X, y = load_svmlight_file(f"{MIRROR}/a9a/{name}", n_features=123)
        parts.append((normalize(X).toarray(), as_labels(y, 1)))
    assert_same(found, 0, *parts)


@needs_mirror
def test_official_parts_of_splice_are_its_first_thousand_rows_and_the_others(splits_of):
    found = splits_of("splice", labeled=100, evaluation="official")
    X, y = load_svmlight_file(f"{MIRROR}/splice/splice.txt.gz", n_features=60)
    X, y = minmax_scale(X.toarray()), as_labels(y, 1)
    assert_same(found, 0, (X[:1000], y[:1000]), (X[1000:], y[1000:]))


@needs_mirror
def test_official_parts_of_adult_have_the_labels_of_its_two_files(splits_of):
    found = splits_of("adult", labeled=100, evaluation="official")
    parts = found.draw(0)
    learned = np.sort(np.concatenate([parts.labeled, parts.unlabeled]))
    for name, rows in (("adult.data", learned), ("adult.test", parts.test)):
        with gzip.open(f"{MIRROR}/adult/{name}.gz", "rt") as stream:
            lines = [line for line in stream if line.count(",") == 14]
        rich = [int(line.split(",")[-1].strip().startswith(">50K")) for line in lines]
        assert found.labels(rows).tolist() == rich


@needs_mirror
def test_official_parts_of_two_digits_of_mnist_are_those_of_its_four_files(splits_of):
    found = splits_of("mnist-4v9", labeled=100, evaluation="official")
    parts = []
    for part in ("train", "t10k"):
        arrays = []
        for kind, start, width in (("images-idx3", 16, 784), ("labels-idx1", 8, 1)):
            path = Path(MIRROR) / f"mnist/{part}-{kind}-ubyte.gz"
            raw = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=start)
            arrays.append(raw.reshape(-1, width))
        images, labels = arrays[0], arrays[1].ravel()
        kept = np.isin(labels, [4, 9])
        parts.append((images[kept].astype(np.float32) / 255, as_labels(labels[kept], 9)))
    assert_same(found, 0, *parts)


@needs_mirror
@pytest.mark.parametrize(("name", "test"), [("ijcnn1", 91701), ("cod-rna", 271617)])
def test_other_entries_have_the_test_part_that_the_manifest_tells(splits_of, name, test):
    found = splits_of(name, labeled=100, evaluation="official")
    told = json.loads((Path(MIRROR) / "MANIFEST.json").read_text())["datasets"]
    (counts,) = (item["splits"] for item in told if item["name"] == name)
    parts = found.draw(0)
    assert len(parts.test) == counts["test"]["n"] == test
    learned = np.concatenate([parts.labeled, parts.unlabeled])
    for rows, part in ((learned, "train"), (parts.test, "test")):
        classes = np.bincount(found.labels(rows)).tolist()
        assert classes == list(counts[part]["class_counts"].values())


@needs_mirror
def test_w8a_in_folds_of_a_file_is_that_of_a_program_that_reads_it(splits_of, tmp_path):
    """Its test part is in no file of the mirror, so folds of a file stand for it."""
    rng = np.random.default_rng(0)
    fold = rng.permutation(49749) % 3
    test = [np.flatnonzero(fold == which) for which in range(3)]
    np.savez(tmp_path / "w8a-sparse.npz", test=np.array(test))
    rules = {"splits": "{dataset}.npz"}
    found = splits_of("w8a-sparse", seeds=3, labeled=1000, evaluation=rules)
    X, y = load_svmlight_file(f"{MIRROR}/w8a/w8a.gz", n_features=300)
    X, y = normalize(X).tocsr(), as_labels(y, 1)
    with np.load(tmp_path / "w8a-sparse.npz") as file:
        held = file["test"][2]
    parts = found.draw(2)
    others = np.setdiff1d(np.arange(len(y)), held)
    learned = np.sort(np.concatenate([parts.labeled, parts.unlabeled]))
    np.testing.assert_array_equal(learned, others)
    np.testing.assert_array_equal(parts.test, held)
    for rows in (learned, held):
        np.testing.assert_array_equal(found.labels(rows), y[rows])
        assert abs(found.points(rows) - X[rows]).max() < 1e-6
