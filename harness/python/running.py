"""Run a study from Python: the same workflow, journal and folders as `harness run`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, shown
from harness.jobs.only_run import only_run
from harness.jobs.workflow import Told, run_workflow
from harness.planning.workload import load_workload
from harness.python.progress import shown as shown_progress
from harness.python.study import written
from harness.python.study_results import Results

NAME = "notebook"
"""Of a study that is given none."""


def run(
    study: str | os.PathLike[str] | Mapping[str, Any],
    cores: int | None = None,
    *,
    name: str | None = None,
    progress: bool = True,
    options: Sequence[str] = (),
    profile: str | None = None,
) -> Results:
    """Run a study and return its results.

    Trials that are finished are kept and none is run twice, whether they were run from here or by
    `harness run`. Interrupted, it ends all that it started, and the next run goes on from there.

    Parameters
    ----------
    study : str, path or mapping
        A study's file, its name as `harness run` takes it, or a mapping with the keys of a study
        file. In a mapping, `datasets` may also be a mapping of names to data (`harness.Data`, or a
        pair of X and y), and methods may be classes or estimators of scikit-learn's kind or
        `harness.Method`. Paths in it are relative to the current folder.
    cores : int, optional
        Trials side by side; by default all cores, and with a profile what it says.
    name : str, optional
        Of a study that is given as a mapping, by default "notebook": it is written as
        `studies/NAME.yaml`, and its results go to `results/NAME`.
    progress : bool, default True
        Whether to show how many trials have ended.
    options : sequence of str
        Passed on to Snakemake.
    profile : str, optional
        Name or path of settings of a cluster: "slurm".

    Returns
    -------
    Results

    Raises
    ------
    HarnessError
        If the study asks for what is not there, is being run already, or a job fails.
    KeyboardInterrupt
        When all that was started has ended.

    Examples
    --------
    ::

        study = {"datasets": {"mine": (X, y)}, "methods": ["svm", KNeighborsClassifier]}
        study |= {"labeled": 50, "budgets": ["3MB", "10MB"], "seeds": 5}
        harness.run(study).best()
    """
    # a profile says itself how many jobs run at a time
    count = None if cores is None and profile is not None else core_count(cores)
    with study_file(study, name) as path:
        workload = load_workload(path)
        held = nullcontext() if isinstance(study, Mapping) else only_run(workload.results)
        show: Callable[[int], Any] = shown_progress if progress else _nothing
        with held, show(workload.n_trials) as told:
            run_workflow(workload, count, told, options, profile)
        return Results(workload.results)


def core_count(cores: int | None) -> int:
    """Return how many trials run side by side; all cores by default."""
    count = os.cpu_count() or 1 if cores is None else cores
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise HarnessError(f"cores = {shown(cores)}: give a whole number above zero")
    return count


def study_file(
    study: str | os.PathLike[str] | Mapping[str, Any], name: str | None
) -> AbstractContextManager[Path]:
    """Return a context of a study's file; a mapping is written, and held against other runs."""
    if isinstance(study, Mapping):
        return written(study, NAME if name is None else name)
    if not isinstance(study, str | os.PathLike):
        raise HarnessError(
            f"{shown(study)} is no study: give its file, its name, or a dict with its keys"
        )
    if name is not None:
        raise HarnessError(f"name = {shown(name)}: a study in a file is called as its file is")
    return nullcontext(Path(study))


@contextmanager
def _nothing(total: int) -> Iterator[Told]:
    yield lambda counts: None
