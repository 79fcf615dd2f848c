"""A row of a study's table, found by number or fingerprint, as a trial that can be run again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.errors import HarnessError, shown
from harness.planning.fingerprints import changes
from harness.planning.size import Plan
from harness.planning.workload import Workload
from harness.plugin.method import N_UNLABELED
from harness.records.table import read_table
from harness.study.study import Block


@dataclass(frozen=True)
class Recorded:
    """A row and the trial that it is of.

    Attributes
    ----------
    row : dict
        Its columns, None where there is nothing.
    block : Block
        Of this trial alone.
    seed : int
    """

    row: Mapping[str, Any]
    block: Block
    seed: int

    @property
    def planned(self) -> Plan:
        """What the trial was given."""
        size, kept = self.row["size"], self.row["n_kept"]
        part = self.row["size_name"] != N_UNLABELED and 0 < kept < self.row["n_unlabeled"]
        return Plan(size, self.row["planned_bytes"], n_kept=kept if part else None)


def find_row(workload: Workload, row: str, *, same: bool = True) -> Recorded:
    """Find a row of a study's table.

    Parameters
    ----------
    workload : Workload
        The study as it is now.
    row : str
        The row's number in `trials.parquet`, or its fingerprint.
    same : bool, default True
        Whether all that decided the row must be as it was. Otherwise the trial of today that has
        its place in the table is taken, where there is none that is the same.

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
    if not (blocks or same):
        blocks = [block for block in workload.blocks if _has_place(workload, block, recorded)]
    if not blocks or not seed.isdecimal():
        raise HarnessError(_why_not(workload, row, recorded))
    return Recorded(recorded, replace(blocks[0], seeds=(int(seed),)), int(seed))


def _has_place(workload: Workload, block: Block, row: Mapping[str, Any]) -> bool:
    if (block.dataset, block.method.label) != (row["dataset"], row["method"]):
        return False
    if block.budget.text != row["budget"] or row["seed"] not in block.seeds:
        return False
    sizes = tuple(row[name] for name in ("n_labeled", "n_unlabeled", "n_test"))
    return tuple(workload.sizes(block)) == sizes


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
