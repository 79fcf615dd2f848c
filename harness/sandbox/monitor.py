"""The stages of a trial, told apart inside the child, and what it hands over on its way."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from harness.sandbox import peaks
from harness.sandbox.channel import Sender
from harness.sandbox.high_water_mark import HighWaterMark
from harness.sandbox.trial_cgroup import Group


class Monitor:
    """Tells the stages of a trial apart; handed to the callable inside the child."""

    def __init__(
        self, sender: Sender, group: Group | None, start: peaks.Memory | None, mark: HighWaterMark
    ) -> None:
        self._sender = sender
        self._group = group
        self._held = start.held if start else 0
        self._file = start.file if start else 0
        self._shared = start.shared if start else 0
        self._own = start is not None
        self._mark = mark
        self._cache = 0
        self._open: list[peaks.Marks] = []
        self._pid = os.getpid()
        self._spent: dict[str, tuple[float, float]] = {}
        self.total = peaks.Marks()
        self.command: tuple[int | None, bool] | None = None
        """Mark of a command that ran in the callable's place; whether it had child processes."""
        self.epilogue: Callable[[], None] | None = None
        """Called when all is measured and no limit of this process holds, to deliver the rest."""
        self.afterwards: Callable[[], dict[str, Any]] | None = None
        """Called when the answer has been sent and the outcome is settled: what it returns becomes
        `Result.afterwards`, and nothing that it takes or does is charged to the trial."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure wall clock, CPU time and peak of what happens inside.

        Stages may be nested. One that is entered again adds to its times and keeps the larger
        peak.

        Parameters
        ----------
        name : str
        """
        self.split()
        self._open.append(peaks.Marks())
        started, cpu = time.monotonic(), cpu_seconds()
        if os.getpid() == self._pid:
            self._sender.event("begin", name=name, at=started, file=self._file)
        try:
            yield
        finally:
            seconds, cpu = time.monotonic() - started, cpu_seconds() - cpu
            before = self.spent(name)
            self._spent[name] = before[0] + seconds, before[1] + cpu
            self.split()
            marks = self._open.pop()
            if os.getpid() == self._pid:
                self._sender.event(
                    "end",
                    name=name,
                    seconds=seconds,
                    cpu_seconds=cpu,
                    process=marks.process,
                    group=marks.group,
                    file=self._file,
                )

    def spent(self, name: str) -> tuple[float, float]:
        """Return the wall and CPU seconds of a stage so far, without one that is open."""
        return self._spent.get(name, (0.0, 0.0))

    def send(self, parts: Iterable[dict[str, np.ndarray]]) -> None:
        """Send arrays of plain dtype part by part; no part is held while the next one is made.

        Parts of one name are joined where they arrive, in their order; see `Result.arrays`.
        """
        if os.getpid() == self._pid:
            for part in parts:
                self._send(part)
                del part

    def _send(self, part: dict[str, np.ndarray]) -> None:
        for name, array in part.items():
            self._sender.array(name, array)

    def deliver(self, value: dict[str, Any], parts: Iterable[dict[str, np.ndarray]]) -> None:
        """Send a JSON object and arrays in parts now, so that they need not be held.

        Deliveries are kept whatever becomes of the trial later; see `Result.deliveries`.
        """
        self.send(parts)
        if os.getpid() == self._pid:
            self._sender.event("delivery", value=value)

    def split(self) -> None:
        """Credit the high-water marks to the open stages and start new ones."""
        now = peaks.read_memory() if self._own else None
        usage = self._group.usage() if self._group is not None else None
        process = None if now is None else max(0, now.held_at_most(self._file) - self._held)
        if now is not None and process is not None and usage is not None:
            # A file that was mapped and unmapped since is in the process's mark, not in this one.
            process = min(process, usage.peak - min(usage.cache, self._cache))
            unmapped = max(0, usage.shared - max(0, now.shared - self._shared))
            process = max(process, now.held - self._held + unmapped)
        marks = peaks.Marks(process, usage.held_at_most if usage else None)
        self.total = self.total.joined(marks)
        self._open = [stage.joined(marks) for stage in self._open]
        if now is not None:
            self._file = now.file
            self._mark.reset()
        self._cache = usage.cache if usage else 0
        if self._group is not None:
            self._group.reset_peak()


class SentFile:
    """A file that sends what is written to it, so that its content is never held.

    Parameters
    ----------
    monitor : Monitor
    name : str
        Of the array of bytes as which it arrives.
    """

    def __init__(self, monitor: Monitor, name: str) -> None:
        self._monitor, self._name = monitor, name
        self._size = 0

    def write(self, chunk: Any) -> int:
        """Send a chunk."""
        part = memoryview(chunk).cast("B")
        if part.nbytes:
            self._monitor.send([{self._name: np.frombuffer(part, np.uint8)}])
        self._size += part.nbytes
        return part.nbytes

    def tell(self) -> int:
        """Return how much was sent."""
        return self._size


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it waited for."""
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + waited.ru_utime + waited.ru_stime
