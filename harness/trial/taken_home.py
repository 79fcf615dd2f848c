"""The fitted model of a trial, handed over as the file that it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import joblib

from harness.errors import HarnessError
from harness.plugin.abilities import predicts_new_rows
from harness.sandbox import SentFile
from harness.trial.model_costs import cannot_pickle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.datasets.raw_rows import RowPreparation
    from harness.sandbox import Monitor
    from harness.trial.assignment import Assignment

ARRAY = "model"
"""The array as which the file arrives."""


@dataclass(frozen=True)
class Label:
    """What a model's file says beside the estimator.

    Attributes
    ----------
    class_names : tuple of str
    preparation : RowPreparation or None
    row : mapping
    """

    class_names: tuple[str, ...]
    preparation: RowPreparation | None
    row: Mapping[str, Any]


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
        If it predicts no new rows, or cannot be pickled.
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
    try:
        joblib.dump(model, SentFile(monitor, ARRAY))
    except Exception as error:
        raise HarnessError(cannot_pickle(error)) from error
