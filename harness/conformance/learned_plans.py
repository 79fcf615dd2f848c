"""Methods without a storage model, given one for the check: learned as a study learns it.

Trials are measured on generated points, then the plans that follow are held against trials on
other points of the same shapes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.conformance.measured_storage import (
    SMALLEST,
    TOP,
    Workload,
    assignment_of,
    made_shape,
    workloads,
)
from harness.planning.learned.design import Design, Wanted
from harness.planning.learned.measuring import measured
from harness.planning.learned.model import LearnedStorage
from harness.planning.learned.runs import GENERATED, Run
from harness.planning.size import Plan, plan
from harness.plugin.method import Method
from harness.plugin.shape import Shape
from harness.sandbox import Limits, Result, Sandbox
from harness.trial.run import run_trial

_UNSEEN = 100
"""Seed of what is drawn for the trials that plans are held against: no repeat has it."""

_PATIENCE = 10.0
"""Seconds that the largest trial may take, as far as its time grows with its points."""


def learned_workloads(
    method: Method, task: str, sandbox: Sandbox, folder: Path, seconds: float
) -> tuple[Method, list[Workload]]:
    """Learn a method's storage, and return it with the trials that its plans are held against.

    Parameters
    ----------
    method : Method
        Without a storage model.
    task : str
    sandbox : Sandbox
    folder : Path
        Where generated points are kept.
    seconds : float
        Limit of one trial.

    Raises
    ------
    LearningError
        If no trial could be measured.
    """
    runs: list[Run] = []
    first = made_shape(method, task, 2 * SMALLEST)

    def measure(shape: Shape, budget: int, inductive: bool) -> Method:
        design = Design(method, shape, [(budget, None)], {}, GENERATED)

        def run(wanted: Wanted) -> Result:
            limits = Limits(wanted.limit or design.most_bytes, seconds)
            planned = Plan(wanted.size, 0, n_kept=wanted.n_kept)
            trial = Workload(shape, budget, planned, inductive, seed=wanted.repeat, near=True)
            assignment = assignment_of(method, task, trial, folder)
            return sandbox.run(partial(run_trial, assignment), limits)

        list(measured(design, runs, run))  # each is added to `runs` as it comes
        return method.learned(LearnedStorage(runs))

    known = measure(first, TOP, False)
    slowest = max(run.seconds for run in runs)
    most = int(first.n * _PATIENCE / max(slowest, 1e-3)) // 2
    chosen = workloads(known, task, most)
    for workload in chosen:
        known = measure(workload.shape, workload.budget, workload.inductive)
    return known, [_again(known, workload) for workload in chosen]


def _again(method: Method, workload: Workload) -> Workload:
    """Plan a trial by all that is known now; one without a size takes what it takes."""
    planned = plan(method, workload.shape, None if method.size is None else workload.budget)
    if not planned.feasible:
        planned = plan(method, workload.shape, None, largest=1)
    budget = max(workload.budget, planned.planned_bytes)
    return replace(workload, budget=budget, plan=planned, seed=_UNSEEN, near=True)
