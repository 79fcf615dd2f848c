"""The sparse text of SVMlight and LIBSVM, counted a line at a time: it names no columns."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from harness.datasets.adding.profiles import MOST_LABELS, ColumnProfile
from harness.datasets.fetching import open_unpacked
from harness.errors import HarnessError, shown

_BLOCK = 1 << 23
"""Bytes of text that are read at once."""


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


def count_sparse(paths: Sequence[Path]) -> SparseCounts:
    """Count the lines, columns and labels of sparse texts that belong together.

    Raises
    ------
    HarnessError
        If a line is not understood, naming it.
    """
    from sklearn.datasets import load_svmlight_file

    highest, lowest, gaps = 0, 1, 0
    labels = ColumnProfile("first word of a line", most=MOST_LABELS)
    for path in paths:
        line = 1
        with open_unpacked(path) as stream:
            while lines := stream.readlines(_BLOCK):
                try:
                    X, y = load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
                except ValueError:
                    raise _misread(path, lines, line) from None
                line += len(lines)
                labels.update(pd.Series(y))
                if X.nnz:
                    lowest = min(lowest, int(X.indices.min()))
                    highest = max(highest, int(X.indices.max()))
                    gaps += int((~np.isfinite(X.data)).sum())
    return SparseCounts(highest + (lowest == 0), lowest == 0, labels, gaps)


def _misread(path: Path, lines: list[bytes], first: int) -> HarnessError:
    """Name the first of some lines that cannot be read."""
    from sklearn.datasets import load_svmlight_file

    for number, line in enumerate(lines, first):
        try:
            load_svmlight_file(io.BytesIO(line), zero_based=True)
        except ValueError:
            return HarnessError(
                f"{path}: line {number} is not a label and pairs of index and value, indices "
                f"ascending: {shown(line[:60].decode('utf-8', 'replace').strip())}"
            )
    return HarnessError(f"{path}: cannot be read as svmlight")
