"""Columns of encoded pictures in tables, as data sets of Hugging Face have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from harness.datasets.image_folders import picture_array, refuse_other_size
from harness.datasets.picture_keys import PictureColumn


def with_pixels(frame: pd.DataFrame, read: PictureColumn, first: int = 0) -> pd.DataFrame:
    """Return a table in which a column of pictures is one column for each grey level.

    Parameters
    ----------
    frame : DataFrame
    read : PictureColumn
        The column holds PNG, JPEG and the like: bytes, or mappings with `bytes`.
    first : int, default 0
        The number of the first row, for messages.

    Raises
    ------
    ValueError
        If there is no such column, or a row of it is no picture, or one of another size.
    HarnessError
        If Pillow is not installed.
    """
    if read.column not in frame.columns:
        held = ", ".join(map(str, frame.columns))
        raise ValueError(f"pictures.column: there is no {read.column!r}; the columns are {held}")
    arrays: list[np.ndarray] = []
    for row, value in enumerate(frame[read.column], first):
        name = f"the picture in row {row}"
        values = picture_array(name, _content(value, name), read)
        refuse_other_size(name, values, f"that in row {first}", arrays[0] if arrays else values)
        arrays.append(values)
    flat = np.stack(arrays).reshape(len(arrays), -1)
    names = [f"{read.column}.{at}" for at in range(flat.shape[1])]
    pixels = pd.DataFrame(flat, columns=names, index=frame.index)
    return pd.concat([frame.drop(columns=read.column), pixels], axis=1)


def _content(value: Any, name: str) -> bytes:
    content = value.get("bytes") if isinstance(value, Mapping) else value
    if not isinstance(content, bytes):
        raise ValueError(f"{name} has no bytes; a path to a picture is not followed")
    return content
