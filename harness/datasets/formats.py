"""Readers: one function a format, from verified files to features and target."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from scipy import sparse

from harness.datasets import reading
from harness.datasets.arff import read_arff
from harness.datasets.encoding import Source, as_declared
from harness.datasets.entry import Declared
from harness.datasets.fetching import RETRIES, cache_directory, open_unpacked
from harness.datasets.json_lines import json_frames
from harness.errors import HarnessError
from harness.files import below
from harness.lean_process import import_scikit_learn, importing


def read_table(entry: Declared, paths: Sequence[Path]) -> Source:
    """Read a data set without texts in its declared format.

    Parameters
    ----------
    entry : Entry
    paths : sequence of Path
        The entry's files, in its order; plain or packed.

    Raises
    ------
    HarnessError
        If they cannot be read in that format, naming the data set, the files and the reason.
    """
    with told_by_us(entry, paths):
        return _read(entry, paths)


@contextmanager
def told_by_us(entry: Declared, paths: Sequence[Path]) -> Iterator[None]:
    """Tell what a library's reader says of files as an error of ours.

    Raises
    ------
    HarnessError
        Naming the data set, the files and the reason.
    """
    try:
        with warnings.catch_warnings():
            # rows longer than the first would be cut with no more than a warning
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except HarnessError:
        raise
    except Exception as error:  # of some library's reader, which a damaged file may lead anywhere
        where = ", ".join(str(path) for path in paths) or entry.format
        reason = " ".join(str(error).split()) or type(error).__name__
        raise HarnessError(
            f"data set {entry.name!r}: {where}: cannot be read as {entry.format}: {reason}"
        ) from None


def _read(entry: Declared, paths: Sequence[Path]) -> Source:
    match entry.read:
        case reading.Svmlight() as read:
            return _read_svmlight(entry, read, paths)
        case reading.Csv() as read:
            return _read_csv(read, paths)
        case reading.Parquet() as read:
            return _read_parquet(read, paths)
        case reading.Arff() as read:
            return _read_arff(read, paths)
        case reading.JsonLines() as read:
            frames = [pd.concat(json_frames(path, read.charset)) for path in paths]
            return tabular(read, [without_index(frame) for frame in frames], read.nominal)
        case reading.Idx():
            return _read_idx(paths)
        case reading.Mat() as read:
            return _read_mat(entry, read, paths)
        case reading.Npz() as read:
            return _read_npz(entry, read, paths)
        case reading.Npy() as read:
            return _read_npy(read, paths)
        case reading.OpenML() as read:
            return _read_openml(entry, read)
        case reading.Bundled() as read:
            return _read_bundled(entry, read)
        case reading.Generated() as read:
            return _read_generated(entry, read)
        case reading.Texts():
            raise AssertionError("the catalog refuses folders of texts without the key text")


def _joined(X: list[Any], y: list[np.ndarray]) -> Source:
    parts = [len(part) for part in y]
    rows = [part.shape[0] for part in X]
    if rows != parts:
        raise ValueError(f"{rows} rows of features, {parts} targets")
    if len(X) == 1:
        return Source(X[0], y[0], parts)
    joined = sparse.vstack(X, "csr") if sparse.issparse(X[0]) else np.concatenate(X)
    return Source(joined, np.concatenate(y), parts)


def _read_svmlight(entry: Declared, read: reading.Svmlight, paths: Sequence[Path]) -> Source:
    from sklearn.datasets import load_svmlight_file

    X, y = [], []
    for path in paths:
        with open_unpacked(path) as stream:
            rows, target = load_svmlight_file(
                stream, n_features=entry.d, dtype=entry.dtype, zero_based=read.zero_based
            )
        X.append(as_declared(rows, entry))
        y.append(target)
    return _joined(X, y)


def _read_csv(read: reading.Csv, paths: Sequence[Path]) -> Source:
    frames = []
    for path in paths:
        with open_unpacked(path) as stream:
            frames.append(pd.read_csv(stream, **csv_options(read)))
    return tabular(read, frames, read.nominal)


def csv_options(read: reading.Csv) -> dict[str, Any]:
    """Return what `pandas.read_csv` is told, so that all who read a table read it alike."""
    blank = read.separator.isspace() and read.separator != "\t"
    return {
        "sep": r"\s+" if blank else read.separator,
        "header": 0 if read.header else None,
        "index_col": False,
        "comment": read.skip_lines_starting,
        "skipinitialspace": not blank,
        "keep_default_na": False,
        "na_values": list(read.missing_values),
        "quoting": csv.QUOTE_MINIMAL,
        "encoding": read.charset,
        "decimal": read.decimal,
    }


def _read_parquet(read: reading.Parquet, paths: Sequence[Path]) -> Source:
    frames = [without_index(pq.read_table(path).to_pandas()) for path in paths]
    return tabular(read, frames, read.nominal)


def without_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows are numbered from 0 and whose columns have plain names."""
    frame.columns = [name if isinstance(name, int) else str(name) for name in frame.columns]
    return frame.reset_index(drop=True)


