"""Files as tables that are read in parts, with the options that a catalog reads them by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from harness.datasets import reading
from harness.datasets.adding.profiles import Name
from harness.datasets.adding.sniffing import guess_dialect
from harness.datasets.arff import read_arff
from harness.datasets.fetching import open_unpacked
from harness.datasets.formats import without_index
from harness.datasets.json_lines import json_frames
from harness.datasets.list_columns import joined_widths, spread
from harness.datasets.openml_data import openml_frame
from harness.datasets.separated_values import csv_options, in_our_words, open_table, stray_quote
from harness.errors import HarnessError, shown
from harness.units import format_bytes

CELLS = 1_000_000
"""Values that are held at once while a table is passed over."""

_CSV = {"format": "csv"}

MOST_WHOLE = 1_000_000_000
"""Bytes of a file that can only be read whole."""


@dataclass(frozen=True)
class Table:
    """Columns, a part of the rows at a time.

    Parameters
    ----------
    read : dict
        `format` and the options by which a catalog reads the same columns.
    columns : list of str or int
    parts : callable (str or int) -> iterator of DataFrame
        Goes through all rows once. The column that is named, the target, holds texts as they
        stand, where the file is one of texts.
    told : list of str
        What was guessed to read it.
    decimal : {".", ","}, default "."
        The decimal sign of numbers that are texts.
    twice : tuple of str, default ()
        Names that several columns have.
    marked : bool, default False
        Whether the reader is told which texts mean that there is no value.
    """

    read: dict[str, Any]
    columns: list[str | int]
    parts: Callable[[Name], Iterator[pd.DataFrame]]
    told: list[str]
    decimal: str = "."
    twice: tuple[str, ...] = ()
    marked: bool = False


def joined(tables: Sequence[Table], paths: Sequence[Path]) -> Table:
    """Return the rows of several tables one after the other.

    Raises
    ------
    HarnessError
        If they are not read alike, or have other columns.
    """
    first = tables[0]
    read = dict(first.read)
    by_position: list[str] = []
    for table, path in zip(tables[1:], paths[1:], strict=True):
        if len(table.columns) != len(first.columns):
            counts = f"{len(first.columns)} columns and {len(table.columns)}"
            raise HarnessError(
                f"{path}: has other columns than {paths[0]} ({counts}); of features and targets "
                "in files of their own, write an entry (`side_by_side`)"
            )
        if sorted(map(str, table.columns)) != sorted(map(str, first.columns)):
            by_position.append(path.name)
        for key in first.read | table.read:
            both = (read.get(key), table.read.get(key))
            if both[0] == both[1]:
                continue
            if set(both) == {" ", "\t"}:  # a tab is a blank as well
                read[key] = " "
            elif key == "skip_lines_starting" and None in both:
                read[key] = both[0] or both[1]
            else:
                raise HarnessError(
                    f"{path}: {key} is another than in {paths[0]}: write them alike"
                )

    def parts(target: Name) -> Iterator[pd.DataFrame]:
        place = first.columns.index(target)
        for table in tables:
            if by_position:
                for part in table.parts(table.columns[place]):
                    yield part.set_axis(first.columns, axis=1)
            else:
                yield from (part[first.columns] for part in table.parts(target))

    told = list(first.told)
    if by_position:
        read["join"] = "position"
        files = ", ".join(by_position)
        told.append(
            f"columns of {files} have other names: joined by position (`join` in the entry)"
        )
    return replace(first, read=read, parts=parts, told=told)


def csv_table(path: Path, header: bool | None, target: str | None) -> Table:
    """Return a text of separated values as a table."""
    dialect = guess_dialect(path, header, target)
    read = {
        "separator": dialect.separator,
        "header": dialect.header,
        "charset": dialect.charset,
        "decimal": dialect.decimal,
        "skip_rows": dialect.preamble,
        "skip_lines_starting": dialect.comment or None,
    }
    fields = reading.Csv.model_fields
    with reported(path, "csv"):
        read["quotes"] = not _has_stray_quotes(path, reading.Csv.model_validate(_CSV | read))
    given = {key: value for key, value in read.items() if value != fields[key].default}
    declared = reading.Csv.model_validate(_CSV | read)
    options = csv_options(declared)
    # as they stand, to see which of them mean that there is none
    options |= {"na_values": [], "low_memory": False}
    with reported(path, "csv"), open_table(path, declared) as stream:
        first = pd.read_csv(stream, nrows=1, dtype=str, **options)
        names = list(first.columns)
    twice = _twice(path, declared, options) if dialect.header else ()
    rows = max(100, CELLS // max(1, len(names)))

    def parts(target: Name) -> Iterator[pd.DataFrame]:
        with (
            reported(path, "csv"),
            open_table(path, declared) as stream,
            pd.read_csv(stream, chunksize=rows, dtype={target: str}, **options) as reader,
        ):
            yield from reader

    kind = {"\t": "a tab", " ": "blanks"}.get(dialect.separator, repr(dialect.separator))
    first_line = "the first line names the columns" if dialect.header else "no line of names"
    told = [f"separated by {kind}; {first_line} (--header or --no-header says otherwise)"]
    if dialect.charset != "utf-8":
        told.append(f"the text is no UTF-8 and is read as {dialect.charset}")
    if dialect.preamble:
        lines = f"{dialect.preamble} line{'s' if dialect.preamble > 1 else ''}"
        told.append(f"the table begins after {lines} (`skip_rows` in the entry)")
    if dialect.comment:
        told.append(f"lines that start with {dialect.comment!r} are no rows")
    if not declared.quotes:
        told.append("quotes are part of the texts (`quotes` in the entry)")
    if dialect.decimal == ",":
        told.append("numbers have a decimal comma")
    return Table(_CSV | given, names, parts, told, dialect.decimal, twice, True)


def _has_stray_quotes(path: Path, declared: reading.Csv) -> bool:
    """Tell whether quotes belong to the texts; only lines with an odd number of them are asked."""
    with open_unpacked(path) as stream:
        odd = any(line.count(b'"') % 2 for line in stream)
    return odd and stray_quote(path, declared) is not None


def _twice(path: Path, declared: reading.Csv, options: dict[str, Any]) -> tuple[str, ...]:
    with reported(path, "csv"), open_table(path, declared) as stream:
        line = pd.read_csv(stream, nrows=1, **(options | {"header": None, "dtype": str}))
    names = [str(name).strip() for name in line.iloc[0]]
    return tuple(dict.fromkeys(name for name in names if name and names.count(name) > 1))


def parquet_table(path: Path) -> Table:
    """Return a Parquet file as a table; what pandas keeps as an index is no column."""
    with reported(path, "parquet"):
        file = pq.ParquetFile(path)
        empty = file.schema_arrow.empty_table().to_pandas()
        index = empty.index
        lists = [field.name for field in file.schema_arrow if pa.types.is_nested(field.type)]
        widths = joined_widths(
            batch.to_pandas() for batch in file.iter_batches(columns=lists) if lists
        )
        columns = list(spread(without_index(empty), widths).columns)
    rows = max(100, CELLS // max(1, len(columns)))

    def parts(_: Name) -> Iterator[pd.DataFrame]:
        with reported(path, "parquet"), pq.ParquetFile(path) as held:
            for batch in held.iter_batches(batch_size=rows):
                yield spread(without_index(batch.to_pandas()), widths)

    named = [str(name) for name in index.names if name is not None]
    told = [f"the index of pandas ({', '.join(named)}) is no column"] if named else []
    told += [f"{name!r} holds lists: {many} columns" for name, many in widths.items() if many]
    return Table({"format": "parquet"}, columns, parts, told)


def json_table(path: Path) -> Table:
    """Return a file of JSON lines as a table."""
    with reported(path, "jsonl"):
        columns = list(next(json_frames(path)).columns)
    rows = max(100, CELLS // max(1, len(columns)))

    def parts(_: Name) -> Iterator[pd.DataFrame]:
        with reported(path, "jsonl"):
            yield from json_frames(path, rows=rows)

    return Table({"format": "jsonl"}, columns, parts, ["an object a line, JSON lines"])


def arff_table(path: Path) -> Table:
    """Return an ARFF file as a table."""
    refuse_large(path)
    with open_unpacked(path) as stream, reported(path, "arff"):
        frame = read_arff(stream.read().decode("utf-8", "replace"))
    return Table({"format": "arff"}, list(frame.columns), lambda _: iter([frame]), [])


def openml_table(number: int) -> Table:
    """Return a data set of OpenML as a table; scikit-learn fetches it."""
    frame = openml_frame(f"openml-{number}", number)
    return Table(
        {"format": "openml", "id": number}, list(frame.columns), lambda _: iter([frame]), []
    )


def npy_table(path: Path) -> Table:
    """Return a matrix of NumPy as a table of numbered columns."""
    with reported(path, "npy"):
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    if matrix.ndim != 2 or not is_numeric(matrix):
        raise HarnessError(
            f"{path}: holds {described(matrix)}: a matrix of numbers with the target among its "
            "columns is read, or an npz with X and y"
        )
    rows = max(1, CELLS // max(1, matrix.shape[1]))

    def parts(_: Name) -> Iterator[pd.DataFrame]:
        for start in range(0, len(matrix), rows):
            yield pd.DataFrame(np.array(matrix[start : start + rows]))

    return Table({"format": "npy"}, list(range(matrix.shape[1])), parts, [])


def is_numeric(array: np.ndarray) -> bool:
    """Whether an array holds numbers."""
    return array.dtype.kind in "biuf"


def described(array: Any) -> str:
    """Return the shape and type of an array, for messages."""
    shape = " x ".join(map(str, array.shape)) or "one value"
    return f"{shape} of {array.dtype}"


def refuse_large(path: Path) -> None:
    """Refuse a file that is too large to be read whole."""
    size = path.stat().st_size
    if size > MOST_WHOLE:
        raise HarnessError(
            f"{path}: this format can only be read whole, and the file has {format_bytes(size)}: "
            "write it as CSV or Parquet"
        )


class reported:  # noqa: N801 - reads as a statement
    """Tells what a library's reader says of a file as an error of ours."""

    def __init__(self, path: Path, format: str) -> None:
        self._path, self._format = path, format

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, HarnessError):
            reason = " ".join(str(error).split()) or type(error).__name__
            reason = shown(in_our_words(reason), 300).strip("'\"")
            raise HarnessError(
                f"{self._path}: cannot be read as {self._format}: {reason}"
            ) from None
