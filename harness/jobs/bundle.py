"""What a scheduler's job runs: import once, fork a trial at a time, score, write rows.

Three kinds of process share the work. The *worker* (this one) holds the data set's labels, draws
the splits, scores predictions and writes rows. Before it reads any label it forks the *runner*,
which forks one child per trial. So no label that a method should not see was ever in the memory
that its process inherits.
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from typing import Any

from harness.jobs.block import BlockRun, run_blocks
from harness.jobs.block_trials import Shared
from harness.jobs.timelines import Pictures
from harness.jobs.unfinished import Unfinished
from harness.planning.bundles import Bundle, journal, pictures, predictions, published
from harness.planning.kept_predictions import keeps_predictions
from harness.planning.workload import Workload
from harness.records.journal import Journal
from harness.records.prediction_files import PredictionsFile


def run_bundle(workload: Workload, bundle: Bundle, unfinished: Unfinished | None = None) -> None:
    """Run the trials of a job that have no row yet, then publish all of its rows.

    Rows of the same trials that other jobs wrote or published are taken over, so a study that
    grows or is cut otherwise runs only what is new.

    Parameters
    ----------
    workload : Workload
    bundle : Bundle
    unfinished : Unfinished, optional
        Of the job, as its keeper made it.

    Raises
    ------
    HarnessError
        If a plugin, the prepared data or the forced way of enforcement cannot be used.
    StartOver
        If a trial took down the process that runs trials.
    """
    unfinished = unfinished or Unfinished(journal(workload, bundle))
    with Journal(journal(workload, bundle)) as rows:
        unfinished.settle()
        lacking = set(bundle.trials()) - rows.rows.keys()
        if lacking:
            for row in workload.finished_rows(bundle.dataset, lacking).values():
                rows.append(row)
        pending = []
        for block in bundle.blocks:
            trials = zip(block.seeds, block.trials, strict=True)
            seeds = tuple(seed for seed, trial in trials if trial not in rows.rows)
            if seeds:
                pending.append(replace(block, seeds=seeds))
        if pending:
            shared = Shared(workload, bundle.dataset)
            kept = Pictures(pictures(workload, bundle))
            with _predictions(workload, bundle, rows) as file:
                given: dict[str, Any] = {
                    "unfinished": unfinished,
                    "predictions": file,
                    "log": sys.stdout,
                }
                run_blocks(
                    [BlockRun(workload, block, rows, shared, kept, **given) for block in pending]
                )
        rows.publish(published(workload, bundle))


def _predictions(
    workload: Workload, bundle: Bundle, rows: Journal
) -> contextlib.AbstractContextManager[PredictionsFile | None]:
    if keeps_predictions(workload):
        return PredictionsFile(predictions(workload, bundle), rows.rows.keys())
    return contextlib.nullcontext()
