"""Columns of lists, such as vectors: one column for each element."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd


def list_widths(frame: pd.DataFrame) -> dict[Any, int]:
    """Return how many elements the lists of a column have, for each column of lists.

    A column whose lists differ in length has width 0.
    """
    widths = {}
    for name, values in frame.items():
        found = _lengths(values)
        if found:
            widths[name] = found.pop() if len(found) == 1 else 0
    return widths


def joined_widths(parts: Iterable[pd.DataFrame]) -> dict[Any, int]:
    """Return `list_widths` of a table that is given in parts."""
    joined: dict[Any, int] = {}
    for part in parts:
        for name, width in list_widths(part).items():
            joined[name] = width if joined.get(name, width) == width else 0
    return joined


def spread(frame: pd.DataFrame, widths: Mapping[Any, int]) -> pd.DataFrame:
    """Return a table with a column for each element of lists; `v` becomes `v.0`, `v.1` and so on.

    Parameters
    ----------
    frame : DataFrame
    widths : mapping of str to int
        As `list_widths` returns them; columns of width 0 stay as they are.
    """
    if not any(widths.values()):
        return frame
    columns = {}
    for name, values in frame.items():
        if not widths.get(name):
            columns[name] = values
            continue
        elements = np.array([_flat(value) for value in values]).reshape(len(values), widths[name])
        columns |= {f"{name}.{at}": elements[:, at] for at in range(widths[name])}
    return pd.DataFrame(columns, index=frame.index)


def _lengths(values: pd.Series) -> set[int]:
    held = values.to_numpy()
    if held.dtype != object or not all(isinstance(value, np.ndarray | list) for value in held):
        return set()
    return {len(_flat(value)) for value in held}


def _flat(value: Any) -> np.ndarray:
    """Return the elements of a list, also of one of lists."""
    array = np.asarray(value)
    if array.dtype != object:
        return array.ravel()
    return np.concatenate([_flat(part) for part in array]) if len(array) else array
