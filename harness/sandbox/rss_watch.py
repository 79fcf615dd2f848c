"""Watching a process tree from outside, where nothing better can limit it.

A watch stops a trial that is *seen* above its budget; what comes and goes between two looks is not
stopped. It never gives the figure that is reported. Beside `RLIMIT_DATA` it covers what that does
not: descendants and shared maps.
"""

from __future__ import annotations

import sys
import time

import psutil

from harness.sandbox.limits import tolerance
from harness.sandbox.peaks import private_dirty, read_memory

_TREE = 0.05
_SHARE = 20
"""Finding the descendants may take one part in so many of the time."""


class Watch:
    """Looks at a trial's memory now and then.

    Parameters
    ----------
    pid : int
        The child.
    budget : int or None
        Bytes it may add; None only looks.
    interval : float
        Seconds between looks at the child itself; descendants are looked for every 50 ms at most.

    Attributes
    ----------
    due : float
        When to look next, on the monotonic clock.
    """

    def __init__(self, pid: int, budget: int | None, interval: float) -> None:
        self._pid = pid
        self._budget = budget
        self._interval = interval
        self._held: int | None = None
        self._descendants = 0
        now = time.monotonic()
        self._tree_due = now + _TREE
        self.due = now + interval
        self.most: int | None = None
        """The most that was seen of the tree while it had descendants; None if it never had."""

    def start(self, held: int) -> None:
        """Take note of the baseline; before that, nothing is stopped."""
        self._held = held if sys.platform == "linux" else _resident(self._pid)

    def exceeded(self) -> bool:
        """Look, and tell whether the tree is above the budget."""
        if self._held is None:
            return False
        now = time.monotonic()
        if now >= self._tree_due:
            self._descendants = sum(_private(child) for child in _descendants(self._pid))
            cost = time.monotonic() - now
            self._tree_due = now + max(_TREE, _SHARE * cost)
        self.due = now + self._interval
        added = self._added(self._held)
        if self._descendants:
            self.most = max(self.most or 0, added)
        return self._budget is not None and added > self._budget + tolerance(self._budget)

    def _added(self, held: int) -> int:
        memory = read_memory(self._pid)
        own = memory.held if memory else _resident(self._pid)
        return own - held + self._descendants


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _private(process: psutil.Process) -> int:
    if sys.platform == "linux":
        return private_dirty(process.pid) or 0
    try:
        return process.memory_full_info().uss
    except (psutil.Error, OSError):
        return 0


def _resident(pid: int) -> int:
    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0
