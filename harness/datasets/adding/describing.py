"""From a file to the entry that a catalog needs, with a sentence for whatever was guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from harness.datasets.adding.bodies import finished
from harness.datasets.adding.facts import as_written, refuse_name, where_known
from harness.datasets.adding.guesses import (
    Columns,
    find_column,
    find_target,
    judge_columns,
    largest_group,
    profile_columns,
)
from harness.datasets.adding.openml import of_openml, wished
from harness.datasets.adding.pictures import folders_of_pictures, images_and_labels
from harness.datasets.adding.profiles import MOST_LABELS, ColumnProfile, Name
from harness.datasets.adding.sniffing import guess_format, has_lines_of_one_length
from harness.datasets.adding.sparse import count_matrix, count_sparse, is_sparse_npz
from harness.datasets.adding.stored_matrices import mat_table, npz_table
from harness.datasets.adding.tables import (
    Table,
    arff_table,
    csv_table,
    joined,
    json_table,
    npy_table,
    openml_table,
    parquet_table,
)
from harness.datasets.adding.targets import judge_target
from harness.datasets.adding.wishes import Wishes
from harness.datasets.adding.written_files import written_file
from harness.datasets.counting import Counts
from harness.datasets.fact_sources import QUERY
from harness.datasets.fetching import PACKINGS, is_packed
from harness.datasets.openml_tasks import Task
from harness.datasets.reading import TEXT_FORMATS
from harness.datasets.text_columns import Text
from harness.datasets.text_folders import holds_texts, is_utf8, text_files
from harness.errors import HarnessError
from harness.files import is_file, is_folder

_LONGEST_NAME = 100
_ENDINGS = (
    *("csv", "tsv", "tab", "txt", "data", "dat", "parquet", "pq", "arff", "jsonl", "ndjson"),
    *("npz", "npy", "mat", "svm", "svmlight", "libsvm", "all", "trn"),
)


_WHOLE = ("npz", "mat")
"""Formats of which a matrix is taken with all of its columns."""


_OF_ONE_LENGTH = (
    "; its first lines are all as long: if its columns have a fixed width, write an entry that "
    "says how many characters each has (`widths` of `read`)"
)


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
    task : Task, optional
        Of OpenML, whose folds a study of it takes.
    """

    name: str
    body: dict[str, Any]
    counts: Counts
    told: list[str] = field(default_factory=list)
    task: Task | None = None


def describe(sources: Sequence[str | Path], folder: Path, wishes: Wishes) -> Description:
    """Read files, a part at a time, and guess how a catalog reads them.

    Parameters
    ----------
    sources : sequence of str or Path
        CSV, TSV, Parquet, ARFF, SVMlight, npz, npy or MATLAB, plain or packed: one, or several
        whose rows belong together. Of MNIST's format images and labels in turn. Folders of
        pictures. Or "openml:61" or "openml-task:59" alone.
    folder : Path
        Of the catalog, which the path in the entry is relative to.
    wishes : Wishes

    Raises
    ------
    HarnessError
        If the file cannot be read, or nothing can be learned from it as it is.
    """
    first = str(sources[0])
    given = of_openml(first) if len(sources) == 1 else None
    if given is not None:
        number, task = given
        table, facts = openml_table(number), as_written(wishes, folder)
        wishes = wishes if task is None else wished(task, wishes)
        body, counts, told = _of_table(table, first, wishes, facts)
        return Description(first.replace(":", "-"), body, counts, told, task)
    paths = [Path(source) for source in sources]
    formats = [_format(path) for path in paths]
    if len(set(formats)) > 1:
        other = next(at for at, format in enumerate(formats) if format != formats[0])
        raise HarnessError(
            f"{paths[other]}: this is {formats[other]}, and {first} is {formats[0]}: files of one "
            "data set are of one format"
        )
    facts = as_written(wishes, folder)
    if formats[0] in ("svmlight", "idx", "images", "texts"):
        refuse_name(facts, formats[0], paths[0])
    if formats[0] == "svmlight":
        body, counts, told = _of_sparse(paths, wishes)
    elif formats[0] == "npz" and is_sparse_npz(paths[0]):
        body, counts, told = _of_matrix(paths, wishes)
    elif formats[0] in ("idx", "images"):
        body, counts, told = _of_pictures(paths, formats[0], wishes)
    elif formats[0] == "texts":
        body, counts, told = _of_folders(paths, wishes)
    else:
        try:
            tables = [_table(path, formats[0], wishes, facts) for path in paths]
            body, counts, told = _of_table(joined(tables, paths), paths[0], wishes, facts)
        except HarnessError as error:
            if formats[0] == "csv" and has_lines_of_one_length(paths[0]):
                raise HarnessError(f"{error}{_OF_ONE_LENGTH}") from None
            raise
    body |= {key: said for key, said in facts.items() if key not in body}
    body["files"] = [written_file(path, folder) for path in paths]
    body["source"] = ", ".join(path.name for path in paths)
    return Description(name_of(paths[0]), body, counts, told)


def _format(path: Path) -> str:
    if is_folder(path):
        return "texts" if holds_texts(path) else "images"
    if not is_file(path):
        raise HarnessError(f"{path}: there is no such file")
    format = guess_format(path)
    if format in ("parquet", "npz", "npy") and is_packed(path):
        raise HarnessError(f"{path}: unpack it: {format} files are read as they are")
    return format


