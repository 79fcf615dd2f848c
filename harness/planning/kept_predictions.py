"""Whether a study keeps what its trials predict, and how many bytes that takes.

It is decided by the study as a whole, from the catalog alone: the same in each of its jobs.
"""

from __future__ import annotations

from harness.planning.study_splits import sizes_of
from harness.planning.workload import Workload

MOST_UNASKED = 10**9
"""Bytes of a study's predictions that are kept unless it says otherwise."""

SCORE_BYTES = 2
"""Of one score, before it is packed; packing hardly makes it fewer."""

TRIAL_BYTES = 330
"""Of a trial besides its scores."""


def predictions_bytes(workload: Workload) -> int:
    """Return what the predictions of all trials of a study take at most.

    Parameters
    ----------
    workload : Workload
        Of the whole study or of one of its jobs.
    """
    total = 0
    for grid in workload.study.grids:
        trials = len(grid.methods) * len(grid.budgets) * len(grid.seeds)
        for dataset in grid.datasets:
            entry = workload.catalog[dataset]
            columns = entry.n_classes if entry.n_classes > 2 else 1
            if grid.task_of(entry.task) == "clustering":
                columns = 1
            for labeled in grid.labeled:
                sizes = sizes_of(workload.study, grid, entry, labeled)
                points = sizes.n_unlabeled if grid.transductive else sizes.n_test
                total += trials * (points * columns * SCORE_BYTES + TRIAL_BYTES)
    return total


def keeps_predictions(workload: Workload) -> bool:
    """Tell whether a study keeps predictions: as it says, else if they take little."""
    asked = workload.study.settings.predictions
    return predictions_bytes(workload) <= MOST_UNASKED if asked == "auto" else asked
