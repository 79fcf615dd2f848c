"""A matrix of small integers that stand for numbers: a block of them is converted at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

_ROWS = 256
"""Rows that are picked, or summed up, at a time."""


class ScaledIntegers:
    """Points whose features are integers of one byte, divided by one number.

    What is asked for by rows comes as an ordinary array of `dtype`, such as `X[10:20]`,
    `X[rows]` or `X[rows, columns]`. Asked for as an array it is converted as a whole.

    Parameters
    ----------
    codes : ndarray of shape (n, d), uint8
    divide_by : float
    dtype : type, default numpy.float32
        Of what is handed out.
    """

    def __init__(self, codes: np.ndarray, divide_by: float, dtype: DTypeLike = np.float32) -> None:
        self.codes = codes
        self.dtype = np.dtype(dtype)
        self._divisor = np.asarray(divide_by, self.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Points and features."""
        return self.codes.shape

    @property
    def ndim(self) -> int:
        """Two."""
        return self.codes.ndim

    @property
    def size(self) -> int:
        """Features of all points together."""
        return self.codes.size

    @property
    def itemsize(self) -> int:
        """Bytes of a number that is handed out."""
        return self.dtype.itemsize

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, places: Any) -> np.ndarray:
        if isinstance(places, np.ndarray) and places.ndim == 1 and places.dtype.kind == "i":
            # all of them picked at once would be there as integers too
            found = np.empty((len(places), *self.shape[1:]), self.dtype)
            for start in range(0, len(places), _ROWS):
                found[start : start + _ROWS] = self.codes[places[start : start + _ROWS]]
        else:
            found = self.codes[places].astype(self.dtype)
        found /= self._divisor
        return found

    def head(self, n: int) -> Self:
        """Return the first n points as small integers, without a copy."""
        return type(self)(self.codes[:n], float(self._divisor), self.dtype)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("small integers are converted: there is no array without a copy")
        found = self[:]
        return found if dtype is None else found.astype(dtype, copy=False)

    def mean(self, axis: int = 0, dtype: DTypeLike = np.float64) -> np.ndarray:
        """Return the mean of each column, summed up block by block in float64."""
        total = np.zeros(self.shape[1])
        for start in range(0, len(self), _ROWS):
            total += self[start : start + _ROWS].sum(axis=axis, dtype=np.float64)
        return (total / len(self)).astype(dtype, copy=False)

    def min(self, axis: int | None = None) -> Any:
        """Return the smallest feature, or that of each column (axis 0)."""
        return self.codes.min(axis=axis).astype(self.dtype) / self._divisor

    def max(self, axis: int | None = None) -> Any:
        """Return the largest feature, or that of each column (axis 0)."""
        return self.codes.max(axis=axis).astype(self.dtype) / self._divisor
