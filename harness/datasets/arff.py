"""Weka's ARFF, read tolerantly: trailing commas, quotes of either kind, sparse rows.

`scipy.io.arff` refuses all three, which real files of the regression collections have; the body is
pandas' business.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

import pandas as pd

_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?:'((?:\\.|[^'])*)'|"((?:\\.|[^"])*)"|(\S+?))\s*(\{.*\}|\s[a-z]+.*)$""",
    re.IGNORECASE,
)
_NUMERIC = ("numeric", "real", "integer")


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
    else:
        quote = '"' if '"' in body else "'"
        frame = pd.read_csv(
            io.StringIO(body),
            header=None,
            dtype=str,
            quotechar=quote,
            escapechar="\\",
            skipinitialspace=True,
            keep_default_na=False,
        )
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
    return Attribute(name, kind.split()[0].lower())


def _fields(text: str) -> list[str]:
    quote = '"' if '"' in text else "'"
    row = next(csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True))
    return [field.strip() for field in row]


def _sparse(body: str, attributes: list[Attribute]) -> pd.DataFrame:
    rest = ["0" if item.values is None else item.values[0] for item in attributes]
    rows = []
    for line in body.splitlines():
        row = list(rest)
        for pair in _fields(line.strip()[1:-1]) if line.strip() != "{}" else ():
            position, value = pair.split(maxsplit=1)
            row[int(position)] = value.strip("'\"")
        rows.append(row)
    return pd.DataFrame(rows, dtype=str)


def _column(attribute: Attribute, values: pd.Series) -> pd.Series:
    values = values.where(values != "?")
    if attribute.values is not None:
        unknown = set(values.dropna()) - set(attribute.values)
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
