"""The model of one row, fitted again and written to a file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import onnx_export
from harness.datasets.streams import in_runs
from harness.errors import HarnessError
from harness.files import write_whole
from harness.jobs.block_trials import BlockTrials
from harness.jobs.endings import is_answer
from harness.jobs.prepared import entry_with_data
from harness.jobs.recorded import Recorded, find_row
from harness.metrics.names import METRICS
from harness.planning.block_plans import item_type
from harness.planning.workload import Workload
from harness.trial.searched_space import searched_space
from harness.trial.taken_home import ARRAY, CHECKED, Label

if TYPE_CHECKING:
    import pandas

    from harness.datasets.raw_rows import RowPreparation
    from harness.datasets.raw_texts import TextPreparation
    from harness.jobs.referee import Referee
    from harness.onnx_export.check import Agreement
    from harness.trial.assignment import Assignment

_TOLD = (
    *("study", "dataset", "task", "method", "plugin_method", "n_labeled", "n_unlabeled"),
    *("n_kept", "n_test", "n_features", "n_classes", "budget", "seed", "size", "size_name"),
    *("planned_bytes", "peak_bytes", "predict_peak_bytes", "params", "fingerprint"),
    *("dataset_sha256", "plugin_sha256", "git_sha", "versions"),
)


@dataclass(frozen=True)
class Fitted:
    """A model that was written.

    Attributes
    ----------
    path : Path
    row : dict
        What its file says of it.
    scores : dict of str to float
        Equal to those of the row, bit for bit; empty if it was fitted to all labeled points.
    file_bytes : int
    model_bytes : int or None
        Of the estimator alone, as the row has it.
    prepared_only : str
        Why rows must be given to it as they are prepared; empty if the file can prepare them.
    agreement : Agreement or None
        Of an ONNX file: how its predictions differ from those of the model.
    """

    path: Path
    row: dict[str, Any]
    scores: dict[str, float]
    file_bytes: int
    model_bytes: int | None
    prepared_only: str
    agreement: Agreement | None = None


def fit(
    workload: Workload, row: str, path: Path, all_labels: bool = False, force: bool = False
) -> Fitted:
    """Fit the method of a row at its size, settings and seed, and write the model.

    Parameters
    ----------
    workload : Workload
    row : str
        The row's number in `trials.parquet`, or its fingerprint.
    path : Path
        The file to write: one of ONNX if its name ends so, else one of joblib.
    all_labels : bool, default False
        Whether it is fitted to all points of the data set with their labels, instead of those of
        the row. Then nothing is left to score it by, and it may take more memory than the row.
    force : bool, default False
        Whether a file that is there is replaced.

    Raises
    ------
    HarnessError
        If there is no such row, it did not end ok, what decided it has changed, it cannot be
        fitted again to equal scores, its model cannot be pickled or be written as ONNX, or the
        file cannot be written.
    """
    as_onnx = path.suffix.lower() == onnx_export.SUFFIX
    if as_onnx:
        onnx_export.required()
    _refuse_path(path, force)
    found = find_row(workload, row)
    _refuse_row(row, found, all_labels)
    trials = BlockTrials(workload, found.block)
    if as_onnx and trials.prepared.meta.nnz is not None:
        raise HarnessError(
            f"row {row} is of sparse data, and a file of ONNX takes dense rows: name a .joblib"
        )
    again = _settings(trials, found, row, all_labels)
    label, prepared_only, table = _label(workload, trials, found, all_labels)
    label = replace(label, as_onnx=as_onnx)
    if as_onnx and label.preparation is not None and table is None:
        label = replace(label, preparation=None)
        prepared_only = "its data set has texts, which no graph of ONNX makes words of here"
    made = _run(trials, found, row, label, all_labels, again)
    scores = {} if all_labels else made.scores()
    if not all_labels:
        _refuse_scores(row, found.row, scores)
    agreement = _agreement(made, label, trials, table) if as_onnx else None
    write_whole(made.content, path)
    known = {name: value for name, value in scores.items() if value is not None}
    row_told = dict(label.row)
    size = found.row["model_bytes"]
    return Fitted(path, row_told, known, len(made.content), size, prepared_only, agreement)


def _agreement(
    made: _Run,
    label: Label,
    trials: BlockTrials,
    table: pandas.DataFrame | None,
) -> Agreement:
    """Compare what the file gives for some rows with what the model gave."""
    from harness.datasets import read_rows
    from harness.datasets.raw_rows import RowPreparation
    from harness.onnx_export.check import compare
    from harness.onnx_export.rows import ROWS, inputs

    predicted = dict(made.checked)
    rows = predicted.pop("rows")
    if table is None or not isinstance(label.preparation, RowPreparation):
        item = item_type(trials.workload, trials.block, trials.method, trials.params)
        numbers = replace(item, keeps_integers=False)
        given = {ROWS: read_rows(trials.prepared.features, rows, numbers)}
    else:
        given = inputs(label.preparation, table.iloc[rows])
    return compare(made.content, given, predicted, list(label.class_names))


def _refuse_path(path: Path, force: bool) -> None:
    if path.is_dir():
        raise HarnessError(
            f"{path} is a folder: name the file to write, such as {path}/model.joblib"
        )
    if path.exists() and not force:
        raise HarnessError(f"{path} is there already: name another file, or give --force")
    if not path.parent.is_dir():
        raise HarnessError(f"{path}: there is no folder {path.parent}")


def _refuse_row(row: str, found: Recorded, all_labels: bool) -> None:
    outcome = found.row["outcome"]
    if outcome != "ok":
        raise HarnessError(
            f"row {row} ended {outcome}, so there is no model of it: {found.row['reason']}"
        )
    if all_labels and found.row["task"] == "clustering":
        raise HarnessError(f"row {row} is of a clustering, which has all points: leave --all out")


def _settings(trials: BlockTrials, found: Recorded, row: str, all_labels: bool) -> bool:
    """Take over what the row's search found; tell whether it must search again.

    A search is repeated only where a setting is no plain value, so that its name in the row does
    not say what it was.
    """
    if found.block.grid.tuning is None:
        return False
    space = searched_space(trials.method, trials.params, found.block.method.ranges)
    recorded = json.loads(found.row["params"])
    tuned = {name: recorded.get(name) for name in space}
    if all(isinstance(value, bool | int | float | None) for value in tuned.values()):
        trials.params = {**trials.params, **tuned}
        return False
    if all_labels:
        named = ", ".join(name for name, value in tuned.items() if isinstance(value, str))
        raise HarnessError(
            f"row {row}: --all cannot take over {named}, which the row has by name only"
        )
    return True


def _label(
    workload: Workload, trials: BlockTrials, found: Recorded, all_labels: bool
) -> tuple[Label, str, pandas.DataFrame | None]:
    """Return what the file says, why it prepares no rows, and the rows of the source."""
    from harness.datasets import open_mapped
    from harness.datasets.raw_rows import learn_preparation
    from harness.datasets.raw_texts import learn_texts

    meta, why_not, table = trials.prepared.meta, "", None
    preparation: RowPreparation | TextPreparation | None = None
    try:
        entry = entry_with_data(workload, found.block.dataset)
        X = open_mapped(trials.prepared.features)
        if entry.text is not None:
            preparation = learn_texts(entry, X)
        else:
            preparation, table = learn_preparation(entry, X)
    except HarnessError as error:
        why_not = str(error)
    told = {name: found.row[name] for name in _TOLD}
    told |= {"params": json.loads(told["params"]), "versions": json.loads(told["versions"])}
    told |= {"outcome": "ok", "fitted_to": "all labeled points" if all_labels else "the row's"}
    scores = {name: found.row[name] for name in found.row if name in METRICS}
    told["scores"] = {name: value for name, value in scores.items() if value is not None}
    clustering = found.row["task"] == "clustering"
    named = () if clustering else meta.class_names
    return Label(named, preparation, told), why_not, table


@dataclass(frozen=True)
class _Run:
    """What a trial that was run again gave: predictions, and the content of the model's file."""

    predictions: Mapping[str, np.ndarray]
    checked: Mapping[str, np.ndarray]
    content: bytes
    referee: Referee
    assignment: Assignment

    def scores(self) -> dict[str, Any]:
        return self.referee.score(self.assignment, self.predictions)


