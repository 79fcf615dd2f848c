"""What Slurm is asked before a study's jobs are submitted, and what its words mean."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError

LOGS = "logs/slurm"
"""What Slurm says of a study's jobs, in the folder of its results."""

_PATIENCE_S = 60.0
_WIDTH = 4096
_DAYS = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")
_WITHOUT_LIMIT = "infinite"

_REFUSED = re.compile(r"sbatch failed\. The error message was '(?:sbatch: error: )*(.*?)'\.", re.S)
_STATUS = re.compile(r"SLURM status is: '(\w+)'")
_RESERVED = re.compile(r"^    resources: .*?\bmem_mb=(\d+).*?\bruntime=(\d+)", re.MULTILINE)

_KINDS = {
    "memory": ("OUT_OF_MEMORY", re.compile(r"oom[-_ ]kill", re.IGNORECASE)),
    "time": ("TIMEOUT", re.compile(r"DUE TO TIME LIMIT")),
    "node": ("NODE_FAIL", re.compile(r"DUE TO NODE FAILURE")),
    "cancelled": ("CANCELLED", re.compile(r"\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED AT")),
}


@dataclass(frozen=True)
class Need:
    """What a job asks for.

    Attributes
    ----------
    rule : str
    mem_mb : int
    cores : int
    minutes : int
    partition : str
        Empty where Slurm is to choose.
    """

    rule: str
    mem_mb: int
    cores: int
    minutes: int
    partition: str = ""


@dataclass(frozen=True)
class _Nodes:
    partition: str
    default: bool
    cores: int
    mem_mb: int
    minutes: float


def require_slurm() -> None:
    """Refuse to submit where there is no Slurm.

    Raises
    ------
    HarnessError
        If `sbatch` is not here, or the controller does not answer.
    """
    if shutil.which("sbatch") is None:
        raise HarnessError(
            "the profile asks for Slurm, but sbatch is not on this machine: run the study where "
            "jobs are submitted, or without the profile"
        )
    _asked("sinfo", "-h", "-o", "%R")


def refuse_too_large(needs: Iterable[Need]) -> None:
    """Refuse jobs that no node can run: some clusters let them wait for ever.

    Parameters
    ----------
    needs : iterable of Need

    Raises
    ------
    HarnessError
        With a line for each rule that has a job too large for all nodes of its partition.
    """
    nodes = list(_nodes())
    mistakes: dict[str, str] = {}
    for need in sorted(needs, key=lambda need: (need.mem_mb, need.minutes), reverse=True):
        if need.rule not in mistakes and (told := _too_large(need, nodes)):
            mistakes[need.rule] = told
    if mistakes:
        raise HarnessError("\n".join(mistakes.values()))


def longest_minutes(needs: Iterable[Need]) -> float:
    """Return the minutes that a job may ask for, on the nodes that have its memory and cores.

    Parameters
    ----------
    needs : iterable of Need

    Returns
    -------
    float
        Of the job with the fewest; infinite where nothing bounds them, or none would fit.
    """
    nodes = list(_nodes())
    allowed = []
    for need in set(needs):
        where = _partitions(need, nodes)
        minutes = [node.minutes for node in nodes if node.partition in where and _has(node, need)]
        allowed.append(max(minutes, default=math.inf))
    return min(allowed, default=math.inf)


def refuse_arrays(rules: str, needs: Sequence[Need], at_a_time: int | None) -> None:
    """Refuse to submit jobs as an array where the plugin would do it wrongly.

    It gives all tasks what the first job asks for, and waits for jobs that it was never given.

    Parameters
    ----------
    rules : str
        To be submitted as arrays, joined by commas, or "all".
    needs : sequence of Need
        Of each job.
    at_a_time : int or None
        Jobs that Snakemake hands over at once.

    Raises
    ------
    HarnessError
        If jobs of such a rule ask for different things, or are more than that.
    """
    named = {name.strip() for name in rules.replace(";", ",").split(",")}
    for rule in dict.fromkeys(need.rule for need in needs):
        alike = [need for need in needs if need.rule == rule]
        if rule not in named and "all" not in named:
            continue
        if len(set(alike)) > 1:
            raise HarnessError(
                f"{rule}: its jobs differ in memory, minutes or cores, and tasks of an array all "
                "get those of the first: leave out --slurm-array-jobs"
            )
        if at_a_time is not None and at_a_time < len(alike):
            raise HarnessError(
                f"{rule}: an array takes all of its {len(alike)} jobs at once, and --jobs is "
                f"{at_a_time}: give --jobs {len(alike)}, or leave out --slurm-array-jobs"
            )


