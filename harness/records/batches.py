"""The rows of published blocks, many at a time and column by column.

A row is read in some 50 microseconds when Python looks at each of its values. Arrow reads a batch
of them in a tenth of that. What it reads is taken only where every check of `parse_rows` holds for
whole columns. A batch with anything else in it is read row by row, which says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.files import is_file
from harness.records.cells import LARGEST, MOST_JSON, MOST_TEXT, clean_text, read
from harness.records.columns import COLUMNS, JSON_COLUMNS, NEVER_NULL, OUTCOMES
from harness.records.table import rows_of_trials
from harness.records.table_writer import rows_as_table, table_schema

if TYPE_CHECKING:
    import pyarrow

BATCH_BYTES = 8 << 20
"""Of rows as they stand in files; as columns they take about as much again."""

_PLAIN_ESCAPE = re.compile(rb'\\[^"]')


@dataclass(frozen=True)
class Batch:
    """The rows of some blocks.

    Attributes
    ----------
    rows : pyarrow.Table
        One a trial, in the order in which they were asked for.
    lacks : dict of Path to str
        Blocks that lack rows of their trials, each with a sentence.
    """

    rows: pyarrow.Table
    lacks: dict[Path, str]


Asked = tuple[Path, Sequence[str]]
"""A published block, and the fingerprints of its trials in order."""


def read_batches(blocks: Iterable[Asked], most_bytes: int = BATCH_BYTES) -> Iterator[Batch]:
    """Read the rows of some trials from published blocks.

    Parameters
    ----------
    blocks : iterable of (Path, sequence of str)
        Files, each with the fingerprints of its trials.
    most_bytes : int, default 8 MiB
        Files are read together until they have so many.

    Yields
    ------
    Batch
        In the order of the blocks. As from `rows_of_trials`, a row is the last of its trial.
    """
    held: list[tuple[Asked, bytes]] = []
    size = 0
    for asked in blocks:
        content = _content(asked[0])
        held.append((asked, content))
        size += len(content)
        if size >= most_bytes:
            yield _batch(held)
            held, size = [], 0
    if held:
        yield _batch(held)


def _content(path: Path) -> bytes:
    """Return the whole lines of a file; none where it cannot be read, which is told later."""
    try:
        content = path.read_bytes() if is_file(path) else b""
    except OSError:
        return b""
    return content[: content.rfind(b"\n") + 1]


def _batch(held: list[tuple[Asked, bytes]]) -> Batch:
    table = _whole_columns(b"".join(content for _, content in held))
    if table is not None:
        places = _places(table, [(asked[1], content.count(b"\n")) for asked, content in held])
        if places is not None:
            in_order = places == list(range(len(table)))
            return Batch(table if in_order else table.take(places), {})
    rows, lacks = [], {}
    for (path, fingerprints), _ in held:
        found, lack = rows_of_trials(path, fingerprints)
        rows += found
        if lack:
            lacks[path] = lack
    return Batch(rows_as_table(rows), lacks)


def _places(table: pyarrow.Table, asked: list[tuple[Sequence[str], int]]) -> list[int] | None:
    """Return where each trial's row is; None if a block lacks one."""
    if sum(lines for _, lines in asked) != len(table):
        return None
    found = table["fingerprint"].to_pylist()
    if any(
        not name.endswith(f"-{seed}")
        for name, seed in zip(found, table["seed"].to_pylist(), strict=True)
    ):
        return None
    places, first = [], 0
    for fingerprints, lines in asked:
        own = {name: first + at for at, name in enumerate(found[first : first + lines])}
        first += lines
        try:
            places += [own[name] for name in fingerprints]
        except KeyError:
            return None
    return places


def _whole_columns(content: bytes) -> pyarrow.Table | None:
    """Read rows as columns; None if anything of them is not as its column says."""
    import pyarrow
    import pyarrow.json

    if not content or b"\r" in content:  # which ends a line too
        return None
    try:
        table = pyarrow.json.read_json(
            pyarrow.BufferReader(content),
            pyarrow.json.ReadOptions(use_threads=False, block_size=len(content)),
            pyarrow.json.ParseOptions(explicit_schema=table_schema(COLUMNS)),
        )
    except (pyarrow.ArrowException, ValueError):
        return None
    extra = sorted(set(table.column_names) - set(COLUMNS))
    numbers = {"int64", "double", "null"}
    if any(clean_text(name) != name or str(table[name].type) not in numbers for name in extra):
        return None
    table = table.select([*COLUMNS, *extra]).cast(table_schema([*COLUMNS, *extra]), safe=False)
    plain = content.isascii() and not _PLAIN_ESCAPE.search(content)
    return table if all(_is_whole(table, name, plain) for name in table.column_names) else None


def _is_whole(table: pyarrow.Table, name: str, plain: bool) -> bool:
    """Tell whether a column holds what `cells.read` would return of each value.

    Parameters
    ----------
    table : pyarrow.Table
    name : str
    plain : bool
        Whether no text of the table has a letter beyond ASCII, or an escape but that of a quote.
    """
    import pyarrow.compute as pc

    column, kind = table[name], COLUMNS.get(name, "float64")
    if name in NEVER_NULL and column.null_count:
        return False
    if column.null_count == len(column):
        return True
    if kind == "int64":
        return pc.min(column).as_py() >= -LARGEST
    if kind == "float64":
        most = pc.max(pc.abs(column)).as_py()
        return most < LARGEST and pc.all(pc.is_finite(column)).as_py()
    if kind == "bool":
        return True
    longest = pc.max(pc.binary_length(column)).as_py()
    if name in JSON_COLUMNS:
        return longest <= MOST_JSON and _is_json(column, JSON_COLUMNS[name])
    if name == "outcome" and not set(column.unique().to_pylist()) <= set(OUTCOMES):
        return False
    if plain:
        return longest <= MOST_TEXT
    return all(text is None or clean_text(text) == text for text in column.unique().to_pylist())


def _is_json(column: pyarrow.ChunkedArray, kind: str) -> bool:
    try:
        for text in column.unique().to_pylist():
            read(text, kind)
    except ValueError:
        return False
    return True
