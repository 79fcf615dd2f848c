"""From a file to the entry that a catalog needs, with a sentence for whatever was guessed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.datasets.adding.guesses import (
    Columns,
    find_column,
    find_target,
    judge_columns,
    profile_columns,
)
from harness.datasets.adding.pictures import folders_of_pictures, images_and_labels
from harness.datasets.adding.profiles import Name
from harness.datasets.adding.sniffing import guess_format
from harness.datasets.adding.sparse import count_matrix, count_sparse, is_sparse_npz
from harness.datasets.adding.stored_matrices import mat_table, npz_table
from harness.datasets.adding.tables import (
    Table,
    arff_table,
    csv_table,
    joined,
    npy_table,
    openml_table,
    parquet_table,
)
from harness.datasets.adding.targets import Target, judge_target
from harness.datasets.counting import Counts
from harness.datasets.fetching import PACKINGS, is_packed, open_unpacked
from harness.errors import HarnessError
from harness.files import folder_sha256, is_file, is_folder

OPENML = "openml:"

_LONGEST_NAME = 100
_BLOCK = 1 << 20
_ENDINGS = (
    *("csv", "tsv", "tab", "txt", "data", "dat", "parquet", "pq", "arff"),
    *("npz", "npy", "mat", "svm", "svmlight", "libsvm", "all", "trn"),
)


_WHOLE = ("npz", "mat")
"""Formats of which a matrix is taken with all of its columns."""


@dataclass(frozen=True)
class Wishes:
    """What a user says instead of having it guessed.

    Parameters
    ----------
    target : str or int, optional
        Name or number of the column; by default one called "target", "class", "label" or "y", else
        the last.
    task : {"binary", "multiclass", "regression"}, optional
    positive : sequence of str, default ()
        Labels of class 1.
    nominal, drop, keep : sequence of str or int, default ()
        Columns that are names, that are left out, and that are not left out.
    header : bool, optional
        Whether the first line of a CSV file names the columns.
    """

    target: str | int | None = None
    task: str | None = None
    positive: Sequence[str] = ()
    nominal: Sequence[Name] = ()
    drop: Sequence[Name] = ()
    keep: Sequence[Name] = ()
    header: bool | None = None


@dataclass(frozen=True)
class Description:
    """A data set as a catalog writes it.

    Parameters
    ----------
    name : str
    body : dict
        Keys and values of its entry.
    counts : Counts
    told : list of str
        What was guessed, a sentence each.
    """

    name: str
    body: dict[str, Any]
    counts: Counts
    told: list[str] = field(default_factory=list)


def describe(
    sources: Sequence[str | Path], folder: Path, wishes: Wishes = Wishes()
) -> Description:
    """Read files, a part at a time, and guess how a catalog reads them.

    Parameters
    ----------
    sources : sequence of str or Path
        CSV, TSV, Parquet, ARFF, SVMlight, npz, npy or MATLAB, plain or packed: one, or several
        whose rows belong together. Of MNIST's format images and labels in turn. Folders of
        pictures. Or "openml:61" alone.
    folder : Path
        Of the catalog, which the path in the entry is relative to.
    wishes : Wishes, optional

    Raises
    ------
    HarnessError
        If the file cannot be read, or nothing can be learned from it as it is.
    """
    first = str(sources[0])
    if first.startswith(OPENML) and len(sources) == 1:
        table = openml_table(_openml_number(first))
        body, counts, told = _of_table(table, first, wishes)
        return Description(first.replace(":", "-"), body, counts, told)
    paths = [Path(source) for source in sources]
    formats = [_format(path) for path in paths]
    if len(set(formats)) > 1:
        other = next(at for at, format in enumerate(formats) if format != formats[0])
        raise HarnessError(
            f"{paths[other]}: this is {formats[other]}, and {first} is {formats[0]}: files of one "
            "data set are of one format"
        )
    if formats[0] == "svmlight":
        body, counts, told = _of_sparse(paths, wishes)
    elif formats[0] == "npz" and is_sparse_npz(paths[0]):
        body, counts, told = _of_matrix(paths, wishes)
    elif formats[0] in ("idx", "images"):
        body, counts, told = _of_pictures(paths, formats[0], wishes)
    else:
        tables = [_table(path, formats[0], wishes) for path in paths]
        body, counts, told = _of_table(joined(tables, paths), paths[0], wishes)
    body["files"] = [
        {"path": _written_path(path, folder), "sha256": _sha256(path)} for path in paths
    ]
    body["source"] = ", ".join(path.name for path in paths)
    return Description(name_of(paths[0]), body, counts, told)


def _format(path: Path) -> str:
    if is_folder(path):
        return "images"
    if not is_file(path):
        raise HarnessError(f"{path}: there is no such file")
    format = guess_format(path)
    if format in ("parquet", "npz", "npy") and is_packed(path):
        raise HarnessError(f"{path}: unpack it: {format} files are read as they are")
    return format


def _table(path: Path, format: str, wishes: Wishes) -> Table:
    target = None if wishes.target is None else str(wishes.target)
    match format:
        case "csv":
            return csv_table(path, wishes.header, target)
        case "parquet":
            return parquet_table(path)
        case "arff":
            return arff_table(path)
        case "npz":
            return npz_table(path, target)
        case "mat":
            return mat_table(path, target)
        case _:
            return npy_table(path)


def name_of(path: Path) -> str:
    """Return what a data set is called after its file."""
    name = path.name
    for packing in PACKINGS[1:]:
        name = name.removesuffix(packing)
    stem, _, ending = name.rpartition(".")
    name = stem if stem and ending.lower() in _ENDINGS else name
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")
    return name[:_LONGEST_NAME] or "data"


def _of_table(
    table: Table, where: str | Path, wishes: Wishes
) -> tuple[dict[str, Any], Counts, list[str]]:
    where = str(where)
    target = find_target(table, wishes.target, where)
    nominal, drop, keep = (
        [find_column(table, name, f"--{option}", where) for name in getattr(wishes, option)]
        for option in ("nominal", "drop", "keep")
    )
    for option, names in (("nominal", nominal), ("drop", drop), ("keep", keep)):
        if target in names:
            raise HarnessError(f"{where}: --{option} names {target!r}, which is the target")
    features, labels = profile_columns(table, target, drop)
    _refuse_few_rows(labels.rows, where)
    judged = judge_target(labels, where, wishes.task, wishes.positive)
    if table.read["format"] in _WHOLE:
        keep = table.columns
    columns = judge_columns(features, where, nominal, keep, labels, table.marked)
    columns.ignored += drop
    told = [*_told_of_target(target, wishes), *table.told, *judged.told, *columns.told]
    if table.twice:
        told.append(f"several columns are called {', '.join(table.twice)}: numbered .1, .2")
    body: dict[str, Any] = {"read": _read(table, target, columns, labels.marks)}
    n = labels.rows - labels.missing
    return _finished(body, n, columns.n_features, judged, columns.gaps, labels.missing, told)


def _read(
    table: Table, target: Name, columns: Columns, target_marks: Iterable[str]
) -> dict[str, Any]:
    read = dict(table.read)
    if read["format"] in _WHOLE:
        if columns.ignored:
            raise HarnessError(
                f"columns of an {read['format']} cannot be left out: write the matrix without them"
            )
        return read | ({"nominal": columns.nominal} if columns.nominal else {})
    last = target == table.columns[-1] and read["format"] != "npy"
    named = isinstance(target, str)
    read |= {"target": target} if named or not last else {}
    if columns.ignored:
        read["ignore"] = columns.ignored
    if read["format"] in ("csv", "parquet", "npy") and columns.nominal:
        read["nominal"] = columns.nominal
    if read["format"] == "npy" and columns.nominal:  # counted without what is no feature
        kept = [name for name in table.columns if name not in {target, *columns.ignored}]
        read["nominal"] = [kept.index(name) for name in columns.nominal]
    if read["format"] == "csv":
        marks = sorted({*columns.marks, *target_marks})
        if not {*marks} <= {"?", ""}:
            read["missing_values"] = marks
    return read


def _of_pictures(
    paths: Sequence[Path], format: str, wishes: Wishes
) -> tuple[dict[str, Any], Counts, list[str]]:
    is_idx = format == "idx"
    _refuse_columns(paths[0], wishes, "files of images" if is_idx else "folders of pictures")
    found = images_and_labels(paths) if is_idx else folders_of_pictures(paths)
    judged = judge_target(found.labels, found.where, wishes.task, wishes.positive)
    told = [found.told[0], *judged.told, *found.told[1:]]
    body: dict[str, Any] = {"read": found.read}
    if is_idx:
        return _finished(body, found.labels.rows, found.d, judged, set(), 0, told)
    body, counts, told = _finished(
        body, found.labels.rows, found.d, judged, set(), 0, told, scaling="none"
    )
    return body | {"divide_by": 255, "dtype": "uint8"}, counts, told


def _refuse_columns(path: Path, wishes: Wishes, what: str) -> None:
    given = [name for name in ("nominal", "drop", "keep") if getattr(wishes, name)]
    given += ["target"] if wishes.target not in (None, 0, "0") else []
    if given:
        raise HarnessError(
            f"{path}: {what} have no columns to name, so --{given[0]} says nothing here"
        )


def _of_sparse(paths: Sequence[Path], wishes: Wishes) -> tuple[dict[str, Any], Counts, list[str]]:
    _refuse_columns(paths[0], wishes, "lines of SVMlight, which begin with the target,")
    path = paths[0]
    found = count_sparse(paths)
    _refuse_few_rows(found.labels.rows, str(path))
    judged = judge_target(found.labels, str(path), wishes.task, wishes.positive)
    if not found.d:
        raise HarnessError(f"{path}: no line has a feature")
    read: dict[str, Any] = {"format": "svmlight"}
    read |= {"zero_based": True} if found.zero_based else {}
    counted = "0" if found.zero_based else "1"
    told = [f"SVMlight's sparse text, columns counted from {counted}", *judged.told]
    gaps = {"numeric"} if found.gaps else set()
    n = found.labels.rows
    nnz = found.nnz if found.is_large else None
    return _finished({"read": read}, n, found.d, judged, gaps, 0, told, nnz)


def _of_matrix(paths: Sequence[Path], wishes: Wishes) -> tuple[dict[str, Any], Counts, list[str]]:
    path, target = paths[0], str(wishes.target or "y")
    if len(paths) > 1:
        raise HarnessError(f"{path}: a sparse matrix is added alone; several are joined by hand")
    _refuse_columns(path, replace(wishes, target=None), "sparse matrices")
    found = count_matrix(path, target)
    _refuse_few_rows(found.labels.rows, str(path))
    judged = judge_target(found.labels, str(path), wishes.task, wishes.positive)
    if found.gaps:
        raise HarnessError(f"{path}: {found.gaps} nonzeros are NaN or infinite")
    read = {"format": "npz"} | ({} if target == "y" else {"y": target})
    told = ["a sparse matrix of SciPy", *judged.told]
    n = found.labels.rows
    return _finished({"read": read}, n, found.d, judged, set(), 0, told, found.nnz)


def _finished(
    body: dict[str, Any],
    n: int,
    d: int,
    judged: Target,
    gaps: set[str],
    unlabeled: int,
    told: list[str],
    nnz: int | None = None,
    scaling: str = "standard",
) -> tuple[dict[str, Any], Counts, list[str]]:
    said: dict[str, Any] = {"task": judged.task, "n": n, "d": d}
    if judged.classes:
        said["classes"] = dict(judged.classes)
    if judged.positive:
        several = len(judged.positive) > 1
        said["positive"] = list(judged.positive) if several else judged.positive[0]
    body = said | body
    if gaps:
        ways = {"numeric": "median", "nominal": "own"}
        body["missing"] = {kind: ways[kind] for kind in ways if kind in gaps}
        meant = {"numeric": "numbers by the median", "nominal": "names by a value of their own"}
        filled = " and ".join(meant[kind] for kind in meant if kind in gaps)
        told.append(f"values are missing: {filled} (`missing` in the entry says otherwise)")
    if unlabeled:
        body["other_classes"] = "drop"
        rows = f"{unlabeled} row{' has' if unlabeled == 1 else 's have'}"
        told.append(f"{rows} no target: left out")
    if nnz is not None:
        body |= {"sparse": True, "nnz": nnz, "scaling": "maxabs"}
        share = f"{100 * nnz / (n * d):.2g} %"
        told.append(f"{share} is not zero: kept as a sparse matrix (`sparse` in the entry)")
        told.append("columns are divided by their largest magnitude (`scaling` in the entry)")
        return body, Counts(n, d, judged.classes, nnz), told
    body["scaling"] = scaling
    meant = {"standard": "scaled to mean 0 and variance 1", "none": "divided by 255"}
    told.append(f"numbers are {meant[scaling]} (`scaling` in the entry)")
    return body, Counts(n, d, judged.classes), told


def _told_of_target(target: Name, wishes: Wishes) -> list[str]:
    if wishes.target is not None:
        return []
    named = repr(target) if isinstance(target, str) else f"column {target}"
    return [f"the target is {named} (--target says otherwise)"]


def _refuse_few_rows(rows: int, where: str) -> None:
    if rows < 2:
        held = "one row" if rows else "no rows"
        raise HarnessError(f"{where}: the table has {held}; at least two are needed")


def _openml_number(source: str) -> int:
    number = source.removeprefix(OPENML)
    if not re.fullmatch(r"[1-9]\d{0,8}", number):
        raise HarnessError(f"{source}: write the number of the data set, such as openml:61")
    return int(number)


def _written_path(path: Path, folder: Path) -> str:
    """Return a path as a catalog in a folder writes it: relative below it, else absolute."""
    whole, base = path.resolve(), folder.resolve()
    return whole.relative_to(base).as_posix() if whole.is_relative_to(base) else os.fspath(whole)


def _sha256(path: Path) -> str:
    if is_folder(path):
        return folder_sha256(path)
    digest = hashlib.sha256()
    with open_unpacked(path) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
