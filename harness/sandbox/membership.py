"""Whether all processes of a trial are in the cgroup that limits them.

Root may move a process to another group of v1, and what it then allocates is counted there. So a
trial's tree is compared with its group now and then, and when it says that it has finished.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from harness.sandbox.trial_cgroup import Group

_INTERVAL = 0.05
_SHARE = 20
"""Looking may take one part in so many of the time."""


class Membership:
    """Looks for processes of a trial that are outside of its group.

    Parameters
    ----------
    pid : int
        The trial's own process.
    group : Group
    others : frozenset of int
        Children of this process that are not of the trial.

    Attributes
    ----------
    due : float
        When to look next, on the monotonic clock.
    """

    def __init__(self, pid: int, group: Group, others: frozenset[int]) -> None:
        self._pid = pid
        self._group = group
        self._others = others
        self.due = time.monotonic() + _INTERVAL

    def has_strays(self) -> bool:
        """Look, and tell whether there are any."""
        now = time.monotonic()
        strays = self._tree() - self._group.processes()
        # what has ended is in no group; what moved while this was read is looked for again
        found = any(_is_running(pid) for pid in strays - self._group.processes())
        ended = time.monotonic()
        self.due = ended + max(_INTERVAL, _SHARE * (ended - now))
        return found

    def _tree(self) -> set[int]:
        """Return the trial's process, orphans that this process has adopted, and all below."""
        found: set[int] = set()
        waiting = [self._pid, *(_children(os.getpid()) - self._others)]
        while waiting:
            pid = waiting.pop()
            if pid not in found:
                found.add(pid)
                waiting += _children(pid)
        return found


def place() -> bytes:
    """Return the groups of this process, as the kernel writes them; empty where it has none."""
    try:
        return Path("/proc/self/cgroup").read_bytes()
    except OSError:
        return b""


def _children(pid: int) -> set[int]:
    children: set[int] = set()
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            children |= {int(child) for child in (thread / "children").read_text().split()}
    except OSError:
        pass
    return children


def _is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat[stat.rindex(b")") + 2 :].split(None, 1)[0] not in (b"Z", b"X")