def _read_arff(read: reading.Arff, paths: Sequence[Path]) -> Source:
    frames = []
    for path in paths:
        with open_unpacked(path) as stream:
            frames.append(read_arff(stream.read().decode("utf-8", "replace")))
    return tabular(read, frames)


def _read_openml(entry: Declared, read: reading.OpenML) -> Source:
    return tabular(read, [openml_frame(entry.name, read.id)])


def openml_frame(name: str, number: int) -> pd.DataFrame:
    """Return a data set of OpenML, fetched by scikit-learn or kept from before.

    Parameters
    ----------
    name : str
        What messages call it.
    number : int
        As OpenML numbers it.

    Raises
    ------
    HarnessError
        If it cannot be fetched.
    """
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(
            data_id=number,
            target_column=None,
            as_frame=True,
            parser="pandas",
            data_home=below(cache_directory(), "openml"),
            n_retries=RETRIES,
        )
    except OSError as error:
        raise HarnessError(
            f"data set {name!r}: OpenML {number} could not be fetched: {error}"
        ) from None
    return bunch.frame


def tabular(
    read: reading.Tabular, frames: list[pd.DataFrame], nominal: Sequence[int | str] = ()
) -> Source:
    """Return the features and the target of tables whose rows belong together."""
    parts = [len(frame) for frame in frames]
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    target_name = column_name(frame, read.target, "target")
    target = frame[target_name].to_numpy()
    if read.target_strip:
        target = np.array([str(label).strip(f" {read.target_strip}") for label in target])
    ignored = [column_name(frame, column, "ignore") for column in read.ignore]
    frame = frame.drop(columns=[target_name, *ignored])
    names = {column_name(frame, column, "nominal") for column in nominal}
    columns = {name: _typed(frame[name], name in names) for name in frame.columns}
    # where all else is text there are no columns, and rows all the same
    return Source(pd.DataFrame(columns, index=frame.index), target, parts)


def column_name(frame: pd.DataFrame, column: int | str, key: str) -> int | str:
    """Return the column that has this name, or else this number.

    Raises
    ------
    ValueError
        If there is none; `key` of the entry goes in front of the message.
    """
    if column in frame.columns:
        return column
    if isinstance(column, int) and -frame.shape[1] <= column < frame.shape[1]:
        return frame.columns[column]
    known = ", ".join(str(name) for name in frame.columns[:20])
    where = key if "." in key else f"read.{key}"
    raise ValueError(f"{where}: there is no column {column!r}; the columns are {known}")


def _typed(values: pd.Series, nominal: bool) -> pd.Series:
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values
    if nominal:
        return values.astype("category")
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values
    numbers = pd.to_numeric(values, errors="coerce")
    wrong = values[numbers.isna() & values.notna() & (values.str.lower() != "nan")]
    if wrong.empty:
        return numbers
    raise ValueError(
        f"column {values.name} holds {wrong.iloc[0]!r} in row {wrong.index[0]}: list it under "
        "read.nominal, or the text under read.missing_values"
    )


_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: Path) -> np.ndarray:
    """Read one IDX file, packed or not.

    Raises
    ------
    ValueError
        If it does not start as IDX or its length is not what its header says.
    """
    with open_unpacked(path) as stream:
        raw = stream.read()
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] not in _IDX_TYPES:
        raise ValueError(f"{path.name} does not start as an IDX file")
    shape = np.frombuffer(raw, ">u4", count=raw[3], offset=4).astype(int)
    kind = np.dtype(_IDX_TYPES[raw[2]])
    start = 4 + 4 * raw[3]
    if len(raw) - start != kind.itemsize * shape.prod():
        raise ValueError(f"{path.name} holds {len(raw) - start} bytes, its header says {shape}")
    return np.frombuffer(raw, kind, offset=start).reshape(shape)


