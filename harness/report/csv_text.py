"""Tables as CSV that a spreadsheet opens as text: no cell of ours is a formula.

Names and reasons come from studies, plugins and trials. A spreadsheet computes a cell that begins
with =, +, - or @, also behind a tab or a carriage return, so such a text gets an apostrophe in
front, which spreadsheets take for "this is text" (OWASP, CSV injection). Numbers stay as they are.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

_FORMULA = ("=", "+", "-", "@", "\t", "\n")


def csv_text(table: pd.DataFrame) -> str:
    """Write a table without its index; texts that would be formulas are marked as texts."""
    safe = table.rename(columns=_as_text)
    for position, kind in enumerate(safe.dtypes):
        if not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind)):
            column = safe.iloc[:, position].astype(object)
            safe.isetitem(position, column.map(_as_text, na_action="ignore"))
    return safe.to_csv(index=False)


def _as_text(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    # a carriage return is not quoted, and what follows it would be a row of its own
    cell = cell.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{cell}" if cell.startswith(_FORMULA) and not _is_number(cell) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