def _run(
    trials: BlockTrials,
    found: Recorded,
    row: str,
    label: Label,
    all_labels: bool,
    search: bool,
) -> _Run:
    from harness.jobs.referee import Referee
    from harness.sandbox import Limits

    limits = found.block.grid.limits
    with trials.running() as running:
        referee = Referee(trials.registry, trials.workload, found.block, trials.prepared.meta)
        assignment = referee.assign(trials.method, trials.params, found.planned, found.seed)
        assignment = replace(assignment, costs=False, label=label)
        if not search:
            assignment = replace(assignment, tuning=None, y_search=np.empty(0))
        if all_labels:
            assignment = _to_all(assignment, referee.y)
        release = referee.release(assignment, found.seed)
        # without a budget: the trial kept within it, and the file is not part of the trial
        result = running.run(
            assignment,
            Limits(seconds=None if all_labels else limits.time, threads=limits.threads),
            release=release,
        )
    if result is None:
        raise HarnessError(f"row {row} could not be fitted again: it {running.runner.lost}")
    if result.outcome != "ok" or not is_answer(result.answer):
        why = result.reason.removeprefix("HarnessError: ")
        raise HarnessError(f"row {row} gives no model: {why}")
    predictions = dict(result.arrays)
    content = predictions.pop(ARRAY).tobytes()
    names = [name for name in predictions if name.startswith(CHECKED)]
    checked = {name.removeprefix(CHECKED): predictions.pop(name) for name in names}
    if release is not None:
        predictions = release.predictions()
    return _Run(predictions, checked, content, referee, assignment)


def _to_all(assignment: Assignment, y: np.ndarray) -> Assignment:
    """Return the trial with every point labeled and none left to be predicted."""
    nothing, rows = assignment.test[:0], np.arange(len(y))
    if assignment.part is not None:
        rows = in_runs(len(y), assignment.part, np.random.default_rng(assignment.seed))
    return replace(
        assignment,
        labeled=rows,
        y_labeled=y[rows],
        stream=None,
        unlabeled=nothing,
        test=nothing,
        transductive=False,
        checkpoints=(),
        n_kept=None,
    )


def _refuse_scores(row: str, recorded: Mapping[str, Any], scores: Mapping[str, Any]) -> None:
    if "reason" in scores:
        raise HarnessError(f"row {row} {scores['reason']}")
    for name, value in scores.items():
        then = recorded.get(name)
        if then is not None and then != value and not (math.isnan(then) and math.isnan(value)):
            raise HarnessError(
                f"row {row} was not reproduced, so no model is written: {name} was {then!r}, is "
                f"{value!r} now"
            )
