"""Rows with texts, made into features as a data set's were when it was prepared.

The vectorizer is kept: of hashing its parameters, of TF-IDF each word and how rare it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from harness.datasets.encoding import encode
from harness.datasets.entry import Entry
from harness.datasets.fetching import fetch
from harness.datasets.raw_rows import RowPreparation, learn_columns
from harness.datasets.rows import Features
from harness.datasets.scaling import Scaling, scale, scale_sparse
from harness.datasets.texts import joined_texts, read_source, some_rows, text_names
from harness.errors import HarnessError

_TRIED = 200
"""Rows of the source that must come out as they were prepared."""


@dataclass(frozen=True)
class TextPreparation:
    """Prepares rows with texts as a data set was prepared.

    Attributes
    ----------
    columns : list of str or int
        Of the source, in their order, without the target and what is ignored.
    texts : list of str or int
        Those that are texts.
    vectorizer : HashingVectorizer or TfidfVectorizer
    others : RowPreparation or None
        Prepares the other columns; None where there are none.
    dtype : str
    is_sparse : bool
    divide_by : float
    scaling : Scaling
    """

    columns: list[Any]
    texts: list[Any]
    vectorizer: Any
    others: RowPreparation | None
    dtype: str
    is_sparse: bool
    divide_by: float
    scaling: Scaling

    def __call__(self, rows: Any) -> Features:
        """Prepare rows.

        Parameters
        ----------
        rows : DataFrame, sequence of str, or array-like of shape (m, len(columns))
            A data frame is taken by the names of its columns, and may have others besides. Texts
            alone are enough where the data set has nothing else.

        Returns
        -------
        csr_matrix or ndarray (m, n_features) of the data set's dtype

        Raises
        ------
        HarnessError
            If a column is missing, or a value was not there when the model was fitted.
        """
        table = self._table(rows)
        words = self.vectorizer.transform(joined_texts(table, self.texts)).astype(self.dtype)
        if self.others is not None:
            others = sparse.csr_matrix(self.others(table))
            words = sparse.hstack([others, words], "csr", dtype=self.dtype)
        words.eliminate_zeros()
        X = words if self.is_sparse else words.toarray()
        values = X.data if self.is_sparse else X
        if self.divide_by != 1:
            values /= X.dtype.type(self.divide_by)
        if self.is_sparse:
            self.scaling.apply_sparse(X)
        else:
            self.scaling.apply(X)
        return X

    def _table(self, rows: Any) -> pd.DataFrame:
        if isinstance(rows, str):
            raise HarnessError("rows: one text was given: give a list of texts")
        if isinstance(rows, pd.DataFrame):
            lacking = [name for name in self.columns if name not in rows.columns]
            if lacking:
                named = ", ".join(map(str, lacking[:5]))
                raise HarnessError(f"rows: the columns {named} are not there")
            return rows[self.columns].reset_index(drop=True)
        values = np.asarray(rows, dtype=object)
        if values.ndim == 1 and len(self.columns) == 1:
            values = values[:, None]
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            raise HarnessError(
                f"rows: shape {values.shape}, but the model takes rows of {len(self.columns)} "
                f"values: {', '.join(map(str, self.columns[:5]))}"
            )
        return pd.DataFrame(values, columns=self.columns)


def learn_texts(entry: Entry, prepared: Features) -> TextPreparation:
    """Learn how rows of a source with texts became prepared rows.

    Parameters
    ----------
    entry : Entry
        With texts. Its files are read once more.
    prepared : ndarray or csr_matrix (n, d)
        The prepared features, which may be mapped.

    Raises
    ------
    HarnessError
        If the source cannot be read, or what is learned does not give the prepared rows.
    """
    paths = fetch(entry)
    source = read_source(entry, paths)
    table, target, words = source.X.copy(), source.target, source.words
    assert words is not None, "an entry with texts has words"
    X, _, rows = encode(source, entry)
    others = None
    if table.shape[1]:
        width = X.shape[1] - words.shape[1]
        part = X[:, :width].toarray() if entry.sparse else X[:, :width].copy()
        plain = entry.model_copy(update={"text": None, "sparse": False, "divide_by": 1.0})
        kept = table.iloc[rows].reset_index(drop=True)
        others = learn_columns(kept, target[rows], part, plain, Scaling("none"))
    values = X.data if entry.sparse else X
    if entry.divide_by != 1:
        values /= X.dtype.type(entry.divide_by)
    scaling = (scale_sparse if entry.sparse else scale)(X, entry.scaling)
    chosen = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _TRIED)).astype(np.int64))
    shown = some_rows(entry, paths, rows[chosen])
    texts = text_names(entry, shown)
    made = TextPreparation(
        columns=[name for name in shown.columns if name in texts or name in table.columns],
        texts=texts,
        vectorizer=source.vectorizer,
        others=others,
        dtype=entry.dtype,
        is_sparse=entry.sparse,
        divide_by=entry.divide_by,
        scaling=scaling,
    )
    if (table.shape[1] and others is None) or not _same(made(shown), prepared[chosen]):
        raise HarnessError(
            f"data set {entry.name!r}: how its source became the prepared rows could not be "
            "learned"
        )
    return made


def _same(X: Features, prepared: Features) -> bool:
    if X.shape != prepared.shape:
        return False
    apart = X - prepared
    values = np.asarray(apart.data if sparse.issparse(apart) else apart)
    return bool(np.all(np.abs(values) <= 100 * np.finfo(X.dtype).eps))
