"""Rows that are read column by column are those that are read row by row."""

import json

import pyarrow
import pytest

from harness.records import batches
from harness.records.batches import read_batches
from harness.records.columns import COLUMNS
from harness.records.table import rows_of_trials
from harness.records.table_writer import rows_as_table

SEEDS = range(4)
NAMES = [f"f-{seed}" for seed in SEEDS]
AS_COLUMNS = {
    "as they are written": {},
    "metrics of plugins": {"my_metric": 0.25, "another": 3},
    "a metric without a value": {"my_metric": None},
    "text beyond ASCII": {"reason": "3 µs\n\tand \u202e, 😀"},
    "escapes": {"reason": 'a "quote", a \\ and a \n'},
    "long JSON": {"checkpoints": json.dumps([{"step": 1}] * 1000)},
    "whole numbers as scores": {"auc": 1, "my_metric": 2**60},
}
ROW_BY_ROW = {
    "control characters": {"reason": "\x1b[31m"},
    "too long a text": {"reason": "x" * 5000},
    "half a character": {"reason": "\ud800"},
    "no number": {"auc": float("nan")},
    "beyond a column": {"my_metric": 10**30},
    "a whole number with a point": {"size": 3.0},
    "a column of another version": {"weather": "fine"},
    "a date of another version": {"weather": "2026-11-26"},
    "an odd name": {"odd \x00": 1},
    "no JSON": {"params": "{"},
    "JSON of another kind": {"params": "[]"},
    "another type": {"auc": "high"},
    "an unknown outcome": {"outcome": "fine"},
    "nothing that every row says": {"budget": None},
    "true or false as a number": {"my_metric": True},
}


def line(seed, **edited):
    row = dict.fromkeys(COLUMNS) | {"dataset": "digits", "task": "multiclass", "method": "svm"}
    row |= {"budget": "3MB", "seed": seed, "outcome": "ok", "fingerprint": f"f-{seed}"}
    row |= {"auc": seed / 7, "params": '{"a": 1}', "git_dirty": False}
    return json.dumps(row | edited) + "\n"


def read_both(path, monkeypatch):
    """Read a block of four trials, and say whether it was read row by row."""
    slow = []
    monkeypatch.setattr(
        batches, "rows_of_trials", lambda *asked: slow.append(asked) or rows_of_trials(*asked)
    )
    (batch,) = read_batches([(path, NAMES)])
    rows, lack = rows_of_trials(path, NAMES)
    assert batch.lacks == ({path: lack} if lack else {})
    assert same(batch.rows, rows_as_table(rows))
    return bool(slow)


def same(table, other):
    return table.schema == other.schema and table.to_pylist() == other.to_pylist()


@pytest.mark.parametrize("what", [*AS_COLUMNS, *ROW_BY_ROW])
def test_rows_are_the_same_either_way(tmp_path, monkeypatch, what):
    edited = (AS_COLUMNS | ROW_BY_ROW)[what]
    lines = [line(seed, **(edited if seed == 2 else {})) for seed in SEEDS]
    path = tmp_path / "block.jsonl"
    path.write_text("".join(lines))
    assert read_both(path, monkeypatch) == (what in ROW_BY_ROW)


FILES = {
    "another order": [2, 0, 3, 1],
    "a row twice": [0, 1, 2, 3, 0],
    "a row of others": [0, 1, 2, 7, 3],
    "a row less": [0, 1, 2],
    "an empty line": [0, 1, "\n", 2, 3],
    "two rows in a line": [0, line(1).strip() + line(2), 3],
    "a carriage return": [0, 1, line(2).strip() + "\r\n", 3],
    "a line cut short": [0, 1, 2, 3, '{"fingerprint"'],
    "a seed that is not its own": [0, 1, 2, line(4, fingerprint="f-3")],
    "a key twice": [0, 1, 2, line(3)[:-2] + ', "auc": 0.5}\n'],
    "nothing": [],
}


@pytest.mark.parametrize("what", FILES)
def test_odd_files_hold_the_same_rows_either_way(tmp_path, monkeypatch, what):
    path = tmp_path / "block.jsonl"
    path.write_text("".join(item if isinstance(item, str) else line(item) for item in FILES[what]))
    read_both(path, monkeypatch)


def test_a_row_in_the_file_of_another_block_is_not_found(tmp_path):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    paths[0].write_text("".join(map(line, SEEDS)))
    paths[1].write_text("")
    (batch,) = read_batches([(paths[0], NAMES[:3]), (paths[1], NAMES[3:])])
    assert list(batch.lacks) == [paths[1]]
    assert batch.rows["seed"].to_pylist() == [0, 1, 2]


def test_files_are_read_together_up_to_a_size(tmp_path):
    asked = []
    for number in range(5):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(line(number))
        asked.append((path, [f"f-{number}"]))
    sizes = [len(batch.rows) for batch in read_batches(asked, most_bytes=2 * len(line(0)))]
    assert sizes == [2, 2, 1]
    whole = pyarrow.concat_tables([batch.rows for batch in read_batches(asked, most_bytes=1)])
    assert whole["seed"].to_pylist() == [0, 1, 2, 3, 4]
