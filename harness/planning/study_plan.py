"""What a study will do, told before it does it: sizes, what is infeasible, time and disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from harness.datasets import missing_bytes, unobtainable
from harness.planning.block_plans import block_plans, shape_of
from harness.planning.fingerprints import changes
from harness.planning.job_files import study_bundles
from harness.planning.kept_predictions import keeps_predictions, predictions_bytes
from harness.planning.timings import Timings
from harness.planning.workload import SkippedPair, Workload
from harness.study.published_tables import ALL_DATASETS, read_printed
from harness.study.study import Block
from harness.units import format_bytes

WORKER_START_S = 2.5
"""Seconds that a job takes until its first trial; measured by `benchmarks/job_cost.py`."""

ROW_BYTES = 3100
"""Bytes of one row in a journal, its share of the table, and its lines in the log."""


@dataclass(frozen=True)
class CellPlan:
    """One data set, method, labeled count and budget."""

    dataset: str
    method: str
    labeled: int
    budget: str
    trials: int
    done: int
    size: int | None
    size_name: str | None
    n_unlabeled: int
    n_kept: int
    planned_bytes: int
    planned_phase: str
    storage_model: str
    reason: str
    seconds_per_trial: float | None

    def in_words(self) -> dict[str, Any]:
        """Return what a person reads of it, by the headings of a table."""
        return {
            "data set": self.dataset,
            "method": self.method,
            "labeled": self.labeled,
            "budget": self.budget,
            "size": "-" if self.size is None else f"{self.size} {self.size_name}",
            "unlabeled": self.unlabeled,
            "planned": format_bytes(self.planned_bytes),
            "peak in": self.planned_phase,
            "trials": self.trials,
            "done": self.done,
            "infeasible because": self.reason,
        }

    @property
    def unlabeled(self) -> str:
        """How many unlabeled points fit is given, and of how many if some are given up."""
        if self.reason:
            return "-"
        part = 0 < self.n_kept < self.n_unlabeled
        return f"{self.n_kept} of {self.n_unlabeled}" if part else str(self.n_kept)


@dataclass(frozen=True)
class StudyPlan:
    """All cells, and what they add up to."""

    study: str
    trials: int
    done: int
    jobs: int
    cells: list[CellPlan]
    left_out: list[SkippedPair]
    fetch_bytes: int
    disk_bytes: int
    predictions_bytes: int
    keeps_predictions: bool
    seconds: float
    starts_seconds: float
    untimed: list[str]
    unbounded: list[str]
    unobtainable: list[str]
    unanswered: list[str]
    stale: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain JSON."""
        return asdict(self)


def plan_study(workload: Workload, cores: int = 1) -> StudyPlan:
    """Work out everything that can be known before a study runs.

    Parameters
    ----------
    workload : Workload
    cores : int, default 1
        Trials that will run side by side, for the estimate of time.

    Returns
    -------
    StudyPlan
        `seconds` is the mean time of earlier trials of the same cell (else of the same data set
        and method, in any study here) times the trials to come, and the start of their workers;
        methods without any earlier trial are named in `untimed` and not part of it. `unbounded`
        are methods that a budget of landmarks does not bound, `unobtainable` says which files are
        neither at hand nor to be downloaded, `unanswered` are printed tables that the study has
        no data set and method of. `stale` counts trials to come that have a row already, by what
        has changed since.
    """
    timings = Timings.of_tables()
    bundles = study_bundles(workload, cores)
    cells: dict[str, CellPlan] = {}
    finished: dict[str, _Finished] = {}
    stale: Counter[str] = Counter()
    seconds = 0.0
    untimed: dict[str, None] = {}
    unbounded: dict[str, None] = {}
    for block, made in zip(workload.blocks, block_plans(workload), strict=True):
        planned, shape = made.plan, shape_of(workload, block)
        if block.dataset not in finished:
            finished[block.dataset] = _Finished(workload.finished_rows(block.dataset))
        rows = finished[block.dataset]
        done = sum(trial in rows.trials for trial in block.trials)
        if done < len(block.seeds):
            stale += rows.stale(block, shape.n_labeled)
        per_trial = timings.seconds(workload, block) if planned.feasible else 0.0
        to_run = len(block.seeds) - done
        if to_run:
            seconds += to_run * (per_trial or 0.0)
            if per_trial is None:
                untimed[f"{block.method.label} on {block.dataset}"] = None
        whole = planned.feasible and planned.size is None
        if block.budget.size is not None and (whole or not made.bounded_by_landmarks):
            unbounded[block.method.label] = None
        key = f"{block.cell}/{block.fingerprint}"
        earlier = cells.get(key)
        cells[key] = CellPlan(
            block.dataset,
            block.method.label,
            shape.n_labeled,
            block.budget.text,
            len(block.seeds) + (earlier.trials if earlier else 0),
            done + (earlier.done if earlier else 0),
            planned.size,
            made.size_name,
            shape.n_unlabeled,
            made.n_kept,
            planned.planned_bytes,
            planned.phase,
            made.storage_model,
            planned.reason,
            per_trial,
        )
    starts = sum(
        any(trial not in finished[bundle.dataset].trials for trial in bundle.trials())
        for bundle in bundles
    )
    entries = [workload.catalog[name] for name in workload.datasets()]
    missing = [e for e in entries if not (workload.prepared(e.name) / "meta.json").is_file()]
    trials = sum(cell.trials for cell in cells.values())
    predicted, kept = predictions_bytes(workload), keeps_predictions(workload)
    return StudyPlan(
        workload.study.name,
        trials,
        sum(cell.done for cell in cells.values()),
        len(bundles),
        list(cells.values()),
        list(workload.left_out),
        sum(missing_bytes(entry) for entry in missing),
        sum(entry.data_bytes for entry in missing) + trials * ROW_BYTES + predicted * kept,
        predicted,
        kept,
        (seconds + starts * WORKER_START_S) / cores,
        starts * WORKER_START_S / cores,
        list(untimed),
        list(unbounded),
        [problem for entry in missing for problem in unobtainable(entry)],
        _unanswered(workload),
        dict(stale.most_common()),
    )


class _Finished:
    """The rows of a data set: of which trials, and what decided the last one at each place."""

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        self.trials = rows.keys()
        self._last = {
            (row["method"], row["n_labeled"], row["budget"], row["seed"]): row.get("decided_by")
            for row in rows.values()
        }

    def stale(self, block: Block, n_labeled: int) -> Counter[str]:
        """Count trials of a block in whose place other rows are, by what has changed."""
        found: Counter[str] = Counter()
        for seed, trial in zip(block.seeds, block.trials, strict=True):
            place = (block.method.label, n_labeled, block.budget.text, seed)
            if trial not in self.trials and place in self._last:
                found[" and ".join(changes(self._last[place], block.decided_by))] += 1
        return found


def _unanswered(workload: Workload) -> list[str]:
    found = set()
    for block in workload.blocks:
        for dataset in (block.dataset, ALL_DATASETS):
            found |= {(dataset, block.method.name), (dataset, block.method.label)}

    def answers(table: str) -> bool:
        for figure in read_printed(table):
            dataset = figure.setting.dataset
            if (dataset, figure.method) in found or (dataset, figure.label) in found:
                return True
        return False

    return [table for table in workload.study.settings.published if not answers(table)]
