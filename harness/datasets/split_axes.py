"""Whether a split is a row or a column of a matrix of row numbers.

Benchmarks have both. Read the other way round, the numbers still make splits, of one point out of
each. So a matrix that could be either is refused, unless the study says which it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_BY_CHANCE = 1e-3
"""Lists that ascend are taken as sorted if lists in no order would do so less often."""


def turned(arrays: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return arrays with a row for each split where there was a column.

    Parameters
    ----------
    arrays : dict of str to array, or list of arrays
        Of lists that differ in length nothing can be turned.
    names : iterable of str
        Those that are lists of rows.

    Raises
    ------
    ValueError
        If lists differ in length.
    """
    import numpy as np

    held = {}
    for name in names:
        if isinstance(arrays[name], list) and len({len(part) for part in arrays[name]}) > 1:
            raise ValueError(f"'{name}' has lines of different lengths: leave `transpose` out")
        held[name] = np.array(arrays[name])
    counts = {array.shape[1] for array in held.values() if array.ndim == 2 and len(array) > 1}
    # a vector is a list that all splits share, unless it has one row of each
    is_shared = {
        name: array.ndim == 2 and len(array) == 1 and array.shape[1] not in counts
        for name, array in held.items()
    }
    return arrays | {name: held[name] if is_shared[name] else held[name].T for name in held}


def refuse_unclear_axis(
    arrays: dict[str, Any], called: Mapping[str, str], n: int, n_seeds: int | None
) -> None:
    """Refuse matrices of row numbers whose columns may be splits as well as their rows.

    Lists that ascend, as sorted ones do, tell which they are.

    Parameters
    ----------
    arrays, n, n_seeds
        As in `may_be_columns`.
    called : mapping of str to str
        Those that are lists of rows, and what the file calls them.

    Raises
    ------
    ValueError
        Naming the first matrix and what to write.
    """
    matrices = {name: array for name in called if (array := _matrix(arrays[name])) is not None}
    if not may_be_columns(arrays, called, n, n_seeds) or all(map(_rows_ascend, matrices.values())):
        return
    name, array = next(iter(matrices.items()))
    rows, columns = array.shape
    raise ValueError(
        f"'{called[name]}' is {rows} x {columns}, and its rows as well as its columns may be "
        "splits: write `transpose: false` beside `splits` if each row is one, `transpose: true` "
        "if each column is"
    )


def may_be_columns(
    arrays: dict[str, Any], names: Iterable[str], n: int, n_seeds: int | None
) -> bool:
    """Tell whether each column of the matrices could be a split.

    Parameters
    ----------
    arrays : dict of str to array, or list of arrays
    names : iterable of str
        Those that are lists of rows; a vector among them says nothing.
    n : int
        Rows of the data set.
    n_seeds : int or None
        How many numbers of splits there are, if any.
    """
    import numpy as np

    matrices = [array for name in names if (array := _matrix(arrays[name])) is not None]
    counts = {array.shape[1] for array in matrices}
    if len(counts) != 1 or n_seeds not in (None, *counts):
        return False
    if all(len(array) == n and np.isin(array, (0, 1)).all() for array in matrices):
        return True
    ordered = np.sort(np.concatenate(matrices), axis=0)
    return not (ordered[1:] == ordered[:-1]).any()


def _matrix(lists: Any) -> np.ndarray | None:
    """Return lists of row numbers as a matrix if there are several, all of one length."""
    import numpy as np

    if isinstance(lists, list) and len({len(part) for part in lists}) > 1:
        return None
    array = np.asarray(lists)
    known = array.ndim == 2 and len(array) > 1 and array.dtype.kind in "biuf"
    return array if known else None


def _rows_ascend(array: np.ndarray) -> bool:
    if not _ascend(array) or _ascend(array.T):
        return False
    return len(array) * math.lgamma(array.shape[1] + 1) > -math.log(_BY_CHANCE)


def _ascend(array: np.ndarray) -> bool:
    return bool((array[:, 1:] > array[:, :-1]).all())
