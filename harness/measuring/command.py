"""A command of any kind under a budget: how it ended, its peak, and what held the limit.

The sandbox's child starts the command as its own child and stays beside it as its tracer, only to
read the kernel's mark at the last moment at which it is there. Nothing of the command is changed,
but the limits that it has.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.sandbox import Limits, Sandbox, tracing
from harness.sandbox.backends import AUTO
from harness.sandbox.refusal import ends_in_refusal
from harness.units import format_bytes, parse_bytes, parse_duration

if TYPE_CHECKING:
    from harness.sandbox import Monitor, Result

OVER_BUDGET, TIMEOUT, CANNOT_RUN, NOT_FOUND = 123, 124, 126, 127
_NEARLY = 0.9


class CommandError(HarnessError):
    """A command that cannot be started.

    Parameters
    ----------
    message : str
    code : int
        Exit code that says so, as shells have it.
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class CommandResult:
    """How a command ended and what it used.

    Attributes
    ----------
    outcome : str
        "ok", "over_budget", "timeout", "crashed" (a signal ended it) or "error" (another exit code
        than 0).
    reason : str
        Why it is not "ok", in a sentence.
    exit_code : int or None
        The command's own; None where a signal or a limit ended it.
    peak_bytes : int or None
        The most that it held, interpreter and child processes included and file pages left out.
    seconds, cpu_seconds : float
    means : str
        What held the memory limit: "cgroup-v2", "cgroup-v1", "rlimit-data+watch", "watch", "none".
    measured_by : str
        What the peak is from: "VmHWM", the cgroup, "watch" or "none".
    signal : int or None
        What ended it, for "crashed".
    """

    outcome: str
    reason: str
    exit_code: int | None
    peak_bytes: int | None
    seconds: float
    cpu_seconds: float
    means: str
    measured_by: str
    signal: int | None

    @property
    def status(self) -> int:
        """Exit code that tells the outcome."""
        if self.outcome == "over_budget":
            return OVER_BUDGET
        if self.outcome == "timeout":
            return TIMEOUT
        if self.exit_code is not None:
            return self.exit_code
        return 128 + self.signal if self.signal else CANNOT_RUN


def run_command(
    command: Sequence[str],
    budget: str | int | None = None,
    time_limit: str | float | None = None,
    backend: str = AUTO,
    stdout_to_stderr: bool = False,
) -> CommandResult:
    """Run a command under the strongest limit at hand.

    Its stdin and stdout are those of this process; its stderr is read and passed on.

    Parameters
    ----------
    command : sequence of str
        Program and arguments, no shell.
    budget : str, int or None, default None
        "200MB" or bytes, for all of the command; None for no limit.
    time_limit : str, float or None, default None
        "1h" or seconds; None for no limit.
    backend : str, default "auto"
        As in `Sandbox`.
    stdout_to_stderr : bool, default False
        Send what the command prints to stderr.

    Raises
    ------
    CommandError
        If there is no such command, or it cannot be run.
    HarnessError
        If a limit is not understood, or a memory limit around this process ended it.
    """
    limits = Limits(
        None if budget is None else parse_bytes(budget),
        None if time_limit is None else parse_duration(time_limit),
        uncounted=True,
        command=True,
    )
    if not command:
        raise CommandError("no command is given after --", CANNOT_RUN)
    path = shutil.which(command[0])
    if path is None:
        raise CommandError(f"command {command[0]!r} is not found", NOT_FOUND)
    with Sandbox(backend) as sandbox:
        grouped = sandbox.backend.startswith("cgroup")
        # With a cgroup what is reserved and never touched need not be refused.
        most = None if grouped or sandbox.backend == "watch" else limits.memory

        def trial(monitor: Monitor) -> tuple[dict[str, Any], dict[str, Any]]:
            if stdout_to_stderr:
                os.dup2(2, 1)
            ended = tracing.run(path, list(command), most)
            # without its own mark the cgroup's, or the watch's, is taken
            monitor.command = (ended.held_at_most, ended.descendants or ended.untraced)
            return {"status": ended.status, "errno": ended.errno, "data": ended.data}, {}

        result = sandbox.run(trial, limits)
    return _told(result, limits, path)


def _told(result: Result, limits: Limits, path: str) -> CommandResult:
    outcome, reason = result.outcome, result.reason
    code = ended_by = None
    if outcome == "ok":
        status = result.answer["status"]
        if result.answer["errno"]:
            why = os.strerror(result.answer["errno"])
            raise CommandError(f"command {path!r} cannot be run: {why}", CANNOT_RUN)
        if os.WIFSIGNALED(status):
            ended_by = os.WTERMSIG(status)
        else:
            code = os.waitstatus_to_exitcode(status)
        if status and limits.memory is not None and _was_refused(result, limits.memory):
            given = format_bytes(limits.memory)
            outcome = "over_budget"
            reason = f"Asked for more memory than the budget of {given} leaves."
            code = ended_by = None
        elif ended_by:
            outcome = "crashed"
            told = signal.strsignal(ended_by)
            reason = f"Was killed by {signal.Signals(ended_by).name} ({told})."
        elif code:
            outcome, reason = "error", f"Ended with exit code {code}."
    return CommandResult(
        outcome=outcome,
        reason=reason,
        exit_code=code,
        peak_bytes=result.peak_bytes,
        seconds=result.seconds,
        cpu_seconds=result.cpu_seconds,
        means=result.enforced_by,
        measured_by=result.measured_by,
        signal=ended_by,
    )


def _was_refused(result: Result, memory: int) -> bool:
    """Tell whether a command that failed did so for want of memory.

    One that a signal ended next to its limit is taken for it: loaders and programs in C check
    little.
    """
    if ends_in_refusal(result.output):
        return True
    data, status = result.answer["data"], result.answer["status"]
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (
        signal.SIGKILL,
        signal.SIGSEGV,
        signal.SIGABRT,
        signal.SIGBUS,
    )
    limited = result.enforced_by.startswith("rlimit-data")
    # without a mark, the kernel ended it while it was being loaded
    return killed and limited and (data is None or data > _NEARLY * memory)
