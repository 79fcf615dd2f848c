"""What names of files, and files of their own, say of each point: its group, and when it was."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.datasets.encoding import Source
from harness.datasets.entry import Declared
from harness.datasets.fact_sources import FactSource
from harness.datasets.fetching import fetch_files, open_unpacked
from harness.datasets.idx_files import read_idx
from harness.errors import HarnessError, shown

_NPY, _IDX = b"\x93NUMPY", b"\0\0"
"""How files of arrays begin; others are text."""


def add_facts(source: Source, entry: Declared, paths: Sequence[Path]) -> None:
    """Add to what a reader found what is not in the source itself.

    Parameters
    ----------
    source : Source
        Its facts are extended.
    entry : Declared
    paths : sequence of Path
        What the source was read from.

    Raises
    ------
    HarnessError
        If a name does not match, or files have no value for each point.
    """
    for key, fact in entry.fact_sources.items():
        where = f"data set {entry.name!r}: {key}"
        if fact.path is not None:
            source.facts[key] = _found_in_names(_names(source, entry, paths), fact.path, where)
        elif fact.files:
            held = fetch_files(entry, fact.files)
            source.facts[key] = np.concatenate([_values(path, fact, where) for path in held])
        if len(source.facts[key]) != len(source.target):
            raise HarnessError(
                f"{where}: {len(source.facts[key])} values, but {len(source.target)} targets"
            )


def _names(source: Source, entry: Declared, paths: Sequence[Path]) -> list[str]:
    """Return the name of each point's file."""
    if source.names is not None:
        return source.names
    # matrices of one file follow each other, and of idx two files give one part
    owners = [place * len(paths) // len(source.parts) for place in range(len(source.parts))]
    return [
        entry.files[owner].name
        for owner, rows in zip(owners, source.parts, strict=True)
        for _ in range(rows)
    ]


def _found_in_names(names: Sequence[str], pattern: str, where: str) -> np.ndarray:
    compiled = re.compile(pattern)
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        match = compiled.search(name)
        value = match and match[compiled.groups]
        if not value:
            raise HarnessError(f"{where}: path {pattern!r} finds nothing in the name {name!r}")
        found[name] = value
    return np.array([found[name] for name in names], dtype=object)


def _values(path: Path, fact: FactSource, where: str) -> np.ndarray:
    """Return the values of a file: of an array, or of text with one a line."""
    with open_unpacked(path) as stream:
        content = stream.read()
    try:
        if content.startswith(_NPY):
            return _column(np.load(io.BytesIO(content), allow_pickle=False), fact.column)
        if content.startswith(_IDX):
            return _column(read_idx(path), fact.column)
        return _of_text(content.decode(), fact.column)
    except ValueError as error:  # UnicodeDecodeError is one
        raise HarnessError(f"{where}: {path}: {error}") from None


def _column(array: np.ndarray, column: object) -> np.ndarray:
    values = array.squeeze()
    if values.ndim == 2 and isinstance(column, int) and column < values.shape[1]:
        return values[:, column]
    if values.ndim != 1 or column is not None:
        asked = "one value for each point" if column is None else f"a column {column!r}"
        raise ValueError(f"{asked} is wanted, and the file has the shape {array.shape}")
    return values


def _of_text(text: str, column: object) -> np.ndarray:
    lines = text.splitlines()
    if column is None:
        return np.array([line.strip() for line in lines], dtype=object)
    first = lines[0] if lines else ""
    separator = next((sign for sign in ",;\t" if sign in first), None)
    if separator is None:
        rows = [line.split() for line in lines]
    else:
        rows = list(csv.reader(lines, delimiter=separator))
    place = column
    if isinstance(column, str):
        names = [name.strip() for name in rows[0]] if rows else []
        if column not in names:
            raise ValueError(f"its first line names no column {column!r}: {shown(first)}")
        place, rows = names.index(column), rows[1:]
    assert isinstance(place, int), "several columns are refused"
    short = next((at for at, row in enumerate(rows) if not -len(row) <= place < len(row)), None)
    if short is not None:
        raise ValueError(f"row {short} (numbered from 0) has no column {column}")
    return np.array([row[place].strip() for row in rows], dtype=object)
