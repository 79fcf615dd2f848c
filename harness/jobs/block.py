"""The trials of one block: assigned, run, run again where something outside ended them, told.

What a job runs is in `harness.jobs.bundle`; one row alone is run again by `run_trials`.
"""

from __future__ import annotations

import functools
import json
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from harness.jobs.block_trials import BlockTrials, Running, Shared, running
from harness.jobs.endings import costs_told, endless, given_up, is_answer, measured, runner_lost
from harness.jobs.keeper import StartOver
from harness.jobs.provenance import environment_info
from harness.jobs.smaller import smaller_plans, taken_again
from harness.jobs.timelines import Pictures, make_timeline
from harness.jobs.trial_lines import trial_lines
from harness.jobs.unfinished import MOST, Unfinished
from harness.planning.block_plans import plan_trials, shape_of
from harness.planning.learned.model import LEARNED, WRITTEN, is_learned
from harness.planning.size import Plan
from harness.planning.workload import Workload
from harness.plugin.hookspecs import TrialInfo
from harness.plugin.index import method_entry
from harness.records.cells import json_text
from harness.records.columns import COLUMNS
from harness.records.journal import Journal
from harness.records.prediction_files import Kept, PredictionsFile
from harness.records.table import without_nan
from harness.study.study import Block

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from harness.jobs.referee import Referee
    from harness.sandbox import Result
    from harness.trial.assignment import Assignment

_MOST_TOLD = 500
"""Characters of what a trial warned of."""


def run_trials(
    workload: Workload,
    block: Block,
    journal: Journal,
    seeds: list[int],
    planned: Plan | None = None,
) -> None:
    """Run trials of a block, a row each.

    Parameters
    ----------
    workload : Workload
    block : Block
    journal : Journal
    seeds : list of int
    planned : Plan, optional
        What they get, instead of what is planned now.
    """
    run = BlockRun(workload, replace(block, seeds=tuple(seeds)), journal, planned=planned)
    run_blocks([run])


def run_blocks(blocks: Sequence[BlockRun]) -> None:
    """Run all trials of some blocks that share a journal, data and plugins.

    Raises
    ------
    StartOver
        If a trial took down the process that runs them, or altered what others need, and it was
        not the last.
    """
    feasible = []
    for block in blocks:
        if block.planned.feasible:
            feasible.append(block)
        else:
            block.tell_infeasible()
    if not feasible:
        return
    # the runner is forked before a referee reads any label: a trial inherits its memory
    with running([block.trials for block in feasible]) as started:
        left = sum(len(block.block.seeds) for block in feasible)
        for kind, block in enumerate(feasible):
            for _ in block.run(started, kind):
                left -= 1
                if left and not (started.runner.alive and block.trials.shared.intact):
                    raise StartOver


