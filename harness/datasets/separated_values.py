"""Tables of text: what pandas is told of them, and which lines it never sees."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from harness.datasets import reading
from harness.datasets.fetching import open_unpacked

_BYTE_ORDER_MARK = "\ufeff"


@contextmanager
def open_table(path: Path, read: reading.Csv) -> Iterator[Any]:
    """Open a table of text, plain or packed, as `pandas.read_csv` takes it.

    Lines that are no rows are left out: the first `skip_rows`, and those that start with
    `skip_lines_starting`.
    """
    with open_unpacked(path) as stream, warnings.catch_warnings():
        # rows longer than the first would be cut with no more than a warning
        warnings.simplefilter("error", pd.errors.ParserWarning)
        yield _Rows(stream, read) if read.skip_rows or read.skip_lines_starting else stream


def csv_options(read: reading.Csv) -> dict[str, Any]:
    """Return what `pandas.read_csv` is told, so that all who read a table read it alike."""
    blank = read.separator.isspace() and read.separator != "\t"
    return {
        "sep": r"\s+" if blank else read.separator,
        "header": 0 if read.header else None,
        "index_col": False,
        "skipinitialspace": not blank,
        "keep_default_na": False,
        "na_values": list(read.missing_values),
        "quoting": csv.QUOTE_MINIMAL,
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
    if told.startswith("Length of header or names does not match"):
        return f"some lines have more fields than the first {above}"
    return told


class _Rows:
    """A text without the lines that are no rows; pandas would cut a comment from within a row."""

    def __init__(self, stream: BinaryIO, read: reading.Csv) -> None:
        self._text = io.TextIOWrapper(stream, encoding=read.charset, newline="")
        self._sign = read.skip_lines_starting
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
                quoted ^= bool(text.count('"') % 2)
                yield text
