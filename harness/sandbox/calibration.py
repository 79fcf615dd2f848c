"""Known allocations, measured by the machinery that measures trials, to prove its figures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import unknown_name
from harness.sandbox.limits import Limits, tolerance

if TYPE_CHECKING:
    from harness.sandbox.runner import Sandbox

SIZES = (1_000_000, 10_000_000, 100_000_000, 400_000_000)


def calibrate(
    sandbox: Sandbox,
    sizes: Sequence[int] = SIZES,
    kinds: Sequence[str] = ("numpy", "bytes", "thread"),
) -> list[dict[str, Any]]:
    """Measure allocations of known size.

    Parameters
    ----------
    sandbox : Sandbox
    sizes : sequence of int, default 1, 10, 100 and 400 MB
    kinds : sequence of str, default all
        "numpy" (an array), "bytes" (a bytearray), "thread" (an array made in a thread).

    Returns
    -------
    list of dict
        `kind`, `allocated_bytes`, `measured_bytes` (None where nothing can be measured),
        `error_bytes`, `within` (the error is at most 1 MB + 1 %), `backend`.

    Raises
    ------
    HarnessError
        If a kind is unknown.
    """
    rows = []
    for kind in kinds:
        if kind not in _ALLOCATIONS:
            raise unknown_name("kind of allocation", kind, _ALLOCATIONS)
        for size in sizes:
            result = sandbox.run(_holder(_ALLOCATIONS[kind], size), Limits())
            measured = result.peak_bytes if result.outcome == "ok" else None
            error = None if measured is None else measured - size
            rows.append(
                {
                    "kind": kind,
                    "allocated_bytes": size,
                    "measured_bytes": measured,
                    "error_bytes": error,
                    "within": error is not None and abs(error) <= tolerance(size),
                    "backend": sandbox.backend,
                }
            )
    return rows


def _holder(
    allocate: Callable[[int], Any], size: int
) -> Callable[[Any], tuple[dict[str, Any], dict[str, Any]]]:
    def hold(monitor: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        with monitor.stage("allocate"):
            held = allocate(size)
        return {"length": len(held)}, {}

    return hold


def _in_thread(size: int) -> np.ndarray:
    made: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: made.append(_array(size)))
    thread.start()
    thread.join()
    return made[0]


def _array(size: int) -> np.ndarray:
    return np.ones(size, dtype=np.uint8)


def _bytes(size: int) -> bytearray:
    return bytearray(b"1") * size


_ALLOCATIONS: dict[str, Callable[[int], Any]] = {
    "numpy": _array,
    "bytes": _bytes,
    "thread": _in_thread,
}
