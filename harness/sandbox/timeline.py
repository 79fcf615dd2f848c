"""A sampled picture of a trial's memory over time, by memory_profiler; never a figure.

The curve follows the trial's own process. Processes that it starts share most of their pages with
it, so adding up their resident sizes would count those many times; the kernel's peak has them.
"""

from __future__ import annotations

import contextlib
import itertools
import time

import psutil
from memory_profiler import memory_usage

from harness.sandbox import peaks

MOST = 200
_SHORTEST, _LONGEST = 0.002, 0.05
_SHARE = 20
_TRIES = 4
_KEPT = 10 * MOST

Samples = list[tuple[float, int]]


class Timeline:
    """Samples one child: often at first, every 50 ms from the first second on.

    Parameters
    ----------
    pid : int
    started : float
        When the trial began, on the monotonic clock.
    """

    def __init__(self, pid: int, started: float) -> None:
        self._pid = pid
        self._started = started
        self._samples: Samples = []
        self.due = started

    @property
    def samples(self) -> Samples:
        """Seconds since the trial began and bytes above the baseline, `MOST` of them or fewer."""
        return thin(self._samples)

    def sample(self, held: int) -> None:
        """Take one sample.

        Parameters
        ----------
        held : int
            Bytes that the child held at its baseline, file pages left out.
        """
        now = time.monotonic()
        elapsed = now - self._started
        self.due = now + min(max(elapsed / _SHARE, _SHORTEST), _LONGEST)
        with contextlib.suppress(psutil.Error):  # the child has just ended
            size = self._held()
            if size is not None:
                self._samples.append((elapsed, max(0, size - held)))
        if len(self._samples) > _KEPT:  # hours of them would weigh on the process that forks
            self._samples = thin(self._samples, _KEPT // 2)

    def _held(self) -> int | None:
        """Read the resident size less file pages; None while the latter change too quickly."""
        before = peaks.read_memory(self._pid)
        for _ in range(_TRIES):
            resident = round(memory_usage(self._pid, interval=0.0)[0] * 2**20)
            after = peaks.read_memory(self._pid)
            if before is None or after is None:
                return None
            if before.file == after.file:
                return resident - after.file
            before = after
        return None


def thin(samples: Samples, most: int = MOST) -> Samples:
    """Leave out samples, but no extreme: of each span of time the least and the largest stay.

    Parameters
    ----------
    samples : list of (float, int)
        In the order of time.
    most : int, default MOST
        How many may stay, at least 2.
    """
    if len(samples) <= most:
        return samples
    first, last = samples[0][0], samples[-1][0]
    spans = most // 2
    width = (last - first) / spans or 1.0

    def span(sample: tuple[float, int]) -> int:
        return min(int((sample[0] - first) / width), spans - 1)

    kept: Samples = []
    for _, group in itertools.groupby(samples, key=span):
        inside = list(group)
        ends = {min(inside, key=_size), max(inside, key=_size)}
        kept += sorted(ends)
    return kept


def _size(sample: tuple[float, int]) -> int:
    return sample[1]
