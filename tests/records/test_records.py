import json
import math
import multiprocessing
import os
import re
import resource
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from harness.errors import HarnessError
from harness.records import table
from harness.records.columns import COLUMNS, NEVER_NULL
from harness.records.journal import Journal
from harness.records.table import (
    finished_rows,
    read_rows,
    read_table,
    rows_and_faults,
    without_nan,
)
from harness.records.table_writer import write_table


def row(seed, **values):
    said = dict.fromkeys(NEVER_NULL, "x") | {"outcome": "ok"}
    return said | {"fingerprint": f"f-{seed}", "seed": seed, **values}


def test_rows_survive_and_a_cut_line_does_not(tmp_path):
    path = tmp_path / "cell" / "block.jsonl"
    with Journal(path) as journal:
        journal.append(row(0, auc=0.5))
        journal.append(row(1, auc=math.nan))
        assert journal.rows["f-1"]["auc"] is None  # as whoever reads it finds it
    with path.open("ab") as file:
        file.write(b'{"fingerprint": "f-2", "au')
    assert [r["seed"] for r in read_rows(path)] == [0, 1]
    with Journal(path) as journal:
        assert set(journal.rows) == {"f-0", "f-1"}
        assert journal.rows["f-1"]["auc"] is None
        journal.append(row(2))
    assert set(finished_rows(tmp_path / "cell")) == {"f-0", "f-1", "f-2"}


def edited(**changes):
    return json.dumps(row(1) | changes).encode()


NOT_ROWS = {
    b'{"fingerprint": ': "it is not JSON",
    b"[" * 10**5: "it is not JSON",
    b"\xff\xfe{}": "it is not JSON",
    b"[0]": "it is not an object",
    b"0": "it is not an object",
    b"{}": "fingerprint is missing",
    edited(auc="high"): "auc is 'high', not a number",
    edited(auc=True): "auc is True, not a number",
    edited(auc=10**400): "auc is 1000.*, beyond what a column holds",
    edited(size=10**400): "size is 1000.*, beyond what a column holds",
    edited(size=[1]): r"size is \[1\], not a whole number",
    edited(size=1.5): "size is 1.5, not a whole number",
    edited(reason={"a": 1}): "reason is {'a': 1}, not text",
    edited(params="{"): "params is '{', which is no object in JSON",
    edited(decided_by="[]"): r"decided_by is '\[\]', which is no object in JSON",
    edited(checkpoints="{}"): "checkpoints is '{}', which is no list in JSON",
    edited(git_dirty=0): "git_dirty is 0, not true or false",
    edited(dataset=None): "dataset is missing",
    edited(outcome="good"): "outcome is 'good', not one of ok, infeasible",
    edited(seed=2): "its seed is 2, its fingerprint f-1",
}


@pytest.mark.parametrize("line", NOT_ROWS)
def test_a_line_that_is_not_a_row_is_named_and_its_trial_runs_again(tmp_path, line):
    path = tmp_path / "block.jsonl"
    with Journal(path) as journal:
        journal.append(row(0))
    with path.open("ab") as file:
        file.write(line + b"\n" + edited(seed=3, fingerprint="f-3") + b"\n")
    content = path.read_bytes()
    rows, (fault,) = rows_and_faults(path)
    assert [found["seed"] for found in rows] == [0, 3]
    assert re.search(rf"block.jsonl: line 2 is not a row: {NOT_ROWS[line]}", fault)
    assert path.read_bytes() == content
    with Journal(path) as journal:
        assert set(journal.rows) == {"f-0", "f-3"}
        journal.append(row(1))
    assert rows_and_faults(path)[1] == []
    assert set(finished_rows(tmp_path)) == {"f-0", "f-1", "f-3"}
    assert (tmp_path / "block.jsonl.damaged").read_bytes() == content


class Broken:
    def __str__(self):
        raise RuntimeError


ODD = [
    *("\udc80", "a\0b", "x" * 10**6, "\x1b[31m", "é\u202e"),
    *(math.nan, math.inf, -math.inf, 10**400, -(10**400), 2**63, True, [1], {"a": "\ud800"}),
    *(np.float64(0.5), np.int64(3), np.bool_(True), np.ones(3), b"x", Broken(), object, None),
]


@pytest.mark.parametrize("number", range(len(ODD)))
def test_whatever_a_trial_says_is_written_and_read_again(tmp_path, number):
    value = ODD[number]
    free = [name for name in COLUMNS if name not in NEVER_NULL]
    given = dict.fromkeys([*free, "my_metric", "odd \udc80 \0"], value)
    with Journal(tmp_path / "block.jsonl") as journal:
        kept = journal.append(row(0, **given))
    rows, faults = rows_and_faults(tmp_path / "block.jsonl")
    assert faults == []
    assert rows == [dict.fromkeys(COLUMNS) | kept]
    write_table(rows, tmp_path / "trials.parquet")
    table = read_table(tmp_path / "trials.parquet")
    table.to_csv(tmp_path / "trials.csv")
    assert len(kept["reason"] or "") <= 4000
    undefined = value is None or (isinstance(value, float) and not math.isfinite(value))
    assert undefined != ("could not be recorded: " in (kept["reason"] or ""))


