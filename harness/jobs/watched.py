"""A job run in a process that is watched: what it took is noted, and why it was killed is told.

A process that the kernel kills for want of memory leaves an empty log. Its parent holds nothing
that is worth killing it for, and says so.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from harness.lean_process import leave
from harness.sandbox import prctl
from harness.sandbox.outer import OuterLimits

ORDERLY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that whoever ends a study in order sends."""

_HEARD_S = 1.0
"""In which the worker ends if a terminal, or Slurm, sent it the same signal."""

_SCORE = "200"
"""The kernel takes the work of a job before Snakemake around it, and a trial before that."""


def watched(note: Callable[[float, int | None], None], late_s: float | None = None) -> None:
    """Fork the process that does the work; return in it, and in the one that watches it never.

    The latter ends as the former does. Ended in order itself, it takes the other along.

    Parameters
    ----------
    note : callable (started, code) -> None
        Given when the work began, in seconds since the epoch, and its exit code, which is
        negative if a signal killed it, and None while it runs.
    late_s : float, optional
        Seconds after which it is noted that the work still runs: a scheduler ends a job that has
        no time left by SIGKILL, and nothing can be noted then.
    """
    watcher, started = os.getpid(), time.time()
    sys.stdout.flush()
    sys.stderr.flush()
    limits = OuterLimits()
    with signals_held_back():
        worker = os.fork()
        if worker == 0:
            prctl.die_with(watcher)
            prctl.end_first(_SCORE)
            return
        _pass_signals_on(worker)
    late = threading.Timer(late_s or 0, note, (started, None))
    late.daemon = True
    if late_s is not None:
        late.start()
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    signal.setitimer(signal.ITIMER_REAL, 0)
    late.cancel()
    if late_s is not None:
        late.join()
    if code == -signal.SIGKILL:
        print(f"harness: {_why(limits)}", file=sys.stderr)
    note(started, code)
    leave(code if code >= 0 else 128 - code)


def _why(limits: OuterLimits) -> str:
    if not limits.killed():
        return "this job was killed by SIGKILL; what it finished is kept"
    return (
        f"{limits.to_blame()}, outside of the harness, was reached, and the kernel ended this "
        "job; what it finished is kept. Give it more memory (mem_mb) and run the study again"
    )


@contextlib.contextmanager
def signals_held_back() -> Iterator[None]:
    """Let signals that end a process in order wait, those of a process forked meanwhile too."""
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, ORDERLY)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def _pass_signals_on(worker: int) -> None:
    """Have signals that come to this process alone passed on to the worker."""
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        signal.setitimer(signal.ITIMER_REAL, _HEARD_S)

    def pass_on(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, heard[-1])

    signal.signal(signal.SIGALRM, pass_on)
    for number in ORDERLY:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, hear)
