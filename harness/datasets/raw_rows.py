"""Rows as a source has them, encoded and scaled as a data set was when it was prepared.

What a data set became is learned from its source: the value of each name, what was put in for
missing values, the statistics of the scaling. Then rows that were not among it are prepared alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from harness.datasets.encoding import Source, encode, encode_features, label_texts
from harness.datasets.entry import Entry
from harness.datasets.fetching import fetch
from harness.datasets.scaling import Scaling, scale
from harness.datasets.texts import read_source
from harness.errors import HarnessError, shown

_MISSING = ""
"""How a missing name is looked up: no name of a source is empty."""
_TRIED = 2_000


@dataclass(frozen=True)
class _Nominal:
    """A column of names.

    Attributes
    ----------
    name : str or int
    position : int
        Of its first encoded column.
    codes : dict of str to ndarray
        The encoded columns of each name.
    """

    name: Any
    position: int
    codes: dict[str, np.ndarray]


@dataclass(frozen=True)
class RowPreparation:
    """Prepares rows as a data set was prepared.

    Attributes
    ----------
    columns : list of str or int
        Of the source, in their order, without the target and what is ignored.
    n_features : int
        After encoding.
    """

    columns: list[Any]
    n_features: int
    dtype: str
    divide_by: float
    scaling: Scaling
    numeric: np.ndarray
    """Places among `columns` of those that hold numbers."""
    targets: np.ndarray
    """Encoded columns of those."""
    fills: np.ndarray
    """What is put in where a number is missing; NaN where that is not known."""
    logarithm: np.ndarray
    """Places of those that become log(1 + x)."""
    nominal: list[_Nominal]

    def __call__(self, rows: Any) -> np.ndarray:
        """Prepare rows.

        Parameters
        ----------
        rows : DataFrame, or array-like of shape (m, len(columns))
            A data frame is taken by the names of its columns, and may have others besides.

        Returns
        -------
        ndarray (m, n_features) of the data set's dtype

        Raises
        ------
        HarnessError
            If a column is missing, or a value was not there when the model was fitted.
        """
        table = self._table(rows)
        X = np.empty((len(table), self.n_features), dtype=self.dtype)
        numbers = self._numbers(table)
        numbers[:, self.logarithm] = np.log1p(numbers[:, self.logarithm])
        gaps = ~np.isfinite(numbers)
        if gaps.any():
            numbers = np.where(gaps, self.fills, numbers)
            unknown = np.argwhere(~np.isfinite(numbers))
            if len(unknown):
                row, place = unknown[0]
                name = self.columns[self.numeric[place]]
                raise HarnessError(
                    f"row {row}: column {name}: there is no number, and none was missing in the "
                    "data set that the model was fitted to"
                )
        X[:, self.targets] = numbers
        for column in self.nominal:
            width = len(next(iter(column.codes.values())))
            X[:, column.position : column.position + width] = _codes(table[column.name], column)
        if self.divide_by != 1:
            X /= X.dtype.type(self.divide_by)
        self.scaling.apply(X)
        return X

    def _table(self, rows: Any) -> pd.DataFrame:
        if isinstance(rows, pd.DataFrame):
            lacking = [name for name in self.columns if name not in rows.columns]
            if lacking and not rows.columns.isin(self.columns).any():
                rows = rows.to_numpy()
            elif lacking:
                named = ", ".join(map(str, lacking[:5]))
                raise HarnessError(f"rows: the columns {named} are not there")
            else:
                return rows[self.columns].reset_index(drop=True)
        values = np.asarray(rows)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            raise HarnessError(
                f"rows: shape {values.shape}, but the model takes rows of {len(self.columns)} "
                f"values: {', '.join(map(str, self.columns[:5]))}, ..."
            )
        return pd.DataFrame(values, columns=self.columns)

    def _numbers(self, table: pd.DataFrame) -> np.ndarray:
        held = table.iloc[:, self.numeric]
        try:
            return held.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        except (TypeError, ValueError):
            numbers = held.apply(pd.to_numeric, errors="coerce")
            row, place = np.argwhere((numbers.isna() & held.notna()).to_numpy())[0]
            value = held.iloc[row, place]
            where = f"row {row}: column {held.columns[place]}"
            raise HarnessError(f"{where}: {shown(value)} is not a number") from None


def written_names(values: pd.Series) -> np.ndarray:
    """Return names as they are looked up: as a catalog writes them, missing ones as nothing."""
    known = values.notna().to_numpy()
    found = np.full(len(values), _MISSING, dtype=object)
    held = values.to_numpy()[known]
    if len(held):
        found[known] = label_texts(held if held.dtype != object else np.array(list(held)))
    return found


def _codes(values: pd.Series, column: _Nominal) -> np.ndarray:
    names = written_names(values)
    unknown = [row for row, name in enumerate(names) if name not in column.codes]
    if unknown:
        known = ", ".join(name for name in list(column.codes)[:10] if name != _MISSING)
        value = shown(names[unknown[0]]) if names[unknown[0]] != _MISSING else "a missing value"
        raise HarnessError(
            f"row {unknown[0]}: column {column.name}: {value} was not there when the model was "
            f"fitted; known are {known}"
        )
    return np.array([column.codes[name] for name in names]).reshape(len(names), -1)


def learn_preparation(entry: Entry, prepared: np.ndarray) -> tuple[RowPreparation, pd.DataFrame]:
    """Learn how rows of a data set's source became prepared rows.

    Parameters
    ----------
    entry : Entry
        Its files are read once more.
    prepared : ndarray (n, d)
        The prepared features, which may be mapped.

    Returns
    -------
    preparation : RowPreparation
    table : DataFrame
        The rows of the source that became the prepared ones, one for each.

    Raises
    ------
    HarnessError
        If the source cannot be read, or what is learned does not give the prepared rows.
    """
    if entry.sparse:
        raise HarnessError(
            f"data set {entry.name!r}: is sparse: its models take rows as they are prepared, a "
            "sparse matrix with prepared=True"
        )
    source = read_source(entry, fetch(entry))
    if entry.small_integers:  # a model is given the numbers that they stand for
        entry = entry.model_copy(update={"dtype": entry.number_type})
    table, target = pd.DataFrame(source.X).copy(), source.target
    encoded, _, rows = encode(source, entry)
    numbers = encoded.copy()
    if entry.divide_by != 1:
        encoded /= encoded.dtype.type(entry.divide_by)
    scaling = scale(encoded, entry.scaling)
    part = table.iloc[rows].reset_index(drop=True)
    made = learn_columns(part, target[rows], numbers, entry, scaling)
    if made is not None and _same(made, part, prepared):
        return made, part
    raise HarnessError(
        f"data set {entry.name!r}: how its source became the prepared rows could not be learned"
    )


def learn_columns(
    table: pd.DataFrame, target: np.ndarray, encoded: np.ndarray, entry: Entry, scaling: Scaling
) -> RowPreparation | None:
    """Learn how columns of a table were encoded.

    Parameters
    ----------
    table : DataFrame of n rows
    target : ndarray (n,)
    encoded : ndarray (n, d)
        What became of the table, neither divided nor scaled.
    entry : Entry
    scaling : Scaling
        What was done to the encoded columns then.

    Returns
    -------
    RowPreparation or None
        None where the table gives other columns.
    """
    numeric: list[int] = []
    targets: list[int] = []
    nominal: list[_Nominal] = []
    position = 0
    alone = entry.model_copy(update={"raw_n": None, "raw_d": None, "logarithm": ()})
    for place, name in enumerate(table.columns):
        values = table[name]
        if not isinstance(values.dtype, pd.CategoricalDtype):
            numeric.append(place)
            targets.append(position)
            position += 1
            continue
        column = Source(values.to_frame().copy(), target, [len(target)])
        width = encode_features(column, alone)[0].shape[1]
        codes = encoded[:, position : position + width]
        names = written_names(values)
        first = {name: row for row, name in reversed(list(enumerate(names)))}
        nominal.append(_Nominal(name, position, {name: codes[r] for name, r in first.items()}))
        position += width
    if position != encoded.shape[1]:
        return None
    numbers = table.iloc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan)
    gaps = ~np.isfinite(numbers)
    fills = np.full(len(numeric), np.nan)
    for gap in np.flatnonzero(gaps.any(axis=0)):
        fills[gap] = encoded[np.argmax(gaps[:, gap]), targets[gap]]
    return RowPreparation(
        columns=list(table.columns),
        n_features=encoded.shape[1],
        dtype=entry.dtype,
        divide_by=entry.divide_by,
        scaling=scaling,
        numeric=np.array(numeric, dtype=np.int64),
        targets=np.array(targets, dtype=np.int64),
        fills=fills,
        logarithm=np.flatnonzero(np.isin(numeric, entry.logarithm)),
        nominal=nominal,
    )


def _same(made: RowPreparation, table: pd.DataFrame, prepared: np.ndarray) -> bool:
    """Tell whether some rows of the source come out as they were prepared."""
    rows = np.unique(np.linspace(0, len(table) - 1, min(len(table), _TRIED)).astype(np.int64))
    try:
        X = made(table.iloc[rows])
    except HarnessError:
        return False
    # whitening is a product, which rounds otherwise for other numbers of rows
    close = 100 * np.finfo(X.dtype).eps if made.scaling.root is not None else 0.0
    held = prepared[rows]
    if held.dtype != X.dtype:
        held = held.astype(X.dtype) / X.dtype.type(made.divide_by)
    return X.shape[1] == prepared.shape[1] and np.allclose(X, held, close, close)
