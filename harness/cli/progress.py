"""Run a study through Snakemake with a progress bar over its trials."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import nullcontext
from types import FrameType

from rich.console import Console

from harness.jobs.only_run import only_run
from harness.jobs.workflow import DRY, LOG, interrupt_children, run_workflow
from harness.planning.workload import Workload
from harness.python.progress import shown


def run_with_progress(
    workload: Workload,
    cores: int | None,
    options: Sequence[str] = (),
    profile: str | None = None,
) -> None:
    """Run a study, and name its report.

    Parameters
    ----------
    workload : Workload
    cores : int or None
        None leaves it to the profile.
    options : sequence of str
        Passed on to Snakemake.
    profile : str, optional
        Name or path of settings of a cluster.

    Raises
    ------
    HarnessError
        If Snakemake fails, with what its failed jobs said and where all of it is.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has the second
            signal.signal(number, _interrupt)
    dry = not DRY.isdisjoint(options)
    console = Console(stderr=True)
    with (
        nullcontext() if dry else only_run(workload.results),
        shown(workload.n_trials, console) as told,
    ):
        run_workflow(workload, cores, told, options, profile)
    report = workload.results / "report.html"
    made = report.is_file() and not dry
    console.print(f"{report}" if made else f"what Snakemake said: {workload.results / LOG}")


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End a study as Ctrl-C does."""
    interrupt_children()
    raise KeyboardInterrupt
