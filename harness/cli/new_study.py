"""Writes a study to start from, of a size that its data sets allow."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.new_plugin import write_new
from harness.datasets.entry import Entry
from harness.errors import HarnessError
from harness.files import is_file
from harness.strict_yaml import written
from harness.units import format_bytes

if TYPE_CHECKING:
    from harness.datasets.adding import Folds

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_STUDY = """\
# harness plan @CALLED@, then harness run @CALLED@
title: @TITLE@
datasets: @DATASETS@
methods: @METHODS@
labeled: @LABELED@
budgets: [@BUDGETS@]
seeds: @SEEDS@
@EVALUATION@metrics: @METRICS@
tuning: @TUNING@
limits: {time: 2m}
"""

_LABELED = 100
"""Labeled points, where a data set has enough."""

_CLASSIFICATION = ("prior", "1nn", "svm", "nysck")
_REGRESSION = ("prior", "krr", "nystrom-krr")
_SPARSE = ("prior", "linear-svm", "svm", "nystroem-ridge")
"""Of classification: methods that take sparse points. Of regression all that came along do."""
_WITH_KERNEL = ("svm", "nysck")
_METRICS = {
    "binary": ("auc", "accuracy"),
    "multiclass": ("accuracy", "balanced_accuracy"),
    "regression": ("nmse", "r2"),
}


def write_study(
    name: str,
    folder: Path,
    entries: Sequence[Entry],
    methods: Sequence[str] = (),
    metrics: Sequence[str] = (),
    kernel: str | None = None,
    search: str | None = None,
    folds: Folds | None = None,
) -> Path:
    """Write a study.

    Parameters
    ----------
    name : str
        Of the study and its file.
    folder : Path
        Made if it does not exist.
    entries : sequence of Entry
        Data sets; their sizes decide on labeled points and budgets.
    methods, metrics : sequence of str, default ()
        By default what suits the first data set's task.
    kernel : str, optional
        What methods with a kernel are given.
    search : str, optional
        How parameters are tuned; by default they are not.
    folds : Folds, optional
        Splits of a task of OpenML, which are taken instead of drawn ones.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    HarnessError
        If the name is not allowed, or the file exists or cannot be written.
    """
    if not NAME.fullmatch(name):
        raise HarnessError(
            f"{name!r} cannot name a study: use letters, digits, '.', '_' and '-', the first a "
            "letter or a digit"
        )
    path = folder / f"{name}.yaml"
    if is_file(path):
        raise HarnessError(f"{path} is there already; choose another name")
    task = entries[0].task
    if not methods:
        sparse = any(entry.sparse for entry in entries)
        of_classes = _SPARSE if sparse else _CLASSIFICATION
        methods = _REGRESSION if task == "regression" else of_classes
        methods = [m for m in methods if not kernel or m in _WITH_KERNEL]
    chosen = [{method: {"kernel": kernel}} if kernel else method for method in methods]
    told = {
        "TITLE": f"What is best on {', '.join(entry.name for entry in entries)} in few megabytes?",
        "DATASETS": written([entry.name for entry in entries]),
        "METHODS": written(chosen),
        "LABELED": str(_labeled(entries, folds)),
        "SEEDS": str(5 if folds is None else min(folds.count, 10)),
        "BUDGETS": ", ".join(_budgets(entries)),
        "EVALUATION": _evaluation(entries, folds),
        "METRICS": written([*metrics, *_METRICS[task]]),
        "TUNING": written({"search": search, "trials": 10}) if search else "none",
        "CALLED": study_of(path),
    }
    text = _STUDY
    for key, value in told.items():
        text = text.replace(f"@{key}@", value)
    return write_new(text, path)


def study_of(path: Path) -> str:
    """Return what commands call a study: its name alone, where that finds it."""
    plain = path.parent == Path("studies") and "." not in path.stem
    return path.stem if plain else str(path)


def _evaluation(entries: Sequence[Entry], folds: Folds | None) -> str:
    """Return the line that says what is scored, where that is not all unlabeled points."""
    if folds is not None:
        return f"evaluation: {written({'openml': folds.task})}\n"
    said: dict[str, Any] = {"test": 0.2}
    if all(entry.groups for entry in entries):
        said["groups"] = "test"
    elif all(entry.order for entry in entries):
        said["temporal"] = "test"
    elif not any(entry.n_unlabeled for entry in entries):
        return ""
    return f"evaluation: {written(said)}\n"


def _labeled(entries: Sequence[Entry], folds: Folds | None) -> int:
    """Return how many points have labels: few beside the others, and one of each class."""
    most = min(_LABELED, *(max(1, (entry.n - entry.n_unlabeled) // 3) for entry in entries))
    most = most if folds is None else min(most, folds.smallest)
    return max(most, *(entry.n_classes for entry in entries), 1)


def _budgets(entries: Sequence[Entry]) -> list[str]:
    """Return a budget that the largest set just fits into, and a wide one."""
    data = max(entry.data_bytes for entry in entries)
    return [_round(3e6 + 1.5 * data), _round(1e7 + 5 * data)]


def _round(size: float) -> str:
    """Write the first of 1, 2, 3, 5, 10, 20, ... that is not below a number of bytes."""
    unit = 10 ** math.floor(math.log10(size))
    rounded = next(unit * step for step in (1, 2, 3, 5, 10) if unit * step >= size)
    return format_bytes(rounded).replace(" ", "")
