"""The processes of a trial: finding them, ending them, and counting their CPU time.

The worker is a child subreaper, so a process whose parent has died, a daemon with a session of its
own included, becomes the worker's child. Whatever is a child of the worker after a trial and was
not before it belongs to that trial: start no processes from other threads while one runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import psutil

from harness.sandbox.trial_cgroup import Group

_PATIENCE = 5.0
_GRACE = 0.5
_LINUX = sys.platform == "linux"


def has_children() -> bool:
    """Tell whether this process has children, dead or alive."""
    if not _LINUX:
        return bool(psutil.Process().children())
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def has_ended(pid: int) -> bool:
    """Tell whether a child has ended, without reaping it."""
    if not _LINUX:
        try:
            return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        except psutil.Error:
            return True
    try:
        state = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return state is not None


def children_of(parent: int) -> dict[int, bool]:
    """Return the children of a process, and whether each is still running (no zombie)."""
    found = {}
    if not _LINUX:
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(parent).children():
                found[child.pid] = child.status() != psutil.STATUS_ZOMBIE
        return found
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = (entry / "stat").read_bytes()
            state, ppid = stat[stat.rindex(b")") + 2 :].split(None, 2)[:2]
            if int(ppid) == parent:
                found[int(entry.name)] = state not in (b"Z", b"X")
    return found


def own_children() -> frozenset[int]:
    """Return the children that this process has already, which no trial may be blamed for."""
    return frozenset(children_of(os.getpid())) if has_children() else frozenset()


class Tree:
    """One trial's processes, from its fork to the last of them reaped.

    Parameters
    ----------
    pid : int
        The child, which leads a process group of the same number.
    group : Group or None
        Its cgroup.
    others : frozenset of int
        Children of the worker that are not of this trial.

    Attributes
    ----------
    status : int or None
        Wait status of the child; None until it is reaped.
    most_resident : int or None
        High-water mark of the child's resident size since it last reset it, or of a process that
        it waited for, if that is more; None until it is reaped, and where it is in other units.
    cpu_seconds : float
    adopted : bool
        Whether processes of the trial became the worker's children, as orphans do.
    """

    def __init__(self, pid: int, group: Group | None, others: frozenset[int]) -> None:
        self.pid = pid
        self.status: int | None = None
        self.most_resident: int | None = None
        self.cpu_seconds = 0.0
        self.adopted = False
        self._group = group
        self._others = others

    def end(self) -> tuple[int, int]:
        """Kill and reap everything.

        Returns
        -------
        left : int
            Processes that were still running although the child itself had ended.
        stuck : int
            Processes that could not be killed within five seconds.
        """
        left: set[int] = set()
        deadline = time.monotonic() + _PATIENCE
        grace = time.monotonic() + _GRACE
        running = self._finish_child(deadline)
        while True:
            found = children_of(os.getpid()) if has_children() else {}
            mine = {pid: alive for pid, alive in found.items() if pid not in self._others}
            members = self._group.processes() if self._group else set()
            alive = {pid for pid, running_now in mine.items() if running_now} | members
            if time.monotonic() < grace:
                alive = {pid for pid in alive if not _is_tracker(pid)}
            left |= alive
            self.adopted |= bool(mine.keys() - {self.pid})
            for pid in alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for pid in mine:
                self._reap(pid)
            if not mine and not members:
                return (0 if running else len(left)), 0
            if time.monotonic() > deadline:
                return (0 if running else len(left)), len(mine.keys() | members)
            if alive or mine or members:
                time.sleep(0.001)

    def _finish_child(self, deadline: float) -> bool:
        """Kill the child's group, reap the child; tell whether it was running until then."""
        running = not has_ended(self.pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)
        if running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        while self.status is None and time.monotonic() < deadline:
            self._reap(self.pid)
            if self.status is None:
                time.sleep(0.001)
        return running

    def _reap(self, pid: int) -> None:
        try:
            reaped, status, usage = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            return
        if reaped == 0:
            return
        self.cpu_seconds += usage.ru_utime + usage.ru_stime
        if pid == self.pid:
            self.status = status
            self.most_resident = usage.ru_maxrss * 1024 if _LINUX else None


def _is_tracker(pid: int) -> bool:
    """Tell whether a process removes shared memory and semaphores once those it serves are gone.

    multiprocessing and joblib start such trackers; killed, they leave files in `/dev/shm`.
    """
    try:
        return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
