"""From how a child ended to an outcome and a reason that a person understands."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from harness.sandbox.channel import CHANNEL_LOST
from harness.sandbox.limits import Limits, measuring_error
from harness.sandbox.refusal import are_last_words
from harness.units import format_bytes, format_duration

_NEARLY = 0.9
_UNMEASURED = "Its memory could not be measured"
_NOT_SEEN = "no way to limit memory that this machine has can count; see `harness doctor`"


_HEAP_STEP = 132 << 10
"""Bytes by which malloc of glibc lets the heap grow for a request that it has no room for."""


@dataclass(frozen=True)
class Ending:
    """All that is known of how a trial ended.

    Attributes
    ----------
    done : bool
        The child said that it had finished and sent everything.
    failure : (str, str) or None
        What the child reported instead: "memory" or "error", and the exception.
    garbled : str
        Why what it sent was not understood.
    timed_out : bool
    status : int or None
        Wait status of the child; None if it could not be reaped.
    killed_for_memory : bool
        The kernel killed a process of the trial's cgroup at its limit.
    watched_over : bool
        The watch saw it above its budget and ended it.
    peak : int or None
    measured_by : str
        What the peak is from, which says how exact it is.
    enforced_by : str
    output : str
    left, stuck : int
        Processes that outlived the child; processes that could not be killed.
    strays : bool
        A process left the cgroup that limits it.
    uncounted : bool
        It started processes where nothing counts their memory.
    """

    done: bool
    failure: tuple[str, str] | None
    garbled: str
    timed_out: bool
    status: int | None
    killed_for_memory: bool
    watched_over: bool
    peak: int | None
    measured_by: str
    enforced_by: str
    output: str
    left: int
    stuck: int
    strays: bool = False
    uncounted: bool = False


def classify(ending: Ending, limits: Limits) -> tuple[str, str]:
    """Name the outcome and say why, empty for a plain success.

    Parameters
    ----------
    ending : Ending
    limits : Limits

    Returns
    -------
    outcome, reason : str
    """
    outcome, reason = _classify(ending, limits)
    if ending.stuck:
        rest = f"{_processes(ending.stuck)} could not be killed."
    elif ending.left:
        were = "were" if ending.left > 1 else "was"
        rest = f"It left {_processes(ending.left)} running, which {were} stopped."
    else:
        return outcome, reason
    return outcome, f"{reason} {rest}".strip()


def _classify(ending: Ending, limits: Limits) -> tuple[str, str]:
    if ending.timed_out and limits.seconds is not None:
        return "timeout", f"Ran into its time limit of {format_duration(limits.seconds)}."
    if ending.strays:
        return "error", f"{_UNMEASURED}: a process left the cgroup that limits it."
    if limits.memory is not None:
        reason = _over_budget(ending, limits.memory)
        if reason:
            return "over_budget", reason
        if ending.done and ending.uncounted:
            return "error", f"{_UNMEASURED}: it started processes, which {_NOT_SEEN}."
    if ending.failure is not None:
        _, message = ending.failure
        return "error", message
    if ending.done:
        return "ok", ""
    return "crashed", _crash(ending, limits)


def _over_budget(ending: Ending, budget: int) -> str:
    given = f"the budget of {format_bytes(budget)}"
    if ending.killed_for_memory:
        return f"Its processes together went over {given}; the kernel stopped them."
    if ending.watched_over:
        return f"Was seen above {given} and stopped."
    if ending.failure is not None and ending.failure[0] == "memory":
        return f"Asked for more memory than {given} leaves: {ending.failure[1]}"
    if not ending.done and ending.failure is None and _gave_up(ending, budget):
        return f"Asked for more memory than {given} leaves, and a library ended the process."
    granted = budget + measuring_error(budget, ending.measured_by)
    if ending.peak is not None and ending.peak > granted:
        return (
            f"Held {format_bytes(ending.peak)}, more than {given} ({ending.peak / budget:.3f} of "
            f"it). This was measured; the limit ({ending.enforced_by}) let it pass."
        )
    return ""


def _gave_up(ending: Ending, budget: int) -> bool:
    """Tell whether a library ended the process for want of memory, as its last words say.

    One that aborts without a word, next to the limit, is taken for it too, and a crash where the
    heap could not grow by one more step: LightGBM follows a pointer that it was not given.
    """
    if are_last_words(ending.output):
        return True
    if ending.status is None or ending.peak is None or not os.WIFSIGNALED(ending.status):
        return False
    number = os.WTERMSIG(ending.status)
    if number in (signal.SIGSEGV, signal.SIGBUS):
        return ending.peak >= budget - _HEAP_STEP - measuring_error(budget, "VmHWM")
    return number == signal.SIGABRT and ending.peak > _NEARLY * budget


def _crash(ending: Ending, limits: Limits) -> str:
    if ending.garbled:
        return f"What it sent as its result is not understood: {ending.garbled}."
    if ending.status is None:
        return "Did not end when it was killed."
    if os.WIFSIGNALED(ending.status):
        number = os.WTERMSIG(ending.status)
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        reason = f"Was killed by {name} ({signal.strsignal(number)})."
        if number == signal.SIGKILL:
            reason += " Itself, someone else, or the system for want of memory did this."
    else:
        code = os.waitstatus_to_exitcode(ending.status)
        reason = f"Ended with exit status {code} before it returned a result."
        if code == CHANNEL_LOST:
            reason = "The pipe through which results are sent was closed by the trial itself."
    if limits.memory and ending.peak is not None and ending.peak > _NEARLY * limits.memory:
        reason += (
            f" It had used {format_bytes(ending.peak)} of its {format_bytes(limits.memory)}: "
            "an allocation that failed unchecked is likely."
        )
    return reason


def _processes(count: int) -> str:
    return f"{count} process{'es' if count > 1 else ''}"
