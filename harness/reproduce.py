"""One row run again, to see whether its scores are equal bit for bit."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.datasets import Meta
from harness.errors import HarnessError
from harness.records import COLUMNS, METRICS, Journal, read_table
from harness.worker import run_trials
from harness.workload import Workload


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
    if not blocks:
        raise HarnessError(_why_not(workload, row, recorded))
    block = replace(blocks[0], seeds=(int(seed),))
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "row.jsonl") as journal:
        run_trials(workload, block, journal, [int(seed)])
        (again,) = journal.rows.values()
    scores = [*METRICS, *sorted(set(again) - set(COLUMNS))]
    compared = [Comparison(name, recorded.get(name), again.get(name)) for name in scores]
    present = [c for c in compared if c.recorded is not None or c.reproduced is not None]
    return [Comparison("outcome", recorded["outcome"], again["outcome"]), *present]


def _why_not(workload: Workload, row: str, recorded: Mapping[str, Any]) -> str:
    """Say what has changed since a row was made: surely where it tells, else what may have."""
    changed, may = [], []
    study = workload.results / "study.yaml"
    if not study.is_file() or study.read_text(encoding="utf-8") != workload.study.text:
        may.append("the study")
    name = recorded["plugin_method"]
    methods = {entry["name"]: entry for entry in workload.index["methods"]}
    if name not in methods:
        changed.append(f"the method {name} is no longer there")
    elif methods[name]["plugin_sha256"] != recorded["plugin_sha256"]:
        changed.append(f"the plugin {methods[name]['plugin_path']} has changed")
    name = recorded["dataset"]
    if name not in workload.catalog:
        changed.append(f"the data set {name} is no longer there")
    else:
        now, content = workload.prepared(name), recorded["dataset_sha256"]
        metas = now.parent.glob(f"{name}-*/meta.json")
        found = {path.parent: Meta.read_alone(path.parent).sha256 for path in metas}
        if found.get(now) != content and (now in found or content in found.values()):
            changed.append(f"the data set {name} has changed")
        elif now not in found:
            may.append(f"the data set {name}")
    may.append("the shared numerics or the plugin of a kernel, a landmark selector or a search")
    told = " and ".join(changed) or f"{', '.join(may)} has changed"
    return f"row {row} was made by another version and cannot be run again: {told}"


def _find(table: Any, row: str) -> dict[str, Any]:
    if row.isdecimal():
        if int(row) >= len(table):
            raise HarnessError(f"there is no row {row}: the table has rows 0 to {len(table) - 1}")
        found = table.iloc[int(row)]
    else:
        matches = table[table["fingerprint"] == row]
        if len(matches) != 1:
            raise HarnessError(f"there is no row {row!r}: give a row's number or fingerprint")
        found = matches.iloc[0]
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    import pandas

    if value is pandas.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.item() if hasattr(value, "item") else value
