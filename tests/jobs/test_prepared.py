"""Prepared data are what was prepared, or are prepared again."""

import os

import numpy as np
import pytest

from harness.datasets import prepare
from harness.datasets.meta import Meta, content_sha256
from harness.jobs.prepared import Prepared, prepare_once
from harness.planning.workload import load_workload

STUDY = "{datasets: [iris], methods: [prior], labeled: 20, budgets: none, seeds: 1}"


@pytest.fixture
def workload(tmp_path, monkeypatch, built_in):
    built_in("controls")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    workload = load_workload("study.yaml")
    prepare(workload.catalog["iris"], workload.prepared("iris"))
    return workload


@pytest.mark.parametrize("name", ["X.npy", "y.npy", "meta.json"])
@pytest.mark.parametrize("how", ["flips a byte", "is cut short", "is removed"])
def test_what_was_altered_before_a_block_is_prepared_again(workload, capsys, name, how):
    path = workload.prepared("iris") / name
    content = path.read_bytes()
    if how == "is removed":
        path.unlink()
    else:
        kept = content[:-3]
        path.write_bytes(
            kept if how == "is cut short" else kept + bytes([content[-3] ^ 1]) + content[-2:]
        )
    Prepared(workload, "iris")
    assert path.read_bytes() == content
    assert "preparing them again" in capsys.readouterr().err


def test_what_is_altered_later_is_noticed_even_with_its_old_time(workload):
    prepared = Prepared(workload, "iris")
    path = prepared.folder / "X.npy"
    assert not prepared.altered()
    path.touch()
    assert not prepared.altered()
    times = path.stat()
    X = np.load(path, mmap_mode="r+")
    X[0] += 1
    X.flush()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert prepared.altered()
    prepared.mend("altered")
    assert Prepared(workload, "iris").meta == prepared.meta


def test_other_data_with_a_description_that_fits_them_are_noticed_and_mended(workload, capsys):
    prepared = Prepared(workload, "iris")
    X = np.load(prepared.folder / "X.npy")
    np.save(prepared.folder / "X.npy", X[::-1])
    sha256 = content_sha256(prepared.folder)
    prepared.meta.model_copy(update={"sha256": sha256}).write(prepared.folder)
    assert prepared.altered()
    prepared.mend("altered")
    assert "preparing them again" in capsys.readouterr().err
    np.testing.assert_array_equal(np.load(prepared.folder / "X.npy"), X)
    assert not prepared.altered()


def test_data_that_another_run_prepared_meanwhile_stay_as_they_are(workload):
    """Two studies wait for the same data; the second finds what the first has prepared."""
    meta = workload.prepared("iris") / "meta.json"
    before = meta.stat().st_ino
    prepare_once(workload, "iris")
    assert meta.stat().st_ino == before
    meta.unlink()
    prepare_once(workload, "iris")
    assert Prepared(workload, "iris").meta == Meta.read(workload.prepared("iris"))
