"""MATLAB's files: matrices by name, and those that are fields of structures."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from harness.datasets.fetching import open_unpacked
from harness.datasets.foreign_files import foreign_kind


def load_mat(path: Path) -> dict[str, Any]:
    """Return the matrices of a MATLAB file by name.

    Parameters
    ----------
    path : Path
        Plain or packed.

    Returns
    -------
    dict of str to ndarray or sparse matrix
        Field x of a structure `banana` is called `banana.x`.

    Raises
    ------
    ValueError
        If it is one of version 7.3, which is HDF5.
    Exception
        Of SciPy's reader, if it is damaged.
    """
    from scipy.io import loadmat

    with open_unpacked(path) as stream:
        content = stream.read()
    if what := foreign_kind(content[:4096], "mat"):
        raise ValueError(f"this is {what}")
    found: dict[str, Any] = {}
    for name, held in loadmat(io.BytesIO(content)).items():
        if not name.startswith("__"):
            found |= _by_field(name, held)
    return found


def _by_field(name: str, held: Any) -> dict[str, Any]:
    fields = getattr(getattr(held, "dtype", None), "names", None)
    if not fields or held.size != 1:
        return {name: held}
    found: dict[str, Any] = {}
    for field in fields:
        found |= _by_field(f"{name}.{field}", held[field].item())
    return found
