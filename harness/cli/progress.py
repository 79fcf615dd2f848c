"""Run a study through Snakemake with a progress bar over its trials."""

from __future__ import annotations

import importlib.metadata
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType

import psutil
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from harness.errors import HarnessError
from harness.jobs.mending import put_damaged_aside
from harness.planning.workload import Workload
from harness.project import PROFILE, SNAKEFILE
from harness.records.columns import OUTCOMES
from harness.records.table import read_rows

POLL_S = 0.5

_LOG_OF_A_JOB = re.compile(r"^Logfile ([^\n]+):\n=+\n(.*?)\n=+$", re.MULTILINE | re.DOTALL)
"""A failed job's own log, as Snakemake repeats it."""

_NO_EXECUTOR = re.compile(r"error: argument --executor/-e: invalid choice: '([^']+)'")
"""How Snakemake refuses an executor, of an option or a profile, that is not installed."""

_DRY = frozenset({"-n", "--dry-run", "--dryrun"})
"""Options with which Snakemake tells what it would do."""

_MOST_JOBS = 5
_MOST_LINES = 10


class Outcomes:
    """Counts the outcomes of a study's trials, reading only what has grown.

    Rows are read from journals and from published blocks: each is complete without the other.
    """

    def __init__(self, workload: Workload) -> None:
        self._wanted = {f"{b.fingerprint}-{seed}" for b in workload.blocks for seed in b.seeds}
        places = (workload.journal, workload.output)
        self._paths = [place(block) for block in workload.blocks for place in places]
        # by device and inode: publishing links a journal to another name
        self._sizes: dict[tuple[int, int], int] = {}
        self._found: dict[str, str] = {}

    def count(self) -> Counter[str]:
        """Return how many trials have each outcome so far."""
        for path in self._paths:
            try:
                status = path.stat()
            except OSError:
                continue
            content = (status.st_dev, status.st_ino)
            if self._sizes.get(content) != status.st_size:
                self._sizes[content] = status.st_size
                for row in read_rows(path):
                    if row["fingerprint"] in self._wanted:
                        self._found[row["fingerprint"]] = row["outcome"]
        return Counter(self._found.values())


def run_with_progress(workload: Workload, cores: int, options: Sequence[str] = ()) -> int:
    """Run a study; return Snakemake's exit status.

    Parameters
    ----------
    workload : Workload
    cores : int
    options : sequence of str
        Passed on to Snakemake.

    Raises
    ------
    HarnessError
        If Snakemake fails, with what its failed jobs said and where all of it is.
    """
    if _DRY.isdisjoint(options):
        for told in put_damaged_aside(workload):
            print(told, file=sys.stderr)
    log = workload.results / "logs" / "snakemake.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{log.parent.absolute()}: cannot be made: {error.strerror}"
        raise HarnessError(message) from None
    command = [
        *(sys.executable, "-m", "snakemake", "--cores", str(cores)),
        *("--snakefile", str(SNAKEFILE), "--profile", str(PROFILE)),
        *("--config", f"study={workload.study.path}", *options),
    ]
    total = sum(len(block.seeds) for block in workload.blocks)
    outcomes = Outcomes(workload)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with log.open("wb") as file, Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=total, completed=outcomes.count().total())
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has the second
                signal.signal(number, _interrupt)
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                _update(progress, bar, outcomes.count())
                time.sleep(POLL_S)
        except KeyboardInterrupt:
            process.wait()
            raise
        _update(progress, bar, outcomes.count())
    if process.returncode:
        reasons = failures(log.read_text(encoding="utf-8", errors="replace"))
        raise HarnessError("\n".join([f"snakemake failed; its whole log is {log}", *reasons]))
    report = workload.results / "report.html"
    made = report.is_file() and _DRY.isdisjoint(options)
    console.print(f"{report}" if made else f"what Snakemake said: {log}")
    return process.returncode


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End a study as Ctrl-C does, which a terminal sends to Snakemake and its jobs too.

    Snakemake by itself would first finish the jobs that run. Trials have groups of their own: who
    runs them ends them. A shell's background job, and all that it starts, is deaf to Ctrl-C.
    """
    deaf = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error, OSError):
            if os.getpgid(process.pid) == os.getpgrp():
                process.send_signal(signal.SIGTERM if deaf else signal.SIGINT)
    raise KeyboardInterrupt


def failures(said: str) -> list[str]:
    """Find in Snakemake's log why jobs failed.

    Parameters
    ----------
    said : str
        All that Snakemake said.

    Returns
    -------
    list of str
        A failed job's log and the message that it ends with, else its last lines; each message
        once, though a job was tried again. If no job failed, what to install for an executor that
        is not there, else the last lines of Snakemake itself.
    """
    messages: dict[str, str] = {}
    for path, text in _LOG_OF_A_JOB.findall(said):
        _, told, message = f"\n{text}".rpartition("\nharness: ")
        messages[message if told else _end(text)] = path
    if not messages:
        refused = _NO_EXECUTOR.search(said)
        return [_to_install(refused[1]) if refused else _end(said)]
    reasons = [f"{path}: {message}" for message, path in messages.items()]
    more = len(reasons) - _MOST_JOBS
    return reasons[:_MOST_JOBS] + ([f"and {more} more failed jobs"] if more > 0 else [])


def _to_install(executor: str) -> str:
    extras = importlib.metadata.metadata("memory-budget-harness").get_all("Provides-Extra") or ()
    package = f"snakemake-executor-plugin-{executor}"
    if executor in extras:
        package = f"'memory-budget-harness[{executor}]'"
    return f"executor {executor!r} is not installed: pip install {package}"


def _end(text: str) -> str:
    return "\n".join(text.splitlines()[-_MOST_LINES:])


def _update(progress: Progress, bar: TaskID, counts: Counter[str]) -> None:
    text = " ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    progress.update(bar, completed=counts.total(), description=text)
