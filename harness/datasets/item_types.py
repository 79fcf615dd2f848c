"""Of which type the numbers of prepared features are handed over, and how they come to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ItemType:
    """What becomes of the numbers of a file of features.

    Parameters
    ----------
    dtype : {"float64", "float32"}
        Of what is handed over.
    divide_by : float, default 1
        What small integers are divided by.
    keeps_integers : bool, default False
        Whether the X of `fit` holds small integers as they are, and each of its blocks is
        converted when it is asked for.
    """

    dtype: str
    divide_by: float = 1.0
    keeps_integers: bool = False

    @property
    def itemsize(self) -> int:
        """Bytes of a number that is handed over."""
        return int(np.dtype(self.dtype).itemsize)

    def put(self, values: np.ndarray, out: np.ndarray, places: slice | np.ndarray) -> None:
        """Write values of the file to some places; holds no more than a copy of them."""
        if self.divide_by == 1:
            out[places] = values
            return
        converted = values.astype(out.dtype)
        converted /= out.dtype.type(self.divide_by)
        out[places] = converted
