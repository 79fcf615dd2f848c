"""Why jobs of a study failed, found in what Snakemake said."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.jobs.slurm import why_ended

_LOG_OF_A_JOB = re.compile(r"^Logfile ([^\n]+):\n=+\n(.*?)\n=+$", re.MULTILINE | re.DOTALL)
"""A failed job's own log, as Snakemake repeats it."""

_FAILED = re.compile(
    r"^Error in rule (\S+?):\n(.*?)(?=^\[|^Logfile |\Z)", re.MULTILINE | re.DOTALL
)
"""What Snakemake says of a failed job itself."""

_MESSAGE = re.compile(r"^    message: (.*?)^    jobid:", re.MULTILINE | re.DOTALL)
_LOGS = re.compile(r"^    log: (.*) \(check log", re.MULTILINE)

_NO_EXECUTOR = re.compile(r"error: argument --executor/-e: invalid choice: '([^']+)'")
"""How Snakemake refuses an executor, of an option or a profile, that is not installed."""

_MOST_JOBS = 5
_MOST_LINES = 10


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
        once, though a job was tried again; where a job could not say anything, what Slurm says of
        its end. If no job failed, what to install for an executor that
        is not there, what the harness said, else the last lines of Snakemake itself.
    """
    messages: dict[str, str] = {}
    told_by_job, told_by_executor = set(), set()
    failed = [_Failed.read(*found) for found in _FAILED.findall(said)]
    theirs = {path for job in failed for path in job.logs[1:]}
    for path, text in _LOG_OF_A_JOB.findall(said):
        _, told, message = f"\n{text}".rpartition("\nharness: ")
        if told:
            told_by_job.add(path)
            messages[message] = path
    for job in failed:
        reason = why_ended(job.rule, job.message, _content(job.logs[1:]))
        if reason and not told_by_job & set(job.logs):
            told_by_executor |= set(job.logs)
            messages[reason] = job.logs[-1]
    for path, text in _LOG_OF_A_JOB.findall(said):
        if path not in told_by_job | told_by_executor | theirs:
            messages[_last_lines(text)] = path
    if not messages:
        refused = _NO_EXECUTOR.search(said)
        if refused:
            return [_to_install(refused[1])]
        _, told, message = f"\n{said}".rpartition("\nharness: ")
        return [message.strip() if told else _last_lines(said)]
    reasons = [f"{path}: {message}" for message, path in messages.items()]
    more = len(reasons) - _MOST_JOBS
    return reasons[:_MOST_JOBS] + ([f"and {more} more failed jobs"] if more > 0 else [])


@dataclass(frozen=True)
class _Failed:
    """A failed job: its own log comes first, then that of whoever ran it elsewhere."""

    rule: str
    message: str
    logs: list[str]

    @classmethod
    def read(cls, rule: str, text: str) -> _Failed:
        message, logs = _MESSAGE.search(text), _LOGS.search(text)
        return cls(rule, message[1] if message else "", logs[1].split(", ") if logs else [rule])


def _content(paths: Iterable[str]) -> str:
    texts = []
    for path in paths:
        with suppress(OSError):
            texts.append(Path(path).read_text(encoding="utf-8", errors="replace"))
    return "\n".join(texts)


def _to_install(executor: str) -> str:
    extras = importlib.metadata.metadata("memory-budget-harness").get_all("Provides-Extra") or ()
    package = f"snakemake-executor-plugin-{executor}"
    if executor in extras:
        package = f"'memory-budget-harness[{executor}]'"
    return f"executor {executor!r} is not installed: pip install {package}"


def _last_lines(text: str) -> str:
    return "\n".join(text.splitlines()[-_MOST_LINES:])
