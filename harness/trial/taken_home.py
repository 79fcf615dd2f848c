"""The fitted model of a trial, handed over as the file that it becomes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from harness.datasets import read_header, read_rows
from harness.errors import HarnessError
from harness.plugin.abilities import predicts_new_rows
from harness.sandbox import SentFile
from harness.trial.model_costs import cannot_pickle
from harness.trial.prediction import predict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.datasets.raw_rows import RowPreparation
    from harness.datasets.raw_texts import TextPreparation
    from harness.sandbox import Monitor
    from harness.trial.assignment import Assignment
    from harness.trial.fitted_model import FittedModel

ARRAY = "model"
"""The array as which the file arrives."""

CHECKED = "checked_"
"""Begins the names of arrays by which a file of ONNX is checked: "rows", and what is predicted."""

_CHECKED_ROWS = 500


@dataclass(frozen=True)
class Label:
    """What a model's file says beside the estimator.

    Attributes
    ----------
    class_names : tuple of str
    preparation : RowPreparation, TextPreparation or None
    row : mapping
    as_onnx : bool, default False
        Whether the file is one of ONNX, and predictions to check it by come along.
    """

    class_names: tuple[str, ...]
    preparation: RowPreparation | TextPreparation | None
    row: Mapping[str, Any]
    as_onnx: bool = False


def send_model(
    estimator: Any, assignment: Assignment, targets: tuple[float, float], monitor: Monitor
) -> None:
    """Send the file of a fitted model.

    Parameters
    ----------
    estimator : fitted estimator
    assignment : Assignment
        With a `label`.
    targets : (float, float)
        Mean and standard deviation of a regression's targets.
    monitor : Monitor

    Raises
    ------
    HarnessError
        If it predicts no new rows, or cannot be pickled or written as ONNX.
    """
    from harness.trial.fitted_model import FittedModel

    label = assignment.label
    assert label is not None, "what is taken home is labelled"
    if not predicts_new_rows(estimator):
        name = assignment.method.name
        raise HarnessError(f"{name} predicts only the points of its fit: there is no model of it")
    model = FittedModel(
        estimator,
        assignment.task,
        label.class_names,
        assignment.n_classes,
        label.preparation,
        *targets,
        label.row,
    )
    if label.as_onnx:
        _send_onnx(model, assignment, monitor)
        return
    try:
        joblib.dump(model, SentFile(monitor, ARRAY))
    except Exception as error:
        raise HarnessError(cannot_pickle(error)) from error


def _send_onnx(model: FittedModel, assignment: Assignment, monitor: Monitor) -> None:
    """Send the file, and what the model says of some rows: those it has not seen, if there are."""
    from harness.onnx_export.model import to_onnx

    item = assignment.item and replace(assignment.item, keeps_integers=False)
    kind = read_header(assignment.features).dtype if item is None else np.dtype(item.dtype)
    written = to_onnx(model, kind)
    SentFile(monitor, ARRAY).write(written)
    given = (assignment.test, assignment.unlabeled, assignment.labeled)
    rows = next(rows for rows in given if len(rows))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, _CHECKED_ROWS).astype(np.int64))]
    X = read_rows(assignment.features, rows, item)
    found = predict(model.estimator, X, assignment.task, assignment.n_classes)
    if "values" in found:
        found["values"] = found["values"] * model.scale + model.center
    monitor.send([{CHECKED + name: values for name, values in {"rows": rows, **found}.items()}])
