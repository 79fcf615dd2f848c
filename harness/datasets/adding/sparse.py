"""The sparse text of SVMlight and LIBSVM, counted a line at a time: it names no columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from harness.datasets.adding.profiles import MOST_LABELS, ColumnProfile
from harness.datasets.fetching import open_unpacked
from harness.errors import HarnessError, shown

_LINES = 100_000


@dataclass(frozen=True)
class SparseCounts:
    """What the lines of a sparse text hold.

    Parameters
    ----------
    d : int
        Columns, up to the last that a line names.
    zero_based : bool
        Whether an index is 0.
    labels : ColumnProfile
        Of the first words of the lines.
    gaps : int
        Values that are NaN or infinite.
    """

    d: int
    zero_based: bool
    labels: ColumnProfile
    gaps: int


def count_sparse(path: Path) -> SparseCounts:
    """Count the lines, columns and labels of a sparse text.

    Raises
    ------
    HarnessError
        If a line is not understood, naming it.
    """
    highest, lowest, gaps = 0, 1, 0
    labels = ColumnProfile("first word of a line", most=MOST_LABELS)
    held: list[float] = []
    with open_unpacked(path) as stream:
        for number, line in enumerate(stream, 1):
            words = line.partition(b"#")[0].split()
            if not words:
                continue
            try:
                held.append(float(words[0]))
                for word in words[1:]:
                    if word.startswith(b"qid:"):
                        continue
                    at, value = word.split(b":")
                    index = int(at)
                    lowest, highest = min(lowest, index), max(highest, index)
                    gaps += not np.isfinite(float(value))
            except ValueError:
                told = shown(line[:60].decode("utf-8", "replace").strip())
                raise HarnessError(
                    f"{path}: line {number} is not a number and pairs of index and value: {told}"
                ) from None
            if len(held) == _LINES:
                labels.update(pd.Series(held))
                held = []
    if held:
        labels.update(pd.Series(held))
    return SparseCounts(highest + (lowest == 0), lowest == 0, labels, gaps)