def test_a_row_keeps_what_its_columns_can_hold(tmp_path):
    with Journal(tmp_path / "block.jsonl") as journal:
        kept = journal.append(row(0, reason="bad \udc80\0", auc=np.float32(0.5), size=3.0))
    assert (kept["reason"], kept["auc"], kept["size"]) == (r"bad \udc80\x00", 0.5, 3)


def test_a_column_of_a_later_version_is_left_out(tmp_path):
    path = tmp_path / "block.jsonl"
    odd = {"odd \udc80": 2}
    path.write_bytes(edited(weather="fine", my_metric=1, nothing=None, **odd) + b"\n")
    ((found,), faults) = rows_and_faults(path)
    assert faults == []
    assert found["my_metric"] == 1.0
    assert "weather" not in found
    assert found[r"odd \udc80"] == 2.0


@pytest.mark.parametrize("kind", ["folder", "pipe", "file above"])
def test_something_else_in_the_place_of_a_journal_is_told(tmp_path, kind):
    path = tmp_path / "cell" / "block.jsonl"
    path.parent.mkdir() if kind != "file above" else path.parent.touch()
    if kind == "folder":
        path.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    assert read_rows(path) == []
    with pytest.raises(HarnessError, match="something else is in the place of it or of its"):
        Journal(path).__enter__()
    with Journal(tmp_path / "other.jsonl") as journal:
        journal.append(row(0))
        if kind != "pipe":
            with pytest.raises(HarnessError, match="something else is in the place"):
                journal.publish(path)


def test_publishing_keeps_the_journal(tmp_path):
    path, output = tmp_path / "block.jsonl", tmp_path / "out" / "block.jsonl"
    with Journal(path) as journal:
        journal.append(row(0))
        journal.publish(output)
        journal.publish(output)
    output.unlink()
    assert len(read_rows(path)) == 1
    assert list((tmp_path / "out").iterdir()) == []


def test_published_rows_are_finished_ones_and_are_read_once(tmp_path, monkeypatch):
    folders = tmp_path / "journal", tmp_path / "blocks"
    with Journal(folders[0] / "a.jsonl") as journal:
        journal.append(row(0))
        journal.publish(folders[1] / "a.jsonl")
    with Journal(tmp_path / "b.jsonl") as journal:
        journal.append(row(1))
        journal.publish(folders[1] / "b.jsonl")
    read = []
    monkeypatch.setattr(table, "read_rows", lambda path: read.append(path) or read_rows(path))
    assert set(finished_rows(*folders)) == {"f-0", "f-1"}
    assert [path.name for path in read] == ["a.jsonl", "b.jsonl"]


def hold(path, held):
    with Journal(path) as journal:
        held.set()
        time.sleep(0.5)
        journal.append(row(0))


def test_two_workers_of_one_block_take_turns(tmp_path):
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    first = context.Process(target=hold, args=(tmp_path / "b.jsonl", held))
    first.start()
    assert held.wait(120)
    with Journal(tmp_path / "b.jsonl") as journal:
        assert set(journal.rows) == {"f-0"}
    first.join()


def test_a_table_has_every_column_and_those_of_plugins(tmp_path):
    rows = [
        dict.fromkeys(COLUMNS) | row(0, dataset="x", auc=0.5, my_metric=1.5, budget_bytes=10**12),
        dict.fromkeys(COLUMNS) | row(1, dataset="x"),
    ]
    write_table(rows, tmp_path / "trials.parquet")
    table = read_table(tmp_path / "trials.parquet")
    assert list(table.columns) == [*COLUMNS, "my_metric"]
    assert table["budget_bytes"][0] == 10**12
    assert table["my_metric"][0] == 1.5
    assert pd.isna(table["auc"][1])


def test_tables_that_are_absent_or_broken(tmp_path):
    with pytest.raises(HarnessError, match="no results yet"):
        read_table(tmp_path / "trials.parquet")
    (tmp_path / "trials.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(HarnessError, match="cannot be read"):
        read_table(tmp_path / "trials.parquet")


def test_tables_without_rows_or_columns_are_refused(tmp_path):
    path = tmp_path / "trials.parquet"
    write_table([], path)
    with pytest.raises(HarnessError, match=r"trials.parquet: holds no trials; run the study"):
        read_table(path)
    pd.DataFrame([row(0)]).drop(columns="seed").to_parquet(path)
    with pytest.raises(HarnessError, match=r"trials.parquet: columns study, .*, seed, .* missing"):
        read_table(path)


def test_what_json_has_no_word_for_becomes_null():
    nan, inf = math.nan, math.inf
    assert without_nan([{"a": nan, "b": [inf, 1.5, "nan"]}, None]) == [
        {"a": None, "b": [None, 1.5, "nan"]},
        None,
    ]


@contextmanager
def no_file_above(size):
    """Refuse bytes beyond a size of a file, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_costs_the_row_that_is_written_and_no_other(tmp_path):
    path = tmp_path / "block.jsonl"
    with Journal(path) as journal:
        journal.append(row(0))
    size = path.stat().st_size
    with no_file_above(size + 10), pytest.raises(OSError, match="large"), Journal(path) as journal:
        journal.append(row(1))
    assert path.stat().st_size == size + 10
    with Journal(path) as journal:
        assert [found["seed"] for found in journal.rows.values()] == [0]
        with no_file_above(10), pytest.raises(OSError, match="large"):
            journal.drop()
    assert [found["seed"] for found in read_rows(path)] == [0]
    assert list(tmp_path.iterdir()) == [path]
