"""What a child has told its parent, kept in order even if it never comes to an end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.sandbox import peaks
from harness.sandbox.limits import StageUsage


@dataclass
class _Stage:
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    marks: peaks.Marks = field(default_factory=peaks.Marks)
    began: float = math.inf
    ended: float = -math.inf


class Heard:
    """What the child has said so far."""

    def __init__(self) -> None:
        self.baseline = 0
        self.held = 0
        self.file = 0
        self.began = False
        self.marks = peaks.Marks()
        self.measured = False
        self.copied: int | None = None
        self.descendants = False
        self.left = False
        self.value: dict[str, Any] | None = None
        self.arrays: dict[str, np.ndarray] = {}
        self._parts: dict[str, list[np.ndarray]] = {}
        self.deliveries: list[tuple[dict[str, Any], dict[str, np.ndarray]]] = []
        self.failure: tuple[str, str] | None = None
        self.done = False
        self.more = False
        self.afterwards: dict[str, Any] | None = None
        self._done_at = 0.0
        self._done_cpu = 0.0
        self._spent_afterwards: tuple[float, float] | None = None
        self.garbled = ""
        self._finished: dict[str, _Stage] = {}
        self._open: list[tuple[str, float]] = []

    def take(self, event: dict[str, Any]) -> None:
        """Take note of one event.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is not one that a child sends.
        """
        getattr(self, f"_on_{event['event']}")(event)

    def stages(
        self,
        idle: peaks.Marks,
        last: peaks.Marks,
        forgiven: int | None,
        started: float,
        ended: float,
    ) -> dict[str, StageUsage]:
        """Return what is known of every stage that began.

        Parameters
        ----------
        idle : Marks
            To be taken off every figure.
        last : Marks
            The marks since the last one that the child sent, which open stages are credited with.
        forgiven : int or None
            Take the cgroup's mark less so much; None for the process's mark.
        started, ended : float
            When the child began and ended, on the monotonic clock.
        """
        stages = dict(self._finished)
        for name, began in self._open:
            before = stages.get(name, _Stage())
            stages[name] = _Stage(
                before.seconds + ended - began,
                float("nan"),
                before.marks.joined(last),
                min(before.began, began),
                ended,
            )
        usages = {}
        for name, stage in stages.items():
            marks = stage.marks.less(idle)
            peak = marks.process
            if forgiven is not None and marks.group is not None:
                peak = max(0, marks.group - forgiven)
            span = (stage.began - started, stage.ended - started)
            usages[name] = StageUsage(name, stage.seconds, stage.cpu_seconds, peak, span)
        return usages

    def charged(self, seconds: float, cpu_seconds: float, ended: float) -> tuple[float, float]:
        """Return the wall and CPU seconds of a child without what it did afterwards.

        Parameters
        ----------
        seconds, cpu_seconds : float
            Of all that it did.
        ended : float
            When it ended, on the monotonic clock.
        """
        if not (self.done and self.more):
            return seconds, cpu_seconds
        if self._spent_afterwards is None:  # it did not come to the end of that
            return seconds - (ended - self._done_at), min(cpu_seconds, self._done_cpu)
        return seconds - self._spent_afterwards[0], cpu_seconds - self._spent_afterwards[1]

    def _on_baseline(self, event: dict[str, Any]) -> None:
        self.baseline, self.held = int(event["bytes"]), int(event["held"])
        self.file = int(event["file"])
        self.began = True

    def _on_begin(self, event: dict[str, Any]) -> None:
        self._open.append((str(event["name"]), float(event["at"])))
        self.file = int(event["file"])

    def _on_end(self, event: dict[str, Any]) -> None:
        name, began = self._open.pop()
        marks = _marks(event)
        stage = self._finished.setdefault(name, _Stage())
        stage.seconds += float(event["seconds"])
        stage.cpu_seconds += float(event["cpu_seconds"])
        stage.marks = stage.marks.joined(marks)
        stage.began = min(stage.began, began)
        stage.ended = began + float(event["seconds"])
        if not self.done:
            self.marks = self.marks.joined(marks)
        self.file = int(event["file"])

    def _on_measured(self, event: dict[str, Any]) -> None:
        self.marks = self.marks.joined(_marks(event))
        self.measured = True
        self.copied = _count(event["copied"])
        self.descendants = bool(event["descendants"])
        self.left = bool(event["left"])

    def _on_value(self, event: dict[str, Any]) -> None:
        self.value = dict(event["value"])

    def _on_array(self, event: dict[str, Any]) -> None:
        self._parts.setdefault(event["name"], []).append(event["array"])

    def _on_delivery(self, event: dict[str, Any]) -> None:
        self.deliveries.append((dict(event["value"]), self._joined()))

    def _on_failed(self, event: dict[str, Any]) -> None:
        self.failure = str(event["kind"]), str(event["reason"])

    def _on_done(self, event: dict[str, Any]) -> None:
        self.arrays = self._joined()
        self.done = self.value is not None
        self.more = bool(event["more"])
        self._done_at, self._done_cpu = float(event["at"]), float(event["cpu_seconds"])

    def _on_afterwards(self, event: dict[str, Any]) -> None:
        self.afterwards = dict(event["value"])
        self._spent_afterwards = float(event["seconds"]), float(event["cpu_seconds"])

    def _joined(self) -> dict[str, np.ndarray]:
        """Join the parts that have come since the last delivery."""
        parts, self._parts = self._parts, {}
        return {
            name: several[0] if len(several) == 1 else np.concatenate(several)
            for name, several in parts.items()
        }


def _marks(event: dict[str, Any]) -> peaks.Marks:
    return peaks.Marks(_count(event["process"]), _count(event["group"]))


def _count(value: Any) -> int | None:
    return None if value is None else int(value)
