"""Readers: one function a format, from verified files to features and target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from harness.datasets import matrix_reading, reading
from harness.datasets.arff import read_arff
from harness.datasets.encoding import Source
from harness.datasets.entry import Declared
from harness.datasets.fetching import open_unpacked
from harness.datasets.foreign_files import PICKLED, foreign_kind
from harness.datasets.generating import read_generated
from harness.datasets.idx_files import read_images_and_labels
from harness.datasets.image_folders import read_image_folders
from harness.datasets.json_lines import json_frames
from harness.datasets.list_columns import list_widths, spread
from harness.datasets.matrices import (
    read_bytes,
    read_mat,
    read_npy,
    read_npz,
    read_svmlight,
    refuse_uneven_files,
)
from harness.datasets.openml_data import openml_frame
from harness.datasets.picture_columns import with_pixels
from harness.datasets.picture_keys import Images
from harness.datasets.reading import FOLDER_FORMATS
from harness.datasets.separated_values import csv_frames, in_our_words
from harness.errors import HarnessError, shown
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
        for path in paths if entry.format not in FOLDER_FORMATS else ():
            with open_unpacked(path) as stream:
                what = foreign_kind(stream.read(4096), entry.format)
            if what:
                raise HarnessError(f"data set {entry.name!r}: {path}: this is {what}")
        yield
    except HarnessError:
        raise
    except Exception as error:  # of some library's reader, which a damaged file may lead anywhere
        where = ", ".join(str(path) for path in paths) or entry.format
        reason = " ".join(str(error).split()) or type(error).__name__
        if isinstance(entry.read, reading.Csv):
            reason = in_our_words(reason)
        if "allow_pickle" in reason:
            reason = PICKLED
        if isinstance(error, UnicodeDecodeError):
            reason += ": name its charset under read.charset, such as latin-1 or utf-16"
        raise HarnessError(
            f"data set {entry.name!r}: {where}: cannot be read as {entry.format}: {reason}"
        ) from None


def _read(entry: Declared, paths: Sequence[Path]) -> Source:
    match entry.read:
        case matrix_reading.Svmlight() as read:
            return read_svmlight(entry, read, paths)
        case reading.Csv() as read:
            return _read_csv(entry, read, paths)
        case reading.Parquet() as read:
            return _read_parquet(entry, read, paths)
        case reading.JsonLines() as read:
            frames = [pd.concat(json_frames(path, read.charset)) for path in paths]
            tables = [without_index(frame) for frame in frames]
            return tabular(entry, read, tables, paths, read.nominal)
        case reading.Texts():
            raise AssertionError("the catalog refuses folders of texts without the key text")
        case reading.Arff() as read:
            return _read_arff(entry, read, paths)
        case matrix_reading.Idx() as read:
            return read_images_and_labels(read, paths)
        case Images() as read:
            return read_image_folders(read, paths)
        case matrix_reading.Mat() as read:
            return read_mat(entry, read, paths)
        case matrix_reading.Npz() as read:
            return read_npz(entry, read, paths)
        case matrix_reading.Npy() as read:
            return read_npy(entry, read, paths)
        case matrix_reading.Bytes() as read:
            return read_bytes(entry, read, paths)
        case reading.OpenML() as read:
            return _read_openml(entry, read)
        case reading.Bundled() as read:
            return _read_bundled(entry, read)
        case reading.Generated() as read:
            return read_generated(entry, read)


def _read_csv(entry: Declared, read: reading.Csv, paths: Sequence[Path]) -> Source:
    frames = [frame for path in paths for frame in csv_frames(path, read)]
    return tabular(entry, read, frames, paths, read.nominal)


def _read_parquet(entry: Declared, read: reading.Parquet, paths: Sequence[Path]) -> Source:
    frames = []
    for path in paths:
        frame = without_index(pq.read_table(path).to_pandas())
        if read.pictures is not None:
            frame = with_pixels(frame, read.pictures)
        frames.append(spread(frame, list_widths(frame)))
    return tabular(entry, read, frames, paths, read.nominal)


def without_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose rows are numbered from 0 and whose columns have plain names."""
    frame.columns = [name if isinstance(name, int) else str(name) for name in frame.columns]
    return frame.reset_index(drop=True)


def _read_arff(entry: Declared, read: reading.Arff, paths: Sequence[Path]) -> Source:
    frames = []
    for path in paths:
        with open_unpacked(path) as stream:
            frames.append(read_arff(stream.read().decode("utf-8", "replace")))
    return tabular(entry, read, frames, paths)


def _read_openml(entry: Declared, read: reading.OpenML) -> Source:
    return tabular(entry, read, [openml_frame(entry.name, read.id)], ())


