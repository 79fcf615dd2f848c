"""The record: one row a trial, its columns, what is a row, and the table of all rows.

A row says what was asked, planned, enforced, measured and scored, or why not. The journal of its
block has it as soon as a trial ends, a JSON line each. A line that a kill cut short, or that holds
what its columns do not, is not a row. `harness.records.table_writer` joins them into one file.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import DamagedFileError, HarnessError, shown
from harness.files import is_file
from harness.records.cells import MOST_TEXT, clean_text, read, written
from harness.records.columns import COLUMNS, JSON_COLUMNS, LATER, NEVER_NULL, OUTCOMES
from harness.records.table_writer import VERSION, VERSION_KEY, table_schema

if TYPE_CHECKING:
    import pandas
    import pyarrow

_KINDS = COLUMNS | JSON_COLUMNS


def writable_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a row to the types of its columns, whatever it holds; metrics are numbers.

    What cannot be kept is null, and `reason` names its columns.
    """
    made, lost = {}, []
    for name, value in row.items():
        made[clean_text(str(name))] = cell = written(value, _KINDS.get(name, "float64"))
        undefined = isinstance(value, float) and not math.isfinite(value)
        if cell is None and value is not None and not undefined:
            lost.append(clean_text(str(name), 60))
    if lost:
        told = f"could not be recorded: {', '.join(lost[:10])}"
        said = clean_text(made.get("reason") or "", MOST_TEXT - len(told) - 2)
        made["reason"] = "; ".join(filter(None, [said, told]))
    return made


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a journal, published or still being written, and leave out what is none."""
    return rows_and_faults(path)[0]


def rows_and_faults(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Read the rows of a journal, and say what of it cannot be used.

    Returns
    -------
    rows : list of dict
        Every column of the record is in each; those of plugins' metrics are numbers or None.
    faults : list of str
        A sentence for each line that is no row, or for a file that cannot be read.
    """
    if not is_file(path):  # a pipe would be waited for
        return [], [f"{path}: there is no such file"]
    try:
        content = path.read_bytes()
    except OSError as error:
        return [], [f"{path}: cannot be read: {error.strerror}"]
    return parse_rows(path, content[: content.rfind(b"\n") + 1])


def rows_of_trials(path: Path, fingerprints: Collection[str]) -> tuple[list[dict[str, Any]], str]:
    """Read the rows of some trials from a published block.

    Returns
    -------
    rows : list of dict
        One a trial, the last where it stands there several times.
    lack : str
        Which file lacks how many of them, and why; empty if it lacks none.
    """
    read, faults = rows_and_faults(path)
    found = {row["fingerprint"]: row for row in read}
    rows = [found[name] for name in fingerprints if name in found]
    if len(rows) == len(fingerprints):
        return rows, ""
    why = f" ({faults[0].removeprefix(f'{path}: ')})" if faults else ""
    return rows, f"{path}: holds {len(rows)} of the {len(fingerprints)} rows of its trials{why}"


