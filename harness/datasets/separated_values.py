"""Tables of text: what pandas is told of them, and which lines it never sees."""

from __future__ import annotations

import csv
import io
import itertools
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from harness.datasets import reading
from harness.datasets.fetching import open_unpacked

_STRAY = (
    "has a quote that belongs to its text, and takes the next lines for the same value: write "
    "`quotes: false`"
)
_CUT = "\x1f"
"""Between columns of fixed width, once they are cut: ASCII's separator of units."""

_BYTE_ORDER_MARK = "\ufeff"


@contextmanager
def open_table(path: Path, read: reading.Csv) -> Iterator[Any]:
    """Open a table of text, plain or packed, as `pandas.read_csv` takes it.

    Lines that are no rows are left out: the first `skip_rows`, and those that start with
    `skip_lines_starting`. Columns of fixed width are cut.
    """
    with open_unpacked(path) as stream, warnings.catch_warnings():
        # rows longer than the first would be cut with no more than a warning
        warnings.simplefilter("error", pd.errors.ParserWarning)
        other_lines = read.skip_rows or read.skip_lines_starting or read.widths
        yield _Rows(stream, read) if other_lines else stream


def csv_frames(path: Path, read: reading.Csv, **options: Any) -> Iterator[pd.DataFrame]:
    """Read a table of text, in parts where `chunksize` is among the options.

    Raises
    ------
    ValueError
        If a value goes on over lines, and it is not one in quotes; or if the line that is to name
        the columns is a row.
    """
    over_lines = False
    with open_table(path, read) as stream:
        found = pd.read_csv(stream, **(csv_options(read) | options))
        for frame in [found] if isinstance(found, pd.DataFrame) else found:
            if read.header:
                _refuse_row_as_header(frame.columns)
            over_lines = over_lines or _goes_on(frame)
            yield frame
    if over_lines and (line := stray_quote(path, read)) is not None:
        raise ValueError(f"line {line} {_STRAY}")


def _refuse_row_as_header(names: Sequence[str]) -> None:
    """Refuse names that are all numbers, but for whole ones that ascend, as years do."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return
    ascend = all(earlier < later for earlier, later in itertools.pairwise(numbers))
    if not (ascend and all(number.is_integer() for number in numbers)):
        raise ValueError(
            f"the first line names the columns {names[0]}, {names[-1]} and so on, which are "
            "numbers: if it is a row, write `header: false`; else name the columns"
        )


def _goes_on(frame: pd.DataFrame) -> bool:
    texts = (values for _, values in frame.items() if values.dtype in ("str", object))
    return any(values.str.contains("\n", regex=False, na=False).any() for values in texts)


def stray_quote(path: Path, read: reading.Csv) -> int | None:
    """Return the line whose quote is no sign around a value; None if all of them are.

    pandas takes what follows such a quote for one value, up to the next quote.
    """
    with open_unpacked(path) as stream, io.TextIOWrapper(stream, read.charset, newline="") as text:
        rows = csv.reader(text, delimiter=read.separator, skipinitialspace=True, strict=True)
        start = 1
        try:
            for _ in rows:
                start = rows.line_num + 1
        except csv.Error:
            return start
    return None


def has_quotes(read: reading.Csv) -> bool:
    """Tell whether quotes enclose values; columns of fixed width need none."""
    return read.quotes and not read.widths


def csv_options(read: reading.Csv) -> dict[str, Any]:
    """Return what `pandas.read_csv` is told, so that all who read a table read it alike."""
    blank = read.separator.isspace() and read.separator != "\t" and not read.widths
    separator = _CUT if read.widths else read.separator
    return {
        "sep": r"\s+" if blank else separator,
        "header": 0 if read.header else None,
        "index_col": False,
        "skipinitialspace": not blank,
        "keep_default_na": False,
        "na_values": list(read.missing_values),
        "quoting": csv.QUOTE_MINIMAL if has_quotes(read) else csv.QUOTE_NONE,
        "encoding": read.charset,
        "decimal": read.decimal,
    }


def in_our_words(told: str) -> str:
    """Say in our words what pandas says of lines that differ in width; else what was said."""
    above = "(`skip_rows` leaves out lines above a table)"
    width = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", told)
    if width:
        usual, line, found = width.groups()
        return f"line {line} has {found} fields, those before it {usual} {above}"
    unclosed = re.search(r"EOF inside string starting at row (\d+)", told)
    if unclosed:
        return f"row {unclosed[1]} (numbered from 0) {_STRAY}"
    if told.startswith("Length of header or names does not match"):
        return f"some lines have more fields than the first {above}"
    return told


class _Rows:
    """A text without the lines that are no rows; pandas would cut a comment from within a row."""

    def __init__(self, stream: BinaryIO, read: reading.Csv) -> None:
        self._text = io.TextIOWrapper(stream, encoding=read.charset, newline="")
        self._sign, self._quotes = read.skip_lines_starting, has_quotes(read)
        self._ends = list(itertools.accumulate(read.widths))
        self._first = 1 + read.skip_rows
        self._rows = self._kept()
        for _ in range(read.skip_rows):
            self._text.readline()

    def __iter__(self) -> Iterator[str]:
        return self._rows

    def read(self, size: int = -1) -> str:
        """Return whole lines of so many characters or more; all that are left by default."""
        lines, length = [], 0
        for line in self._rows:
            lines.append(line)
            length += len(line)
            if 0 <= size <= length:
                break
        return "".join(lines)

    def _kept(self) -> Iterator[str]:
        quoted = False
        for number, line in enumerate(self._text):
            text = line.removeprefix(_BYTE_ORDER_MARK) if not number else line
            # a value in quotes may go on over lines
            if quoted or self._sign is None or not text.lstrip(" ").startswith(self._sign):
                quoted ^= self._quotes and bool(text.count('"') % 2)
                yield self._cut(text, self._first + number) if self._ends else text

    def _cut(self, line: str, number: int) -> str:
        """Put a sign between columns of fixed width; an empty line stays one."""
        if line[self._ends[-1] :].strip():
            raise ValueError(
                f"line {number} goes on beyond the {self._ends[-1]} characters of its `widths`"
            )
        cut = (line[a:b].strip() for a, b in itertools.pairwise([0, *self._ends]))
        return (_CUT.join(cut) if line.strip() else "") + "\n"
