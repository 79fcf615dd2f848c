"""One row run again, to see whether its scores are equal bit for bit."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, shown
from harness.jobs.block import run_trials
from harness.jobs.keeper import StartOver
from harness.metrics.names import METRICS
from harness.planning.fingerprints import changes
from harness.planning.learned.model import LEARNED
from harness.planning.size import Plan
from harness.planning.workload import Workload
from harness.plugin.method import N_UNLABELED
from harness.records.columns import COLUMNS
from harness.records.journal import Journal
from harness.records.table import read_table


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
    table = read_table(workload.results / "trials.parquet")
    recorded = _find(table, row)
    if recorded["fingerprint"] is None:
        raise HarnessError(f"row {row} was never run: {recorded['reason']}")
    fingerprint, _, seed = recorded["fingerprint"].rpartition("-")
    blocks = [block for block in workload.blocks if block.fingerprint == fingerprint]
    if not blocks or not seed.isdecimal():
        raise HarnessError(_why_not(workload, row, recorded))
    block = replace(blocks[0], seeds=(int(seed),))
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "row.jsonl") as journal:
        try:
            run_trials(workload, block, journal, [int(seed)], planned=_planned(recorded))
            (again,) = journal.rows.values()
        except StartOver:  # the trial took down the process that ran it
            again = {"outcome": "crashed"}
    scores = [*METRICS, *sorted(set(again) - set(COLUMNS))]
    compared = [Comparison(name, recorded.get(name), again.get(name)) for name in scores]
    present = [c for c in compared if c.recorded is not None or c.reproduced is not None]
    return [Comparison("outcome", recorded["outcome"], again["outcome"]), *present]


def _planned(recorded: Mapping[str, Any]) -> Plan | None:
    """Return what a row was planned with, where a model was learned: it may have learned more."""
    if recorded["storage_model"] != LEARNED or recorded["outcome"] == "infeasible":
        return None
    size, kept = recorded["size"], recorded["n_kept"]
    part = recorded["size_name"] != N_UNLABELED and 0 < kept < recorded["n_unlabeled"]
    return Plan(size, recorded["planned_bytes"], n_kept=kept if part else None)


def _why_not(workload: Workload, row: str, recorded: Mapping[str, Any]) -> str:
    """Say what has changed since a row was made."""
    methods = {block.method.name for block in workload.blocks}
    told = []
    if recorded["plugin_method"] not in methods:
        told.append(f"the study has no method {recorded['plugin_method']}")
    elif recorded["dataset"] not in workload.datasets():
        told.append(f"the study has no data set {recorded['dataset']}")
    else:
        pair = (recorded["dataset"], recorded["method"])
        alike = [b for b in workload.blocks if (b.dataset, b.method.label) == pair]
        told += changes(recorded["decided_by"], alike[0].decided_by) if alike else []
    reason = " and ".join(told or ["the study's settings have changed"])
    return f"row {row} was made by another version and cannot be run again: {reason}"


def _find(table: Any, row: str) -> dict[str, Any]:
    if row.isdecimal():
        if len(row) > len(str(len(table))) or int(row) >= len(table):
            last = len(table) - 1
            raise HarnessError(f"there is no row {row[:20]}: the table has rows 0 to {last}")
        found = table.iloc[int(row)]
    else:
        matches = table[(table["fingerprint"] == row).fillna(False)]
        if matches.empty:
            raise HarnessError(f"there is no row {shown(row)}: give a row's number or fingerprint")
        found = matches.iloc[-1]
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    import pandas

    if value is pandas.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.item() if hasattr(value, "item") else value
