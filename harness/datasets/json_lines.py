"""JSON lines: an object a line, whose keys are the columns of a table."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from harness.datasets.fetching import open_unpacked


def json_frames(path: Path, charset: str = "utf-8", rows: int = 10_000) -> Iterator[pd.DataFrame]:
    """Give the rows of a file, some at a time.

    All have the columns of the first ones; a key that a line has not is a missing value.

    Parameters
    ----------
    path : Path
        Plain or packed.
    charset : str, default "utf-8"
    rows : int, default 10000
        Most rows that are given at once.

    Raises
    ------
    ValueError
        If a line is no object, holds a list or an object, or has a key that is new after the first
        rows, naming the line.
    """
    columns: list[str] | None = None
    with open_unpacked(path) as stream, io.TextIOWrapper(stream, charset) as lines:
        numbered = ((at, line) for at, line in enumerate(lines, 1) if line.strip())
        while part := list(islice(numbered, rows)):
            found = [_row(at, line) for at, line in part]
            if columns is None:
                columns = list(dict.fromkeys(key for row in found for key in row))
            known = set(columns)
            for (at, _), row in zip(part, found, strict=True):
                if not row.keys() <= known:
                    new = next(key for key in row if key not in known)
                    raise ValueError(f"line {at} has the key {new!r}, which none before it has")
            yield pd.DataFrame(found, columns=columns)


def _row(at: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {at} is no JSON ({error.msg} at column {error.colno})") from None
    if not isinstance(row, dict):
        raise ValueError(f"line {at} is no object, such as {{'text': ..., 'label': ...}}")
    for key, value in row.items():
        if isinstance(value, list | dict):
            kind = "list" if isinstance(value, list) else "object"
            raise ValueError(
                f"line {at}: {key!r} is a {kind}; columns hold texts, numbers, true and false"
            )
    return row