def _read_idx(paths: Sequence[Path]) -> Source:
    if len(paths) % 2:
        raise ValueError("files of images and of labels must take turns")
    arrays = [read_idx(path) for path in paths]
    X = [images.reshape(len(images), -1) for images in arrays[::2]]
    return _joined(X, arrays[1::2])


def _read_mat(entry: Declared, read: reading.Mat, paths: Sequence[Path]) -> Source:
    from scipy.io import loadmat

    X, y = [], []
    for path in paths:
        with open_unpacked(path) as stream:
            matrices = loadmat(io.BytesIO(stream.read()))
        features = matrices[_the_one(matrices, read.X)]
        features = features.tocsr() if sparse.issparse(features) else np.asarray(features)
        if read.y is not None:
            target = _dense_column(matrices[_the_one(matrices, read.y)])
        else:
            assert read.target is not None, "Mat names one of the two"
            target = _dense_column(features[:, [read.target]]).copy()
            kept = [column for column in range(features.shape[1]) if column != read.target]
            features = features[:, kept[: read.columns]]
        X.append(as_declared(features, entry))
        y.append(target)
    return _joined(X, y)


def _dense_column(values: Any) -> np.ndarray:
    return np.asarray(values.toarray() if sparse.issparse(values) else values).ravel()


def _the_one(matrices: Mapping[str, Any], name: str) -> str:
    names = [key for key in matrices if not key.startswith("__")]
    matching = [key for key in names if re.fullmatch(name, key)]
    if len(matching) != 1:
        raise ValueError(f"there is no matrix {name!r}; the file holds {', '.join(names)}")
    return matching[0]


def _read_npz(entry: Declared, read: reading.Npz, paths: Sequence[Path]) -> Source:
    X: list[Any] = []
    y: list[np.ndarray] = []
    for path in paths:
        with np.load(path, allow_pickle=False) as arrays:
            is_sparse = read.X not in arrays and "indptr" in arrays
            for name in (read.y,) if is_sparse else (read.X, read.y):
                if name not in arrays:
                    held = ", ".join(arrays.files)
                    raise ValueError(f"there is no array {name!r}; the file holds {held}")
            # what scipy.sparse.save_npz writes, and the target beside it
            X.append(sparse.load_npz(path) if is_sparse else arrays[read.X])
            y.append(arrays[read.y].ravel())
    return _joined([as_declared(part, entry) for part in X], y)


def _read_npy(read: reading.Npy, paths: Sequence[Path]) -> Source:
    X, y = [], []
    for path in paths:
        matrix = np.load(path, allow_pickle=False)
        if matrix.ndim != 2 or not -matrix.shape[1] <= read.target < matrix.shape[1]:
            raise ValueError(f"a matrix with a column {read.target} is wanted, got {matrix.shape}")
        columns = [read.target, *read.ignore]
        y.append(matrix[:, read.target].copy())
        X.append(np.delete(matrix, [column % matrix.shape[1] for column in columns], axis=1))
    return _joined(X, y)


def _read_bundled(entry: Declared, read: reading.Bundled) -> Source:
    import_scikit_learn()
    with importing():
        import sklearn.datasets

    load = getattr(sklearn.datasets, f"load_{read.loader}")
    options = {"scaled": False} if read.loader == "diabetes" else {}
    bunch = load(**options)
    target = bunch.target
    if entry.task != "regression":
        target = np.asarray(bunch.target_names)[target]
    return Source(bunch.data, target, [len(target)])


def _read_generated(entry: Declared, read: reading.Generated) -> Source:
    seed = np.random.SeedSequence(list(entry.name.encode()))
    try:
        X, y = read.dataset.generate(np.random.default_rng(seed))
    except Exception as error:
        raise HarnessError(
            f"data set {entry.name!r}: its plugin failed to generate it: "
            f"{type(error).__name__}: {error}"
        ) from error
    # copies: scaling works in place, and the arrays are the plugin's
    X, y = X.tocsr(copy=True) if sparse.issparse(X) else np.array(X), np.array(y)
    if X.ndim != 2 or y.ndim != 1:
        raise ValueError(f"X of shape (n, d) and y of shape (n,) wanted, got {X.shape}, {y.shape}")
    return Source(as_declared(X, entry), y, [len(y)])