def tabular(
    entry: Declared,
    read: reading.Tabular,
    frames: list[pd.DataFrame],
    paths: Sequence[Path],
    nominal: Sequence[int | str] = (),
) -> Source:
    """Return the features and the target of tables whose rows belong together."""
    if read.side_by_side > 1:
        frames, paths = _beside(frames, paths, read.side_by_side)
    parts = [len(frame) for frame in frames]
    if entry.other_classes != "error":
        frames = [_with_target(frame, frames[0], read.target) for frame in frames]
    frame = frames[0] if len(frames) == 1 else _joined(read, frames, paths)
    target_name = column_name(frame, read.target, "read.target")
    target = frame[target_name].to_numpy()
    if read.target_strip:
        stripped = frame[target_name].astype(str).str.strip(f" {read.target_strip}")
        target = stripped.where(frame[target_name].notna()).to_numpy()
    ignored = [column_name(frame, column, "read.ignore") for column in read.ignore]
    told = {
        key: column_name(frame, fact.column, key)
        for key, fact in entry.fact_sources.items()
        if fact.in_source and not isinstance(fact.column, tuple | None)
    }
    facts = {key: frame[name].to_numpy() for key, name in told.items()}
    ignored += [name for key, name in told.items() if not entry.fact_sources[key].feature]
    names = {column_name(frame, column, "read.nominal") for column in nominal}
    frame = frame.drop(columns=[target_name, *ignored])
    if frame.empty and len(frame) and entry.text is None:
        sign = f"; is {read.separator!r} their separator?" if isinstance(read, reading.Csv) else ""
        raise ValueError(f"there is no column besides the target and those ignored{sign}")
    columns = {name: _typed(frame[name], name in names) for name in frame.columns}
    # where all else is text there are no columns, and rows all the same
    return Source(pd.DataFrame(columns, index=frame.index), target, parts, facts)


def _with_target(frame: pd.DataFrame, first: pd.DataFrame, target: int | str) -> pd.DataFrame:
    """Return a table of points without a label with a target that is missing everywhere."""
    if target not in first.columns or isinstance(target, int) or target in frame.columns:
        return frame
    return frame.assign(**{target: np.nan})


def _beside(
    frames: list[pd.DataFrame], paths: Sequence[Path], count: int
) -> tuple[list[pd.DataFrame], Sequence[Path]]:
    """Return tables whose columns are those of so many files in turn."""
    refuse_uneven_files([len(frame) for frame in frames], paths, count)
    joined = []
    for start in range(0, len(frames), count):
        frame = pd.concat(frames[start : start + count], axis=1)
        if all(isinstance(name, int) for name in frame.columns):
            frame.columns = range(frame.shape[1])
        elif frame.columns.has_duplicates:
            name = frame.columns[frame.columns.duplicated()][0]
            raise ValueError(f"the column {name!r} is in two of the files that stand side by side")
        joined.append(frame)
    return joined, paths[::count]


def _joined(
    read: reading.Tabular, frames: list[pd.DataFrame], paths: Sequence[Path]
) -> pd.DataFrame:
    first = frames[0].columns
    for place, (frame, path) in enumerate(zip(frames, paths, strict=True)):
        names = frame.columns
        if read.join == "position" and len(names) == len(first):
            frames[place] = frame.set_axis(first, axis=1)
            continue
        unlike = [name for name in first.symmetric_difference(names) if name not in read.ignore]
        if not unlike:
            continue
        if unlike == [read.target]:
            raise ValueError(
                f"{path.name} has no column {read.target!r}, the target: write `other_classes: "
                "unlabeled` to keep its rows as points without a label"
            )
        if len(names) != len(first):
            told = f"{path.name} has {len(names)} columns, {paths[0].name} {len(first)}"
            alike = len(frame) == len(frames[0]) and read.side_by_side == 1
            beside = "; of files whose columns stand side by side, write `side_by_side: 2`"
            raise ValueError(told + beside * alike)
        at = next(at for at, (one, two) in enumerate(zip(first, names, strict=True)) if one != two)
        raise ValueError(
            f"{path.name} calls column {at} {names[at]!r}, {paths[0].name} {first[at]!r}: write "
            "`join: position` to join columns by their position"
        )
    return pd.concat(frames, ignore_index=True)


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
    raise ValueError(f"{key}: there is no column {column!r}; the columns are {known}")


def _typed(values: pd.Series, nominal: bool) -> pd.Series:
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values
    if nominal:
        return values.astype("category")
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        raise ValueError(f"column {values.name} holds dates: list it under read.ignore")
    numbers = pd.to_numeric(values, errors="coerce")
    wrong = values[numbers.isna() & values.notna() & (values.str.lower() != "nan")]
    if wrong.empty:
        return numbers
    if isinstance(wrong.iloc[0], np.ndarray):
        raise ValueError(
            f"column {values.name} holds lists that differ in length: list it under read.ignore"
        )
    if isinstance(wrong.iloc[0], bytes | dict):
        raise ValueError(
            f"column {values.name} holds bytes or mappings: list it under read.ignore; of "
            f"pictures write `pictures: {{column: {values.name}}}`"
        )
    raise ValueError(
        f"column {values.name} holds {shown(wrong.iloc[0])} in row {wrong.index[0]}: list it "
        "under read.nominal, or the text under read.missing_values"
    )


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
