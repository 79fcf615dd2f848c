"""Texts as features: words counted under hashed numbers, or weighted by how rare they are.

Texts are passed over a part at a time, and only what is made of them is held. Hashing keeps no
words either; TF-IDF keeps each word and its count in every text until the most frequent are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from scipy import sparse

from harness.datasets import reading
from harness.datasets.encoding import Source
from harness.datasets.entry import Declared
from harness.datasets.fact_values import add_facts
from harness.datasets.formats import (
    column_name,
    read_table,
    tabular,
    told_by_us,
    without_index,
)
from harness.datasets.json_lines import json_frames
from harness.datasets.separated_values import csv_frames
from harness.datasets.text_columns import Text
from harness.datasets.text_folders import decoded, text_files
from harness.errors import HarnessError

_ROWS = 2_000
"""Texts that are held at once."""


def read_source(entry: Declared, paths: Sequence[Path]) -> Source:
    """Read a data set in its declared format, and make features of its texts.

    Parameters
    ----------
    entry : Declared
    paths : sequence of Path
        The entry's files, in its order; plain or packed.

    Raises
    ------
    HarnessError
        If they cannot be read in that format, naming the data set, the files and the reason.
    """
    source = _read(entry, paths)
    add_facts(source, entry, paths)
    return source


def _read(entry: Declared, paths: Sequence[Path]) -> Source:
    if entry.text is None:
        return read_table(entry, paths)
    with told_by_us(entry, paths):
        if isinstance(entry.read, reading.Texts):
            return _of_folders(entry, entry.read, entry.text, paths)
        return _of_tables(entry, entry.text, paths)


def vectorized(texts: Iterable[str], text: Text, dtype: str) -> tuple[sparse.csr_matrix, Any]:
    """Make features of texts.

    Parameters
    ----------
    texts : iterable of str
        Passed over once.
    text : Text
    dtype : {"float64", "float32"}

    Returns
    -------
    words : csr_matrix (n, d)
        Of hashing, d is the number of features asked for; of TF-IDF it is at most that.
    vectorizer : HashingVectorizer or TfidfVectorizer
        Makes the same features of further texts.

    Raises
    ------
    ValueError
        If no text has a word.
    """
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

    told: dict[str, Any] = {"ngram_range": text.ngrams, "analyzer": text.analyzer, "norm": None}
    told["dtype"] = np.float32 if dtype == "float32" else np.float64
    if text.by == "tf-idf":
        weighting = TfidfVectorizer(max_features=text.features, **told)
        return weighting.fit_transform(texts), weighting
    vectorizer = HashingVectorizer(n_features=text.features, **told)
    rest = iter(texts)
    parts = []
    while part := list(islice(rest, _ROWS)):
        parts.append(vectorizer.transform(part))
    if not any(part.nnz for part in parts):
        raise ValueError("no text has a word")
    return sparse.vstack(parts, "csr"), vectorizer


def _of_folders(entry: Declared, read: reading.Texts, text: Text, paths: Sequence[Path]) -> Source:
    if text.column not in (("text",), (0,)):
        raise HarnessError(
            f"data set {entry.name!r}: text.column is {', '.join(map(str, text.column))}; folders "
            "of texts have one column: write `text: {column: text}`"
        )
    found = [text_files(path, read.pattern) for path in paths]
    files = list(chain.from_iterable(found))
    bodies = (decoded(path, read.charset) for _, path in files)
    words, vectorizer = vectorized(bodies, text, entry.dtype)
    labels = np.array([label for label, _ in files], dtype=object)
    parts = [len(part) for part in found]
    names = [
        file.relative_to(path).as_posix()
        for path, part in zip(paths, found, strict=True)
        for _, file in part
    ]
    return Source(
        pd.DataFrame(index=range(len(files))), labels, parts, {}, words, 1, vectorizer, names
    )


def _of_tables(entry: Declared, text: Text, paths: Sequence[Path]) -> Source:
    """Pass over the rows once: texts become features, and the other columns are kept."""
    read: Any = entry.read
    kept: list[list[pd.DataFrame]] = [[] for _ in paths]

    def texts() -> Iterator[str]:
        nonlocal read
        for place, path in enumerate(paths):
            for frame in _frames(entry.read, path):
                names = text_names(entry, frame)
                if not any(kept):
                    # by name: a number would count among fewer columns
                    read = _by_name(entry.read, frame)
                    if read.target in names:
                        raise ValueError(f"text.column names {read.target}, which is the target")
                yield from joined_texts(frame, names)
                kept[place].append(frame.drop(columns=names))

    words, vectorizer = vectorized(texts(), text, entry.dtype)
    frames = [pd.concat(parts, ignore_index=True) for parts in kept if parts]
    frames = [frame.apply(_numbers, args=(entry.read,)) for frame in frames]
    others = tabular(entry, read, frames, paths, read.nominal)
    n_texts = len(text.column)
    return Source(others.X, others.target, others.parts, others.facts, words, n_texts, vectorizer)


def joined_texts(frame: pd.DataFrame, names: Sequence[int | str]) -> pd.Series:
    """Return the text of each row: of several columns with a blank between them."""
    texts = frame[[*names]].fillna("").astype(str)
    return texts.agg(" ".join, axis=1) if len(names) > 1 else texts[names[0]]


def some_rows(entry: Declared, paths: Sequence[Path], rows: np.ndarray) -> pd.DataFrame:
    """Return some rows of a source with texts, as it has them.

    Parameters
    ----------
    entry : Declared
        With texts.
    paths : sequence of Path
    rows : ndarray of int
        In ascending order.
    """
    if isinstance(entry.read, reading.Texts):
        read = entry.read
        files = [file for path in paths for _, file in text_files(path, read.pattern)]
        return pd.DataFrame({"text": [decoded(files[row], read.charset) for row in rows]})
    found, start = [], 0
    for path in paths:
        for frame in _frames(entry.read, path):
            here = rows[(rows >= start) & (rows < start + len(frame))] - start
            found.append(frame.iloc[here])
            start += len(frame)
    return pd.concat(found, ignore_index=True).apply(_numbers, args=(entry.read,))


def text_names(entry: Declared, table: pd.DataFrame) -> list[int | str]:
    """Return what a table calls the columns that are texts."""
    assert entry.text is not None, "of an entry with texts"
    return [column_name(table, name, "text.column") for name in entry.text.column]


def _frames(read: reading.Read, path: Path) -> Iterator[pd.DataFrame]:
    """Give the rows of a table, some at a time."""
    if isinstance(read, reading.Parquet):
        for batch in pq.ParquetFile(path).iter_batches(_ROWS):
            yield without_index(batch.to_pandas())
    elif isinstance(read, reading.JsonLines):
        yield from json_frames(path, read.charset, _ROWS)
    else:
        assert isinstance(read, reading.Csv), "the catalog refuses texts in any other format"
        yield from csv_frames(path, read, dtype=str, chunksize=_ROWS)


def _by_name(read: Any, frame: pd.DataFrame) -> Any:
    named: dict[str, Any] = {"target": column_name(frame, read.target, "read.target")}
    for key in ("ignore", "nominal"):
        named[key] = tuple(column_name(frame, name, f"read.{key}") for name in getattr(read, key))
    return read.model_copy(update=named)


def _numbers(values: pd.Series, read: reading.Read) -> pd.Series:
    """Return a column as numbers where all of it are, as it is where a table is read whole."""
    if not isinstance(read, reading.Csv):
        return values
    texts = values if read.decimal == "." else values.str.replace(read.decimal, ".", regex=False)
    try:
        return pd.to_numeric(texts)
    except ValueError:
        return values
