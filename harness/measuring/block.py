"""A block of code of this process under a budget, measured by the mark that trials have."""

from __future__ import annotations

import gc
import os
import resource
import sys
import time
from types import TracebackType

from harness.errors import HarnessError, OverBudget
from harness.sandbox import heap, peaks, prctl, rlimit
from harness.sandbox.high_water_mark import HighWaterMark
from harness.sandbox.limits import measuring_error
from harness.sandbox.prefault import find_libraries, map_pages
from harness.sandbox.refusal import is_refusal
from harness.units import format_bytes, parse_bytes


class budget:  # noqa: N801 - read as a word of the language: `with harness.budget(...)`
    """Measure a block of code, and refuse it more than a budget.

    Enforced: on Linux, `RLIMIT_DATA` refuses private memory beyond the budget and 256 kB while the
    block runs, in every thread of this process. What the block is refused is raised as
    `OverBudget`, where the library that asked says so in an exception. A library that ends the
    process instead ends it.

    Noticed at the end only: what `RLIMIT_DATA` does not count (shared maps, memory that was freed
    and is held again). A block whose peak was above its budget then raises `OverBudget`.

    Neither: child processes, which a warning in `reason` tells; file pages; the memory of a
    graphics card. Other threads of this process are counted as the block's. For these, use
    `harness.measure` or `harness exec`.

    For the rest of the process malloc gives large blocks back when they are freed, and only arrays
    that ask for huge pages have them.

    Blocks may be nested: the peak of the inner one is in that of the outer one.

    Parameters
    ----------
    limit : str, int or None, default None
        "200MB", "64MiB" or bytes that the block may add; None measures only.

    Attributes
    ----------
    limit_bytes : int or None
    outcome : str or None
        "ok", "over_budget" or "error" once the block has ended; None before.
    peak_bytes : int or None
        The most that the block added to what the process held, without file pages; None where the
        kernel's mark cannot be reset.
    seconds : float
        Wall clock.
    means : str
        "rlimit-data", or "none" where nothing is enforced.
    measured_by : str
        "VmHWM" or "none".
    reason : str
        Why it is not "ok", or what was not seen.

    Raises
    ------
    HarnessError
        If the limit is not a number of bytes.
    OverBudget
        On leaving the block, if it took more than its budget.

    Examples
    --------
    >>> import numpy as np
    >>> with budget("200MB") as b:
    ...     ones = np.ones(1_000_000)
    >>> b.outcome, 7_900_000 < b.peak_bytes < 8_100_000
    ('ok', True)
    """

    _open: list[budget] = []  # noqa: RUF012 - the marks are the process's, so these are too

    def __init__(self, limit: str | int | None = None) -> None:
        self.limit_bytes = None if limit is None else parse_bytes(limit)
        self.outcome: str | None = None
        self.peak_bytes: int | None = None
        self.seconds = 0.0
        self.means = "none"
        self.measured_by = "none"
        self.reason = ""
        self._start: peaks.Memory | None = None

    def __enter__(self) -> budget:
        if self in self._open:
            raise HarnessError("this budget is in use: make another for a block within it")
        self.outcome, self.peak_bytes, self.reason = None, None, ""
        self._filling = heap.Filling()
        heap.return_large()
        prctl.small_pages()
        gc.collect()
        self._filling.renew()
        map_pages(find_libraries())
        self._mark = self._shared_mark() or HighWaterMark()
        for outer in self._open:
            outer._note()
        able = self._mark.reset()
        self._start = peaks.read_memory() if able else None
        self._file = self._start.file if self._start else 0
        self.measured_by = "VmHWM" if self._start else "none"
        self._children = _children_faults()
        self._limits = resource.getrlimit(resource.RLIMIT_DATA)
        self._open.append(self)
        self._started = time.monotonic()
        if self.limit_bytes is not None and sys.platform == "linux":
            now = peaks.read_memory()
            if now is not None:
                self._limit(now.data, self.limit_bytes)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, self._limits)
        self.seconds = time.monotonic() - self._started
        for block in self._open:
            block._note()
        self._mark.reset()
        self._open.remove(self)
        if self._shared_mark() is not self._mark:
            self._mark.close()
        self._filling.release()
        self._conclude(error)
        if self.outcome == "over_budget":
            raise OverBudget(self.reason) from error

    def _shared_mark(self) -> HighWaterMark | None:
        """Return the mark of the blocks around this one, whose pages are in their figures."""
        mark = self._open[-1]._mark if self._open else None
        return mark if mark is not None and mark.pid == os.getpid() else None

    def _limit(self, data: int, limit: int) -> None:
        soft, _ = self._limits
        rlimit.limit_data(data, limit, 1)
        ours, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if soft != resource.RLIM_INFINITY and soft < ours:  # an outer block's is tighter
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        self.means = "rlimit-data"

    def _note(self) -> None:
        """Take the process's mark into the peak so far."""
        start = self._start
        now = peaks.read_memory() if start else None
        if start is None or now is None:
            return
        added = max(0, now.held_at_most(self._file) - start.held)
        self.peak_bytes = max(self.peak_bytes or 0, added)
        self._file = now.file

    def _conclude(self, error: BaseException | None) -> None:
        limit, peak = self.limit_bytes, self.peak_bytes
        self.outcome = "ok" if error is None else "error"
        if error is not None:
            self.reason = f"{type(error).__name__}: {error}"
        if limit is not None:
            given = f"the budget of {format_bytes(limit)}"
            if is_refusal(error):
                self.outcome = "over_budget"
                self.reason = f"Asked for more memory than {given} leaves: {error}"
            elif peak is not None and peak > limit + measuring_error(limit, self.measured_by):
                self.outcome = "over_budget"
                self.reason = f"Held {format_bytes(peak)}, more than {given}."
        if _children_faults() != self._children:
            self.reason = (
                f"{self.reason} Child processes were started, which are not seen.".strip()
            )


def _children_faults() -> int:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
