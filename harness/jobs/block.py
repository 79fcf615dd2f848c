"""One block: import once, fork a trial at a time, score, write rows. What a Snakemake job runs.

Three kinds of process share the work. The *worker* (this one) holds the data set's labels, draws
the splits, scores predictions and writes rows. Before it reads any label it forks the *runner*,
which forks one child per trial. So no label that a method should not see was ever in the memory
that its process inherits.
"""

from __future__ import annotations

import json
import shlex
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.jobs.block_trials import BlockTrials, Running
from harness.jobs.endings import costs_told, endless, given_up, is_answer, measured, runner_lost
from harness.jobs.keeper import StartOver
from harness.jobs.provenance import environment_info
from harness.jobs.smaller import smaller_plans, taken_again
from harness.jobs.timelines import has_timeline, make_timeline, write_json
from harness.jobs.unfinished import MOST, Unfinished
from harness.planning.learned.model import LEARNED, WRITTEN, is_learned
from harness.planning.size import Plan
from harness.planning.study_plan import plan_trials, shape_of
from harness.planning.workload import Workload
from harness.plugin.hookspecs import TrialInfo
from harness.plugin.index import method_entry
from harness.plugin.method import Shape
from harness.records.cells import json_text
from harness.records.columns import COLUMNS
from harness.records.journal import Journal
from harness.records.table import without_nan
from harness.study.study import Block

if TYPE_CHECKING:
    from harness.jobs.referee import Referee
    from harness.sandbox import Result

_MOST_TOLD = 500
"""Characters of what a trial warned of."""


def run_block(workload: Workload, block: Block) -> None:
    """Run the trials of a block that have no row yet, then publish all of its rows.

    Rows of the same trials that other blocks wrote or published are taken over, so a study that
    grows or is cut into other blocks runs only what is new.

    Raises
    ------
    HarnessError
        If the plugin, the prepared data or the forced way of enforcement cannot be used.
    """
    with Journal(workload.journal(block)) as journal:
        earlier = workload.finished_rows(block)
        wanted = {f"{block.fingerprint}-{seed}": seed for seed in block.seeds}
        for fingerprint in wanted.keys() - journal.rows.keys():
            if fingerprint in earlier:
                journal.append(earlier[fingerprint])
        pending = [seed for key, seed in wanted.items() if key not in journal.rows]
        picture = None if has_timeline(workload, block) else workload.timeline(block)
        if pending:
            run_trials(workload, block, journal, pending, picture)
        journal.publish(workload.output(block))


def run_trials(
    workload: Workload,
    block: Block,
    journal: Journal,
    seeds: list[int],
    picture: Path | None = None,
    planned: Plan | None = None,
) -> None:
    """Run trials of a block, a row each.

    Parameters
    ----------
    workload : Workload
    block : Block
    journal : Journal
    seeds : list of int
    picture : Path, optional
        Where a picture of the first one's memory is kept.
    planned : Plan, optional
        What they get, instead of what is planned now.
    """
    _BlockRun(workload, block, journal, picture).run(seeds, planned)


