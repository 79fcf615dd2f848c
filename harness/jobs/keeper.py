"""The keeper of a job: starts its worker, and another one when a trial took the first one down.

It holds nothing and does nothing but wait, so a trial that ends the worker costs its own row. A
worker whose runner is gone ends itself and is replaced too: a new runner must not be forked from
a process that holds labels.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

from harness.errors import HarnessError
from harness.jobs.unfinished import Unfinished
from harness.jobs.watched import ORDERLY, signals_held_back
from harness.lean_process import leave
from harness.sandbox import prctl
from harness.sandbox.outer import OuterLimits


class StartOver(SystemExit):
    """Ends a worker that another one should replace."""

    def __init__(self) -> None:
        super().__init__(os.EX_TEMPFAIL)


def keep(unfinished: Unfinished) -> None:
    """Fork workers one after the other; return in each of them, and in the keeper never.

    The keeper ends as the last worker does. Ended itself by Ctrl-C, SIGTERM or SIGHUP, it takes
    the worker along.

    Parameters
    ----------
    unfinished : Unfinished
        Of the job: a worker that was killed is replaced if this tells of a trial that it had
        begun.
    """
    keeper = os.getpid()
    outer = OuterLimits()
    while True:
        unfinished.next_worker()
        outer.note()
        sys.stdout.flush()
        sys.stderr.flush()
        with signals_held_back():
            worker = os.fork()
            if worker == 0:
                prctl.die_with(keeper)
                prctl.hide_memory()
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # it concerns the keeper
                return
            earlier = _take_along(worker, unfinished)
        status = os.waitpid(worker, 0)[1]
        for number, handler in earlier.items():
            signal.signal(number, handler)
        code = os.waitstatus_to_exitcode(status)
        if code == os.EX_TEMPFAIL:
            continue
        if code >= 0:
            unfinished.forgive()
            leave(code)
        if code == -signal.SIGKILL and outer.killed():
            unfinished.forgive()
            raise outer.error("the worker of this trial", None)
        if not unfinished.interrupted():
            name = signal.Signals(-code).name
            raise HarnessError(f"the worker was killed by {name} outside of any trial")


def _take_along(worker: int, unfinished: Unfinished) -> dict[signal.Signals, Any]:
    """Have the worker ended by what ends this process in order; return handlers until now."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(worker, signal.SIGKILL)
            os.waitpid(worker, 0)
        with suppress(HarnessError):
            unfinished.forgive()
        os._exit(128 + number)

    return {
        number: signal.signal(number, end)
        for number in ORDERLY
        if signal.getsignal(number) != signal.SIG_IGN
    }
