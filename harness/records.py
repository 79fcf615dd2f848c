"""The record: one row a trial, its columns, and how rows are written, read and collected.

A row says what was asked, planned, enforced, measured and scored, or why not. Rows are appended to
a journal, a JSON line each, as soon as a trial ends; a line that a kill cut short, or that holds
what its columns do not, is not a row. `write_table` joins them into one Parquet file.
"""

from __future__ import annotations

import errno
import fcntl
import json
import math
import os
import shutil
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from harness.cells import MOST_TEXT, clean_text, read, written
from harness.errors import HarnessError
from harness.files import DAMAGED, is_file, write_whole

if TYPE_CHECKING:
    import pandas

OUTCOMES = ("ok", "infeasible", "over_budget", "timeout", "crashed", "error")

CLASSIFICATION = frozenset({"binary", "multiclass"})
REGRESSION = frozenset({"regression"})
CLUSTERING = frozenset({"clustering"})

METRICS = {
    "auc": CLASSIFICATION,
    "accuracy": CLASSIFICATION,
    "balanced_accuracy": CLASSIFICATION,
    "error_rate": CLASSIFICATION,
    "f1_macro": CLASSIFICATION,
    "nmse": REGRESSION,
    "r2": REGRESSION,
    "adjusted_rand": CLUSTERING,
    "fowlkes_mallows": CLUSTERING,
    "silhouette": CLUSTERING,
    "calinski_harabasz": CLUSTERING,
}
"""Columns of built-in metrics, and the tasks that each applies to."""

PRIMARY = {
    "binary": "auc",
    "multiclass": "accuracy",
    "regression": "nmse",
    "clustering": "adjusted_rand",
}
"""What decides if a study names no metric that applies."""

COLUMNS: dict[str, str] = {
    # what was asked
    "study": "string",
    "dataset": "string",
    "task": "string",
    "method": "string",  # the label of the study; `plugin_method` is the method behind it
    "plugin_method": "string",
    "n_labeled": "int64",
    "n_unlabeled": "int64",
    "n_test": "int64",
    "n_features": "int64",
    "n_classes": "int64",
    "budget": "string",  # as written: "200MB", "640 landmarks", "none"
    "budget_bytes": "int64",  # null without a limit on bytes
    "seed": "int64",
    # how it ended
    "outcome": "string",
    "reason": "string",  # of any outcome but ok; what the trial warned of where it is ok
    # what was planned, enforced and measured; bytes above the idle worker's
    "size": "int64",
    "size_name": "string",
    "planned_bytes": "int64",
    "baseline_bytes": "int64",  # resident size of the idle worker
    "data_bytes": "int64",  # X and y as loaded
    "peak_bytes": "int64",  # the most that was added to the baseline
    "load_peak_bytes": "int64",
    "tune_peak_bytes": "int64",
    "fit_peak_bytes": "int64",
    "predict_peak_bytes": "int64",
    "enforced_by": "string",
    "measured_by": "string",
    "isolation": "string",
    "load_s": "float64",
    "tune_s": "float64",
    "fit_s": "float64",
    "predict_s": "float64",
    "wall_s": "float64",
    "cpu_s": "float64",
    "params": "string",  # JSON
    # scores; null where they do not apply
    **dict.fromkeys(METRICS, "float64"),
    "checkpoints": "string",  # JSON: the points of the fit's curve; null if none were asked for
    # where it comes from
    "fingerprint": "string",
    "decided_by": "string",  # JSON: data, code and versions that decide the outcome, part by part
    "dataset_sha256": "string",
    "plugin_sha256": "string",
    "git_sha": "string",
    "git_dirty": "bool",
    "versions": "string",  # JSON
    "host": "string",
    "cpu": "string",
    "threads": "int64",
    "started_at": "string",  # ISO 8601, UTC
    "command": "string",
}


JSON_COLUMNS = frozenset({"params", "checkpoints", "versions"})

NEVER_NULL = ("fingerprint", "dataset", "task", "method", "budget", "seed", "outcome")
"""What every row of a trial says."""

_KINDS = COLUMNS | dict.fromkeys(JSON_COLUMNS, "json")


