"""Data sets and tasks of OpenML, which are added by their numbers."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.datasets.adding.wishes import Wishes
from harness.datasets.openml_tasks import Task, fetch_task
from harness.errors import HarnessError

DATA, TASK = "openml:", "openml-task:"

_CLASSIFICATION, _REGRESSION = 1, 2
"""Types of tasks as OpenML numbers them; of others no folds are scored."""


def of_openml(source: str) -> tuple[int, Task | None] | None:
    """Return the number of a data set, and the task that it is added for.

    Parameters
    ----------
    source : str
        "openml:61", "openml-task:59", or anything else.

    Returns
    -------
    (int, Task or None), or None
        None where the source is neither.

    Raises
    ------
    HarnessError
        If the number is none, or the task cannot be had or is of another type.
    """
    kind = next((kind for kind in (DATA, TASK) if source.startswith(kind)), None)
    if kind is None:
        return None
    told = source.removeprefix(kind)
    if not re.fullmatch(r"[1-9]\d{0,8}", told):
        what = "data set, such as openml:61" if kind == DATA else "task, such as openml-task:59"
        raise HarnessError(f"{source}: write the number of the {what}")
    if kind == DATA:
        return int(told), None
    task = fetch_task(int(told))
    if task.type not in (_CLASSIFICATION, _REGRESSION):
        raise HarnessError(
            f"{source}: the task is of OpenML's type {task.type}; allowed are {_CLASSIFICATION} "
            f"(supervised classification) and {_REGRESSION} (supervised regression)"
        )
    return task.data, task


def wished(task: Task, wishes: Wishes) -> Wishes:
    """Return what a user wishes, and the target and the kind of task that OpenML names.

    Raises
    ------
    HarnessError
        If the user wishes another target.
    """
    if wishes.target is not None and task.target and str(wishes.target) != task.target:
        raise HarnessError(
            f"{TASK}{task.number}: --target is {wishes.target!r}, but the task predicts "
            f"{task.target!r}; leave it out, or add {DATA}{task.data}"
        )
    wished = replace(wishes, target=task.target or wishes.target)
    return replace(wished, task="regression") if task.type == _REGRESSION else wished
