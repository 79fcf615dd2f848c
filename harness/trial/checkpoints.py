"""Pausing a fit: what a method would answer if it were stopped now, asked outside its clock.

This runs in the trial's process. What is predicted at a checkpoint is sent before the fit goes on
and is scored elsewhere when the trial is over, so that scoring takes no time from the fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from harness.plugin.abilities import StepwiseFit, diagnoses, finishes_fit
from harness.sandbox import return_freed

if TYPE_CHECKING:
    import numpy as np


class FitMonitor(Protocol):
    """What is asked of a trial's `sandbox.Monitor`."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Measure what happens inside."""

    def spent(self, name: str) -> tuple[float, float]:
        """Return the wall and CPU seconds of a stage so far."""

    def deliver(self, value: dict[str, Any], parts: Iterable[dict[str, np.ndarray]]) -> None:
        """Hand over a point of the curve and the predictions there."""


def fit_in_steps(
    estimator: StepwiseFit,
    X: np.ndarray,
    y: np.ndarray,
    checkpoints: Iterable[int],
    monitor: FitMonitor,
    predict: Callable[[], Iterable[dict[str, np.ndarray]]],
) -> int:
    """Exhaust `estimator.fit_steps(X, y)`, and deliver a point of its curve at each checkpoint.

    What is left to do when a fit stops, `estimator.finish_fit()` if there is one, counts at the
    point where it was done and not at later ones: a fit that goes on would not have done it.

    Parameters
    ----------
    estimator : estimator with `fit_steps`
    X : (n, d) array
    y : (n,) array
    checkpoints : iterable of int
        Steps after which to pause, strictly increasing. The end of the fit is no pause: its
        predictions are the trial's own.
    monitor : Monitor
        Its stage "fit" runs while the method does; all else is stage "checkpoint", in which
        "finish" is a stage of its own.
    predict : callable () -> iterable of dict of str to array
        Asks the estimator in its present state, part by part.

    Returns
    -------
    int
        Steps that the fit took.
    """
    with monitor.stage("fit"):
        steps = iter(estimator.fit_steps(X, y))
    done = 0
    for pause in (*checkpoints, None):
        ahead = None if pause is None else pause - done
        with monitor.stage("fit"):
            done += sum(1 for _ in itertools.islice(steps, ahead))
        if done != pause:
            break
        with monitor.stage("checkpoint"):
            before = monitor.spent("finish")
            with monitor.stage("finish"):
                _finish(estimator)
            left = [now - then for now, then in zip(monitor.spent("finish"), before, strict=True)]
            monitor.deliver(point(estimator, X, done, monitor, left), predict())
            # what was needed here alone would lie between what the fit allocates next
            return_freed()
    with monitor.stage("fit"):
        _finish(estimator)
    return done


def _finish(estimator: Any) -> None:
    if finishes_fit(estimator):
        estimator.finish_fit()


def point(
    estimator: Any,
    X: np.ndarray,
    step: int | None,
    monitor: FitMonitor,
    left: Sequence[float] = (0.0, 0.0),
) -> dict[str, Any]:
    """Describe where a fit stands; `left` are wall and CPU seconds beside those of stage "fit".

    Returns
    -------
    dict
        "step" (None for a method that takes none), "fit_s" and "fit_cpu_s" (wall and CPU seconds
        up to here) and "diagnostics" (dict of str to float, empty if the estimator has none).

    Raises
    ------
    ValueError
        If the estimator's diagnostics are not numbers by name.
    """
    seconds, cpu_seconds = monitor.spent("fit")
    diagnostics = estimator.diagnostics(X) if diagnoses(estimator) else {}
    try:
        diagnostics = {str(name): float(value) for name, value in diagnostics.items()}
    except (AttributeError, TypeError, ValueError):
        message = f"diagnostics gave {type(diagnostics).__name__}, not a dict of numbers"
        raise ValueError(message) from None
    return {
        "step": step,
        "fit_s": seconds + left[0],
        "fit_cpu_s": cpu_seconds + left[1],
        "diagnostics": diagnostics,
    }
