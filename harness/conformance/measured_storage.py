"""The storage model against the machine: trials as a study runs them, at planned budgets.

Data are generated, saved as a prepared data set is, split as a worker's referee does it, and
`harness.trial.run.run_trial` runs in the sandbox under the budget. No parameter is tuned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from harness.conformance.finding import NotApplicableError
from harness.conformance.peak_line import line_words, traced
from harness.conformance.problems import N_CLASSES
from harness.planning.learned.model import is_learned
from harness.planning.size import Plan, plan
from harness.plugin.abilities import fits_in_steps
from harness.plugin.method import N_UNLABELED, Method
from harness.plugin.shape import PREDICT_BLOCK, Shape
from harness.sandbox import Limits, Result, Sandbox
from harness.trial.assignment import Assignment
from harness.trial.generated import assign
from harness.trial.run import run_trial
from harness.units import format_bytes

LOWEST, HIGHEST = 0.5, 1.05
"""Allowed ratio of measured peak to planned bytes."""

SPARE = 1_000_000
"""Bytes too many that cost no method its size: what every plan has for reading and starting."""

TOP = 20_000_000
"""Bytes of the largest of the three budgets: large beside the error of measuring."""

ENOUGH = 5_000_000
"""Bytes that are enough where it takes many points to hold them.

