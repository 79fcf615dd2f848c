"""Files that cannot be used are told with the remedy, and put aside by whoever runs the study."""

import json
import os
import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from harness.datasets import load_catalog, prepare
from harness.errors import DamagedFileError, HarnessError
from harness.jobs import __main__ as jobs
from harness.jobs import watched
from harness.jobs.mending import put_damaged_aside
from harness.planning.bundles import Bundle
from harness.plugin import out_of_process
from harness.records.columns import COLUMNS, LATER, NEVER_NULL
from harness.records.journal import Journal
from harness.records.table import read_table
from harness.records.table_writer import write_table
from harness.report.results import read_results
from harness.study.study import Block

ROW = dict.fromkeys(NEVER_NULL, "x") | {"outcome": "ok", "seed": 0, "fingerprint": "f-0"}


@pytest.fixture
def workload(tmp_path):
    """What an earlier run left: rows of two jobs, prepared data and the four files of results."""
    results, prepared = tmp_path / "results", tmp_path / "prepared" / "iris-1"
    blocks = [Block("iris", None, 20, None, (0,), None, name) for name in "fg"]
    write_table([ROW], results / "trials.parquet")
    (results / "study.yaml").write_text("title: mine\n")
    (results / "provenance.json").write_text("{}")
    (results / "calibration.json").write_text('[{"kind": "numpy", "within": true}]')
    for block in blocks:
        with Journal(results / "journal" / f"{block.fingerprint}.jsonl") as journal:
            journal.append(ROW | {"fingerprint": f"{block.fingerprint}-0"})
            journal.publish(results / "rows" / f"{Bundle((block,)).id}.jsonl")
    os.utime(rows_of(results, "g"), (1, 1))
    prepare(load_catalog()["iris"], prepared)
    return SimpleNamespace(
        results=results,
        study=SimpleNamespace(seeds_per_job=1),
        blocks=blocks,
        datasets=lambda: ["iris"],
        prepared=lambda name: prepared,
    )


def rows_of(results, cell):
    return (
        results / "rows" / f"{Bundle((Block('iris', None, 20, None, (0,), None, cell),)).id}.jsonl"
    )


def future(path):
    table = pyarrow.parquet.read_table(path)
    metadata = {**table.schema.metadata, b"memory_budget_harness": b"7"}
    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), path)


def of_text(path):
    pd.read_parquet(path).assign(seed="first").to_parquet(path)


def cut(path):
    path.write_bytes(path.read_bytes()[:-9])


def without(path):
    pd.read_parquet(path).drop(columns="seed").to_parquet(path)


def text(content):
    return lambda path: path.write_text(content)


DAMAGE = [
    ("trials.parquet", cut, "cannot be read"),
    ("trials.parquet", text(""), "cannot be read"),
    ("trials.parquet", text("PAR1" * 9), "cannot be read"),
    ("trials.parquet", future, "another version of the harness wrote it .*7.*, those read"),
    ("trials.parquet", of_text, "a column is not of its type"),
    ("trials.parquet", without, "columns seed are missing"),
    ("calibration.json", text("["), "is not JSON"),
    ("calibration.json", text("{}"), "holds a dict at its top, not a list"),
    ("calibration.json", text("[1]"), "entry 0 is no object"),
    ("calibration.json", text('[{"error_bytes": "x"}]'), "a value is 'x', not a number"),
    ("calibration.json", text(f'[{{"error_bytes": {"9" * 400}}}]'), "beyond what a column holds"),
    ("provenance.json", text('{"a": '), "is not JSON"),
    ("provenance.json", text("[" * 10**5), "is not JSON"),
    ("provenance.json", text("[]"), "holds a list at its top, not a dict"),
    ("study.yaml", text("[a"), "is not YAML"),
    ("study.yaml", text("a"), "must hold the study's keys"),
    ("rows", text("{}\n"), "holds 0 of the 1 rows .*line 1 is not a row: fingerprint is"),
    ("rows", cut, "holds 0 of the 1 rows of its trials"),
]


