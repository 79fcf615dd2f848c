"""Matrices that a file holds by name: which are features, and which are their targets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from harness.datasets.adding.profiles import Name
from harness.datasets.adding.tables import (
    CELLS,
    MOST_WHOLE,
    Table,
    described,
    is_numeric,
    refuse_large,
    reported,
)
from harness.datasets.mat_files import load_mat
from harness.datasets.matrices import column
from harness.errors import HarnessError
from harness.units import format_bytes

_ROLES = re.compile(r"features?|fea|labels?|lab|targets?|gnd|data|[xy]", re.I)
"""What names of features and of targets differ in; the rest tells which belong together."""


def npz_table(path: Path, target: str | None, beside: Collection[str] = ()) -> Table:
    """Return the matrices and targets of an npz as a table; the target's column has its name.

    What is named in `beside` is neither.
    """
    return _table(path, "npz", _npz_arrays, target, beside)


def mat_table(path: Path, target: str | None, beside: Collection[str] = ()) -> Table:
    """Return the same of a MATLAB file."""
    return _table(path, "mat", load_mat, target, beside)


def _npz_arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as held:
        return {name: held[name] for name in held.files}


def _table(
    path: Path,
    format: str,
    load: Callable[[Path], dict[str, Any]],
    target: str | None,
    beside: Collection[str],
) -> Table:
    refuse_large(path)
    with reported(path, format):
        arrays = {name: array for name, array in load(path).items() if name not in beside}
    alone = _alone(arrays, target) if format == "mat" else None
    if alone is not None:
        return _whole(path, alone, arrays[alone], int(target or 0))
    pairs, transposed = _pairs(path, arrays, target)
    with reported(path, format):
        X = [_features(path, arrays[name], transposed) for name in pairs]
        y = [column(arrays[name]) for name in pairs.values()]
    y = [part.astype(str) if part.dtype.kind in "SU" else part for part in y]
    named = list(pairs), list(pairs.values())
    one = len(pairs) == 1
    read: dict[str, Any] = {"format": format}
    read |= {"transpose": True} if transposed else {}
    if format == "mat" or named != (["X"], ["y"]):
        written = {"X": named[0][0], "y": named[1][0]} if one else {"X": named[0], "y": named[1]}
        usual = {("X", "X")} | ({("y", "y")} if format == "npz" else set())
        read |= {key: value for key, value in written.items() if (key, str(value)) not in usual}
    name = named[1][0]
    width = X[0].shape[1]
    rows = max(1, CELLS // width)

    def parts(_: Name) -> Iterator[pd.DataFrame]:
        for features, targets in zip(X, y, strict=True):
            for start in range(0, len(features), rows):
                part = pd.DataFrame(features[start : start + rows])
                part[name] = targets[start : start + rows]
                yield part

    told = [f"features are {', '.join(named[0])}, targets are {', '.join(named[1])}"]
    if transposed:
        told.append("samples are in columns (`transpose` in the entry)")
    return Table(read, [*range(width), name], parts, told)


def _alone(arrays: Mapping[str, Any], target: str | None) -> str | None:
    """Return the one matrix of a file, if the target is one of its columns, by number."""
    names = [name for name, array in arrays.items() if _holds_numbers(array)]
    if len(names) != 1 or target is None or not target.isdigit():
        return None
    return names[0] if int(target) < arrays[names[0]].shape[1] else None


def _whole(path: Path, name: str, array: Any, target: int) -> Table:
    X = _features(path, array, False)
    rows = max(1, CELLS // X.shape[1])

    def parts(_: Name) -> Iterator[pd.DataFrame]:
        for start in range(0, len(X), rows):
            yield pd.DataFrame(X[start : start + rows])

    read = {"format": "mat"} | ({} if name == "X" else {"X": name}) | {"target": target}
    return Table(read, list(range(X.shape[1])), parts, [f"the target is a column of {name}"])


def _pairs(
    path: Path, arrays: Mapping[str, Any], target: str | None
) -> tuple[dict[str, str], bool]:
    """Return the targets of each matrix of features, and whether samples are in columns."""
    sizes = {name: int(np.prod(array.shape)) for name, array in arrays.items()}
    matrices = [
        name
        for name, array in arrays.items()
        if len(array.shape) > 1 and max(array.shape) < sizes[name] and _holds_numbers(array)
    ]
    holds = ", ".join(f"{name} ({described(array)})" for name, array in arrays.items())
    if not matrices:  # a single feature is a column
        matrices = [
            name
            for name, array in arrays.items()
            if len(array.shape) == 2 and name != target and _holds_numbers(array)
        ][:1]
    matrices = ["X"] if "X" in matrices else matrices
    if not matrices:
        raise HarnessError(f"{path}: one matrix of numbers is wanted; the file holds {holds}")
    vectors = [name for name in arrays if name not in matrices]
    for transposed in (False, True):
        samples = {name: arrays[name].shape[-1 if transposed else 0] for name in matrices}
        fitting = {
            name: [other for other in vectors if sizes[other] == samples[name]]
            for name in matrices
        }
        if target is not None:
            fitting = {
                name: [other for other in found if other == target]
                for name, found in fitting.items()
            }
        if any(fitting.values()):
            break
    if len(matrices) > 1:
        fitting = {
            name: [other for other in found if _rest(other) == _rest(name)]
            for name, found in fitting.items()
        }
        widths = {sizes[name] // samples[name] for name in matrices}
        if len(widths) > 1 or any(len(found) != 1 for found in fitting.values()):
            raise HarnessError(f"{path}: one matrix of numbers is wanted; the file holds {holds}")
        return {name: found[0] for name, found in fitting.items()}, transposed
    (name,) = matrices
    if target is not None and not fitting[name]:
        raise HarnessError(
            f"{path}: there is no target {target!r} with {arrays[name].shape[0]} values; the file "
            f"holds {holds}"
        )
    if len(fitting[name]) != 1:
        raise HarnessError(
            f"{path}: which array is the target? Say --target NAME; the file holds {holds}"
        )
    return {name: fitting[name][0]}, transposed


def _rest(name: str) -> str:
    return _ROLES.sub("", name).strip("_-. ").lower()


def _holds_numbers(array: Any) -> bool:
    return issparse(array) or is_numeric(array)


def _features(path: Path, array: Any, transposed: bool) -> np.ndarray:
    if issparse(array):
        needed = 8 * array.shape[0] * array.shape[1]
        if needed > MOST_WHOLE:
            raise HarnessError(
                f"{path}: a sparse matrix that takes {format_bytes(needed)} with its zeros: write "
                "its entry by hand, with `sparse: true`"
            )
        array = array.toarray()
    rows = np.moveaxis(array, -1, 0) if transposed else array
    return rows.reshape(len(rows), math.prod(rows.shape[1:]))
