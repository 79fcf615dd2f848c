"""A callable in a forked child under a budget: its value, its peak, how it ended."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import HarnessError, OverBudget
from harness.sandbox import Limits, Sandbox, SentFile
from harness.units import parse_bytes, parse_duration

if TYPE_CHECKING:
    from harness.sandbox import Monitor


@dataclass(frozen=True)
class Measurement:
    """How a callable ended and what it used.

    Attributes
    ----------
    outcome : str
        "ok", "over_budget", "timeout", "crashed" or "error".
    value : object
        What it returned; None unless "ok".
    peak_bytes : int or None
        The most that it added to the idle process; None where nothing could be measured.
    seconds : float
        Wall clock.
    means : str
        What held the limit: "cgroup-v2+rlimit-data", "cgroup-v1+rlimit-data",
        "rlimit-data+watch", "watch", or "none" without a budget.
    measured_by : str
        What the peak is from, as in `harness.sandbox.Result`.
    reason : str
        Why it is not "ok", in a sentence or two.
    error : Exception or None
        What it raised, where that can be pickled.
    output : str
        The last 64 kB of what it printed.
    """

    outcome: str
    value: Any
    peak_bytes: int | None
    seconds: float
    means: str
    measured_by: str
    reason: str
    error: BaseException | None
    output: str

    def get(self) -> Any:
        """Return the value, or raise what the outcome says.

        Raises
        ------
        OverBudget, TimeoutError
            For "over_budget" and "timeout".
        ChildProcessError
            For "crashed".
        Exception
            For "error" what the callable raised; RuntimeError where that could not be pickled.
        """
        if self.outcome == "ok":
            return self.value
        if self.outcome == "over_budget":
            raise OverBudget(self.reason) from self.error
        if self.outcome == "timeout":
            raise TimeoutError(self.reason)
        if self.outcome == "crashed":
            raise ChildProcessError(self.reason)
        raise self.error or RuntimeError(self.reason)


def measure(
    fn: Callable[..., Any],
    *args: Any,
    budget: str | int | None = None,
    time_limit: str | float | None = None,
    **kwargs: Any,
) -> Measurement:
    """Run a callable in a forked child under limits, and measure it.

    The child has what this process holds; nothing that it changes comes back but the value, which
    must be picklable. BLAS and OpenMP have one thread there. Its child processes count: by the
    cgroup where one can be made, else as a watch sees them every 50 ms. This process is left with
    malloc that maps blocks from 64 KiB on, with huge pages for those who ask alone, and as the one
    that orphans of its children are handed to.

    Parameters
    ----------
    fn : callable
        It need not be picklable.
    *args : object
    budget : str, int or None, default None
        "200MB", "64MiB" or bytes that it may add to the idle process; None for no limit.
    time_limit : str, float or None, default None
        "90s", "1h" or seconds; None for no limit.
    **kwargs : object

    Returns
    -------
    Measurement

    Raises
    ------
    HarnessError
        If a limit is not understood, `fn` cannot be called, or no child can be started.

    Examples
    --------
    >>> import numpy as np
    >>> m = measure(np.ones, 1_000_000, budget="10MB")
    >>> m.outcome, 7_900_000 < m.peak_bytes < 8_100_000
    ('ok', True)
    """
    if not callable(fn):
        raise HarnessError(f"fn = {fn!r}: it must be callable")
    limits = Limits(
        None if budget is None else parse_bytes(budget),
        None if time_limit is None else parse_duration(time_limit),
        uncounted=True,
    )

    def trial(monitor: Monitor) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        held: dict[str, Any] = {}
        monitor.epilogue = lambda: _deliver(held, monitor)
        try:
            held["value"] = fn(*args, **kwargs)
        except BaseException as error:
            held["error"] = error
            raise
        return {}, {}

    with Sandbox() as sandbox:
        result = sandbox.run(trial, limits)
    ok = result.outcome == "ok"
    told = {value["what"]: arrays["pickle"].data for value, arrays in result.deliveries}
    return Measurement(
        outcome=result.outcome,
        value=pickle.loads(told["value"]) if ok else None,
        peak_bytes=result.peak_bytes,
        seconds=result.seconds,
        means=result.enforced_by,
        measured_by=result.measured_by,
        reason=result.reason,
        error=_unpickled(told.get("error")),
        output=result.output,
    )


def _deliver(held: dict[str, Any], monitor: Monitor) -> None:
    if "error" in held:
        try:
            pickled = pickle.dumps(held["error"])
            pickle.loads(pickled)  # some cannot be made again from what they hold
        except Exception:
            return
        monitor.deliver({"what": "error"}, [{"pickle": np.frombuffer(pickled, np.uint8)}])
        return
    try:
        pickle.Pickler(SentFile(monitor, "pickle"), protocol=5).dump(held["value"])
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        kind = type(held["value"]).__name__
        raise TypeError(f"returned a {kind}, which cannot be pickled: {error}") from error
    monitor.deliver({"what": "value"}, [])


def _unpickled(pickled: memoryview | None) -> BaseException | None:
    try:
        return None if pickled is None else pickle.loads(pickled)
    except Exception:
        return None
