"""Refusing what holds memory where, without a cgroup, nobody counts it."""

from __future__ import annotations

import errno
import resource
import sys
from pathlib import Path

from harness.sandbox import seccomp

_REFUSED = (
    "processes, sockets, many pipes, shared memory by name, and files that may lie in memory"
)
_ERRORS = (errno.EPERM, errno.EFBIG, errno.EMFILE)
_FILE = 4096
"""The largest file that may be written: semaphores, which pools of threads need, have 32 bytes."""
FILES = 32
"""Files that may be open at once: pools of threads need pipes, of 64 kB each and two files."""


def refuse() -> None:
    """Refuse it from now on to this process, whose own memory is limited and measured.

    No file may grow beyond a page: what is written to one that lies in memory (`/dev/shm`, `/tmp`
    on many systems) is nobody's once it is not mapped, and no limit tells where a file lies.
    """
    seccomp.refuse_uncounted()
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE, _FILE))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _taken() + FILES
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _taken() -> int:
    """Return the first number above those of the files that are open."""
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    return 1 + max(int(entry.name) for entry in Path(folder).iterdir())


def add_advice(failure: BaseException) -> bool:
    """Say, beside what a trial failed with, why it may have been refused; tell whether it may."""
    seen: set[int] = set()
    cause: BaseException | None = failure
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, OSError) and cause.errno in _ERRORS:
            failure.add_note(
                f"(Without a memory cgroup, {_REFUSED} are not counted, so they are refused: "
                "see `harness doctor`.)"
            )
            return True
        cause = cause.__cause__ or cause.__context__
    return False
