"""A method measured on generated points of several shapes, for a formula that serves them all."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from harness.planning.learned.design import Design
from harness.planning.learned.kept import kept_path, learn, read_runs
from harness.planning.learned.model import LearnedStorage
from harness.planning.learned.question import Question
from harness.planning.learned.runs import GENERATED
from harness.planning.learned.shipped import shipped_storage
from harness.plugin.index import method_entry
from harness.plugin.method import Method
from harness.plugin.shape import Shape

_ONE_BUDGET: list[tuple[int | None, int | None]] = [(None, None)]


def shapes_around(shape: Shape, tasks: Set[str]) -> list[tuple[str, Shape]]:
    """List a shape and others that differ from it in one count each, with their tasks.

    Parameters
    ----------
    shape : Shape
        All points of a trial; its classes are those of the tasks.
    tasks : set of str
        That the method does.
    """
    found = []
    for task in sorted(tasks):
        classes = {"binary": 2, "regression": 0}.get(task, max(3, shape.n_classes))
        base = dataclasses.replace(shape, n_classes=classes)
        if task == "clustering":
            base = dataclasses.replace(base, n_labeled=0, n_unlabeled=base.n)
        found.append((task, base))
        if task == sorted(tasks)[0]:
            found.append((task, dataclasses.replace(base, n_features=4 * shape.n_features)))
            found.append((task, dataclasses.replace(base, itemsize=12 - shape.itemsize)))
            if base.n_labeled > 1:
                fewer = base.n_labeled // 2
                found.append((task, dataclasses.replace(base, n_labeled=fewer)))
        if task == "multiclass":
            found.append((task, dataclasses.replace(base, n_classes=3 * classes)))
    return found


def measure_shapes(
    index: Mapping[str, Any],
    method: Method,
    folders: Sequence[Path],
    shape: Shape,
    seconds: float,
) -> LearnedStorage:
    """Measure a method on a shape and those around it, and return what it is seen to hold.

    What was measured before, here or for a study, is not measured again.

    Parameters
    ----------
    index : mapping
        That of `read_index(folders)`.
    method : Method
        A storage model that was written is not asked.
    folders : sequence of Path
        Where plugins are, besides those that are searched anyway.
    shape : Shape
        All points of the largest trial.
    seconds : float
        Limit of one trial.

    Raises
    ------
    LearningError
        If the process that measures ends.
    """
    entry = method_entry(index, method.name)
    path = kept_path(entry, index["harness"], {})
    for task, around in shapes_around(shape, method.tasks):
        design = Design(method, around, _ONE_BUDGET, {}, GENERATED)
        question = Question(
            method=method.name,
            plugins=[entry["plugin_path"]],
            folders=[str(folder) for folder in folders],
            params={},
            task=task,
            shape=dataclasses.asdict(around),
            budgets=_ONE_BUDGET,
            data=GENERATED,
            prepared=None,
            withheld=[],
            enforcement="auto",
            threads=1,
            seconds=seconds,
            settings=[],
            tuned=False,
            runs=[],
        )
        learn(design, question, path)
    return _at_defaults(path)


def with_known_storage(index: Mapping[str, Any], method: Method) -> Method:
    """Return a method with the storage model of what is known of it, if it has none.

    Trials that were measured here come first, then the formula that came with the harness.

    Raises
    ------
    LearningError
        When the model is asked, if nothing is known or nothing could be measured.
    """
    if not method.learns_storage:
        return method
    entry = method_entry(index, method.name)
    here = _at_defaults(kept_path(entry, index["harness"], {}))
    if not here.runs and (shipped := shipped_storage(entry)):
        return method.learned(shipped)
    return method.learned(here)


def _at_defaults(path: Path) -> LearnedStorage:
    return LearnedStorage([run for run in read_runs(path) if not run.setting])