What grows faster than the number of points is above `TOP` with few of them. What grows as fast has
nearly the same ratio with more, and a fit that looks at all pairs takes minutes there.
"""

FEATURES = 40
SMALLEST, _MANY, _LARGEST = 1_000, 4_000, 64_000
_ROOM = 4
_WIDER = 10
_PAUSES = (1, 2)

_UNLIKE = (
    "this plan was learned from trials on other points of the same shape, so what is held "
    "depends on more than the shape: write a `storage` that is never below it"
)


@dataclass(frozen=True)
class Workload:
    """One trial to be measured: data of a shape and type, and the budget it is planned for."""

    shape: Shape
    budget: int
    plan: Plan
    inductive: bool = False
    checkpoints: tuple[int, ...] = ()
    seed: int = 0
    near: bool = False

    def __str__(self) -> str:
        size = "" if self.plan.size is None else f", size = {self.plan.size}"
        kind = {4: "float32", 8: "float64"}[self.shape.itemsize]
        kind += f", {100 * self.shape.density:.2g} % nonzero" if self.shape.is_sparse else ""
        points = self.shape.n + self.shape.n_test
        if self.shape.part is not None:
            size += f", in parts of {self.shape.part}"
        asked = f", asked after steps {list(self.checkpoints)}" if self.checkpoints else ""
        return (
            f"n = {points} ({self.shape.n_labeled} labeled), d = {self.shape.n_features}, "
            f"{kind}{size}{asked}"
        )


def workloads(method: Method, task: str, most: int = _LARGEST) -> list[Workload]:
    """Choose three trials: three budgets, or three shapes for a method without a size.

    The first is in float64 and transductive, the second in float32, the third predicts points that
    fit does not see. None has more than twice `most` points. Of a method that takes sparse data
    there is one more: the first one's points with wide rows of which few elements are not zero.
    So there is of a method that learns in parts: points that it is given a part at a time.
    """
    n = SMALLEST if method.size is None else 2 * SMALLEST
    while n < most and _largest_bytes(method, task, n) < (TOP if n < _MANY else ENOUGH):
        n *= 2
    kinds = ((8, False), (4, False), (8, task != "clustering"))
    chosen = []
    for step, (itemsize, inductive) in enumerate(kinds):
        points = n if method.size else int(n / 2 ** (1 - step / 2))
        shape = made_shape(method, task, points, inductive, itemsize)
        largest = plan(method, shape, None)
        smallest = _smallest(method, shape)
        budget = largest.planned_bytes
        if method.size is not None:
            # not near the smallest, where all that is held may be parts of a fixed size
            top = min(budget, max(TOP, 4 * smallest.planned_bytes))
            low = min(top, max(top // 4, 2 * smallest.planned_bytes))
            budget = int(np.geomspace(low, top, 3)[step])
        chosen.append(Workload(shape, budget, plan(method, shape, budget), inductive))
    if method.features and method.takes_sparse({}):
        first = chosen[0]
        wide = replace(first.shape, n_features=_WIDER * FEATURES, row_nnz=FEATURES / 2)
        budget = max(first.budget, 2 * _smallest(method, wide).planned_bytes)
        planned = plan(method, wide, None if method.size is None else budget)
        budget = max(budget, planned.planned_bytes)
        chosen.append(Workload(wide, budget, planned, near=True))
    if task != "clustering" and not is_learned(method) and method.learns_in_parts({}):
        shape = replace(made_shape(method, task, n, inductive=True), part=PREDICT_BLOCK)
        budget = max(chosen[0].budget // 4, 2 * _smallest(method, shape).planned_bytes)
        planned = plan(method, shape, None if method.size is None else budget)
        budget = max(budget, planned.planned_bytes)
        chosen.append(Workload(shape, budget, planned, inductive=True))
    return chosen


def all_trials(method: Method, task: str, most: int = _LARGEST) -> list[Workload]:
    """Return the workloads of a method, and of a fit in steps those with pauses too.

    Predictions then stand beside the iteration.
    """
    chosen = workloads(method, task, most)
    if not fits_in_steps(method.estimator):
        return chosen
    whole = [workload for workload in chosen if workload.shape.part is None]
    return chosen + [_paused(method, workload) for workload in whole]


def is_honest(
    method: Method,
    task: str,
    sandbox: Sandbox,
    folder: Path,
    seconds: float,
    chosen: Sequence[Workload] = (),
) -> str:
    """Measure the three trials; the peak must be 0.5 to 1.05 of what was planned.

    Less is allowed where it is less by 1 MB at most. Of one that is not, the middle of three
    readings counts. A fit in steps is measured again with pauses. Where trials are given in
    `chosen`, these are measured and no others.
    """
    for workload in chosen or all_trials(method, task):
        result = _run(method, task, workload, workload.budget, sandbox, folder, seconds)
        planned = workload.plan.planned_bytes
        if result.outcome == "over_budget":
            # the limit hides how much it would have been
            result = _run(method, task, workload, _ROOM * planned, sandbox, folder, seconds)
            if result.outcome == "ok" and not _above(workload, result):
                # not confirmed: on a busy machine file pages can reach the limit once
                result = _run(method, task, workload, workload.budget, sandbox, folder, seconds)
            if result.outcome == "over_budget" or _above(workload, result):
                return _over(method, workload, result)
        if result.outcome != "ok":
            return f"a trial ended as {result.outcome} ({workload}): {result.reason}"
        if _misfit(method, workload, result):
            # file pages that come and go while a trial runs can move one reading by 1 MB
            trial = method, task, workload, workload.budget, sandbox, folder, seconds
            again = [_run(*trial), _run(*trial)]
            if all(other.outcome == "ok" for other in again):
                result = sorted([result, *again], key=_peak)[1]
        if advice := _misfit(method, workload, result):
            return advice
    return ""


def peak_words(
    method: Method,
    task: str,
    sandbox: Sandbox,
    folder: Path,
    seconds: float,
    chosen: Sequence[Workload] = (),
) -> str:
    """Say what the largest of the trials held beside what was planned, and which line held it."""
    measured = chosen or workloads(method, task)
    workload = max(measured, key=lambda one: one.plan.planned_bytes)
    planned = workload.plan.planned_bytes
    result = _run(method, task, workload, _ROOM * planned, sandbox, folder, seconds)
    if result.outcome != "ok":
        raise NotApplicableError(f"the trial ended as {result.outcome}: {result.reason}")
    told = f"{format_bytes(_peak(result))} of {format_bytes(planned)} planned, {_stage(result)}"
    assignment = assignment_of(method, task, workload, folder)
    lines = sandbox.run(partial(traced, assignment), Limits(None, seconds))
    where = line_words(**lines.answer) if lines.outcome == "ok" else ""
    return f"{told}, most at {where}" if where else told


def _stage(result: Result) -> str:
    peaks = {s.name: s.peak_bytes for s in result.stages.values() if s.peak_bytes is not None}
    return f"in {max(peaks, key=peaks.__getitem__)}" if peaks else "in no stage"


def _paused(method: Method, workload: Workload) -> Workload:
    """Plan the same trial again for a fit that is asked for predictions on its way."""
    budget = max(workload.budget, plan(method, workload.shape, 0, paused=True).planned_bytes)
    planned = plan(method, workload.shape, budget, paused=True)
    return replace(workload, budget=budget, plan=planned, checkpoints=_PAUSES)


def _misfit(method: Method, workload: Workload, result: Result) -> str:
    """Return advice where the peak of a trial that ended ok is not near what was planned."""
    planned = workload.plan.planned_bytes
    peak = _peak(result)
    ratio = peak / planned
    if ratio > HIGHEST:
        return _over(method, workload, result)
    if ratio < LOWEST and planned - peak > SPARE:
        advice = (
            "lower `storage`: it counts what is never held at the same time, and a study "
            "would give the method too small a size"
        )
        return (
            f"the peak was {format_bytes(peak)}, {ratio:.2f} of the "
            f"{format_bytes(planned)} planned, allowed is {LOWEST} to {HIGHEST} ({workload}); "
            f"{_UNLIKE if is_learned(method) else advice}"
        )
    return ""


def fits_smallest_budget(
    method: Method, task: str, sandbox: Sandbox, folder: Path, seconds: float
) -> str:
    """Run at exactly the bytes planned for the smallest size; below them nothing is planned."""
    shape = made_shape(method, task, SMALLEST)
    smallest = _smallest(method, shape)
    if method.size == N_UNLABELED:
        # all points are read where they lie, some of them are copied
        smallest = min(smallest, plan(method, shape, None), key=lambda p: p.planned_bytes)
    below = plan(method, shape, smallest.planned_bytes - 1)
    if below.feasible:
        return (
            f"size {below.size} is planned for {format_bytes(below.planned_bytes)}, less than the "
            f"smallest size {smallest.size} needs; make `storage` grow with size"
        )
    workload = Workload(shape, smallest.planned_bytes, smallest)
    result = _run(method, task, workload, workload.budget, sandbox, folder, seconds)
    if result.outcome == "ok":
        return ""
    return (
        f"at its smallest budget, {format_bytes(workload.budget)} ({workload}), a trial ended as "
        f"{result.outcome}: {result.reason} Count what does not depend on size in `storage`, or "
        "raise the smallest of `sizes`"
    )


def _peak(result: Result) -> int:
    if result.peak_bytes is None:
        raise NotApplicableError("this machine cannot measure peaks: see harness doctor")
    return result.peak_bytes


def _above(workload: Workload, result: Result) -> bool:
    return result.outcome == "ok" and (result.peak_bytes or 0) > workload.budget


def _over(method: Method, workload: Workload, result: Result) -> str:
    planned = workload.plan.planned_bytes
    peaks = {s.name: s.peak_bytes for s in result.stages.values() if s.peak_bytes is not None}
    stage = f" in {max(peaks, key=peaks.__getitem__)}" if peaks else ""
    at_least = "at least " if result.outcome == "over_budget" else ""
    peak = max(peaks.values(), default=result.peak_bytes or 0)
    peak = max(peak, workload.budget if at_least else _peak(result))
    advice = (
        "raise `storage` by what is missing, or hold less: work in blocks, in place, and without "
        "copies of X"
    )
    return (
        f"the peak{stage} was {at_least}{format_bytes(peak)}, {peak / planned:.2f} of the "
        f"{format_bytes(planned)} planned for a budget of {format_bytes(workload.budget)}, "
        f"allowed is {LOWEST} to {HIGHEST} within the budget ({workload}); "
        f"{_UNLIKE if is_learned(method) else advice}"
    )


def _largest_bytes(method: Method, task: str, n: int) -> int:
    return plan(method, made_shape(method, task, n), None).planned_bytes


def _smallest(method: Method, shape: Shape) -> Plan:
    """Plan for the fewest bytes with which anything is planned."""
    if method.size == N_UNLABELED:
        return plan(method, shape, None, largest=1)
    return plan(method, shape, plan(method, shape, 0).planned_bytes)


def made_shape(
    method: Method, task: str, n: int, inductive: bool = False, itemsize: int = 8
) -> Shape:
    """Return the shape of `n` generated points: a fifth of them labeled if others are of use."""
    labeled = n // 5 if method.uses_unlabeled else 4 * n // 5
    if task == "clustering":
        labeled = 0
    # a whole block at the least: models need not know of fewer
    n_test = max(n // 5, PREDICT_BLOCK) if inductive else 0
    return Shape(labeled, n - labeled, FEATURES, N_CLASSES[task], n_test=n_test, itemsize=itemsize)


def _run(
    method: Method,
    task: str,
    workload: Workload,
    budget: int,
    sandbox: Sandbox,
    folder: Path,
    seconds: float,
) -> Result:
    assignment = assignment_of(method, task, workload, folder)
    return sandbox.run(partial(run_trial, assignment), Limits(budget, seconds))


def assignment_of(method: Method, task: str, workload: Workload, folder: Path) -> Assignment:
    """Put a trial together on generated points, which are kept in a folder."""
    return assign(
        method,
        task,
        workload.shape,
        workload.plan.size,
        folder,
        workload.inductive,
        workload.checkpoints,
        workload.plan.n_kept,
        seed=workload.seed,
        near=workload.near,
    )