@pytest.mark.parametrize(("name", "damage", "said"), DAMAGE)
def test_a_damaged_file_is_told_and_put_aside_by_a_run(workload, name, damage, said):
    path = rows_of(workload.results, "f") if name == "rows" else workload.results / name
    damage(path)
    content = path.read_bytes()
    if name != "rows":
        with pytest.raises(HarnessError, match=f"{name}: .*{said}.*; 'harness run' puts it aside"):
            read_results(workload.results)
    assert path.exists()
    (told,) = put_damaged_aside(workload)
    assert re.search(f"{path.name}: .*{said}", told)
    assert "run the study again, which makes it anew" in told
    assert not path.exists()
    assert path.with_name(f"{path.name}.damaged").read_bytes() == content
    assert put_damaged_aside(workload) == []


@pytest.mark.parametrize("name", ["meta.json", "X.npy", "y.npy"])
def test_prepared_data_that_were_cut_are_prepared_again(workload, name):
    folder = workload.prepared("iris")
    cut(folder / name)
    (told,) = put_damaged_aside(workload)
    assert f"{folder / name}: " in told
    assert not (folder / "meta.json").exists()
    prepare(load_catalog()["iris"], folder)
    assert put_damaged_aside(workload) == []


def test_what_is_whole_stays_and_rows_that_are_in_the_table_are_not_read(workload):
    rows_of(workload.results, "g").write_text("")
    os.utime(rows_of(workload.results, "g"), (1, 1))
    before = sorted(path.name for path in workload.results.rglob("*"))
    assert put_damaged_aside(workload) == []
    assert sorted(path.name for path in workload.results.rglob("*")) == before


def test_a_job_puts_aside_what_it_finds_damaged(tmp_path, monkeypatch):
    path = tmp_path / "calibration.json"
    path.write_text("[")

    def report(study):
        raise DamagedFileError(path, f"{path}: is not JSON")

    monkeypatch.setitem(jobs.JOBS, "report", report)
    monkeypatch.setattr(watched, "watched", lambda *_: None)  # it would fork the tests
    monkeypatch.setattr(sys, "argv", ["jobs", "report", "study.yaml"])
    with pytest.raises(SystemExit) as caught:
        jobs.main()
    assert str(caught.value) == (
        f"harness: {path}: is not JSON; it is calibration.json.damaged now; run the study again, "
        "which makes it anew"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["calibration.json.damaged"]


def test_columns_that_no_one_here_knows_are_read_over(tmp_path):
    path = tmp_path / "trials.parquet"
    write_table([ROW | {"my_metric": 1.0}], path)
    table = pd.read_parquet(path).assign(weather="fine", depth=np.int32(3))
    table.to_parquet(path)
    assert list(read_table(path).columns) == [*COLUMNS, "my_metric", "depth"]


def test_a_table_from_before_a_column_came_has_it_empty(tmp_path):
    path = tmp_path / "trials.parquet"
    write_table([ROW], path)
    pd.read_parquet(path).drop(columns=list(LATER)).to_parquet(path)
    assert read_table(path)[list(LATER)].isna().all(axis=None)


@pytest.mark.parametrize("content", ["", "[1", "{}", "x\n{}", "[" * 10**5, b"\xff"])
def test_a_cache_that_was_damaged_is_made_again(tmp_path, monkeypatch, content):
    asked = []

    def run(command, **_):
        asked.append(command)
        return SimpleNamespace(returncode=0, stdout='said\n{"a": 1}\n', stderr="")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(out_of_process, "subprocess", SimpleNamespace(run=run))
    monkeypatch.setattr(out_of_process, "find_sources", lambda folders: [])
    assert (
        out_of_process.ask("harness.plugin.index")
        == out_of_process.ask("harness.plugin.index")
        == {"a": 1}
    )
    assert len(asked) == 1
    (cached,) = (tmp_path / ".harness").iterdir()
    whole = cached.read_text()
    cached.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert out_of_process.ask("harness.plugin.index") == {"a": 1}
    assert len(asked) == 2
    assert cached.read_text() == whole
    cached.unlink()
    cached.mkdir()
    assert out_of_process.ask("harness.plugin.index") == {"a": 1}
    assert json.loads(whole.partition("\n")[2]) == {"a": 1}
