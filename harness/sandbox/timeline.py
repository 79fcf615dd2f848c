"""A sampled picture of a trial's memory over time, by memory_profiler; never a figure."""

from __future__ import annotations

import contextlib
import time

import psutil

INTERVAL = 0.05


class Timeline:
    """Samples one child.

    Parameters
    ----------
    pid : int
    started : float
        When the trial began, on the monotonic clock.
    """

    def __init__(self, pid: int, started: float) -> None:
        self._pid = pid
        self._started = started
        self.due = started
        self.samples: list[tuple[float, int]] = []

    def sample(self, baseline: int) -> None:
        """Take one sample, in bytes above the baseline."""
        from memory_profiler import memory_usage

        now = time.monotonic()
        self.due = now + INTERVAL
        with contextlib.suppress(psutil.Error):  # the child has just ended
            found = memory_usage(self._pid, interval=0.0, include_children=True)
            size = round(found[0] * 2**20) - baseline
            self.samples.append((now - self._started, max(0, size)))
