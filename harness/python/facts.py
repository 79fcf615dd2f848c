"""Groups and the order of points that are given as objects, beside features and targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError

if TYPE_CHECKING:
    import numpy as np

    from harness.python.data import Data

FACTS = ("groups", "order")


def named_fact(data: Data, key: str) -> Any:
    """Return what the column or the array of groups, or of the order, is called in a file."""
    given = getattr(data, key)
    return given if given is None or isinstance(given, str) else _called(data, key)


def _called(data: Data, key: str) -> str:
    """Return a name that no column of a frame has."""
    columns = [*map(str, getattr(data.X, "columns", ())), str(getattr(data.y, "name", ""))]
    while key in columns:
        key += "_"
    return key


def facts_of(rows: int, data: Data) -> dict[str, np.ndarray]:
    """Return the values of groups and of the order that are given, by what they are called.

    Raises
    ------
    HarnessError
        If there is not one for each row.
    """
    import numpy as np
    import pandas as pd

    facts: dict[str, np.ndarray] = {}
    for key in FACTS:
        given = getattr(data, key)
        if given is None:
            continue
        if isinstance(given, str):
            if hasattr(data.X, "columns"):
                continue
            raise HarnessError(f"{key}: X has no columns with names: give a value for each row")
        values = given.to_numpy() if isinstance(given, pd.Series) else np.asarray(given)
        if values.shape != (rows,):
            raise HarnessError(f"X has {rows} rows, but {key} has the shape {values.shape}")
        if pd.isna(values).any():
            raise HarnessError(f"{key}: row {int(np.argmax(pd.isna(values)))} has no value")
        facts[_called(data, key)] = values.astype(str) if values.dtype.kind in "OM" else values
    return facts
