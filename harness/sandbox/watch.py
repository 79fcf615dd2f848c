"""Watching a process tree from outside, where nothing better can limit it.

A watch stops a trial that is *seen* above its budget; what comes and goes between two looks is not
stopped. It never gives the figure that is reported.
"""

from __future__ import annotations

import sys
import time

import psutil

from harness.sandbox.limits import tolerance
from harness.sandbox.peaks import read_memory

INTERVAL = 0.01
_SHARE = 10
"""A look may cost one part in so many of the time between looks."""


class Watch:
    """Looks at a trial's memory now and then.

    Parameters
    ----------
    pid : int
        The child.
    budget : int
        Bytes it may add.
    """

    def __init__(self, pid: int, budget: int) -> None:
        self._pid = pid
        self._budget = budget
        self._held: int | None = None
        self._next = time.monotonic() + INTERVAL

    @property
    def due(self) -> float:
        """When to look next, on the monotonic clock."""
        return self._next

    def start(self, held: int) -> None:
        """Take note of the baseline; before that, nothing is stopped."""
        self._held = held if sys.platform == "linux" else _resident(self._pid)

    def exceeded(self) -> bool:
        """Look, and tell whether the tree is above the budget."""
        began = time.monotonic()
        over = self._held is not None and self._added() > self._budget + tolerance(self._budget)
        cost = time.monotonic() - began
        self._next = time.monotonic() + max(INTERVAL, _SHARE * cost)
        return over

    def _added(self) -> int:
        memory = read_memory(self._pid)
        own = memory.held if memory else _resident(self._pid)
        return own - self._held + sum(_private(child) for child in _descendants(self._pid))


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _private(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().uss
    except (psutil.Error, OSError):
        return 0


def _resident(pid: int) -> int:
    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0
