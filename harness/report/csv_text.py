"""Tables as CSV that a spreadsheet opens as text: no cell of ours is a formula.

Names and reasons come from studies, plugins and trials. A spreadsheet computes a cell that begins
with =, +, - or @, also behind a tab or a carriage return, so such a text gets an apostrophe in
front, which spreadsheets take for "this is text" (OWASP, CSV injection). Numbers stay as they are.

A table of a million rows says most things many times: each is written out once a part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.compute as pc

from harness.files import whole_file

PART = 1 << 15
"""Rows whose text is in memory together."""
_FORMULA = ("=", "+", "-", "@", "\t", "\n")
_QUOTED = re.compile('[",\n]')


def csv_text(table: pd.DataFrame, header: bool = True) -> str:
    """Write a table without its index; texts that would be formulas are marked as texts.

    Parameters
    ----------
    table : pandas.DataFrame
    header : bool, default True
        Whether the first line names the columns.
    """
    return b"".join(_parts(table, header)).decode()


def write_csv(tables: Iterable[pd.DataFrame], path: Path) -> None:
    """Write tables of the same columns to a file, one below the other, as `csv_text` does.

    Raises
    ------
    HarnessError
        If the file cannot be written.
    """
    with whole_file(path) as file:
        for place, table in enumerate(tables):
            file.writelines(_parts(table, header=not place))


def _parts(table: pd.DataFrame, header: bool) -> Iterator[bytes]:
    if header:
        yield f"{','.join(_as_cell(name) for name in table.columns)}\n".encode()
    alone = '""' if table.shape[1] == 1 else ""  # a line of its own must not be empty
    for start in range(0, len(table) if table.shape[1] else 0, PART):
        part = table.iloc[start : start + PART]
        columns = [_as_cells(part.iloc[:, place], alone) for place in range(part.shape[1])]
        replace = {"null_handling": "replace", "null_replacement": alone}
        lines = pc.binary_join_element_wise(*columns, ",", **replace)
        whole = pyarrow.ListArray.from_arrays([0, len(lines)], lines)
        yield pc.binary_join(whole, "\n")[0].as_buffer().to_pybytes() + b"\n"


def _as_cells(column: pd.Series, empty: str) -> pyarrow.Array:
    """Return a column as the texts of its cells; what is not known is null."""
    kind = column.dtype
    if pd.api.types.is_float_dtype(kind):
        numbers = column.to_numpy("float64", na_value=np.nan)
        codes, bits = pd.factorize(numbers.view("int64"))  # which tell 0.0 from -0.0
        cells = _number_texts(bits.view("float64"))
        lacking = np.isnan(numbers)
    else:
        if pd.api.types.is_object_dtype(kind) and pd.api.types.infer_dtype(column) != "string":
            # True and 1 are equal, and are not the same text
            words = (None if pd.isna(cell) else str(cell) for cell in column)
            column = pd.Series(words, dtype=object)
        elif kind == "category":
            column = column.astype(object)
        codes, said = pd.factorize(column)
        numeric = pd.api.types.is_numeric_dtype(kind)
        texts = [str(cell) if numeric else _as_cell(cell) or empty for cell in said.tolist()]
        cells = pyarrow.array(texts, pyarrow.string())
        lacking = codes < 0
    return cells.take(pyarrow.array(codes, mask=lacking))


def _number_texts(numbers: np.ndarray) -> pyarrow.Array:
    """Return the shortest texts that are these numbers again, as `str` writes them."""
    texts = pc.cast(pyarrow.array(numbers), pyarrow.string())
    size = np.abs(numbers)
    with np.errstate(invalid="ignore"):  # of what is no number
        whole = numbers == np.floor(numbers)
    # Arrow is six times as fast, and writes these otherwise: 1 for 1.0, 1e+10, 2e-7, Infinity
    other = ~((size >= 1e-4) & (size < 1e10) & ~whole)
    replaced = pyarrow.array(map(str, numbers[other].tolist()), pyarrow.string())
    return pc.replace_with_mask(texts, pyarrow.array(other), replaced)


def _as_cell(text: str) -> str:
    # a carriage return is not quoted, and what follows it would be a row of its own
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.startswith(_FORMULA) and not _is_number(text):
        text = f"'{text}"
    text = text.encode("utf-8", "backslashreplace").decode()
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
