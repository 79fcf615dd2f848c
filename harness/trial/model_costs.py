"""What a fitted model costs where it is used: its bytes in a file, and the prediction of one row.

Measured when the outcome of a trial is settled (`Monitor.afterwards`), so that none of it is
charged to the method.
"""

from __future__ import annotations

import itertools
import math
import resource
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from harness.datasets import Features, row_blocks, x_slice
from harness.plugin.abilities import predicts_new_rows
from harness.sandbox import return_freed
from harness.trial.assignment import Assignment
from harness.trial.prediction import predict

if TYPE_CHECKING:
    from harness.sandbox import Monitor

CALLS = 100
"""Most calls that are timed: the 99th percentile of fewer is the slowest."""
_SECONDS = 0.002
_SHARE = 0.02
"""No call is begun after so much CPU time, or this share of the trial's own if that is more."""
_ROWS = 32
_UNPICKLED = "the fitted model cannot be pickled"

HELD, ROW = "hold", "predict_row"
"""Stages: the model is held and nothing is done; one row is predicted."""


class Count:
    """A file that keeps nothing but how many bytes were written to it."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, chunk: Any) -> int:
        """Count a chunk."""
        size = memoryview(chunk).nbytes
        self.bytes += size
        return size

    def tell(self) -> int:
        """Return where the next chunk would begin: joblib aligns arrays by it."""
        return self.bytes


def model_costs(estimator: Any, assignment: Assignment, monitor: Monitor) -> dict[str, Any]:
    """Measure a fitted estimator.

    Parameters
    ----------
    estimator : fitted estimator
    assignment : Assignment
        Of its trial.
    monitor : Monitor

    Returns
    -------
    dict
        "model_bytes" : int or None
            Of the estimator as `joblib.dump` writes it, without compression.
        "row_bytes" : int or None
            The most that NumPy and Python allocated at a time while one row was predicted. The
            kernel's mark of the stage is low by up to 0.2 MB where that is freed again.
        "row_seconds" : list of float
            Of each prediction of one row; empty where new rows cannot be predicted. Wall clock,
            or CPU time where the kernel gave the core to another process meanwhile.
        "reason" : str
            Why something is not there; empty if all is.
    """
    return_freed()
    row = _row_costs(estimator, assignment, monitor)
    size, reason = model_bytes(estimator)
    reasons = filter(None, (row.pop("reason"), reason))
    return {"model_bytes": size, **row, "reason": "; ".join(reasons)}


def model_bytes(estimator: Any) -> tuple[int | None, str]:
    """Return the bytes of a model as joblib writes it, or None and why it cannot be written."""
    count = Count()
    try:
        joblib.dump(estimator, count)
    except Exception as error:
        return None, cannot_pickle(error)
    return count.bytes, ""


def cannot_pickle(error: BaseException) -> str:
    """Say that a model cannot be written, and what Python says of it."""
    return f"{_UNPICKLED}: {type(error).__name__}: {error}"


def _row_costs(estimator: Any, assignment: Assignment, monitor: Monitor) -> dict[str, Any]:
    task, n_classes = assignment.task, assignment.n_classes
    if not predicts_new_rows(estimator):
        return {"row_bytes": None, "row_seconds": [], "reason": ""}
    try:
        rows = _some_rows(assignment)
        first = x_slice(rows, 0, 1)
        with monitor.stage(HELD):
            pass
        with monitor.stage(ROW):
            predict(estimator, first, task, n_classes)
        tracemalloc.start()
        try:
            predict(estimator, first, task, n_classes)
            traced = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        spent = sum(monitor.spent(stage)[1] for stage in ("tune", "fit", "predict"))
        end = time.process_time() + max(_SECONDS, _SHARE * spent)
        seconds: list[float] = []
        for row in itertools.islice(itertools.cycle(range(rows.shape[0])), CALLS):
            with _Stopwatch() as call:
                predict(estimator, x_slice(rows, row, row + 1), task, n_classes)
            seconds.append(call.seconds)
            if time.process_time() >= end:
                break
    except Exception as error:
        reason = f"one row by itself cannot be predicted: {type(error).__name__}: {error}"
        return {"row_bytes": None, "row_seconds": [], "reason": reason}
    return {"row_bytes": traced, "row_seconds": seconds, "reason": ""}


class _Stopwatch:
    """Times a block; what other processes took of it does not count."""

    seconds = 0.0

    def __enter__(self) -> _Stopwatch:
        self._interrupted = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        if resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw > self._interrupted:
            self.seconds = min(self.seconds, cpu)


def _some_rows(assignment: Assignment) -> Features:
    """Return rows that are predicted in the trial; zeros for a method that looks at none."""
    scored = assignment.unlabeled if assignment.transductive else assignment.test
    for block in row_blocks(assignment.features, scored[:_ROWS], assignment.item):
        looks = "predict" in assignment.method.features
        return block if looks else np.zeros(block.shape, block.dtype)
    raise ValueError("the trial predicts no row")


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile, which is one of the values (nearest rank)."""
    ordered = sorted(seconds)
    last = math.ceil(0.99 * len(ordered)) - 1
    return float(np.median(ordered)), ordered[last]
