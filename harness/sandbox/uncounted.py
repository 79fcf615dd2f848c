"""Refusing what holds memory where, without a cgroup, nobody counts it."""

from __future__ import annotations

import errno
import resource

from harness.sandbox import seccomp

_REFUSED = "processes, pipes, sockets, shared memory by name, and files that may lie in memory"
_ERRORS = (errno.EPERM, errno.EFBIG)


def refuse() -> None:
    """Refuse it from now on to this process, whose own memory is limited and measured.

    No file may grow: what is written to one that lies in memory (`/dev/shm`, `/tmp` on many
    systems) is nobody's once it is not mapped, and no limit tells the places of files apart.
    """
    seccomp.refuse_uncounted()
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


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
