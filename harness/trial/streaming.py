"""Learning from points that are read a part at a time: no more than a part of them is held.

In a stream each chunk is predicted first. Its labels are not in this process before its
predictions have been handed in: who holds them sends them then, so that no method can read ahead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.datasets import (
    Features,
    given_row_bytes,
    read_header,
    read_only,
    x_row_bytes,
    x_slice,
)
from harness.datasets.rows import Header, read_array_rows, read_rows
from harness.plugin.abilities import LearnsInParts, scorer
from harness.plugin.shape import block_rows, target_type
from harness.sandbox import return_freed
from harness.sandbox.channel import Sender
from harness.trial.checkpoints import point
from harness.trial.prediction import named, predict

if TYPE_CHECKING:
    from harness.sandbox import Monitor
    from harness.trial.assignment import Assignment

_NUMBERS = 1 << 14
"""Targets that are summed up at a time."""


class LabelsWithheldError(Exception):
    """The labels of a chunk do not come: what was handed in is not its predictions."""


@dataclass(frozen=True)
class Standardised:
    """How the targets of a regression are standardised; of classes they are left alone."""

    center: float = 0.0
    scale: float = 1.0

    @classmethod
    def by(cls, y: np.ndarray, task: str) -> Standardised:
        """Take mean and deviation of some targets; NaN does not count."""
        if task != "regression":
            return cls()
        total, squares, count = 0.0, 0.0, 0
        for start in range(0, len(y), _NUMBERS):
            known = y[start : start + _NUMBERS]
            known = known[~np.isnan(known)]
            total, count = total + float(known.sum()), count + len(known)
        center = total / count if count else 0.0
        for start in range(0, len(y), _NUMBERS):
            squares += float(np.nansum((y[start : start + _NUMBERS] - center) ** 2))
        return cls(center, (squares / count) ** 0.5 or 1.0) if count else cls()

    def of(self, y: np.ndarray, task: str) -> np.ndarray:
        """Return targets as they are learned from; labels of classes as they are."""
        return (y - self.center) / self.scale if task == "regression" else y

    def back(self, part: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Bring predicted values back."""
        if "values" not in part:
            return part
        return {"values": part["values"] * self.scale + self.center}


class Reader:
    """Reads rows of the features, each time to the same place where they are dense.

    What was read before is then gone: a caller lets go of it first.
    """

    def __init__(self, assignment: Assignment, monitor: Monitor, most: int) -> None:
        self._path, self._item, self._monitor = assignment.features, assignment.item, monitor
        self._looks = assignment.method.features
        header = read_header(self._path)
        self._width = header.shape[1:]
        self._dtype = header.dtype if self._item is None else np.dtype(self._item.dtype)
        self._room = None
        if self._looks and isinstance(header, Header):
            self._room = np.empty((most, *self._width), self._dtype)

    def read(self, rows: np.ndarray, what: str) -> Features:
        """Return rows as "fit" or "predict" gets them, zeros where that does not look at them."""
        if what not in self._looks:
            return np.broadcast_to(np.zeros(1, self._dtype), (len(rows), *self._width))
        with self._monitor.stage("load"):
            if self._room is None:
                return read_only(read_rows(self._path, rows, self._item))
            room = self._room[: len(rows)]
            return read_only(read_array_rows(self._path, rows, room, self._item))


def part_bytes(assignment: Assignment) -> int:
    """Return the bytes of X and y of the largest part that is given at a time."""
    stream, part = assignment.stream, assignment.part or 0
    n = min(part, len(assignment.labeled) if stream is None else len(stream.rows))
    label = label_type(assignment.task == "regression", assignment.n_classes).itemsize
    looks = "fit" in assignment.method.features
    row = given_row_bytes(assignment.features, assignment.item) if looks else 0
    return n * (row + label)


def teach(
    estimator: LearnsInParts,
    X: Features,
    y: np.ndarray,
    unit: Standardised,
    assignment: Assignment,
) -> None:
    """Give an estimator some points, their targets standardised."""
    if assignment.task == "regression":
        estimator.partial_fit(X, unit.of(y, assignment.task))
    else:
        y = y.astype(target_type(assignment.n_classes))
        estimator.partial_fit(X, y, classes=np.arange(assignment.n_classes))


