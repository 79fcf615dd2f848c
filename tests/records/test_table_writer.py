"""A table that is written part by part is the one that is written at once."""

import pytest

from harness.records import table_writer
from harness.records.columns import COLUMNS
from harness.records.table import read_table
from harness.records.table_writer import rows_as_table, table_file, write_table

ROWS = [
    dict.fromkeys(COLUMNS) | {"seed": seed, "dataset": "digits"} | metrics
    for seed, metrics in enumerate([{}, {"b": 1.0}, {}, {"a": 2.0}, {"a": 3.0, "b": 4.0}])
]


@pytest.mark.parametrize("group", [1, 2, 100])
def test_parts_with_other_columns_are_joined(tmp_path, monkeypatch, group):
    monkeypatch.setattr(table_writer, "GROUP", group)
    with table_file(tmp_path / "parts.parquet") as table:
        for row in ROWS:
            table.add(rows_as_table([row]))
    write_table(ROWS, tmp_path / "whole.parquet")
    parts, whole = (read_table(tmp_path / f"{name}.parquet") for name in ("parts", "whole"))
    assert list(parts.columns) == [*COLUMNS, "a", "b"]
    assert parts.equals(whole)
    assert {path.name for path in tmp_path.iterdir()} == {"parts.parquet", "whole.parquet"}


def test_what_was_there_stays_where_rows_are_lacking(tmp_path):
    path = tmp_path / "trials.parquet"
    write_table(ROWS[:2], path)
    with pytest.raises(KeyError), table_file(path) as table:
        _add_and_fail(table)
    assert len(read_table(path)) == 2
    assert [one.name for one in tmp_path.iterdir()] == ["trials.parquet"]


def _add_and_fail(table):
    table.add(rows_as_table(ROWS))
    raise KeyError
