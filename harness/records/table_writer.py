"""The table of a study, written part by part: it is never in memory as a whole.

A table has one set of columns, but which metrics of plugins the rows have is known when all of
them were read. A part with columns that the parts before it lack starts a file of its own. There
is one file in nearly every study; several are joined at the end.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from harness.files import temporary_beside, whole_file
from harness.records.columns import COLUMNS

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

VERSION = 1
"""Of the table's form; raised when what a column means is no longer what it was."""

VERSION_KEY = b"memory_budget_harness"

GROUP = 1 << 15
"""Rows that are compressed together, and held until then: some 40 MB."""


def table_schema(names: Iterable[str]) -> pyarrow.Schema:
    """Return the types of columns: those of the record as they say, all others are numbers."""
    import pyarrow

    arrow = {"string": pyarrow.string(), "bool": pyarrow.bool_(), "int64": pyarrow.int64()}
    kinds = ((name, COLUMNS.get(name, "float64")) for name in names)
    return pyarrow.schema(
        [(name, arrow.get(kind, pyarrow.float64())) for name, kind in kinds],
        metadata={VERSION_KEY: str(VERSION)},
    )


def rows_as_table(rows: Iterable[Mapping[str, Any]]) -> pyarrow.Table:
    """Bring rows into columns: those of the record, then the metrics of plugins by name."""
    import pyarrow

    rows = [dict(row) for row in rows]
    extra = sorted({name for row in rows for name in row} - set(COLUMNS))
    return pyarrow.Table.from_pylist(rows, schema=table_schema([*COLUMNS, *extra]))


def write_table(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write rows as one Parquet file, atomically; metrics of plugins become further columns."""
    with table_file(path) as table:
        table.add(rows_as_table(rows))


@contextmanager
def table_file(path: Path) -> Iterator[TableFile]:
    """Open a table to be written; it appears when all of it was, and not where that raises.

    Raises
    ------
    HarnessError
        If it cannot be written.
    """
    parts = temporary_beside(path)
    with whole_file(path) as file:
        parts.mkdir()
        try:
            made = TableFile(parts)
            yield made
            made.finish(file)
        finally:
            shutil.rmtree(parts, ignore_errors=True)


class TableFile:
    """A table in the making; see `table_file`.

    Parameters
    ----------
    folder : Path
        For parts whose columns differ.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[Path] = []
        self._schema = table_schema(COLUMNS)
        self._writer: pyarrow.parquet.ParquetWriter | None = None
        self._held: list[pyarrow.Table] = []

    def add(self, rows: pyarrow.Table) -> None:
        """Add rows with the record's columns, and any further ones, which are numbers."""
        if not set(rows.column_names) <= set(self._schema.names):
            self._flush()
            self._end_part()
            extra = {*self._schema.names, *rows.column_names} - set(COLUMNS)
            self._schema = table_schema([*COLUMNS, *sorted(extra)])
        self._held.append(_with_columns(rows, self._schema))
        if sum(map(len, self._held)) >= GROUP:
            self._flush()

    def finish(self, file: BinaryIO) -> None:
        """Write all that was added to a file."""
        import pyarrow.parquet

        self._flush()
        self._end_part()
        if len(self._parts) == 1:
            with self._parts[0].open("rb") as whole:
                shutil.copyfileobj(whole, file)
            return
        with pyarrow.parquet.ParquetWriter(file, self._schema) as writer:
            for path in self._parts:
                part = pyarrow.parquet.ParquetFile(path)
                for number in range(part.num_row_groups):
                    writer.write_table(_with_columns(part.read_row_group(number), self._schema))

    def _flush(self) -> None:
        import pyarrow
        import pyarrow.parquet

        if not self._held:
            return
        if self._writer is None:
            self._parts.append(self._folder / f"{len(self._parts)}.parquet")
            self._writer = pyarrow.parquet.ParquetWriter(self._parts[-1], self._schema)
        self._writer.write_table(pyarrow.concat_tables(self._held))
        self._held = []

    def _end_part(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _with_columns(rows: pyarrow.Table, schema: pyarrow.Schema) -> pyarrow.Table:
    import pyarrow

    known = set(rows.column_names)
    absent = pyarrow.nulls(len(rows), pyarrow.float64())
    columns = [rows[name] if name in known else absent for name in schema.names]
    return pyarrow.Table.from_arrays(columns, schema=schema)
