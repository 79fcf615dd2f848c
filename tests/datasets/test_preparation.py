import errno
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest
import yaml
from sklearn.datasets import load_svmlight_files
from sklearn.preprocessing import normalize

from harness import GeneratedDataset
from harness.datasets import Meta, load_catalog, preparation, prepare, split
from harness.errors import HarnessError
from harness.project import CATALOG

MIRROR = os.environ.get("HARNESS_MIRROR")
DOCS = CATALOG.parent / "docs" / "datasets.md"
BUNDLED = [name for name, entry in load_catalog().items() if entry.format == "sklearn"]
SMALL = ["australian", "credit-a", "credit-g", "diabetes", "german", "german-numeric", "kr-vs-kp"]
SMALL += ["splice", "svmguide3", "abalone", "bank8FM", "magic", "shuttle", "sarcos_test"]


def arrays(folder):
    return np.load(folder / "X.npy"), np.load(folder / "y.npy")


def check(entry, meta, folder):
    X, y = arrays(folder)
    assert X.shape == (entry.n, entry.d) == (meta.n, meta.d)
    assert X.dtype == entry.dtype
    assert X.flags.c_contiguous
    assert np.isfinite(X).all()
    if entry.task == "regression":
        assert y.dtype == np.float64
        assert meta.class_counts == ()
    else:
        assert y.dtype == np.int64
        assert tuple(np.bincount(y[y >= 0])) == meta.class_counts == entry.class_counts
    assert Meta.read(folder) == meta
    meta.verify(folder)


@pytest.mark.parametrize("name", BUNDLED)
def test_sets_inside_scikit_learn(name, tmp_path):
    entry = load_catalog()[name]
    check(entry, prepare(entry, tmp_path / entry.directory), tmp_path / entry.directory)


