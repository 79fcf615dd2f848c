"""Weka's ARFF, read tolerantly: trailing commas, quotes of either kind, sparse rows.

`scipy.io.arff` refuses all three, which real files of the regression collections have; the body is
pandas' business.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from harness.errors import shown

_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:\\.|[^'])*)'|"((?:\\.|[^"])*)"|(\S+?))\s*(\{.*\}|\s[a-z]+.*)$""",
    re.IGNORECASE,
)
_NUMERIC = ("numeric", "real", "integer")
_KIND = re.compile(r"[a-z]+")
"""Without the bounds that KEEL writes after it: `integer[1,9]`."""
_MISSING, _OF_KEEL = "?", "<null>"
_POSITION = re.compile(r"\s*(\d+)\s+")
_VALUE = re.compile(r"""[ \t]*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|([^,]*?))[ \t]*(,|$)""")


@dataclass(frozen=True)
class Attribute:
    """One attribute of the header; `values` is None unless it is nominal."""

    name: str
    kind: str
    values: tuple[str, ...] | None = None


def read_arff(text: str) -> pd.DataFrame:
    """Read an ARFF file.

    Parameters
    ----------
    text : str
        The whole file.

    Returns
    -------
    DataFrame
        Numeric attributes as float64; nominal ones categorical, with the header's values in the
        header's order; missing values ("?") as NaN.

    Raises
    ------
    ValueError
        If the header or the body is not understood, naming the line or the attribute.
    """
    header, body = _split(text)
    attributes = [_attribute(line) for line in header if line[:10].lower() == "@attribute"]
    if not attributes:
        raise ValueError("no @attribute before @data")
    if body.lstrip().startswith("{"):
        frame = _sparse(body, attributes)
    elif '"' in body and "'" in body:
        frame = pd.DataFrame([_values(line) for line in body.splitlines()], dtype=str)
    else:
        quote = '"' if '"' in body else "'"
        try:
            frame = pd.read_csv(
                io.StringIO(body),
                header=None,
                dtype=str,
                quotechar=quote,
                escapechar="\\",
                skipinitialspace=True,
                keep_default_na=False,
            )
        except pd.errors.ParserError as error:
            row = re.search(r"EOF inside string starting at row (\d+)", str(error))
            told = (
                f"row {row[1]} (numbered from 0) has a quote that is not closed" if row else error
            )
            raise ValueError(told) from None
    if frame.shape[1] == len(attributes) + 1 and (frame.iloc[:, -1] == "").all():
        frame = frame.iloc[:, :-1]
    if frame.shape[1] != len(attributes):
        raise ValueError(f"{len(attributes)} attributes, but rows of {frame.shape[1]} values")
    columns = {}
    for attribute, (_, values) in zip(attributes, frame.items(), strict=True):
        columns[attribute.name] = _column(attribute, values.str.strip())
    if len(columns) != len(attributes):
        raise ValueError("two attributes have the same name")
    return pd.DataFrame(columns)


def _split(text: str) -> tuple[list[str], str]:
    match = re.search(r"^\s*@data[^\n]*\n", text, re.IGNORECASE | re.MULTILINE)
    if match is None:
        raise ValueError("there is no @data line")
    lines = [line.strip() for line in text[: match.start()].splitlines()]
    body = re.sub(r"^[ \t]*(%[^\n]*)?\r?\n", "", text[match.end() :] + "\n", flags=re.MULTILINE)
    return lines, body


def _attribute(line: str) -> Attribute:
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise ValueError(f"cannot read the header line {line!r}")
    name = next(group for group in match.groups()[:3] if group is not None)
    kind = match.group(4).strip()
    if kind.startswith("{"):
        return Attribute(name, "nominal", tuple(_fields(kind[1:-1])))
    found = _KIND.match(kind.lower())
    if found is None or found.group() == "relational":
        raise ValueError(f"attribute {name!r}: {kind!r} is no type that is read")
    return Attribute(name, found.group())


def _values(line: str) -> list[str]:
    """Split a row in which values may be in quotes of either kind, and hold the other."""
    values, at, more = [], 0, True
    while more:
        value, at, more = _value_at(line, at)
        values.append(value)
    return values


def _value_at(line: str, at: int) -> tuple[str, int, bool]:
    """Return the value that begins there, where the next would begin, and whether there is one."""
    found = _VALUE.match(line, at)
    assert found is not None, "without quotes a value may be anything up to a comma"
    quoted = found.group(1) if found.group(1) is not None else found.group(2)
    value = found.group(3) if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    return value, found.end(), bool(found.group(4))


def _fields(text: str) -> list[str]:
    if '"' in text and "'" in text:
        return _values(text)
    quote = '"' if '"' in text else "'"
    row = next(csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True))
    return [field.strip() for field in row]


def _sparse(body: str, attributes: list[Attribute]) -> pd.DataFrame:
    rest = ["0" if item.values is None else item.values[0] for item in attributes]
    rows = []
    for line in body.splitlines():
        row = list(rest)
        for position, value in _pairs(line.strip()):
            if position >= len(row):
                raise ValueError(f"{len(row)} attributes, numbered from 0; not one {position}")
            row[position] = value
        rows.append(row)
    return pd.DataFrame(rows, dtype=str)


def _pairs(line: str) -> Iterator[tuple[int, str]]:
    """Give the attributes of a sparse row, as numbers, and their values."""
    if not (line.startswith("{") and line.endswith("}")):
        raise ValueError(f"a sparse row is in braces, and one is {shown(line)}")
    within, at, more = line[1:-1], 0, bool(line[1:-1].strip())
    while more:
        found = _POSITION.match(within, at)
        if found is None:
            told = "is no list of positions and values, such as {0 1.5, 3 yes}"
            raise ValueError(f"the sparse row {shown(line)} {told}")
        value, at, more = _value_at(within, found.end())
        yield int(found.group(1)), value


def _column(attribute: Attribute, values: pd.Series) -> pd.Series:
    missing = [_MISSING] if _OF_KEEL in (attribute.values or ()) else [_MISSING, _OF_KEEL]
    values = values.where(~values.isin(missing))
    if attribute.values is not None:
        unknown = set(values.dropna()) - set(attribute.values)
        if "" in unknown:
            raise ValueError(f"attribute {attribute.name!r}: a row ends before it")
        if unknown:
            raise ValueError(
                f"attribute {attribute.name!r}: {sorted(unknown)[0]!r} is not among its values"
            )
        return values.astype(pd.CategoricalDtype(list(attribute.values)))
    if attribute.kind in _NUMERIC:
        try:
            return pd.to_numeric(values).astype("float64")
        except ValueError as error:
            raise ValueError(f"attribute {attribute.name!r}: {error}") from None
    return values.astype("category")
