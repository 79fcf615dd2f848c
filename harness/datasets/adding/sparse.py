"""Sparse matrices, whose columns have no names: SVMlight's text by lines, and those of SciPy."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import load_npz

from harness.datasets.adding.profiles import MOST_LABELS, ColumnProfile
from harness.datasets.fetching import open_unpacked
from harness.datasets.sparse_rows import compressed
from harness.errors import HarnessError, shown
from harness.plugin.shape import csr_bytes

_BLOCK = 1 << 23
"""Bytes of text that are read at once."""

_LARGE, _MOSTLY_ZEROS = 100_000_000, 10
"""Bytes of a dense matrix from which on it is kept sparse, if that saves so many times."""


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
    nnz : int
        Values that are not 0.
    queries : bool, default False
        Whether lines say `qid:`, the group of a point.
    """

    d: int
    zero_based: bool
    labels: ColumnProfile
    gaps: int
    nnz: int
    queries: bool = False

    @property
    def is_large(self) -> bool:
        """Whether the matrix with its zeros would be large, and mostly these."""
        dense = 8 * self.labels.rows * self.d
        return dense > _LARGE and dense > _MOSTLY_ZEROS * csr_bytes(self.labels.rows, self.nnz)


def count_sparse(paths: Sequence[Path]) -> SparseCounts:
    """Count the lines, columns and labels of sparse texts that belong together.

    Raises
    ------
    HarnessError
        If a line is not understood, naming it.
    """
    from sklearn.datasets import load_svmlight_file

    highest, lowest, gaps, nnz, queries = 0, 1, 0, 0, False
    labels = ColumnProfile("first word of a line", most=MOST_LABELS)
    for path in paths:
        line = 1
        with open_unpacked(path) as stream:
            while lines := stream.readlines(_BLOCK):
                try:
                    X, y, groups = load_svmlight_file(
                        io.BytesIO(b"".join(lines)), zero_based=True, query_id=True
                    )
                except ValueError:
                    raise _misread(path, lines, line) from None
                line += len(lines)
                labels.update(pd.Series(y))
                queries = queries or len(groups) > 0
                if X.nnz:
                    lowest = min(lowest, int(X.indices.min()))
                    highest = max(highest, int(X.indices.max()))
                    gaps += int((~np.isfinite(X.data)).sum())
                    nnz += int(np.count_nonzero(X.data))
    return SparseCounts(highest + (lowest == 0), lowest == 0, labels, gaps, nnz, queries)


def count_matrix(path: Path, target: str) -> SparseCounts:
    """Count the same of a matrix of `scipy.sparse.save_npz` with its target beside it.

    Raises
    ------
    HarnessError
        If the file is no such matrix.
    """
    try:
        X = compressed(load_npz(path))
        with np.load(path, allow_pickle=False) as arrays:
            y = arrays[target].ravel()
    except (OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise HarnessError(
            f"{path}: no sparse matrix with {target!r} beside it: {reason}"
        ) from None
    if X.shape[0] != len(y):
        raise HarnessError(f"{path}: X has {X.shape[0]} rows, but {target} has {len(y)}")
    labels = ColumnProfile(target, most=MOST_LABELS)
    labels.update(pd.Series(y))
    gaps = int((~np.isfinite(X.data)).sum())
    return SparseCounts(X.shape[1], False, labels, gaps, X.nnz)


def is_sparse_npz(path: Path) -> bool:
    """Whether a file is one of `scipy.sparse.save_npz`, whatever else is in it."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {"data", "indices", "indptr", "shape"} <= set(arrays.files)
    except (OSError, ValueError):
        return False


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