def _too_large(need: Need, nodes: list[_Nodes]) -> str:
    known = sorted({node.partition for node in nodes})
    where = _partitions(need, nodes)
    if not where:
        return (
            f"{need.rule}: Slurm has no default partition: name one of {', '.join(known)} by "
            "--default-resources slurm_partition=NAME"
        )
    there = [node for node in nodes if node.partition in where]
    if not there:
        asked = need.partition
        return f"{need.rule}: Slurm has no partition {asked!r}; it has {', '.join(known)}"
    if any(_has(node, need) and need.minutes <= node.minutes for node in there):
        return ""
    most = max(there, key=lambda node: (node.mem_mb, node.cores, node.minutes))
    allowed = "any time" if most.minutes == float("inf") else f"{most.minutes:.0f} minutes"
    return (
        f"{need.rule}: a job asks for {need.mem_mb} MB, {need.cores} cores and "
        f"{need.minutes} minutes; partition {','.join(where)} has at most "
        f"{most.mem_mb} MB, {most.cores} cores and {allowed}. Take another "
        "(--default-resources slurm_partition=NAME), a smaller budget, or fewer minutes in the "
        "study (limits.time)"
    )


def _partitions(need: Need, nodes: Iterable[_Nodes]) -> list[str]:
    if need.partition:
        return need.partition.split(",")
    return [node.partition for node in nodes if node.default][:1]


def _has(node: _Nodes, need: Need) -> bool:
    return need.mem_mb <= node.mem_mb and need.cores <= node.cores


def _nodes() -> Iterator[_Nodes]:
    for line in _asked("sinfo", "--exact", "-h", "-o", "%P|%c|%m|%l").splitlines():
        name, cores, megabytes, minutes = line.split("|")
        yield _Nodes(
            partition=name.rstrip("*"),
            default=name.endswith("*"),
            cores=int(cores.rstrip("+")),
            mem_mb=int(megabytes.rstrip("+")),
            minutes=_minutes(minutes),
        )


def _minutes(text: str) -> float:
    """Read Slurm's [days-][hours:]minutes:seconds."""
    found = _DAYS.fullmatch(text)
    if found is None:
        return float("inf")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return (days * 24 + hours) * 60 + minutes + seconds / 60


def cancel_left_over(logs: Path) -> int:
    """Cancel jobs of a study that a run before left behind: nobody waits for them any more.

    Parameters
    ----------
    logs : Path
        Where Slurm writes what the study's jobs say; only its own are known by it.

    Returns
    -------
    int
        Of jobs. Their finished trials are kept, the others are run again.
    """
    folder = f"{logs.absolute()}{os.sep}"
    columns = f"JobID:.20,STDOUT:.{_WIDTH}"
    told = _asked("squeue", "-h", f"--user={os.getuid()}", "-O", columns)
    lines = (line for line in told.splitlines() if line[20:].strip().startswith(folder))
    jobs = sorted({line[:20].strip() for line in lines})
    if jobs:
        _asked("scancel", *jobs)
    return len(jobs)


def why_ended(rule: str, message: str, said: str) -> str:
    """Say in one sentence why Slurm ended a job, or would not start it.

    Parameters
    ----------
    rule : str
        Of the job.
    message : str
        What Snakemake's executor says of the failed job.
    said : str
        Slurm's own log of the job; empty if there is none.

    Returns
    -------
    str
        Empty if nothing of that kind is told.
    """
    if refused := _REFUSED.search(message):
        return f"Slurm refused the job: {' '.join(refused[1].split())}"
    status = _STATUS.search(message)
    given = _RESERVED.search(said)
    memory, minutes = (f"{given[1]} MB", f"{given[2]} minutes") if given else ("memory", "time")
    sentences = {
        "memory": f"the job needed more memory than the {memory} that Slurm reserved for it, and "
        f"was killed; finished trials are kept. Reserve more: --set-resources {rule}:mem_mb=...",
        "time": f"the job took longer than the {minutes} that Slurm gave it, and was ended; "
        "finished trials are kept. Run the study again, which gives trials more, or say how much: "
        f"--set-resources {rule}:runtime=...",
        "node": "the node that ran the job failed; finished trials are kept, run the study again",
        "cancelled": "the job was cancelled; finished trials are kept, run the study again",
    }
    for kind, (name, words) in _KINDS.items():
        if (status and status[1] == name) or words.search(said):
            return sentences[kind]
    return ""


def _asked(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HarnessError(f"{command[0]}: Slurm does not answer: {error}") from None
    if done.returncode:
        raise HarnessError(f"{command[0]}: Slurm does not answer: {done.stderr.strip()}")
    return done.stdout
