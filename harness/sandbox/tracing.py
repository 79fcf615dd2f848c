"""A command run as a child, whose memory is read at its end, just before the kernel forgets it.

A process that has ended leaves `ru_maxrss`, in which file pages are; its `VmHWM` and `RssFile` go
with its memory. As a tracer that asked for that one event (`PTRACE_O_TRACEEXIT`) we are stopped at
in between. What is mapped of files after the peak would hide as much of it, so the mark is also
read now and then while the command runs: where it has risen, file pages were as many as they are.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from harness.sandbox import peaks, prctl, process_tree, rlimit

_SEIZE, _CONT, _LISTEN = 0x4206, 7, 0x4208
_TRACE_EXIT = 0x40
_EVENT_EXIT, _EVENT_STOP = 6, 128
_ALL = 0x40000000
_GROUP_STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_WAITED_FAULTS = 8
_LOOK = 0.002
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass
class Ended:
    """How a command ended.

    Attributes
    ----------
    status : int
        Wait status.
    errno : int
        Why it could not be started; 0 if it was.
    held_at_most : int or None
        The most that it held, without file pages; None if it could not be asked.
    data : int or None
        Private virtual memory at its end.
    descendants : bool
        Whether it had child processes.
    untraced : bool
        Whether it could not be traced, so that nothing of this is known.
    """

    status: int = 0
    errno: int = 0
    held_at_most: int | None = None
    data: int | None = None
    descendants: bool = False
    untraced: bool = True


class _Mark:
    """The most that a process held, read again where its mark has risen.

    Parameters
    ----------
    pid : int
    failed : int
        A pipe that is closed when the command takes the process over; before, memory is ours.
    """

    def __init__(self, pid: int, failed: int) -> None:
        self._pid = pid
        self._failed = failed
        self._began = False
        os.set_blocking(failed, False)
        self._peak = 0
        self._file = 0
        self._started = time.monotonic()
        self.held_at_most: int | None = None
        self.errno = 0

    @property
    def patience(self) -> float:
        """Seconds to the next look: one part in a hundred of the time so far."""
        return min(0.1, max(_LOOK, (time.monotonic() - self._started) / 100))

    def look(self) -> peaks.Memory | None:
        """Look, and return what the command has, once it runs."""
        memory = peaks.read_memory(self._pid) if self._has_begun() else None
        if memory is None:
            return None
        if memory.peak > self._peak:
            held = memory.held_at_most(self._file)
            self.held_at_most = max(self.held_at_most or 0, held)
            self._peak = memory.peak
        self._file = memory.file
        return memory

    def _has_begun(self) -> bool:
        if not self._began and not self.errno:
            try:
                told = os.read(self._failed, 16)
            except BlockingIOError:
                return False
            self.errno = int(told or 0)
            self._began = not told
        return self._began


def run(path: str, arguments: list[str], most_data: int | None) -> Ended:
    """Run a command to its end.

    Parameters
    ----------
    path : str
        The program.
    arguments : list of str
        Its name and arguments.
    most_data : int or None
        `RLIMIT_DATA` of the command; None leaves it without.
    """
    failed, failed_end = os.pipe()
    go, go_end = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(go_end)
        os.read(go, 1)  # until it is traced
        _become(path, arguments, most_data, failed_end, parent)
    os.close(failed_end)
    os.close(go)
    traced = _trace(_SEIZE, pid, _TRACE_EXIT)
    ended = Ended(untraced=not traced)
    os.close(go_end)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    mark = _Mark(pid, failed)
    while True:
        found, status = os.waitpid(pid, _ALL | os.WNOHANG)
        if not found:
            if traced:
                mark.look()
            signal.sigtimedwait({signal.SIGCHLD}, mark.patience)
        elif os.WIFSTOPPED(status):
            _continue(pid, status, mark, ended)
        else:
            break
    ended.status = status
    mark.look()
    os.close(failed)
    ended.errno = mark.errno
    ended.held_at_most = mark.held_at_most
    return ended


def _become(
    path: str, arguments: list[str], most_data: int | None, failed: int, parent: int
) -> None:
    """Be the command."""
    try:
        prctl.die_with(parent)
        prctl.end_first("1000")  # its tracer is to tell of it
        if most_data is not None:
            _, hard = resource.getrlimit(resource.RLIMIT_DATA)
            soft = most_data + rlimit.SLACK
            if hard != resource.RLIM_INFINITY:
                soft = min(soft, hard)
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        os.execv(path, arguments)
    except OSError as error:
        os.write(failed, str(error.errno).encode())
    finally:
        os._exit(127)


def _continue(pid: int, status: int, mark: _Mark, ended: Ended) -> None:
    """Note what a stop tells and let the command go on."""
    event, number = status >> 16, os.WSTOPSIG(status)
    if event == _EVENT_EXIT:
        _read(pid, mark, ended)
    if event == _EVENT_STOP and number in _GROUP_STOPS:
        _trace(_LISTEN, pid, 0)
        return
    _trace(_CONT, pid, 0 if event else number)


def _read(pid: int, mark: _Mark, ended: Ended) -> None:
    memory = mark.look()
    if memory is not None:
        ended.data = memory.data
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return
    waited_for = int(fields[_WAITED_FAULTS]) > 0
    ended.descendants = waited_for or bool(process_tree.children_of(pid))


def _trace(request: int, pid: int, data: int) -> bool:
    return _LIBC.ptrace(request, pid, ctypes.c_void_p(0), ctypes.c_void_p(data)) == 0