class Journal:
    """The rows of one block on disk, appended one by one and locked while a worker holds it.

    Two workers of the same block (one left over from a workflow that was killed) exclude each
    other by the lock, which the kernel drops with the process; the second then finds the rows of
    the first. Lines that are not rows are put aside when the journal is opened, and their trials
    have no row.

    Parameters
    ----------
    path : Path
        Created with its folders if absent.

    Raises
    ------
    HarnessError
        On entering, if the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Journal:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._locked()
            content = self._file.read()
            whole = content.rfind(b"\n") + 1
            rows, faults = _rows(self.path, content[:whole])
            if faults:
                self._put_aside(content, rows)
            else:
                self._file.truncate(whole)
        except OSError as error:
            raise HarnessError(_cannot_be_used(self.path, error)) from None
        self.rows = {row["fingerprint"]: row for row in rows}
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def append(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Add a row and return it as it was written; it is on disk then.

        Whatever a column cannot hold is null, and the reason says so.
        """
        row = writable_row(row)
        line = json.dumps(row, separators=(",", ":")) + "\n"
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self.rows[row["fingerprint"]] = row
        return row

    def publish(self, output: Path) -> None:
        """Make the rows appear under another name, at once and without a second copy.

        Raises
        ------
        HarnessError
            If that name cannot be written.
        """
        temporary = output.with_name(f".{os.getpid()}.part")
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            temporary.unlink(missing_ok=True)
            try:
                os.link(self.path, temporary)
            except OSError:
                shutil.copyfile(self.path, temporary)
            temporary.replace(output)
            # renaming a file onto another link of itself does nothing and leaves both
            temporary.unlink(missing_ok=True)
        except OSError as error:
            raise HarnessError(_cannot_be_used(output, error)) from None

    def _locked(self) -> BinaryIO:
        """Open the file and wait for its lock, again if it was put aside meanwhile."""
        while True:
            if self.path.exists() and not is_file(self.path):
                raise IsADirectoryError(errno.EISDIR, "Is no file")
            file = self.path.open("a+b")
            fcntl.flock(file, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                    file.seek(0)
                    return file
            file.close()

    def _put_aside(self, content: bytes, rows: Iterable[Mapping[str, Any]]) -> None:
        """Keep the file as it is under another name, and go on with its rows in a new one."""
        aside = self.path.with_name(f"{self.path.name}{DAMAGED}")
        aside.write_bytes(content)
        temporary = self.path.with_name(f".{os.getpid()}.part")
        file = temporary.open("w+b")
        fcntl.flock(file, fcntl.LOCK_EX)
        for row in rows:
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
        temporary.replace(self.path)
        self._file.close()
        self._file = file


def writable_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a row to the types of its columns, whatever it holds; metrics are numbers.

    What cannot be kept is null, and `reason` names its columns.
    """
    made, lost = {}, []
    for name, value in row.items():
        made[clean_text(str(name))] = cell = written(value, _KINDS.get(name, "float64"))
        undefined = isinstance(value, float) and not math.isfinite(value)
        if cell is None and value is not None and not undefined:
            lost.append(clean_text(str(name), 60))
    if lost:
        told = f"could not be recorded: {', '.join(lost[:10])}"
        said = clean_text(made.get("reason") or "", MOST_TEXT - len(told) - 2)
        made["reason"] = "; ".join(filter(None, [said, told]))
    return made


def deciding_metric(task: str, asked: Iterable[str], tasks: Mapping[str, Set[str]]) -> str:
    """Return the metric that decides for a task: the first one asked for that applies.

    Parameters
    ----------
    task : str
    asked : iterable of str
    tasks : mapping of str to set of str
        Where each metric applies, all that are asked for among them.
    """
    return next((name for name in asked if task in tasks[name]), PRIMARY[task])


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a journal, published or still being written, and leave out what is none."""
    return rows_and_faults(path)[0]


def rows_and_faults(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Read the rows of a journal, and say what of it cannot be used.

    Returns
    -------
    rows : list of dict
        Every column of the record is in each; those of plugins' metrics are numbers or None.
    faults : list of str
        A sentence for each line that is no row, or for a file that cannot be read.
    """
    if not is_file(path):  # a pipe would be waited for
        return [], [f"{path}: there is no such file"]
    try:
        content = path.read_bytes()
    except OSError as error:
        return [], [f"{path}: cannot be read: {error.strerror}"]
    return _rows(path, content[: content.rfind(b"\n") + 1])


def finished_rows(*folders: Path) -> dict[str, dict[str, Any]]:
    """Read all rows of a cell, by fingerprint, whatever blocks they were run in.

    Parameters
    ----------
    *folders : Path
        Where the cell's rows are: its journals, its published blocks. Publishing links a journal
        to another name; what is linked is read once.
    """
    rows: dict[str, dict[str, Any]] = {}
    read = set()
    for path in (path for folder in folders for path in sorted(folder.glob("*.jsonl"))):
        with suppress(OSError):  # a link that leads nowhere holds no rows
            status = path.stat()
            content = (status.st_dev, status.st_ino)
            if content in read:
                continue
            read.add(content)
            rows |= {row["fingerprint"]: row for row in read_rows(path)}
    return rows


def write_table(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write rows as one Parquet file, atomically; metrics of plugins become further columns."""
    import pyarrow
    import pyarrow.parquet

    rows = list(rows)
    extra = sorted({name for row in rows for name in row} - set(COLUMNS))
    types = COLUMNS | dict.fromkeys(extra, "float64")
    arrow = {"string": pyarrow.string(), "bool": pyarrow.bool_()}
    schema = pyarrow.schema(
        [(name, arrow.get(kind) or pyarrow.type_for_alias(kind)) for name, kind in types.items()]
    )
    table = pyarrow.Table.from_pylist([dict(row) for row in rows], schema=schema)
    made = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, made)
    write_whole(made.getvalue().to_pybytes(), path)


def read_table(path: Path) -> pandas.DataFrame:
    """Read the table of a study.

    Raises
    ------
    HarnessError
        If there is none yet, it is not readable, it lacks columns, or it has no rows.
    """
    import pandas

    try:
        table = pandas.read_parquet(path, dtype_backend="numpy_nullable")
    except FileNotFoundError:
        # results lie in the folder that commands are run from, which may be the wrong one
        absent = f"{path.absolute()}: no results yet; run the study first"
        raise HarnessError(absent) from None
    except (OSError, ValueError) as error:
        raise HarnessError(f"{path}: cannot be read: {error}") from None
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise HarnessError(f"{path}: columns {', '.join(missing)} are missing")
    if table.empty:
        raise HarnessError(f"{path}: holds no trials; run the study first")
    return table


def without_nan(content: Any) -> Any:
    """Return JSON content with null in the place of every number that JSON has no word for."""
    if isinstance(content, Mapping):
        return {name: without_nan(value) for name, value in content.items()}
    if isinstance(content, list):
        return [without_nan(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def _rows(path: Path, lines: bytes) -> tuple[list[dict[str, Any]], list[str]]:
    rows, faults = [], []
    for number, line in enumerate(lines.splitlines(), 1):
        try:
            rows.append(_row(line))
        except (ValueError, RecursionError) as error:
            faults.append(f"{path}: line {number} is not a row: {error}")
    return rows, faults


def _row(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it is not an object")
    row = dict.fromkeys(COLUMNS)
    for name, value in found.items():
        if value is None and name in COLUMNS:
            continue
        try:
            row[name] = read(value, _KINDS.get(name, "float64"))
        except ValueError as error:
            if name in COLUMNS:
                raise ValueError(f"{name} {error}") from None
            # a column of another version; what decides the outcome is in the fingerprint
    for name in NEVER_NULL:
        if row[name] is None:
            raise ValueError(f"{name} is missing")
    if row["outcome"] not in OUTCOMES:
        raise ValueError(f"outcome is {row['outcome']!r}, not one of {', '.join(OUTCOMES)}")
    if not row["fingerprint"].endswith(f"-{row['seed']}"):
        raise ValueError(f"its seed is {row['seed']}, its fingerprint {row['fingerprint']}")
    return row


def _cannot_be_used(path: Path, error: OSError) -> str:
    if isinstance(error, (IsADirectoryError, NotADirectoryError, FileExistsError)):
        return f"{path}: {error.strerror}: something else is in the place of it or of its folder"
    return f"{path}: cannot be read or written: {error.strerror}"
