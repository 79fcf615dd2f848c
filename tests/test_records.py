import math
import multiprocessing
import time

import pandas as pd
import pytest

from harness import records
from harness.errors import HarnessError
from harness.records import (
    COLUMNS,
    Journal,
    finished_rows,
    read_rows,
    read_table,
    without_nan,
    write_table,
)


def row(seed, **values):
    return {"fingerprint": f"f-{seed}", "seed": seed, **values}


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


@pytest.mark.parametrize("line", [b'{"fingerprint": ', b"[0]", b"0", b"{}"])
def test_a_line_that_is_not_a_row_is_named(tmp_path, line):
    path = tmp_path / "block.jsonl"
    with Journal(path) as journal:
        journal.append(row(0))
    with path.open("ab") as file:
        file.write(line + b"\n")
    whole = path.read_bytes()
    for read in (read_rows, lambda path: Journal(path).__enter__()):
        with pytest.raises(HarnessError, match=r"block.jsonl: line 2 is not a row; remove it"):
            read(path)
    assert path.read_bytes() == whole


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
    monkeypatch.setattr(records, "read_rows", lambda path: read.append(path) or read_rows(path))
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
    assert held.wait(20)
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
