"""A study run through Snakemake: one run at a time, its outcomes counted, its failures told."""

from __future__ import annotations

import fcntl
import importlib.metadata
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from harness.errors import HarnessError
from harness.jobs.mending import put_damaged_aside
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

_LOG_OF_A_JOB = re.compile(r"^Logfile ([^\n]+):\n=+\n(.*?)\n=+$", re.MULTILINE | re.DOTALL)
"""A failed job's own log, as Snakemake repeats it."""

_NO_EXECUTOR = re.compile(r"error: argument --executor/-e: invalid choice: '([^']+)'")
"""How Snakemake refuses an executor, of an option or a profile, that is not installed."""

_MOST_JOBS = 5
_MOST_LINES = 10

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


@contextmanager
def only_run(results: Path) -> Iterator[None]:
    """Hold a folder of results while a study runs; the system lets go of it with the process.

    Raises
    ------
    HarnessError
        If another run holds it, or it cannot be made.
    """
    lock = results / ".running"
    try:
        results.mkdir(parents=True, exist_ok=True)
        file = lock.open("a+")
    except OSError as error:
        where = Path(error.filename or results).absolute()
        raise HarnessError(f"{where}: cannot be made: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise HarnessError(
                f"{results}: the study runs already, in process {file.read() or '?'}: wait for "
                "it, end it, or give this one another name"
            ) from None
        except OSError:  # of a file system without locks; blocks lock their journals themselves
            pass
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def run_workflow(workload: Workload, cores: int, told: Told, options: Sequence[str] = ()) -> None:
    """Run what a study lacks, and return when all of it is there.

    Parameters
    ----------
    workload : Workload
    cores : int
    told : callable (Counter) -> None
        Given the outcomes so far, twice a second.
    options : sequence of str
        Passed on to Snakemake.

    Raises
    ------
    HarnessError
        If Snakemake fails, with what its failed jobs said and where all of it is.
    KeyboardInterrupt
        When Snakemake and its jobs have ended; trials that are finished are kept.
    """
    if DRY.isdisjoint(options):
        for sentence in put_damaged_aside(workload):
            print(sentence, file=sys.stderr)
    log = workload.results / LOG
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
        messages[message if told else _last_lines(text)] = path
    if not messages:
        refused = _NO_EXECUTOR.search(said)
        return [_to_install(refused[1]) if refused else _last_lines(said)]
    reasons = [f"{path}: {message}" for message, path in messages.items()]
    more = len(reasons) - _MOST_JOBS
    return reasons[:_MOST_JOBS] + ([f"and {more} more failed jobs"] if more > 0 else [])


def _to_install(executor: str) -> str:
    extras = importlib.metadata.metadata("memory-budget-harness").get_all("Provides-Extra") or ()
    package = f"snakemake-executor-plugin-{executor}"
    if executor in extras:
        package = f"'memory-budget-harness[{executor}]'"
    return f"executor {executor!r} is not installed: pip install {package}"


def _last_lines(text: str) -> str:
    return "\n".join(text.splitlines()[-_MOST_LINES:])
