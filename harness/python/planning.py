"""What a study will do, told to a notebook: sizes, planned bytes, and what cannot fit."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness.planning.study_plan import StudyPlan, plan_study
from harness.planning.workload import load_workload
from harness.python.html_table import html_table
from harness.python.running import core_count, study_file
from harness.units import format_duration

if TYPE_CHECKING:
    import pandas

COLUMNS = {
    "dataset": "dataset",
    "method": "method",
    "labeled": "n_labeled",
    "n_unlabeled": "n_unlabeled",
    "n_kept": "n_kept",
    "budget": "budget",
    "feasible": "feasible",
    "size": "size",
    "size_name": "size_name",
    "planned_bytes": "planned_bytes",
    "planned_phase": "planned_phase",
    "storage_model": "storage_model",
    "trials": "trials",
    "done": "done",
    "seconds_per_trial": "seconds_per_trial",
    "reason": "reason",
}
"""Of a cell, and as the table of trials calls them."""


class Planned:
    """What a study will do. Shown in a notebook it is the table of its cells.

    Attributes
    ----------
    cells : DataFrame
        A row for each data set, method, number of labels and budget:

        - `feasible` says whether a size fits, and `reason` why none does.
        - `size` is that of the parameter `size_name`, missing where there is none.
        - `planned_bytes` is what the storage model says for it, at its peak in `planned_phase`.
        - `n_kept` of `n_unlabeled` points without a label are given to fit.
        - `storage_model` is "written", or "learned" from measured trials.
        - `done` of `trials` are finished; `seconds_per_trial` is the mean of earlier ones, missing
          where there are none.
    seconds : float
        By earlier trials, for what is left, on the cores that were asked for.
    stale : dict of str to int
        Finished rows that will be made again, by what has changed.
    """

    def __init__(self, plan: StudyPlan) -> None:
        self._plan = plan
        self.name, self.seconds, self.stale = plan.study, plan.seconds, dict(plan.stale)

    @cached_property
    def cells(self) -> pandas.DataFrame:
        """The table of cells."""
        import pandas as pd

        rows = [
            {column: _value(cell, name) for name, column in COLUMNS.items()}
            for cell in self._plan.cells
        ]
        found = pd.DataFrame(rows, columns=list(COLUMNS.values()))
        return found.astype({"size": "Int64", "seconds_per_trial": "float64"})

    def __repr__(self) -> str:
        return f"Plan of {self.name!r}: {self._told()}"

    def _repr_html_(self) -> str:
        """Return the cells as HTML, with what they add up to."""
        rows = [cell.in_words() for cell in self._plan.cells]
        title = f"<p><strong>{html.escape(self.name)}</strong>: {html.escape(self._told())}</p>"
        return f"{title}\n{html_table(rows)}"

    def _told(self) -> str:
        plan = self._plan
        infeasible = sum(bool(cell.reason) for cell in plan.cells)
        told = f"{len(plan.cells)} cells, {plan.trials} trials, {plan.done} done"
        if infeasible:
            told += f", nothing fits in {infeasible} cell{'' if infeasible == 1 else 's'}"
        if plan.seconds > plan.starts_seconds:
            about = "at least" if plan.untimed else "about"
            told += f", {about} {format_duration(plan.seconds)} left"
        return told


def _value(cell: Any, name: str) -> Any:
    return not cell.reason if name == "feasible" else getattr(cell, name)


def plan(
    study: str | os.PathLike[str] | Mapping[str, Any],
    cores: int | None = None,
    *,
    name: str | None = None,
) -> Planned:
    """Tell what a study will run, what cannot fit, and what it will take; run nothing.

    A study that is given as a mapping is written under its name, as `run` writes it. The storage
    of methods without a storage model is learned, which runs trials of theirs.

    Parameters
    ----------
    study, name
        As in `run`.
    cores : int, optional
        Trials side by side, for the estimate of time; all cores by default.

    Returns
    -------
    Planned

    Raises
    ------
    HarnessError
        If the study asks for what is not there.

    Examples
    --------
    >>> cells = plan("quickstart").cells
    >>> cells = cells[cells["method"] == "nystrom-krr"]
    >>> cells[["dataset", "budget", "feasible", "size_name", "trials"]]
                 dataset budget  feasible    size_name  trials
    40  diabetes-sklearn    3MB      True  n_landmarks       5
    41  diabetes-sklearn   10MB      True  n_landmarks       5
    42  diabetes-sklearn   40MB      True  n_landmarks       5
    """
    count = core_count(cores)
    with study_file(study, name) as path:
        return Planned(plan_study(load_workload(path), count))