@pytest.mark.skipif(not MIRROR, reason="HARNESS_MIRROR names no mirror of the real data")
@pytest.mark.parametrize("name", SMALL)
def test_small_real_sets(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_MIRROR", MIRROR)
    entry = load_catalog()[name]
    check(entry, prepare(entry, tmp_path / name), tmp_path / name)


@pytest.mark.skipif(not MIRROR, reason="HARNESS_MIRROR names no mirror of the real data")
def test_two_encodings_of_the_same_people_agree(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_MIRROR", MIRROR)
    catalog = load_catalog()
    for name in ("german", "german-numeric", "credit-g"):
        prepare(catalog[name], tmp_path / name)
    (_, bad), (_, numeric), (_, good) = (
        arrays(tmp_path / name) for name in ("german", "german-numeric", "credit-g")
    )
    assert (bad == numeric).all()
    assert (bad == 1 - good).all()


def test_same_entry_same_bytes_and_a_second_run_replaces(tmp_path, leftovers):
    entry = load_catalog()["iris"]
    first = prepare(entry, tmp_path / "a")
    (tmp_path / "a" / "stray").write_text("")
    assert prepare(entry, tmp_path / "a") == first == prepare(entry, tmp_path / "b")
    assert leftovers(tmp_path) == ["a", "b"]
    assert leftovers(tmp_path / "a") == ["X.npy", "meta.json", "y.npy"]


def test_an_empty_folder_in_place_is_filled(tmp_path):
    (tmp_path / "a").mkdir()
    prepare(load_catalog()["iris"], tmp_path / "a")
    Meta.read(tmp_path / "a")


def test_generated_sets_are_the_same_every_time(tmp_path):
    def generate(rng):
        y = np.repeat([0, 1], 50)
        return rng.normal(size=(100, 3)) + y[:, None], y

    def entry(**changes):
        known = {"name": "blobs", "generate": generate, "task": "binary", "n": 100, "d": 3}
        return load_catalog([], {"blobs": GeneratedDataset(**(known | changes))})["blobs"]

    meta = prepare(entry(), tmp_path / "a")
    assert meta.class_counts == (50, 50)
    assert prepare(entry(), tmp_path / "b").sha256 == meta.sha256
    kept = np.arange(300.0).reshape(100, 3)
    kept.flags.writeable = False
    same = entry(generate=lambda rng: (kept, generate(rng)[1]), scaling="minmax")
    prepare(same, tmp_path / "kept")
    assert arrays(tmp_path / "kept")[0].max() == 1
    assert kept.max() == 299
    single = prepare(entry(dtype="float32"), tmp_path / "single")
    assert (single.dtype, arrays(tmp_path / "single")[0].dtype) == ("float32", np.float32)
    with pytest.raises(HarnessError, match=r"'blobs': found 100 x 3 .* the catalog says 100 x 4"):
        prepare(entry(d=4), tmp_path / "c")
    with pytest.raises(HarnessError, match=r"failed to generate it: ZeroDivisionError"):
        prepare(entry(generate=lambda rng: 1 / 0), tmp_path / "c")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("text", "changes", "said"),
    [
        ("1,2,no\n3,4,yes\n", {}, r"found 2 x 2 points.*says 4 x 2"),
        ("1,2,3,no\n3,4,5,yes\n" * 2, {}, r"found 4 x 3 points.*says 4 x 2"),
        ("1,2,no\n3,4,maybe\n", {}, r"labels \['maybe'\] are not among.*\['no', 'yes'\]"),
        ("1,2,no\n3,4,no\n", {}, r"all 2 points have the label 'no'"),
        ("1,2,no\n3,4,yes\n" * 2, {"classes": {"no": 1, "yes": 3}}, r"counts are .*'no': 2"),
        ("1,?,no\n3,4,yes\n" * 2, {}, r"missing features in row 0, 2 .*columns 1.*`missing: drop"),
        ("1,nan,no\n3,inf,yes\n" * 2, {}, r"features in row 0, 1, 2, 3 "),
        ("1,a,no\n3,4,yes\n" * 2, {}, r"column 1 holds 'a' in row 0: list it under read.nominal"),
        ("1,2,no\n3,4\n" * 2, {}, r"labels \['nan'\] are not among"),
        ("1,2,no\n3,4,5,6,yes\n" * 2, {}, r"as csv: line 2 has 5 fields, those before it 3"),
        ("1,2,no\n3,4,yes\n" * 2, {"raw_n": 5}, r"source has 4 x 2 .*says 5 x 2 \(raw_n"),
        ("", {}, r"x\.csv: this is an empty file"),
    ],
)
def test_wrong_data_are_one_message_and_nothing_is_written(
    make_entry, csv_body, tmp_path, text, changes, said
):
    entry = make_entry(csv_body | changes, {"x.csv": text})
    with pytest.raises(HarnessError, match=said) as caught:
        prepare(entry, tmp_path / "out" / "mine")
    assert "'mine'" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_failed_run_leaves_what_was_there(make_entry, csv_body, csv_text, tmp_path, leftovers):
    folder = tmp_path / "out" / "mine"
    good = prepare(make_entry(csv_body, {"x.csv": csv_text}), folder)
    with pytest.raises(HarnessError):
        prepare(make_entry(csv_body, {"x.csv": "1,2\n"}), folder)
    assert Meta.read(folder) == good
    assert leftovers(folder.parent) == ["mine"]


def test_n_train_must_end_a_file(make_entry, csv_body, csv_text, tmp_path):
    body = csv_body | {"n": 8, "n_train": 4}
    entry = make_entry(body, {"a.csv": csv_text, "b.csv": csv_text})
    assert prepare(entry, tmp_path / "out").n_train == 4
    entry = make_entry(body | {"n_train": 5}, {"a.csv": csv_text, "b.csv": csv_text})
    with pytest.raises(HarnessError, match=r"n_train is 5, but its files end after \[4, 8\]"):
        prepare(entry, tmp_path / "out")


@pytest.fixture
def tiny_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(mount, check=False).returncode:
        pytest.skip("no permission to mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(tiny_disk, leftovers):
    entry = load_catalog()["digits"]
    with pytest.raises(
        HarnessError, match=r"disk is full: 934 kB \(934\d+ bytes\) are needed"
    ) as e:
        prepare(entry, tiny_disk / "digits")
    assert str(tiny_disk / "digits") in str(e.value)
    assert leftovers(tiny_disk) == []


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "the disk is full: 6"), (errno.EACCES, "no permission"), (errno.EIO, "outp")],
)
def test_errors_of_the_disk_leave_nothing(tmp_path, monkeypatch, leftovers, number, said):
    def fail(path):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(preparation, "_flush", fail)
    with pytest.raises(HarnessError, match=rf"iris: cannot be written: .*{said}"):
        prepare(load_catalog()["iris"], tmp_path / "out" / "iris")
    assert leftovers(tmp_path / "out") == []


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "prepared").write_text("")
    with pytest.raises(HarnessError, match=r"iris: cannot be written: "):
        prepare(load_catalog()["iris"], tmp_path / "prepared" / "iris")


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("meta.json", lambda raw: raw[:-20], r"meta\.json: is not JSON"),
        ("meta.json", lambda raw: b"[]", r"meta\.json: holds a list at its top, not a dict"),
        ("meta.json", lambda raw: b"[" * 10**5, r"meta\.json: is not JSON"),
        ("meta.json", lambda raw: b'{"future": 1, ' + raw[1:], r"not what this version writes"),
        ("meta.json", lambda raw: raw.replace(b'"n": 150', b'"n": 151'), r"altered after"),
        ("X.npy", lambda raw: raw[:-8], r"X\.npy: has 4920 bytes, its header says 4928"),
        ("X.npy", lambda raw: raw.replace(b"'<f8'", b"'<i8'"), r"X\.npy: holds .* of int64"),
        ("y.npy", lambda raw: raw.replace(b"(150,)", b"(15,) "), r"y\.npy: has"),
        ("y.npy", lambda raw: raw.replace(b"(150,)", b"(150\0("), r"y\.npy: not an \.npy file"),
    ],
)
def test_damage_is_seen_when_meta_is_read(tmp_path, file, change, said):
    prepare(load_catalog()["iris"], tmp_path)
    raw = (tmp_path / file).read_bytes()
    (tmp_path / file).write_bytes(change(raw))
    assert change(raw) != raw
    with pytest.raises(HarnessError, match=said + "(.|\\n)*'harness run' puts it aside"):
        Meta.read(tmp_path)


