"""Tasks of OpenML: published folds of a data set, kept as splits in a file.

A task is two files: what it is (JSON), and its folds (ARFF: a line for each row, repeat and fold).
They are fetched as files of data sets are. What is read is kept small below `.harness/openml`, in
the form of every file of splits, so that it goes along to other machines.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.files import is_file, write_whole
from harness.project import CACHE

if TYPE_CHECKING:
    import pandas as pd

    from harness.datasets.entry import Entry

FOLDER = CACHE / "openml"

_API = "https://www.openml.org/api/v1/json/task"
_PARTS = {"TRAIN": 2, "TEST": 3}
"""Of codes in a file of splits: labeled points are drawn among the first."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """What a task says of itself.

    Attributes
    ----------
    number : int
    data : int
        The number of its data set.
    target : str
        The feature that is predicted; "" if it does not say.
    splits_url : str
        Where its folds are; "" if it has none.
    type : int, default 0
        As OpenML numbers them: 1 is of classification, 2 of regression. 0 if it is not known.
    """

    number: int
    data: int
    target: str
    splits_url: str
    type: int = 0


def task_file(number: int) -> Path:
    """Return the file in which the folds of a task are kept."""
    return FOLDER / f"task-{number}.npz"


def keep_task(number: int, entry: Entry) -> Path:
    """Return the file of a task's folds, fetched and kept where it is not there yet.

    Splits are numbered repeat by repeat: with 10 folds, 13 is the fourth fold of the second.

    Parameters
    ----------
    number : int
    entry : Declared
        The data set whose splits they are to be.

    Raises
    ------
    HarnessError
        If the files cannot be had or read, or the task is of other data than the entry's.
    """
    if entry.openml_id is None:
        raise HarnessError(
            f"data set {entry.name!r}: its entry does not say which data set of OpenML has its "
            f"rows: write `openml: NUMBER` in it, which https://www.openml.org/t/{number} names, "
            "if the rows are the same in the same order"
        )
    path = task_file(number)
    if not is_file(path):
        task = fetch_task(number)
        _refuse_other_data(task, entry)
        _keep_folds(task, path)
    task, n = _kept(path)
    _refuse_other_data(task, entry)
    if n != entry.n:
        raise HarnessError(
            f"data set {entry.name!r} has {entry.n} points, but OpenML task {number} is of {n} "
            "rows: it is of other data, or the entry drops some of its rows"
        )
    return path


def fetch_task(number: int) -> Task:
    """Return what OpenML, or a mirror of it, says of a task.

    Raises
    ------
    HarnessError
        If it cannot be fetched, or is not understood.
    """
    from harness.datasets.fetching import open_unpacked

    path = _fetched(number, "json", f"{_API}/{number}")
    try:
        with open_unpacked(path) as stream:
            task = json.load(stream)["task"]
        inputs = {item["name"]: item for item in task["input"]}
        source = inputs["source_data"]["data_set"]
        procedure = inputs.get("estimation_procedure", {}).get("estimation_procedure", {})
        return Task(
            number,
            int(source["data_set_id"]),
            str(source.get("target_feature") or ""),
            str(procedure.get("data_splits_url") or ""),
            int(task.get("task_type_id") or 0),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise HarnessError(
            f"OpenML task {number}: {path}: is not what OpenML says of a task ({reason})"
        ) from None


def _fetched(number: int, ending: str, url: str) -> Path:
    from harness.datasets.fetching import fetch_file
    from harness.datasets.file import File

    name = f"task-{number}.{ending}"
    urls = (url,) if url.startswith("https://") else ()
    return fetch_file(f"OpenML task {number}", File(name=name, mirror=f"openml/{name}", urls=urls))


def _refuse_other_data(task: Task, entry: Entry) -> None:
    told = f"OpenML task {task.number} is of OpenML data set {task.data}"
    if entry.openml_id != task.data:
        raise HarnessError(f"data set {entry.name!r} is OpenML {entry.openml_id}, but {told}")
    own = getattr(entry.read, "target", None)
    if isinstance(own, str) and task.target and own != task.target:
        raise HarnessError(
            f"data set {entry.name!r}: its target is {own!r}, but OpenML task {task.number} "
            f"predicts {task.target!r}"
        )


def _kept(path: Path) -> tuple[Task, int]:
    """Return the task that a file is of, and how many rows it has."""
    import zipfile

    import numpy as np

    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return Task(**json.loads(str(file["task"]))), int(file["part"].shape[1])
    except (OSError, ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile) as error:
        raise HarnessError(f"{path}: cannot be read: {error}; remove it") from None


def _keep_folds(task: Task, path: Path) -> None:
    """Read the folds of a task, and write them as splits."""
    import io

    import numpy as np

    from harness.datasets.arff import read_arff
    from harness.datasets.fetching import open_unpacked

    source = _fetched(task.number, "arff", task.splits_url)
    try:
        with open_unpacked(source) as stream:
            table = read_arff(stream.read().decode("utf-8", "replace"))
        arrays = _codes(table)
    except (ValueError, KeyError, TypeError, EOFError) as error:
        raise HarnessError(
            f"OpenML task {task.number}: {source}: cannot be read as its folds: {error}"
        ) from None
    packed = io.BytesIO()
    told = np.array(json.dumps(vars(task)))
    np.savez_compressed(packed, allow_pickle=False, task=told, **arrays)
    write_whole(packed.getvalue(), path)
    count, n = arrays["part"].shape
    _log.warning(
        "OpenML task %s: %s splits of %s rows, read from %s", task.number, count, n, source
    )


def _codes(table: pd.DataFrame) -> Mapping[str, Any]:
    """Return the part of every row in each fold of each repeat."""
    import numpy as np

    columns = {str(name).lower(): table[name] for name in table}
    lacking = {"type", "rowid", "repeat", "fold"} - columns.keys()
    if lacking:
        raise ValueError(f"there is no attribute {sorted(lacking)[0]!r}")
    if "sample" in columns and columns["sample"].nunique() > 1:
        raise ValueError("it is a learning curve, with several samples in a fold")
    numbers = {name: columns[name].to_numpy(np.float64) for name in ("rowid", "repeat", "fold")}
    if any((values != np.floor(values)).any() for values in numbers.values()):
        raise ValueError("a rowid, repeat or fold is no whole number")
    row, repeat, fold = (numbers[name].astype(np.int64) for name in ("rowid", "repeat", "fold"))
    part = columns["type"].astype(str).str.upper().map(_PARTS)
    if part.isna().any():
        raise ValueError("a type is neither TRAIN nor TEST")
    if min(row.min(), repeat.min(), fold.min()) < 0:
        raise ValueError("a rowid, repeat or fold is negative")
    count = (int(repeat.max()) + 1) * (int(fold.max()) + 1)
    which = repeat * (int(fold.max()) + 1) + fold
    codes = np.zeros((count, int(row.max()) + 1), np.uint8)
    codes[which, row] = part.to_numpy(np.uint8)
    if (codes > 0).sum() != len(row):
        raise ValueError("a row is twice in one fold")
    whole = (codes == 2).any(axis=1) & (codes == 3).any(axis=1)
    if not whole.all():
        raise ValueError(f"fold {int(np.argmin(whole))} lacks training or test rows")
    return {"seeds": np.arange(count), "part": codes}