class _BlockRun:
    """What the trials of one block have in common."""

    def __init__(
        self, workload: Workload, block: Block, journal: Journal, picture: Path | None
    ) -> None:
        self.workload, self.block, self.journal = workload, block, journal
        self.picture = picture
        self.intact = True
        self.task = workload.task(block)
        self.trials = BlockTrials(workload, block)
        self.prepared, self.registry = self.trials.prepared, self.trials.registry
        self.method, self.params = self.trials.method, self.trials.params
        self.unfinished = Unfinished(journal.path)

    def run(self, seeds: list[int], planned: Plan | None = None) -> None:
        shape = shape_of(self.workload, self.block)
        if planned is None:
            plans = plan_trials(self.workload, self.block, self.method, self.params)
            self.method, planned = plans
            self.trials.method = self.method
        if not planned.feasible:
            for seed in seeds:
                outcome = {"outcome": planned.outcome, "reason": planned.reason}
                self._finish(self._blank_row(shape, planned, seed) | outcome)
            return
        from harness.jobs.referee import Referee

        # the runner is forked before the referee reads any label: a trial inherits its memory
        with self.trials.running() as running:
            referee = Referee(self.registry, self.workload, self.block, self.prepared.meta)
            for seed in seeds:
                blank = self._blank_row(shape, planned, seed)
                if self.unfinished.count(blank["fingerprint"]) >= MOST:
                    self._finish(blank | endless(running.runner))
                    continue
                row, result = self._begin(running, referee, planned, seed)
                row = blank | row
                for smaller in smaller_plans(self.method, shape, self.block, self.params, planned):
                    if row["outcome"] != "over_budget":
                        break
                    over = row
                    row, result = self._begin(running, referee, smaller, seed)
                    row = taken_again(over, self._blank_row(shape, smaller, seed) | row)
                self._finish(row)
                if result and self.picture:
                    write_json(make_timeline(row, result), self.picture)
                    self.picture = None
                if not (running.runner.alive and self.intact) and seed != seeds[-1]:
                    raise StartOver

    def _begin(self, *trial: Any) -> tuple[dict[str, Any], Result | None]:
        """Run a trial, once more if something outside may have ended it.

        Raises
        ------
        StartOver
            If it took the runner along for the first time.
        """
        running, _, _, seed = trial
        fingerprint = f"{self.block.fingerprint}-{seed}"
        self.unfinished.begin(fingerprint)
        try:
            row, result = self._run_trial(*trial)
            if result and result.ended_by in (signal.SIGKILL, signal.SIGTERM) and self.intact:
                row, result = self._run_trial(*trial)
                told = "It was killed and run again"
                again = f"{told}, and ended so both times." if result and result.ended_by else told
                row["reason"] = f"{row['reason']} {again.rstrip('.')}.".strip()
            if running.runner.lost and self.unfinished.count(fingerprint) < MOST:
                raise StartOver
        except (Exception, KeyboardInterrupt):  # not the trial's doing
            self.unfinished.end(fingerprint)
            raise
        return row, result

    def _run_trial(
        self,
        running: Running,
        referee: Referee,
        planned: Plan,
        seed: int,
    ) -> tuple[dict[str, Any], Result | None]:
        from harness.sandbox import Limits

        sampled = self.picture is not None
        grid = self.block.grid
        assignment = referee.assign(self.method, self.params, planned, seed)
        self._announce("harness_trial_started", seed)
        started = datetime.now(UTC)
        limits = Limits(
            memory=self.block.budget.bytes,
            seconds=grid.limits.time,
            threads=grid.limits.threads,
        )
        result = running.run(assignment, limits, sampled)
        row = measured(result) if result else runner_lost(running.runner)
        row["started_at"] = started.isoformat(timespec="seconds")
        row |= self._tampered()
        scores, end = {}, None
        if result and row["outcome"] == "ok" and not is_answer(result.answer):
            row |= {"outcome": "error", "reason": "answered what is not the answer of a trial"}
        if result and row["outcome"] == "ok":
            scores, end = referee.score(assignment, result.arrays), result.answer["end"]
            row |= scores
            row["params"] = json_text(result.answer["params"])
            row["data_bytes"] = result.answer["data_bytes"]
            costs, why_not = costs_told(result)
            row |= costs
            told = [row["reason"], given_up(assignment), why_not, *result.answer["warnings"]]
            row["reason"] = "; ".join(filter(None, told))[:_MOST_TOLD]
        elif result and result.output:
            print(f"--- seed {seed}: {row['outcome']}\n{result.output}", file=sys.stderr)
        if result and grid.checkpoints and self.intact:
            curve = referee.score_curve(assignment, result.deliveries, end, scores)
            row["checkpoints"] = json.dumps(without_nan(curve), separators=(",", ":"))
        return row, result

    def _tampered(self) -> dict[str, str]:
        """Mend what was altered while a trial ran, and say so in its row."""
        found = []
        if self.prepared.altered():
            self.prepared.mend(f"{self.prepared.folder}: altered while a trial ran")
            found.append("the prepared data")
        if self.journal.altered():
            self.journal.drop()
            found.append("the rows of its block")
        if not found:
            return {}
        self.intact = False
        altered = " and ".join(found)
        reason = f"altered {altered}, or a trial beside it did; this was noticed and mended"
        return {"outcome": "error", "reason": reason}

    def _blank_row(self, shape: Shape, planned: Plan, seed: int) -> dict[str, Any]:
        block = self.block
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
        written = self.journal.append(row)
        self.unfinished.end(row["fingerprint"])
        # a copy: what a plugin makes of it is its own
        self._announce("harness_trial_finished", row["seed"], record=dict(written))

    def _announce(self, hook: str, seed: int, **arguments: Any) -> None:
        block = self.block
        trial = TrialInfo(
            self.workload.study.name,
            block.dataset,
            block.method.label,
            shape_of(self.workload, block).n_labeled,
            block.budget.text,
            seed,
            block.method.params,
        )
        try:
            getattr(self.registry.manager.hook, hook)(trial=trial, **arguments)
        except (Exception, SystemExit) as error:
            print(f"{hook}: {type(error).__name__}: {error}", file=sys.stderr)
