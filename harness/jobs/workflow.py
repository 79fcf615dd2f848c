"""A study run through Snakemake: its outcomes counted, its failures told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from harness.errors import HarnessError
from harness.jobs.failures import failures
from harness.jobs.mending import put_damaged_aside
from harness.jobs.profiles import find_profile, own_snakefile, sees_sources
from harness.planning.workload import ROWS, Workload
from harness.project import PROFILE, SNAKEFILE
from harness.records.table import parse_rows

POLL_S = 0.5

HEARD_S = 3.0
"""In which Snakemake ends once it has heard an interrupt."""

DRY = frozenset({"-n", "--dry-run", "--dryrun"})
"""Options with which Snakemake tells what it would do."""

LOG = "logs/snakemake.log"
"""All that Snakemake said, in the folder of a study's results."""

Told = Callable[[Counter[str]], None]


class Outcomes:
    """Counts the outcomes of a study's trials, reading only what has grown.

    Rows are read where they are written and where they are published: each is complete without
    the other.
    """

    def __init__(self, workload: Workload) -> None:
        self._wanted = {trial for block in workload.blocks for trial in block.trials}
        self._folders = [workload.results / kind for kind in ROWS]
        # by device and inode: publishing links a journal to another name
        self._read: dict[tuple[int, int], int] = {}
        self._found: dict[str, str] = {}

    def count(self) -> Counter[str]:
        """Return how many trials have each outcome so far."""
        for path in (path for folder in self._folders for path in folder.rglob("*.jsonl")):
            with suppress(OSError):
                status = path.stat()
                content = (status.st_dev, status.st_ino)
                read = self._read.get(content, 0)
                if status.st_size != read:
                    self._read[content] = read + self._take(path, read)
        return Counter(self._found.values())

    def _take(self, path: Path, start: int) -> int:
        """Read the whole lines of a file from a place on; return how many bytes they have."""
        with path.open("rb") as file:
            file.seek(start)
            content = file.read()
        whole = content.rfind(b"\n") + 1
        for row in parse_rows(path, content[:whole])[0]:
            if row["fingerprint"] in self._wanted:
                self._found[row["fingerprint"]] = row["outcome"]
        return whole


def run_workflow(
    workload: Workload,
    cores: int | None,
    told: Told,
    options: Sequence[str] = (),
    profile: str | None = None,
) -> None:
    """Run what a study lacks, and return when all of it is there.

    Parameters
    ----------
    workload : Workload
    cores : int or None
        None leaves it to the profile, which says how many jobs a cluster gets at a time.
    told : callable (Counter) -> None
        Given the outcomes so far, twice a second.
    options : sequence of str
        Passed on to Snakemake.
    profile : str, optional
        Name or path of settings beside those of this machine: `slurm`.

    Raises
    ------
    HarnessError
        If Snakemake fails, with what its failed jobs said and where all of it is; or there is no
        such profile.
    KeyboardInterrupt
        When Snakemake and its jobs have ended; trials that are finished are kept.
    """
    found = None if profile is None else find_profile(profile)
    snakefile = SNAKEFILE if found is None or sees_sources(found) else own_snakefile()
    command = [
        *(sys.executable, "-m", "snakemake", "--snakefile", str(snakefile)),
        *("--workflow-profile", str(PROFILE)),
        *("--profile", "none" if found is None else str(found)),
        *(() if cores is None else ("--cores", str(cores))),
        *("--config", f"study={workload.study.path}", *options),
    ]
    if DRY.isdisjoint(options):
        for sentence in put_damaged_aside(workload):
            print(sentence, file=sys.stderr)
    log = workload.results / LOG
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{log.parent.absolute()}: cannot be made: {error.strerror}"
        raise HarnessError(message) from None
    outcomes = Outcomes(workload)
    told(outcomes.count())
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                told(outcomes.count())
                time.sleep(POLL_S)
        except KeyboardInterrupt:
            _end(process)
            raise
    told(outcomes.count())
    if process.returncode:
        reasons = failures(log.read_text(encoding="utf-8", errors="replace"))
        raise HarnessError("\n".join([f"snakemake failed; its whole log is {log}", *reasons]))


def interrupt_children() -> None:
    """End what this process started as Ctrl-C does, which a terminal sends to all of it.

    Snakemake by itself would first finish the jobs that run. Trials have groups of their own: who
    runs them ends them. A shell's background job, and all that it starts, is deaf to Ctrl-C.
    """
    deaf = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error, OSError):
            if os.getpgid(process.pid) == os.getpgrp():
                process.send_signal(signal.SIGTERM if deaf else signal.SIGINT)


def _end(snakemake: subprocess.Popen[bytes]) -> None:
    """Wait for Snakemake's end; pass on an interrupt that came to this process alone."""
    try:
        snakemake.wait(HEARD_S)
    except subprocess.TimeoutExpired:
        interrupt_children()
        snakemake.wait()
