"""What a trial is allowed, and what is known of it afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError

if TYPE_CHECKING:
    import numpy as np

OUTPUT_BYTES = 64 * 1024
"""How much of a trial's output is kept: its end."""


def tolerance(size: int) -> int:
    """Return the error in bytes that is granted to a figure of that size: 1 MB + 1 %."""
    return 1_000_000 + size // 100


def measuring_error(size: int, measured_by: str) -> int:
    """Return by how many bytes a measured peak of that size may be too high.

    A trial's own mark (`VmHWM`) never was above what known allocations took, from 0.3 to 100 MB;
    50 kB + 0.2 % is left for what the harness itself touches. The cgroup's mark counts in batches
    of 256 kB a core, and page cache that came and went: there it is `tolerance`.

    Parameters
    ----------
    size : int
    measured_by : str
        As in `Result`.
    """
    return 50_000 + size // 500 if measured_by.startswith("VmHWM") else tolerance(size)


@dataclass(frozen=True)
class Limits:
    """What one trial may use.

    Parameters
    ----------
    memory : int or None, default None
        Bytes that the child may add to its baseline; None for no limit. File pages (memory-mapped
        data, libraries) are never charged: the kernel can drop them at any time.
    seconds : float or None, default None
        Wall clock of the whole process tree.
    threads : int, default 1
        Threads of BLAS and OpenMP.
    uncounted : bool, default False
        Allow what no cgroup is there to count (processes, sockets, large files). Processes are
        then watched. False refuses it.
    command : bool, default False
        What runs is another program: leave stdin and stdout as they are, pass stderr on as it
        comes, and leave `RLIMIT_DATA` to whoever starts it.

    Raises
    ------
    HarnessError
        If a limit is not positive.
    """

    memory: int | None = None
    seconds: float | None = None
    threads: int = 1
    uncounted: bool = False
    command: bool = False

    def __post_init__(self) -> None:
        for name in ("memory", "seconds", "threads"):
            value = getattr(self, name)
            if value is None and name != "threads":
                continue
            kind, what = (Real, "a number") if name == "seconds" else (Integral, "a whole number")
            is_number = isinstance(value, kind) and not isinstance(value, bool)
            if not is_number or not value > 0:
                raise HarnessError(f"limit {name} = {value!r}: it must be {what} above zero")


@dataclass(frozen=True)
class StageUsage:
    """What one stage of a trial used.

    Attributes
    ----------
    name : str
    seconds, cpu_seconds : float
        Wall clock, and CPU time of the child with the processes it waited for. A stage that a
        limit cut short has the wall clock up to there and NaN CPU seconds.
    peak_bytes : int or None
        The most that the trial held above its baseline during the stage; None if it died before
        this could be known.
    span : (float, float)
        When it first began and last ended, in seconds since the trial began.
    """

    name: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int | None
    span: tuple[float, float]


@dataclass(frozen=True)
class Result:
    """How a trial ended and what it used.

    Attributes
    ----------
    outcome : str
        "ok", "over_budget", "timeout", "crashed" or "error".
    reason : str
        Why it is not "ok", in a sentence or two. An "ok" trial has one only if it left processes
        running, which were stopped.
    ended_by : int or None
        The signal that ended a trial that "crashed", if one did.
    value : dict or None
        The JSON object that the callable returned; None unless "ok".
    arrays : dict of str to numpy.ndarray
        The arrays that it returned.
    baseline_bytes : int
        Resident size of the child before it did anything.
    peak_bytes : int or None
        The most that it added to the baseline; None where nothing could be measured.
    stages : dict of str to StageUsage
    seconds, cpu_seconds : float
        Wall clock and CPU time of this child with all its descendants.
    enforced_by : str
        What held the memory limit: "cgroup-v2+rlimit-data", "cgroup-v1+rlimit-data",
        "rlimit-data+watch", "watch", or "none" without a limit.
    measured_by : str
        What `peak_bytes` is from: "VmHWM", "cgroup-v1", "cgroup-v2", "watch" (the most that was
        seen of child processes, where `Limits.uncounted` allows them), or "none". "VmHWM, child
        processes not seen" says that the trial had some and that nothing here could count them:
        without a budget only, since with one it has no result.
    isolation : str
        What kept it from files and processes that are not its own, as `Isolation.name` says.
    output : str
        The last 64 kB of stdout and stderr.
    timeline : list of (float, int)
        Sampled (seconds, bytes above the baseline), 200 or fewer, for a picture only; empty unless
        asked for.
    deliveries : list of (dict, dict of str to numpy.ndarray)
        What the callable delivered while it ran, in order, however it ended.
    afterwards : dict or None
        What `Monitor.afterwards` returned, which is charged to nobody; None if it was not asked
        for, did not come to its end, or the trial did not end "ok".
    """

    outcome: str
    reason: str
    ended_by: int | None
    value: dict[str, Any] | None
    arrays: dict[str, np.ndarray]
    baseline_bytes: int
    peak_bytes: int | None
    stages: dict[str, StageUsage]
    seconds: float
    cpu_seconds: float
    enforced_by: str
    measured_by: str
    isolation: str
    output: str
    timeline: list[tuple[float, int]] = field(default_factory=list)
    deliveries: list[tuple[dict[str, Any], dict[str, np.ndarray]]] = field(default_factory=list)
    afterwards: dict[str, Any] | None = None

    @property
    def answer(self) -> dict[str, Any]:
        """The `value` of a trial that ended "ok"."""
        if self.value is None:
            raise ValueError(f"a trial that ended as {self.outcome!r} has no value")
        return self.value
