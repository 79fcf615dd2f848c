"""The shape of a trial: what is known of its points before any of them is loaded.

Storage models are functions of it. What follows from a shape alone, such as the rows of a block
and the bytes of X, is decided here for the plan and for the trial alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

PREDICT_BLOCK = 1024
"""Rows that the harness hands to one call of `decision_function` or `predict`, at most."""

PREDICT_BYTES = 1 << 20
"""Bytes of these rows at most, unless they are few."""

FEWEST_ROWS = 16
"""Rows of a block, however wide they are: fewer would cost more calls than they save bytes."""


@dataclass(frozen=True)
class Shape:
    """What is known of a trial before any data is loaded.

    Parameters
    ----------
    n_labeled, n_unlabeled : int
        Points that `fit` sees, with and without a label.
    n_features : int
        Columns of X.
    n_classes : int
        Number of classes (or clusters); 0 for regression.
    n_test : int, default 0
        Points that are predicted but not seen by `fit`.
    itemsize : int, default 8
        Bytes of one element of X.
    mapped : bool, default False
        Whether X is mapped from its file, so that `fit`'s X is not charged.
    n_scored : int or None, default None
        Points whose predictions are handed over. None: those that `fit` does not see, or the
        unlabeled ones where it sees all.
    loaded : bool, default True
        Whether the X of `fit` is read at all.
    n_validated : int or None, default None
        Labeled points that a search predicts at once; 0 without a search. None: up to all.
    row_nnz : float or None, default None
        Nonzeros of a row on average, where X is sparse (CSR). None: X is dense.
    part : int or None, default None
        Labeled points that `partial_fit` is given at a time, where X is read from its file
        meanwhile; the others are not held. None: `fit` is given all points at once.
    held_itemsize : int or None, default None
        Bytes of one element of the X of `fit`, where that is held as small integers and a block of
        it becomes numbers of `itemsize` when it is asked for. None: `itemsize`.
    """

    n_labeled: int
    n_unlabeled: int
    n_features: int
    n_classes: int
    n_test: int = 0
    itemsize: int = 8
    mapped: bool = False
    n_scored: int | None = None
    loaded: bool = True
    n_validated: int | None = None
    row_nnz: float | None = None
    part: int | None = None
    held_itemsize: int | None = None

    @property
    def scored(self) -> int:
        """Points whose predictions are handed over."""
        return (self.n_test or self.n_unlabeled) if self.n_scored is None else self.n_scored

    @property
    def n(self) -> int:
        """Points that `fit` sees."""
        return self.n_labeled + self.n_unlabeled

    @property
    def n_at_once(self) -> int:
        """Points whose X and y are held at a time while a method learns."""
        return self.n if self.part is None else min(self.n_labeled, self.part)

    @property
    def n_searched(self) -> int:
        """Labeled points that a search has of the trial's own: of a stream those of one part."""
        return self.n_labeled if self.part is None else min(self.n_labeled, self.part)

    @property
    def predicts_seen(self) -> bool:
        """Whether points of `fit` are among those that are predicted: its X is held until then."""
        return self.scored > self.n_test

    @property
    def data_bytes(self) -> int:
        """Bytes of the X that `fit`, or `partial_fit`, is given at a time."""
        return self.matrix_bytes(self.n_at_once, self.held_itemsize) if self.is_read else 0

    @property
    def is_sparse(self) -> bool:
        """Whether X is sparse: rows are compressed (CSR)."""
        return self.row_nnz is not None

    @property
    def nnz(self) -> int | None:
        """Nonzeros of what is given at a time, as `nonzeros` counts; None where X is dense."""
        return self.nonzeros(self.n_at_once) if self.is_sparse else None

    @property
    def density(self) -> float:
        """Part of X that is not zero, on average; 1 where X is dense."""
        return 1.0 if self.row_nnz is None else self.row_nnz / max(1, self.n_features)

    def nonzeros(self, rows: int) -> int:
        """Return how many nonzeros some rows have at most; all elements where X is dense.

        Which rows they are is drawn. So three standard errors of a sum are added, of rows whose
        numbers deviate as much as their mean.
        """
        if self.row_nnz is None:
            return rows * self.n_features
        drawn = self.row_nnz * (rows + 3 * math.sqrt(rows))
        return min(rows * self.n_features, math.ceil(drawn))

    def matrix_bytes(self, rows: int, itemsize: int | None = None) -> int:
        """Return the bytes of some rows of X, at most; in another item size, if one is given."""
        itemsize = itemsize or self.itemsize
        if not self.is_sparse:
            return rows * self.n_features * itemsize
        return csr_bytes(rows, self.nonzeros(rows), itemsize)

    @property
    def predict_data_bytes(self) -> int:
        """Bytes of X while points are predicted: that of `fit` if it is needed, a block of others.

        What an estimator keeps of the X of `fit` is not counted, nor what a search needs of it.
        """
        held = self.data_bytes if self.predicts_seen else 0
        return held + self.new_block_bytes

    @property
    def is_read(self) -> bool:
        """Whether the X of `fit` is read into memory: neither mapped nor left alone."""
        return self.loaded and not self.mapped

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of X; on average where X is sparse."""
        if self.row_nnz is None:
            return self.n_features * self.itemsize
        return csr_row_bytes(self.row_nnz, self.itemsize)

    @property
    def label_bytes(self) -> int:
        """Bytes of one label; 0 for regression, whose targets are no labels."""
        return target_type(self.n_classes).itemsize if self.n_classes else 0

    @property
    def n_machines(self) -> int:
        """Machines of one class against the rest, and columns of scores: one for two classes."""
        return self.n_classes if self.n_classes > 2 else 1

    @property
    def block_rows(self) -> int:
        """Rows of one block handed to prediction: the fewer, the wider; no more than a part."""
        searched = self.n_labeled if self.n_validated is None else self.n_validated
        most = min(block_rows(self.row_bytes), max(searched, self.scored))
        return most if self.part is None else min(most, self.part)

    @property
    def block_bytes(self) -> int:
        """Bytes of one block of rows handed to prediction."""
        return self.matrix_bytes(self.block_rows)

    @property
    def new_block_bytes(self) -> int:
        """The same of points that `fit` has not seen; 0 where it sees all."""
        return self.block_bytes if self.n_test else 0


def index_bytes(nnz: int) -> int:
    """Return the bytes of a column index of a sparse matrix, as SciPy chooses them."""
    return 4 if nnz < 1 << 31 else 8


def csr_bytes(n: int, nnz: int, itemsize: int = 8) -> int:
    """Return the bytes of a sparse matrix in compressed rows (CSR).

    Of float64, 12 for each nonzero and 4 for each row.

    Parameters
    ----------
    n : int
        Rows.
    nnz : int
        Nonzeros.
    itemsize : int, default 8
        Bytes of a value.
    """
    index = index_bytes(nnz)
    return nnz * (itemsize + index) + (n + 1) * index


def csr_row_bytes(row_nnz: float, itemsize: int) -> int:
    """Return the bytes of a row of such a matrix with so many nonzeros."""
    return math.ceil(row_nnz * (itemsize + 4)) + 4


def block_rows(row_bytes: int) -> int:
    """Return how many rows of so many bytes the harness reads or predicts at a time."""
    return min(PREDICT_BLOCK, max(FEWEST_ROWS, PREDICT_BYTES // max(1, row_bytes)))


def score_rows(n_classes: int) -> int:
    """Return of how many points that fit saw predictions are handed over at a time."""
    return block_rows(8 * max(1, n_classes))


def target_type(n_classes: int) -> np.dtype:
    """Return the smallest integer type that holds -1 and all classes: one byte for up to 128."""
    import numpy as np

    return np.min_scalar_type(-max(1, n_classes))