class BlockRun:
    """What the trials of one block have in common.

    Parameters
    ----------
    workload : Workload
    block : Block
        With the seeds to run.
    journal : Journal
    shared : Shared, optional
        What blocks of one job share.
    pictures : Pictures, optional
        Where a picture of the first trial's memory is kept.
    planned : Plan, optional
        What trials get, instead of what is planned now.
    unfinished : Unfinished, optional
        Of the job, as its keeper made it.
    predictions : PredictionsFile, optional
        Where what trials predict is kept.
    log : file, optional
        Where a few lines of each trial are written.
    """

    def __init__(
        self,
        workload: Workload,
        block: Block,
        journal: Journal,
        shared: Shared | None = None,
        pictures: Pictures | None = None,
        planned: Plan | None = None,
        unfinished: Unfinished | None = None,
        predictions: PredictionsFile | None = None,
        log: TextIO | None = None,
    ) -> None:
        self.workload, self.block, self.journal = workload, block, journal
        self.pictures, self.predictions, self.log = pictures, predictions, log
        self._packed: tuple[Kept, bytes] | None = None
        self.task = workload.task(block)
        self.trials = BlockTrials(workload, block, shared)
        self.prepared, self.registry = self.trials.prepared, self.trials.registry
        self.method, self.params = self.trials.method, self.trials.params
        self.unfinished = unfinished or Unfinished(journal.path)
        self.shape = shape_of(workload, block)
        if planned is None:
            self.method, planned = plan_trials(workload, block, self.method, self.params)
            self.trials.method = self.method
        self.planned = planned

    def tell_infeasible(self) -> None:
        """Write rows of trials that cannot be run."""
        outcome = {"outcome": self.planned.outcome, "reason": self.planned.reason}
        for seed in self.block.seeds:
            self._finish(self._blank_row(self.planned, seed) | outcome)

    def run(self, running: Running, kind: int) -> Iterator[int]:
        """Run the trials, and yield each seed when its row is written."""
        from harness.jobs.referee import Referee

        referee = Referee(self.registry, self.workload, self.block, self.prepared.meta)
        start = functools.partial(self._begin, running, kind, referee)
        for seed in self.block.seeds:
            blank = self._blank_row(self.planned, seed)
            if why := self.unfinished.blame(blank["fingerprint"]):
                self._finish(blank | endless(running.runner, why))
                yield seed
                continue
            row, result = start(self.planned, seed)
            row = blank | row
            of = (self.method, self.shape, self.block, self.params, self.planned)
            for smaller in smaller_plans(*of):
                if row["outcome"] != "over_budget":
                    break
                over = row
                row, result = start(smaller, seed)
                row = taken_again(over, self._blank_row(smaller, seed) | row)
            self._finish(row)
            if result and self.pictures and self.pictures.wants(self.block):
                self.pictures.keep(make_timeline(row, result))
            yield seed

    def _begin(self, *trial: Any) -> tuple[dict[str, Any], Result | None]:
        """Run a trial, once more if something outside may have ended it.

        Raises
        ------
        StartOver
            If it took the runner along for the first time.
        """
        running, *_, seed = trial
        fingerprint = f"{self.block.fingerprint}-{seed}"
        self.unfinished.begin(fingerprint)
        try:
            row, result = self._run_trial(*trial)
            if (
                result
                and result.ended_by in (signal.SIGKILL, signal.SIGTERM)
                and self.trials.shared.intact
            ):
                row, result = self._run_trial(*trial)
                told = "It was killed and run again"
                again = f"{told}, and ended so both times." if result and result.ended_by else told
                row["reason"] = f"{row['reason']} {again.rstrip('.')}.".strip()
            if running.runner.lost and self.unfinished.alone(fingerprint) + 1 < MOST:
                raise StartOver
        except (Exception, KeyboardInterrupt):  # not the trial's doing
            self.unfinished.end(fingerprint)
            raise
        return row, result

    def _run_trial(
        self,
        running: Running,
        kind: int,
        referee: Referee,
        planned: Plan,
        seed: int,
    ) -> tuple[dict[str, Any], Result | None]:
        from harness.sandbox import Limits

        self._packed = None
        sampled = self.pictures is not None and self.pictures.wants(self.block)
        grid = self.block.grid
        assignment = referee.assign(self.method, self.params, planned, seed)
        self._announce("harness_trial_started", seed)
        started = datetime.now(UTC)
        limits = Limits(
            memory=self.block.budget.bytes,
            seconds=grid.limits.time,
            threads=grid.limits.threads,
        )
        release = referee.release(assignment, seed)
        result = running.run(assignment, limits, sampled, kind, release)
        row = measured(result) if result else runner_lost(running.runner)
        row["started_at"] = started.isoformat(timespec="seconds")
        row |= self._tampered()
        scores, end = {}, None
        if result and row["outcome"] == "ok" and not is_answer(result.answer):
            row |= {"outcome": "error", "reason": "answered what is not the answer of a trial"}
        if result and row["outcome"] == "ok":
            arrays = result.arrays if release is None else release.predictions()
            scores, end = referee.score(assignment, arrays), result.answer["end"]
            row |= scores
            predicted = referee.predicted(assignment, arrays)
            if self.predictions is not None and row["outcome"] == "ok":
                self._packed = self._pack(assignment, predicted, seed)
            row["params"] = json_text(result.answer["params"])
            row["data_bytes"] = result.answer["data_bytes"]
            costs, why_not = costs_told(result)
            row |= costs
            told = [row["reason"], given_up(assignment), why_not, referee.lacks(predicted)]
            told += result.answer["warnings"]
            row["reason"] = "; ".join(filter(None, told))[:_MOST_TOLD]
        elif result and result.output:
            which = f"{self.block.cell}, seed {seed}"
            print(f"--- {which}: {row['outcome']}\n{result.output}", file=sys.stderr)
        if release is not None and release.refused:
            row["reason"] = f"{row['reason']} ({release.refused})"
        if result and (grid.checkpoints or release) and self.trials.shared.intact:
            curve = (
                referee.score_curve(assignment, result.deliveries, end, scores)
                if release is None
                else referee.score_chunks(assignment, release)
            )
            row["checkpoints"] = json.dumps(without_nan(curve), separators=(",", ":"))
        return row, result

    def _pack(
        self, assignment: Assignment, predicted: Mapping[str, np.ndarray], seed: int
    ) -> tuple[Kept, bytes]:
        from harness.jobs.kept_splits import split_name
        from harness.records.predictions import pack

        split = split_name(self.workload, self.block)
        part = "unlabeled" if assignment.transductive else "test"
        points = assignment.unlabeled if assignment.transductive else assignment.test
        trial = f"{self.block.fingerprint}-{seed}"
        return pack(trial, predicted, points, split=split, part=part if split else "all")

    def _tampered(self) -> dict[str, str]:
        """Mend what was altered while a trial ran, and say so in its row."""
        found = []
        if self.prepared.altered():
            self.prepared.mend(f"{self.prepared.folder}: altered while a trial ran")
            found.append("the prepared data")
        if self.journal.altered():
            self.journal.drop()
            found.append("the rows of its job")
        if self.predictions is not None and self.predictions.altered():
            self.predictions.drop()
            found.append("the predictions of its job")
        if not found:
            return {}
        self.trials.shared.intact = False
        altered = " and ".join(found)
        reason = f"altered {altered}, or a trial beside it did; this was noticed and mended"
        return {"outcome": "error", "reason": reason}

    def _blank_row(self, planned: Plan, seed: int) -> dict[str, Any]:
        block, shape = self.block, self.shape
        around = environment_info()
        fixed = {**self.method.params, **block.method.params}
        seen = self.method.training_shape(shape, planned.size, planned.n_kept)
        return dict.fromkeys(COLUMNS) | {
            "study": self.workload.study.name,
            "dataset": block.dataset,
            "task": self.task,
            "method": block.method.label,
            "plugin_method": block.method.name,
            "control": self.method.control,
            "n_labeled": shape.n_labeled,
            "n_unlabeled": shape.n_unlabeled,
            "n_test": shape.n_test,
            "n_features": shape.n_features,
            "n_classes": shape.n_classes,
            "budget": block.budget.text,
            "budget_bytes": block.budget.bytes,
            "seed": seed,
            "reason": "",
            "size": planned.size,
            "size_name": self.method.size,
            "planned_bytes": planned.planned_bytes,
            "planned_phase": planned.phase,
            "storage_model": LEARNED if is_learned(self.method) else WRITTEN,
            "taken_again": 0,
            "n_kept": seen.n_unlabeled,
            "data_bytes": seen.data_bytes,
            "params": json_text(fixed),
            "fingerprint": f"{block.fingerprint}-{seed}",
            "dataset_sha256": self.prepared.meta.sha256,
            "decided_by": block.decided_by,
            "plugin_sha256": method_entry(self.workload.index, self.method.name)["plugin_sha256"],
            "git_sha": around["git_sha"],
            "git_dirty": around["git_dirty"],
            "versions": json.dumps(around["versions"], sort_keys=True),
            "host": around["host"],
            "cpu": around["cpu"],
            "threads": block.grid.limits.threads,
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": shlex.join(
                ["harness", "reproduce", self.workload.study.name, f"{block.fingerprint}-{seed}"]
            ),
        }

    def _finish(self, row: dict[str, Any]) -> None:
        if self.predictions is not None and self._packed is not None and row["outcome"] == "ok":
            self.predictions.append(*self._packed)
        self._packed = None
        written = self.journal.append(row)
        if self.log is not None:
            print(trial_lines(row), file=self.log, flush=True)
        self.unfinished.end(row["fingerprint"])
        # a copy: what a plugin makes of it is its own
        self._announce("harness_trial_finished", row["seed"], record=dict(written))

    def _announce(self, hook: str, seed: int, **arguments: Any) -> None:
        block = self.block
        trial = TrialInfo(
            self.workload.study.name,
            block.dataset,
            block.method.label,
            self.shape.n_labeled,
            block.budget.text,
            seed,
            block.method.params,
        )
        try:
            getattr(self.registry.manager.hook, hook)(trial=trial, **arguments)
        except (Exception, SystemExit) as error:
            print(f"{hook}: {type(error).__name__}: {error}", file=sys.stderr)
