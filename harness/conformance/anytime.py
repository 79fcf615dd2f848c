"""A fit that learns in steps must be the fit, and must not notice that it is asked on its way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from harness.conformance.behaviour import differing
from harness.conformance.finding import NotApplicableError
from harness.conformance.isolation import describe
from harness.conformance.problems import Problem, build, fitted, predictions
from harness.plugin.abilities import diagnoses, finishes_fit, fits_in_steps
from harness.plugin.method import Method
from harness.trial.checkpoints import fit_in_steps, point

PAUSES = 3
"""First steps after which the fit is paused; so it is after its last one."""

Predictions = dict[str, np.ndarray]


class _Points:
    """What `fit_in_steps` needs of a trial's monitor: it keeps what is delivered, no time."""

    def __init__(self) -> None:
        self.delivered: list[dict[str, Any]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        yield

    def spent(self, name: str) -> tuple[float, float]:
        return 0.0, 0.0

    def deliver(self, value: dict[str, Any], parts: Iterable[Predictions]) -> None:
        self.delivered.append(value)


def steps_agree(method: Method, problem: Problem) -> str:
    """Exhaust `fit_steps` without a pause and with some, and compare the end with `fit`.

    One `random_state`, so predictions must agree bit for bit. `diagnostics` is asked at every
    pause and at the end, of an estimator without `fit_steps` after `fit`.
    """
    steps = fits_in_steps(method.estimator)
    if not steps and not diagnoses(method.estimator):
        raise NotApplicableError("there is neither fit_steps nor diagnostics")
    whole = fitted(method, problem, 7)
    expected = predictions(whole, problem)
    if not steps:
        return _unusable([point(whole, problem.X, None, _Points())])
    done, _, found = _in_steps(method, problem, (), predictions)
    if not done:
        return "fit_steps ended without a step; yield after each"
    changed = differing(expected, found)
    if changed:
        finish = " and then calls finish_fit" if finishes_fit(whole) else ""
        return (
            f"fit_steps, exhausted, gives other {changed} than fit with the same random_state; "
            f"let fit be a loop that exhausts fit_steps{finish}, and nothing else"
        )
    pauses = sorted({*range(1, min(PAUSES, done) + 1), done})
    asking = {"finish_fit or diagnostics": lambda *_: {}, "predictions": predictions}
    for asked, ask in asking.items():
        try:
            _, points, found = _in_steps(method, problem, pauses, ask)
        except (ValueError, AttributeError) as error:
            return (
                f"asking for {asked} between steps raised {describe(error)}; after each yield it "
                "must answer as if it were fitted"
            )
        changed = differing(expected, found)
        if changed:
            return (
                f"asking for {asked} after steps {', '.join(map(str, pauses))} of {done} changed "
                f"the {changed} at the end; an answer must neither draw random numbers nor "
                "change what the next step starts from"
            )
        advice = _unusable(points)
        if advice:
            return advice
    return ""


def _in_steps(
    method: Method,
    problem: Problem,
    pauses: Iterable[int],
    ask: Callable[[Any, Problem], Predictions],
) -> tuple[int, list[dict[str, Any]], Predictions]:
    """Return the number of steps, the points of the curve and the predictions at the end."""
    monitor, X = _Points(), problem.X.copy()
    estimator = build(method, problem, 7)
    done = fit_in_steps(
        estimator, X, problem.y.copy(), pauses, monitor, lambda: [ask(estimator, problem)]
    )
    found = predictions(estimator, problem)
    return done, [*monitor.delivered, point(estimator, X, done, monitor)], found


def _unusable(points: Iterable[dict[str, Any]]) -> str:
    for reached in points:
        for name, value in reached["diagnostics"].items():
            if not math.isfinite(value):
                at = "" if reached["step"] is None else f" after step {reached['step']}"
                return (
                    f"diagnostics gave {name} = {value}{at}; give finite numbers, and leave out "
                    "what cannot be known"
                )
    return ""
