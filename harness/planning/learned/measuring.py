"""Runs trials to see what they hold, in a process of its own: `python -m` this module.

It is what a runner of a study is before its first trial, so that what it measures is what a study
measures. It reads no label but those that its trials may see: a child draws the splits.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import select
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from harness.datasets import features_file, split
from harness.datasets.catalog import Catalog
from harness.datasets.item_types import ItemType
from harness.datasets.meta import Meta
from harness.errors import HarnessError
from harness.lean_process import leave
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.planning.learned.design import MOST_REPEATS, Design, Wanted
from harness.planning.learned.question import Question
from harness.planning.learned.runs import Run
from harness.plugin.method import Method
from harness.plugin.registry import Registry, Source
from harness.plugin.shape import PREDICT_BLOCK, Shape
from harness.sandbox import Isolation, Limits, Result, Sandbox, prctl
from harness.trial.assignment import Assignment
from harness.trial.generated import assign
from harness.trial.mapped import write_rows
from harness.trial.reach import ISOLATION, make_reach, scratch_folder
from harness.trial.run import run_trial
from harness.trial.warm_up import warm_up

_MOST_RUNS = 60
"""Trials of one shape and its budgets, whatever they show."""

_MOST_PREDICTED = 3 * PREDICT_BLOCK
"""Points that fit did not see and that are predicted: each block of them holds as much."""

_IDLE_S = 60.0
"""After which a process that nobody asks ends."""

_MOST_PARTS = 4
"""Parts of a stream that a measured trial learns from."""

_PARTS = ("labeled", "unlabeled", "test", "y_labeled")


class _Points:
    """Where the points of measured trials come from: a data set, or a generator."""

    def __init__(self, question: Question, method: Method, params: Mapping[str, Any]) -> None:
        self.task, self.method, self.params = question.task, method, params
        self.shape = Shape(**question.shape)
        self.prepared = question.prepared

    def assignment(self, wanted: Wanted, folder: Path) -> Assignment:
        """Put a trial together; its files are below `folder`."""
        params = {**self.params, **(json.loads(wanted.setting) if wanted.setting else {})}
        if self.prepared is None:
            made = assign(
                self.method,
                self.task,
                self.shape,
                wanted.size,
                folder,
                inductive=self.shape.n_test > 0,
                n_kept=wanted.n_kept,
                params=params,
                seed=wanted.repeat,
                near=True,
            )
        else:
            parts = self._drawn(wanted.repeat, folder)
            made = Assignment(
                method=self.method,
                params=params,
                size=wanted.size,
                n_kept=wanted.n_kept,
                task=self.task,
                n_classes=self.shape.n_classes,
                features=features_file(Path(self.prepared["folder"])),
                transductive=not self.shape.n_test,
                mapped=None,
                item=_item_type(self.shape, Path(self.prepared["folder"])),
                tuning=None,
                metric=primary_metric(self.task, (), BUILT_IN),
                seed=np.random.SeedSequence(wanted.repeat),
                labeled=parts["labeled"],
                unlabeled=parts["unlabeled"],
                test=parts["test"],
                y_labeled=parts["y_labeled"],
            )
        if self.shape.part is not None:  # what is held does not grow with further parts
            few = slice(_MOST_PARTS * self.shape.part)
            y = made.y_labeled[few]
            made = replace(made, part=self.shape.part, labeled=made.labeled[few], y_labeled=y)
        seen = len(made.kept)
        made = replace(
            made,
            unlabeled=made.unlabeled[: seen + _MOST_PREDICTED],
            test=made.test[:_MOST_PREDICTED],
        )
        mapped = folder / f"mapped{made.features.suffix}"
        return write_rows(made, mapped) if self.shape.mapped else made

    def _drawn(self, repeat: int, folder: Path) -> dict[str, np.ndarray]:
        path = folder / f"split-{repeat}.npz"
        if not path.exists():
            drawing = multiprocessing.get_context("fork").Process(
                target=_draw, args=(self.prepared, self.task, repeat, path)
            )
            drawing.start()
            drawing.join()
        with np.load(path) as parts:
            return {name: parts[name] for name in _PARTS}


def _item_type(shape: Shape, folder: Path) -> ItemType:
    number_type = "float32" if shape.itemsize == 4 else "float64"
    return ItemType(number_type, Meta.read_alone(folder).divide_by)


def _draw(prepared: Mapping[str, Any], task: str, repeat: int, path: Path) -> None:
    """Write a split, with the labels of its labeled points alone."""
    y = np.load(Path(prepared["folder"]) / "y.npy", allow_pickle=False)
    # no seed of a study: those begin with three words
    rng = np.random.default_rng(np.random.SeedSequence([repeat, 1]))
    if task == "clustering":
        labeled, unlabeled, test = np.arange(0), np.arange(len(y)), np.arange(0)
    else:
        asked = task, prepared["labeled"], prepared["rules"]
        labeled, unlabeled, test = split(y, *asked, rng, prepared["dataset"], prepared["n_train"])
    unlabeled = rng.permutation(unlabeled)
    np.savez(path, labeled=labeled, unlabeled=unlabeled, test=test, y_labeled=y[labeled])


def answer(question: Question) -> Iterator[Run]:
    """Measure one trial after the other, until enough is known.

    Raises
    ------
    HarnessError
        If the plugin cannot be loaded, or no trial can be limited here.
    """
    with opened(question) as (design, run):
        yield from measured(design, [Run.of(content) for content in question.runs], run)


@contextlib.contextmanager
def opened(question: Question) -> Iterator[tuple[Design, Callable[[Wanted], Result]]]:
    """Make ready to run trials of a question, and give what runs one.

    Raises
    ------
    HarnessError
        If the plugin cannot be loaded, or no trial can be limited here.
    """
    registry = Registry.load(
        [Path(folder) for folder in question.folders], partial(_is_wanted, question.plugins)
    )
    method = registry.get("methods", question.method)[0]
    params = registry.look_up(question.params)
    points = _Points(question, method, params)
    budgets = [(many, largest) for many, largest in question.budgets]
    design = Design(
        method,
        points.shape,
        budgets,
        params,
        question.data,
        question.settings,
        question.tuned,
    )
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(scratch_folder())
        folder = scratch / "points"
        folder.mkdir()
        shown = [folder]
        if question.prepared is not None:
            shown.append(features_file(Path(question.prepared["folder"])))
            for repeat in range(MOST_REPEATS):  # none can be read later
                points._drawn(repeat, folder)
        reach = make_reach(
            Catalog({}, {}),
            [Path(place) for place in question.folders],
            [Path(place) for place in question.withheld],
            shown,
            scratch,
        )
        isolation = Isolation(reach, os.environ.get(ISOLATION, "auto"))
        warm_up(question.shape["row_nnz"] is not None)
        sandbox = stack.enter_context(Sandbox(question.enforcement, isolation=isolation))

        def run(wanted: Wanted) -> Result:
            memory = wanted.limit or design.most_bytes
            limits = Limits(memory, question.seconds, question.threads)
            return sandbox.run(partial(run_trial, points.assignment(wanted, folder)), limits)

        yield design, run


def measured(design: Design, runs: list[Run], run: Callable[[Wanted], Result]) -> Iterator[Run]:
    """Run what a design asks for, until it knows enough.

    Parameters
    ----------
    design : Design
    runs : list of Run
        What is known; what is measured is added to it.
    run : callable
        Runs one trial under a limit.

    Yields
    ------
    Run
        As soon as it is measured.
    """
    if (first := design.next(runs)) is not None:
        # the first trial of a process reads up to 0.14 MB high; a small one does not count
        run(first)
    most = len(runs) + _MOST_RUNS
    while (wanted := design.next(runs)) is not None and len(runs) < most:
        runs.append(_seen(design, wanted, run(wanted)))
        yield runs[-1]


def _seen(design: Design, wanted: Wanted, result: Result) -> Run:
    seen = design.method.training_shape(design.shape, wanted.size, wanted.n_kept)
    load, fit, predict = (
        result.stages[name].peak_bytes if name in result.stages else None
        for name in ("load", "fit", "predict")
    )
    if fit is not None:
        fit = max(fit, load or 0)
    outcome, reason = result.outcome, result.reason
    if outcome == "over_budget":
        # it died in the last stage that it came to
        limit = wanted.limit or design.most_bytes
        fit, predict = (limit, 0) if predict is None else (fit, limit)
    elif outcome == "error" and fit is not None and "predict" in result.stages:
        # what it predicts is refused, which is the trial's to tell and no matter of memory
        outcome, predict = "ok", predict or fit
    elif outcome == "ok" and (fit is None or predict is None):
        outcome, reason = "error", "this machine cannot measure peaks: see harness doctor"
    return Run(
        data=design.data,
        shape=seen,
        size=wanted.size,
        repeat=wanted.repeat,
        outcome=outcome,
        reason=reason,
        fit=fit or 0,
        predict=predict or 0,
        seconds=round(result.seconds, 3),
        setting=wanted.setting,
        limit=wanted.limit,
    )


def _is_wanted(locations: list[str], source: Source) -> bool:
    return source.location in locations


def main() -> None:
    """Answer the questions on standard input, one a line, each in a fork.

    A run is printed as soon as it is measured, a line each, and at last the exit status.
    """
    # what a plugin prints is no answer
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = os.getpid()
    while select.select([sys.stdin], [], [], _IDLE_S)[0] and (line := sys.stdin.readline()):
        child = os.fork()
        if child == 0:
            prctl.die_with(server)
            leave(_answered(Question(**json.loads(line)), answers))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps({"exit": code}), file=answers, flush=True)


def _answered(question: Question, answers: TextIO) -> int:
    """Print the answer to one question; return the exit status."""
    try:
        for run in answer(question):
            print(json.dumps(run.as_dict()), file=answers, flush=True)
    except HarnessError as error:
        print(error, file=sys.stderr)
        return 1
    except BaseException:  # as a process of its own would end
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    main()
