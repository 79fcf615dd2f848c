"""One row run again, to see whether its scores are equal bit for bit."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.jobs.block import run_trials
from harness.jobs.keeper import StartOver
from harness.jobs.recorded import Recorded, find_row
from harness.metrics.names import METRICS
from harness.planning.learned.model import LEARNED
from harness.planning.size import Plan
from harness.planning.workload import Workload
from harness.records.columns import COLUMNS
from harness.records.journal import Journal


@dataclass(frozen=True)
class Comparison:
    """One column of a row, then and now."""

    column: str
    recorded: Any
    reproduced: Any

    @property
    def equal(self) -> bool:
        """Whether both are the same to the last bit, or both are absent."""
        return self.recorded == self.reproduced


def reproduce(workload: Workload, row: str) -> list[Comparison]:
    """Run one row of a study's table again.

    Parameters
    ----------
    workload : Workload
        The study as it is now.
    row : str
        The row's number in `trials.parquet`, or its fingerprint.

    Returns
    -------
    list of Comparison
        The outcome and every score that either run has.

    Raises
    ------
    HarnessError
        If there is no such row, it was never run, or what decided it has changed since.
    """
    return run_again(workload, find_row(workload, row))


def run_again(workload: Workload, found: Recorded) -> list[Comparison]:
    """Run the trial of a row and compare its outcome and scores; see `reproduce`."""
    recorded, seed = found.row, found.seed
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "row.jsonl") as journal:
        try:
            run_trials(workload, found.block, journal, [seed], planned=_planned(found))
            (again,) = journal.rows.values()
        except StartOver:  # the trial took down the process that ran it
            again = {"outcome": "crashed"}
    scores = [*METRICS, *sorted(set(again) - set(COLUMNS))]
    compared = [Comparison(name, recorded.get(name), again.get(name)) for name in scores]
    present = [c for c in compared if c.recorded is not None or c.reproduced is not None]
    return [Comparison("outcome", recorded["outcome"], again["outcome"]), *present]


def _planned(recorded: Recorded) -> Plan | None:
    """Return what a row was planned with, where a model was learned: it may have learned more."""
    learned = recorded.row["storage_model"] == LEARNED
    return recorded.planned if learned and recorded.row["outcome"] != "infeasible" else None