def learn_in_parts(
    begin: Callable[[Features, np.ndarray], Any],
    assignment: Assignment,
    monitor: Monitor,
    answer: Callable[[Any, Standardised], Iterable[dict[str, np.ndarray]]],
) -> tuple[Any, Standardised, dict[str, Any] | None]:
    """Give an estimator the labeled points once, a part at a time.

    Reading is in the stage "load", learning in "fit".

    Parameters
    ----------
    begin : callable (X, y) -> estimator with `partial_fit`
        Chooses its setting by the first part; targets are standardised.
    assignment : Assignment
        With a `part`. A step of its checkpoints is a part.
    monitor : Monitor
    answer : callable (estimator, Standardised) -> iterable of dict of str to array
        Asks the estimator in its present state, part by part.

    Returns
    -------
    estimator
    unit : Standardised
    end : dict or None
        The point at the end of the fit, as `checkpoints.point` gives it; None without checkpoints.
    """
    part = assignment.part
    assert part is not None, "an assignment in parts says how large they are"
    unit = Standardised.by(assignment.y_labeled, assignment.task)
    n = len(assignment.labeled)
    reader = Reader(assignment, monitor, min(part, n))
    estimator, end = None, None
    for step, start in enumerate(range(0, n, part), start=1):
        place = slice(start, start + part)
        X = reader.read(assignment.labeled[place], "fit")
        if estimator is None:
            estimator = begin(X, unit.of(assignment.y_labeled[place], assignment.task))
        with monitor.stage("fit"):
            teach(estimator, X, assignment.y_labeled[place], unit, assignment)
        if assignment.checkpoints and start + part >= n:
            with monitor.stage("checkpoint"):
                end = point(estimator, X, step, monitor)
        elif step in assignment.checkpoints:
            with monitor.stage("checkpoint"):
                monitor.deliver(point(estimator, X, step, monitor), answer(estimator, unit))
                return_freed()
        del X
    return estimator, unit, end


def predict_then_learn(
    begin: Callable[[Features, np.ndarray], Any], assignment: Assignment, monitor: Monitor
) -> tuple[Any, Standardised]:
    """Predict each chunk of a stream, hand that in, and learn from the labels that are told then.

    Before anything was learned nothing is predicted. Of a chunk the labeled points are learned
    from; where labels come late, or not of all points, these are read again.

    Parameters
    ----------
    begin : callable (X, y) -> estimator with `partial_fit`
        Chooses its setting by the told labels of the first chunk; targets are standardised.
    assignment : Assignment
        With a `stream` and a `dialogue`.
    monitor : Monitor

    Returns
    -------
    estimator
    unit : Standardised
        As the labels of the first chunk have it.

    Raises
    ------
    LabelsWithheldError
        If what was handed in was not accepted.
    """
    stream = assignment.stream
    assert stream is not None, "an assignment of a stream has it"
    dialogue = Dialogue(assignment)
    reader = Reader(assignment, monitor, min(stream.chunk, len(stream.rows)))
    estimator: Any = None
    unit: Standardised | None = None
    for number in range(stream.n_chunks):
        rows, facts = stream.rows[stream.of_chunk(number)], {}
        if number >= stream.first_scored:
            assert unit is not None, "the first chunk was learned from"
            X = reader.read(rows, "predict")
            with monitor.stage("predict"):
                for block in _predicted(estimator, X, assignment):
                    dialogue.hand_in(unit.back(block))
                    del block
            if stream.ends_stretch(number):
                with monitor.stage("checkpoint"):
                    facts = point(estimator, X, number + 1, monitor)
            del X
        dialogue.close_chunk(facts)
        learned = number - stream.delay
        if learned < 0:
            continue
        y = dialogue.labels(stream.of_chunk(learned))
        unit = unit or Standardised.by(y, assignment.task)
        known = np.flatnonzero(~np.isnan(y) if assignment.task == "regression" else y >= 0)
        if len(known):
            X = reader.read(stream.rows[stream.of_chunk(learned)][known], "fit")
            if estimator is None:
                estimator = begin(X, unit.of(y[known], assignment.task))
            with monitor.stage("fit"):
                teach(estimator, X, y[known], unit, assignment)
            del X
    assert unit is not None, "a stream has more than its first chunk"
    return estimator, unit


def _predicted(
    estimator: Any, X: Features, assignment: Assignment
) -> Iterator[dict[str, np.ndarray]]:
    task, n_classes, asked = assignment.task, assignment.n_classes, assignment.probabilities
    scoring = scorer(estimator, asked)
    step = block_rows(x_row_bytes(X))
    for start in range(0, X.shape[0], step):
        part = predict(estimator, x_slice(X, start, start + step), task, n_classes, asked)
        yield named(part, scoring[0] if scoring else "")
        del part


class Dialogue:
    """The trial's end of what it hands in and is told."""

    def __init__(self, assignment: Assignment) -> None:
        self._descriptor = assignment.dialogue
        self._sender = Sender(assignment.dialogue)
        regression = assignment.task == "regression"
        self._dtype = label_type(regression, assignment.n_classes)

    def hand_in(self, part: dict[str, np.ndarray]) -> None:
        """Send predictions of a part of the chunk."""
        for name, array in part.items():
            self._sender.array(name, array)

    def close_chunk(self, facts: dict[str, Any]) -> None:
        """Say that a chunk is complete; `facts` are the point of the curve, if one is due."""
        self._sender.event("delivery", value=facts)

    def labels(self, place: slice) -> np.ndarray:
        """Wait for the labels of a chunk: -1 or NaN where they are not told."""
        y = np.empty(place.stop - place.start, self._dtype)
        view = y.view(np.uint8).data
        while view:
            content = os.read(self._descriptor, len(view))
            if not content:
                message = "the labels of a chunk were withheld: its predictions were not accepted"
                raise LabelsWithheldError(message)
            view[: len(content)] = content
            view = view[len(content) :]
        y.flags.writeable = False
        return y


def label_type(regression: bool, n_classes: int) -> np.dtype:
    """Return the type in which labels of a stream are told."""
    return np.dtype(np.float64) if regression else target_type(n_classes)