def test_other_contents_are_seen_by_verify(tmp_path):
    meta = prepare(load_catalog()["iris"], tmp_path)
    raw = bytearray((tmp_path / "X.npy").read_bytes())
    raw[-1] ^= 1
    (tmp_path / "X.npy").write_bytes(raw)
    Meta.read(tmp_path)
    with pytest.raises(HarnessError, match="meta.json says " + meta.sha256):
        meta.verify(tmp_path)
    (tmp_path / "meta.json").unlink()
    with pytest.raises(HarnessError, match=r"meta\.json: cannot be read: No such file"):
        Meta.read(tmp_path)


def test_the_example_of_the_manual_works(tmp_path):
    text = DOCS.read_text(encoding="utf-8")
    table = re.search(r"```csv\n(.*?)```", text, re.DOTALL)[1]
    catalog = re.search(r"```yaml\n(sensors:.*?)```", text, re.DOTALL)[1]
    (tmp_path / "sensors.csv").write_text(table)
    (tmp_path / "my-datasets.yaml").write_text(catalog)
    entry = load_catalog([tmp_path / "my-datasets.yaml"])["sensors"]
    meta = prepare(entry, tmp_path / "out")
    X, y = arrays(tmp_path / "out")
    assert meta.class_counts == (3, 2)
    assert y.tolist() == [0, 0, 1, 1, 0]
    # site: east, north, south in sorted order, then temperature and vibration in [0, 1]
    assert X[:, :3].tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert X[:, 3:].min(axis=0).tolist() == [0, 0]
    assert X[:, 3:].max(axis=0).tolist() == [1, 1]
    counted = yaml.safe_load(catalog)["sensors"] | {"classes": {"ok": 3, "broken": 2}}
    (tmp_path / "counted.yaml").write_text(yaml.safe_dump({"counted": counted}))
    assert prepare(load_catalog([tmp_path / "counted.yaml"])["counted"], tmp_path / "o2")


def test_meta_is_plain_json(tmp_path):
    meta = prepare(load_catalog()["diabetes-sklearn"], tmp_path)
    raw = json.loads((tmp_path / "meta.json").read_text())
    assert raw["sha256"] == meta.sha256
    assert raw["class_names"] == []


@pytest.mark.skipif(not MIRROR, reason="HARNESS_MIRROR names no mirror of the real data")
def test_official_parts_are_those_of_the_files(tmp_path, monkeypatch):
    """Read by scikit-learn alone, file by file: the same points and labels."""
    monkeypatch.setenv("HARNESS_MIRROR", MIRROR)
    entry = load_catalog()["a9a-all"]
    prepare(entry, tmp_path / "out")
    X, y = arrays(tmp_path / "out")
    parts = split(y, entry.task, 50, "official", 0, n_train=entry.n_train)
    files = [f"{MIRROR}/a9a/{name}" for name in ("a9a.gz", "a9a.t.gz")]
    train, train_y, test, test_y = load_svmlight_files(files, n_features=entry.d)
    for rows, features, truth in (
        (np.sort(np.r_[parts.labeled, parts.unlabeled]), train, train_y),
        (parts.test, test, test_y),
    ):
        assert np.array_equal(y[rows], truth == 1)
        assert np.abs(X[rows] - normalize(features).toarray()).max() < 1e-6