def _table(path: Path, format: str, wishes: Wishes, facts: Mapping[str, Any]) -> Table:
    target = None if wishes.target is None else str(wishes.target)
    beside = {str(said) for said in facts.values()}
    match format:
        case "csv":
            return csv_table(path, wishes.header, target)
        case "parquet":
            return parquet_table(path)
        case "jsonl":
            return json_table(path)
        case "arff":
            return arff_table(path)
        case "npz":
            return npz_table(path, target, beside)
        case "mat":
            return mat_table(path, target, beside)
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
    table: Table, where: str | Path, wishes: Wishes, said: Mapping[str, Any]
) -> tuple[dict[str, Any], Counts, list[str]]:
    where = str(where)
    target = find_target(table, wishes.target, where)
    nominal, drop, keep = (
        [find_column(table, name, f"--{option}", where) for name in getattr(wishes, option)]
        for option in ("nominal", "drop", "keep")
    )
    facts = _columns(table, said, where)
    asked = [("nominal", nominal), ("drop", drop), ("keep", keep)]
    for option, names in (*asked, *((key, [name]) for key, name in facts.items())):
        if target in names:
            raise HarnessError(f"{where}: --{option} names {target!r}, which is the target")
    table, lacking = where_known(table, target, facts)
    features, labels = profile_columns(table, target, [*drop, *facts.values()])
    _refuse_few_rows(labels.rows, where)
    judged = judge_target(labels, where, wishes.task, wishes.positive)
    if table.read["format"] in _WHOLE:
        keep = table.columns
    texts: Sequence[Name] | None = ()
    if table.read["format"] in TEXT_FORMATS:
        given = wishes.text
        texts = given and [find_column(table, name, "--text", where) for name in given]
        if target in (texts or ()):
            raise HarnessError(f"{where}: --text names {target!r}, which is the target")
    elif wishes.text:
        raise HarnessError(
            f"{where}: --text names columns of texts, and {table.read['format']} has none; "
            f"formats with texts are {', '.join(TEXT_FORMATS)}"
        )
    columns = judge_columns(features, where, nominal, keep, labels, table.marked, texts)
    columns.ignored += drop
    told = [*_told_of_target(target, wishes), *table.told, *judged.told, *columns.told]
    if table.twice:
        told.append(f"several columns are called {', '.join(table.twice)}: numbered .1, .2")
    body: dict[str, Any] = {"read": _read(table, target, columns, labels.marks), **facts}
    for key, count in lacking.items():
        body[key] = {"column": facts[key], "missing": "drop"}
        rows = f"{count} row{' has' if count == 1 else 's have'}"
        told.append(f"{rows} no value of {key}: left out (`missing` below `{key}`)")
    n, largest = labels.rows - labels.missing, None
    if "groups" in facts:
        largest = largest_group(table, target, facts["groups"])
        body["largest_group"] = largest
        told.append(f"the largest group has {largest} of {n} points")
    if columns.texts:
        body["text"] = _text_key(columns.texts)
    made = finished(body, n, columns.n_features, judged, columns.gaps, labels.missing, told)
    return made[0], replace(made[1], largest_group=largest), made[2]


def _columns(table: Table, said: Mapping[str, Any], where: str) -> dict[str, Name]:
    """Return the columns of a table that are kept beside the features."""
    named = {key: name for key, name in said.items() if not isinstance(name, dict)}
    if table.read["format"] in _WHOLE:  # other names are of arrays beside the matrix
        named = {key: name for key, name in named.items() if str(name).isdigit()}
    return {key: find_column(table, name, f"--{key}", where) for key, name in named.items()}


def _text_key(names: Sequence[Name]) -> dict[str, Any]:
    column = names[0] if len(names) == 1 else list(names)
    return {"column": column, "by": "tf-idf", "features": Text.model_fields["features"].default}


def _of_folders(paths: Sequence[Path], wishes: Wishes) -> tuple[dict[str, Any], Counts, list[str]]:
    _refuse_columns(paths[0], wishes, "folders of texts")
    files = [file for path in paths for file in text_files(path)]
    labels = ColumnProfile("labels", most=MOST_LABELS, labels=True)
    labels.update(pd.Series([label for label, _ in files], dtype=object))
    charset = "utf-8" if all(is_utf8(path) for _, path in files) else "latin-1"
    read = {"format": "texts"} | ({} if charset == "utf-8" else {"charset": charset})
    judged = judge_target(labels, str(paths[0]), wishes.task, wishes.positive)
    told = [f"{len(files):,} texts in a folder for each label", *judged.told]
    if charset != "utf-8":
        told.append(f"some texts are no UTF-8: all are read as {charset} (`charset` in the entry)")
    body: dict[str, Any] = {"read": read, "text": _text_key(["text"])}
    return finished(body, len(files), 0, judged, set(), 0, told)


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
    if read["format"] in (*TEXT_FORMATS, "npy") and columns.nominal:
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
        return finished(body, found.labels.rows, found.d, judged, set(), 0, told)
    body, counts, told = finished(
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
    if found.queries and QUERY not in (wishes.groups, wishes.order):
        told.append(f"{QUERY} of the lines is left out (--groups {QUERY} keeps groups apart)")
    gaps = {"numeric"} if found.gaps else set()
    n = found.labels.rows
    nnz = found.nnz if found.is_large else None
    return finished({"read": read}, n, found.d, judged, gaps, 0, told, nnz)


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
    return finished({"read": read}, n, found.d, judged, set(), 0, told, found.nnz)


def _told_of_target(target: Name, wishes: Wishes) -> list[str]:
    if wishes.target is not None:
        return []
    named = repr(target) if isinstance(target, str) else f"column {target}"
    return [f"the target is {named} (--target says otherwise)"]


def _refuse_few_rows(rows: int, where: str) -> None:
    if rows < 2:
        held = "one row" if rows else "no rows"
        raise HarnessError(f"{where}: the table has {held}; at least two are needed")
