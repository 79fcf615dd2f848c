"""What a job was given and what it took, written by who watches it.

A scheduler's own accounts are not asked: not every cluster keeps them. Where the scheduler gives
a job a group of its own (Slurm's `job_N`), the kernel's high-water mark of that group counts all
of the job, Snakemake included. Elsewhere the largest of its processes is all that is known.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from harness.errors import HarnessError
from harness.files import below, read_json, write_whole
from harness.planning.workload import USAGE
from harness.sandbox import cgroup

GROUP = "its group"
PROCESS = "its largest process"

NOT_YET = "not seen to end"

_LATE = 0.9
"""Of the time that was reserved."""

_PEAKS = {1: "memory.max_usage_in_bytes", 2: "memory.peak"}


@dataclass(frozen=True)
class Reserved:
    """What a scheduler gave a job.

    Attributes
    ----------
    mem_mb : int
        Megabytes.
    minutes : int
    cores : int
    """

    mem_mb: int
    minutes: int
    cores: int

    @property
    def late_s(self) -> float:
        """Seconds after which a job may have too little time left to end by itself."""
        return _LATE * 60 * self.minutes


@dataclass(frozen=True)
class Usage:
    """What a job took, the last time that it ran.

    Attributes
    ----------
    rule : str
    job : str
        Which of the rule's jobs; empty if there is only one.
    reserved : Reserved or None
        None where whoever started it did not say.
    peak_bytes : int
    measured_by : str
        `GROUP` or `PROCESS`.
    seconds, cpu_seconds : float
        From its start to its end; of its processes, Snakemake around them included.
    ended : str
        "ok", "failed", or the signal that killed it; `NOT_YET` if it was not seen to end.
    host : str
    """

    rule: str
    job: str
    reserved: Reserved | None
    peak_bytes: int
    measured_by: str
    seconds: float
    cpu_seconds: float
    ended: str
    host: str

    def write(self, results: Path) -> None:
        """Write it into a study's results."""
        name = f"{self.rule}/{self.job}" if self.job else self.rule
        write_whole(json.dumps(asdict(self), indent=1), below(results, f"{USAGE}/{name}.json"))


def measured(
    rule: str, job: str, reserved: Reserved | None, started: float, code: int | None
) -> Usage:
    """Return what the job that this process watches took.

    Parameters
    ----------
    rule, job : str
    reserved : Reserved or None
    started : float
        Seconds since the epoch at which this process began to watch.
    code : int or None
        Exit code of the process that did the work, negative if a signal killed it; None while it
        runs.
    """
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    group = _group()
    peak = _peak(group) if group else None
    around = _around() if group else []
    started = min([started, *(start for start, _ in around)])
    if code is None:
        ended = NOT_YET
    else:
        ended = "ok" if code == 0 else "failed" if code > 0 else f"signal {-code}"
    return Usage(
        rule,
        job,
        reserved,
        own.ru_maxrss * 1024 if peak is None else peak,
        PROCESS if peak is None else GROUP,
        time.time() - started,
        own.ru_utime + own.ru_stime + sum(seconds for _, seconds in around),
        ended,
        socket.gethostname(),
    )


def read_usage(results: Path) -> list[Usage]:
    """Read what the jobs of a study took.

    Parameters
    ----------
    results : Path
        The study's folder of results.

    Raises
    ------
    HarnessError
        If a file holds something else.
    """
    return [read_job(path) for path in sorted((results / USAGE).rglob("*.json"))]


def read_job(path: Path) -> Usage:
    """Read what one job took.

    Raises
    ------
    HarnessError
        If the file holds something else.
    """
    content: dict[str, Any] = read_json(path, dict)
    try:
        given = content.pop("reserved")
        return Usage(reserved=Reserved(**given) if given else None, **content)
    except (KeyError, TypeError) as error:
        raise HarnessError(f"{path}: holds no usage of a job: {error}") from None


def _group() -> tuple[Path, int] | None:
    """Return the group that Slurm made for the whole of this job, and its version of cgroups."""
    job = os.environ.get("SLURM_JOB_ID")
    for version in (1, 2) if job else ():
        try:
            own, mount = cgroup.locate(version, Path("/"))
        except cgroup.UnavailableError:
            continue
        for folder in (own, *own.parents):
            if folder == mount:
                break
            if folder.name == f"job_{job}":
                return folder, version
    return None


def _peak(group: tuple[Path, int]) -> int | None:
    folder, version = group
    try:
        return int((folder / _PEAKS[version]).read_text())
    except (OSError, ValueError):
        return None


def _around() -> list[tuple[float, float]]:
    """Return when the processes around this one started, as far as Slurm's own, and their CPU."""
    found = []
    with suppress(psutil.Error):
        for process in psutil.Process().parents():
            if process.name() == "slurmstepd":
                break
            times = process.cpu_times()
            found.append((process.create_time(), times.user + times.system))
    return found
