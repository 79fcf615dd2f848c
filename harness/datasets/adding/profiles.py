"""What a column holds, gathered a part of the table at a time.

Only so many different numbers and texts are remembered, so that a profile takes the same memory
whatever the size of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness.errors import shown

Name = str | int

MOST_LABELS = 10_000
"""Different values of a target that are remembered."""

MOST_CATEGORIES = 1000
"""Different values of a feature that are remembered, in tables of up to `_NARROW` columns."""

_NARROW = 2000

MARKS = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
"""Texts that mean that there is no value, in columns of numbers and of names alike."""


class ColumnProfile:
    """What the values of a column are.

    Parameters
    ----------
    name : str or int
    decimal : {".", ","}, default "."
        The decimal sign of numbers that are texts.
    most : int, default `MOST_CATEGORIES`
        Different values that are remembered.
    marked : bool, default True
        Whether texts of `MARKS` mean that there is no value.
    labels : bool, default False
        Whether the column is the target.

    Attributes
    ----------
    rows : int
    missing : int
        Rows without a value, those with a mark among them.
    marks : Counter
        Texts of `MARKS` that stood in the column.
    numbers, texts, written : Counter
        The first different ones of each, and how often they occur; `written` has the texts of both
        as they stand.
    n_numbers, n_texts : int
        Rows with a number and with a text.
    first_text : int or None
        The row of the first text, counted from 0.
    nominal : bool
        Whether the file itself says that the column is one of names.
    unsuited : str
        What values it holds that are neither numbers nor names; empty if none.
    whole : bool
        Whether all numbers are whole ones.
    all_written : bool
        Whether all values were texts, so that `written` has them.
    """

    def __init__(
        self,
        name: str | int,
        decimal: str = ".",
        most: int = MOST_CATEGORIES,
        marked: bool = True,
        labels: bool = False,
    ) -> None:
        self.name = name
        self.rows = self.missing = self.n_numbers = self.n_texts = 0
        self.marks: Counter[str] = Counter()
        self.numbers: Counter[float] = Counter()
        self.texts: Counter[str] = Counter()
        self.written: Counter[str] = Counter()
        self.all_written = True
        self.most = most
        self.first_text: int | None = None
        self.nominal = False
        self.unsuited = ""
        self.whole = True
        self.infinite = 0
        self._decimal = decimal
        self._marked = marked
        self._labels = labels
        self._distinct = True
        self._last: float | None = None
        self._steps = True
        self._highest = -np.inf

    @property
    def values(self) -> int:
        """Different values that are remembered."""
        return len(self.numbers) + len(self.texts)

    @property
    def many(self) -> bool:
        """Whether there are more than are remembered."""
        return max(len(self.numbers), len(self.texts)) > self.most

    @property
    def distinct(self) -> bool:
        """Whether no value occurs twice, as far as can be told."""
        return self._distinct and not self.missing

    @property
    def words(self) -> float:
        """Mean number of words of the texts that are remembered."""
        return sum(len(text.split()) for text in self.texts) / max(1, len(self.texts))

    @property
    def counts_rows(self) -> bool:
        """Whether the values are whole numbers, each one more than that of the row before."""
        return self._steps and not self.missing and not self.n_texts and self.n_numbers > 1

    def told(self, values: int) -> str:
        """Write a number of different values, of which not all may be remembered."""
        return f"more than {self.most:,}" if self.many else f"{values:,}"

    def update(self, values: pd.Series) -> None:
        """Take in the next values; the index says in which rows of the file they are."""
        self.rows += len(values)
        if isinstance(values.dtype, pd.CategoricalDtype):
            self.nominal = True
            values = values.astype(object)
        elif pd.api.types.is_bool_dtype(values.dtype):
            self.missing += int(values.isna().sum())
            values = values.dropna()
            # labels are read by their names, as text is
            as_text = self._marked or self._labels
            values = values.astype(str) if as_text else values.astype(np.int8)
        if pd.api.types.is_numeric_dtype(values.dtype):
            self.all_written = False
            self._take_numbers(values.astype(np.float64).to_numpy())
        elif pd.api.types.is_string_dtype(values.dtype) or values.dtype == object:
            self._take_texts(values)
        else:
            self.unsuited = str(values.dtype)

    def _take_texts(self, values: pd.Series) -> None:
        gaps = values.isna()
        self.missing += int(gaps.sum())
        known = values[~gaps]
        if known.empty:
            return
        kinds = (str, bool, int, float, np.number, np.bool_)
        odd = next((v for v in known if not isinstance(v, kinds)), None)
        if odd is not None:
            self.unsuited = f"values of type {type(odd).__name__}"
            return
        known = self._as_read(known)
        counts = known.value_counts()
        self._distinct &= bool((counts == 1).all())
        texts = counts.index
        marked = texts.isin(MARKS if self._marked else ())
        if self._marked and not self.nominal:
            self.marks.update(counts[marked].to_dict())
            self.missing += int(counts[marked].sum())
            counts, texts = counts[~marked], texts[~marked]
        if self.nominal:
            numbers = np.full(len(texts), np.nan)
        else:
            numbers = to_numbers(pd.Series(texts, dtype=str), self._decimal)
        is_number = ~np.isnan(numbers)
        self._remember(self.written, counts.to_dict())
        self._remember(self.texts, counts[~is_number].to_dict())
        found = int(counts[~is_number].sum())
        if found and self.first_text is None:
            self.first_text = int(known.isin(texts[~is_number]).idxmax())
        self.n_texts += found
        if is_number.all() and not marked.any() and not gaps.any():
            self._follow(to_numbers(known, self._decimal))
        else:
            self._steps = False
        self._count_numbers(numbers[is_number], counts[is_number].to_numpy())

    def _as_read(self, values: pd.Series) -> pd.Series:
        """Return texts as a reader has them: blanks around labels are none of theirs."""
        texts = values.astype(str)
        return texts.str.strip() if self._labels else texts

    def _take_numbers(self, numbers: np.ndarray) -> None:
        known = numbers[~np.isnan(numbers)]
        self.missing += len(numbers) - len(known)
        if len(known) < len(numbers):
            self._steps = False
        if not len(known):
            return
        self._follow(known)
        self._distinct &= len(np.unique(known)) == len(known)
        self._count_numbers(known, np.ones(len(known)))

    def _count_numbers(self, values: np.ndarray, counts: np.ndarray) -> None:
        if not len(values):
            return
        # of texts several may be the same number: 1 and +1
        values, place = np.unique(values, return_inverse=True)
        counts = np.bincount(place, weights=counts).astype(np.int64)
        finite = np.isfinite(values)
        self.infinite += int(counts[~finite].sum())
        self.n_numbers += int(counts[finite].sum())
        values, counts = values[finite], counts[finite]
        self.whole &= bool(np.all(values == np.floor(values)))
        if len(values):
            # of parts that overlap it is not remembered which values were there
            self._distinct &= not self.numbers or values.min() > self._highest
            self._highest = max(self._highest, float(values.max()))
        self._remember(self.numbers, dict(zip(values.tolist(), counts.tolist(), strict=True)))

    def _follow(self, numbers: np.ndarray) -> None:
        self._steps &= bool(np.isfinite(numbers).all())
        if not self._steps:
            return
        before = numbers[:1] - 1 if self._last is None else np.array([self._last])
        self._steps = bool(np.all(np.diff(np.concatenate([before, numbers])) == 1))
        self._last = float(numbers[-1])

    def _remember(self, known: Counter[Any], found: dict[Any, int]) -> None:
        for value, count in found.items():
            if value in known or len(known) <= self.most:
                known[value] += count


def most_remembered(n_columns: int) -> int:
    """Return how many different values of each feature of a table are remembered."""
    return max(50, min(MOST_CATEGORIES, _NARROW * MOST_CATEGORIES // max(1, n_columns)))


def gaps_of(values: pd.Series, marked: bool) -> np.ndarray:
    """Tell in which rows of a column there is no value, as an array of bool."""
    gaps = values.isna().to_numpy()
    if marked and pd.api.types.is_string_dtype(values.dtype):
        gaps = gaps | values.astype(str).str.strip().isin(MARKS).to_numpy()
    return gaps


def to_numbers(texts: pd.Series, decimal: str = ".") -> np.ndarray:
    """Return texts as numbers, NaN where they are none."""
    if decimal != ".":
        texts = texts.str.replace(decimal, ".", regex=False)
    return pd.to_numeric(texts.str.strip(), errors="coerce").to_numpy(dtype=np.float64)


def listed(names: Sequence[Name], most: int = 8) -> str:
    """Write names one after the other, cut where they are many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(quoted, names[:most])) + more


def quoted(name: Name) -> str:
    """Write a name as messages do: in quotes, cut where it is long; a number without."""
    return shown(name, 60) if isinstance(name, str) else str(name)