def finished_rows(
    *folders: Path, wanted: Collection[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Read all rows below some folders, by fingerprint, whatever jobs they were run in.

    Parameters
    ----------
    *folders : Path
        Where rows are written, where they are published. Publishing links a journal to another
        name; what is linked is read once.
    wanted : collection of str, optional
        Fingerprints; lines of others are not parsed.
    """
    rows: dict[str, dict[str, Any]] = {}
    read = set()
    for path in (path for folder in folders for path in sorted(folder.rglob("*.jsonl"))):
        with suppress(OSError):  # a link that leads nowhere holds no rows
            status = path.stat()
            content = (status.st_dev, status.st_ino)
            if content in read:
                continue
            read.add(content)
            found = read_rows(path) if wanted is None else _rows_among(path, wanted)
            rows |= {row["fingerprint"]: row for row in found}
    return rows


_FINGERPRINT = re.compile(rb'"fingerprint": ?"([^"]*)"')


def _rows_among(path: Path, wanted: Collection[str]) -> list[dict[str, Any]]:
    if not is_file(path):
        return []
    content = path.read_bytes()
    lines = content[: content.rfind(b"\n") + 1].splitlines(keepends=True)
    names = (_FINGERPRINT.search(line) for line in lines)
    among = (
        line
        for line, name in zip(lines, names, strict=True)
        if name and name[1].decode("utf-8", "replace") in wanted
    )
    rows, _ = parse_rows(path, b"".join(among))
    return [row for row in rows if row["fingerprint"] in wanted]


class KeptTable:
    """The table of a study in a file, read column by column.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    columns : list of str
        Those of the record, then others that are numbers.

    Raises
    ------
    HarnessError
        If there is none yet, or it has no rows.
    DamagedFileError
        If it is not readable, lacks columns, or another version wrote it.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet
        import pyarrow.types

        if not path.exists():
            # results lie in the folder that commands are run from, which may be the wrong one
            absent = f"{path.absolute()}: no results yet; run the study first"
            raise HarnessError(absent)
        if not is_file(path):
            raise DamagedFileError(path, f"{path}: is no file")
        self.path = path
        with self._readable():
            # as one file: a folder's name may look as if it were part of the data
            schema = pyarrow.parquet.read_schema(path)
            texts = [field.name for field in schema if pyarrow.types.is_string(field.type)]
            # what many rows say alike is in memory once
            self._file = pyarrow.parquet.ParquetFile(path, read_dictionary=texts)
        written = (schema.metadata or {}).get(VERSION_KEY, b"1")
        if written != str(VERSION).encode():
            raise DamagedFileError(
                path,
                f"{path}: another version of the harness wrote it (its tables are of version "
                f"{shown(written)}, those read here of version {VERSION})",
            )
        self._there = set(schema.names)
        missing = [name for name in COLUMNS if name not in self._there | LATER]
        if missing:
            raise DamagedFileError(path, f"{path}: columns {', '.join(missing)} are missing")
        kinds = dict(zip(schema.names, schema.types, strict=True))
        numbers = (pyarrow.types.is_floating, pyarrow.types.is_integer, pyarrow.types.is_null)
        others = [name for name in schema.names if name not in COLUMNS]
        self.columns = [*COLUMNS, *(n for n in others if any(is_(kinds[n]) for is_ in numbers))]
        if not len(self):
            raise HarnessError(f"{path}: holds no trials; run the study first")

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    @property
    def groups(self) -> range:
        """The parts in which rows can be read, one after the other."""
        return range(self._file.num_row_groups)

    def group_rows(self, group: int) -> int:
        """Return how many rows a part has."""
        return int(self._file.metadata.row_group(group).num_rows)

    def read(
        self, names: Iterable[str], groups: Sequence[int] | None = None, text: bool = True
    ) -> pyarrow.Table:
        """Read columns, each of its type.

        Parameters
        ----------
        names : iterable of str
            Of `columns`.
        groups : sequence of int, optional
            The parts of the rows; by default all.
        text : bool, default True
            Whether texts are plain; else each is a number and a dictionary of what is said.

        Raises
        ------
        DamagedFileError
            If the file is not readable, or holds other types than the columns'.
        """
        import pyarrow

        schema = table_schema(names)
        groups = self.groups if groups is None else groups
        columns = []
        for field in schema:
            with self._readable():
                if field.name in self._there:
                    column = self._file.read_row_groups(list(groups), [field.name])[field.name]
                else:
                    absent = pyarrow.nulls(sum(map(self.group_rows, groups)), field.type)
                    column = pyarrow.chunked_array([absent])
            columns.append(self._typed(column, field, text))
        fields = [pyarrow.field(f.name, c.type) for f, c in zip(schema, columns, strict=True)]
        return pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))

    def _typed(
        self, column: pyarrow.ChunkedArray, field: pyarrow.Field, text: bool
    ) -> pyarrow.ChunkedArray:
        import pyarrow
        import pyarrow.types

        coded = not text and field.type == pyarrow.string()
        try:
            if not (coded and pyarrow.types.is_dictionary(column.type)):
                column = column.cast(field.type)
            if field.name in JSON_COLUMNS and field.name != "checkpoints":
                for said in column.unique().to_pylist():  # whoever reads those looks at each
                    read(said, JSON_COLUMNS[field.name])
        except (pyarrow.ArrowException, ValueError) as error:
            reason = " ".join(str(error).split())
            message = f"{self.path}: a column is not of its type: {shown(reason)}"
            raise DamagedFileError(self.path, message) from None
        return column.dictionary_encode() if coded else column

    @contextmanager
    def _readable(self) -> Iterator[None]:
        import pyarrow

        try:
            yield
        except (OSError, pyarrow.ArrowException, ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())
            message = f"{self.path}: cannot be read: {shown(reason)}"
            raise DamagedFileError(self.path, message) from None


def read_table(path: Path) -> pandas.DataFrame:
    """Read the table of a study: the columns of the record, then those that are numbers.

    Raises
    ------
    HarnessError
        If there is none yet, or it has no rows.
    DamagedFileError
        If it is not readable, lacks columns or holds other types than theirs, or another version
        wrote it.
    """
    table = KeptTable(path)
    return as_frame(table.read(table.columns))


def as_frame(rows: pyarrow.Table) -> pandas.DataFrame:
    """Return rows as pandas holds them where a cell may be null whatever its type."""
    import pandas

    kinds = {"string": pandas.StringDtype(), "bool": pandas.BooleanDtype()}
    kinds |= {"int64": pandas.Int64Dtype(), "double": pandas.Float64Dtype()}
    return rows.to_pandas(types_mapper=lambda kind: kinds[str(kind)], ignore_metadata=True)


def without_nan(content: Any) -> Any:
    """Return JSON content with null in the place of every number that JSON has no word for."""
    if isinstance(content, Mapping):
        return {name: without_nan(value) for name, value in content.items()}
    if isinstance(content, list):
        return [without_nan(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def parse_rows(path: Path, lines: bytes) -> tuple[list[dict[str, Any]], list[str]]:
    """Read lines of a journal; see `rows_and_faults`."""
    rows, faults = [], []
    for number, line in enumerate(lines.splitlines(), 1):
        try:
            rows.append(_row(line))
        except (ValueError, RecursionError) as error:
            faults.append(f"{path}: line {number} is not a row: {error}")
    return rows, faults


def _row(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it is not an object")
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    for name, value in found.items():
        if value is None and name in COLUMNS:
            continue
        try:
            row[clean_text(name)] = read(value, _KINDS.get(name, "float64"))
        except ValueError as error:
            if name in COLUMNS:
                raise ValueError(f"{name} {error}") from None
            # a column of another version; what decides the outcome is in the fingerprint
    for name in NEVER_NULL:
        if row[name] is None:
            raise ValueError(f"{name} is missing")
    if row["outcome"] not in OUTCOMES:
        raise ValueError(f"outcome is {row['outcome']!r}, not one of {', '.join(OUTCOMES)}")
    if not row["fingerprint"].endswith(f"-{row['seed']}"):
        raise ValueError(f"its seed is {row['seed']}, its fingerprint {row['fingerprint']}")
    return row
