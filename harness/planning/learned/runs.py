"""A trial that was run to be measured, and by how much the peaks of such trials differ."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.plugin.shape import Shape

GENERATED = "generated"
"""What stands for the data where trials were measured on generated points."""

NOISE = 1 << 17
"""Bytes by which marks may differ from trial to trial, which a model has on top of large ones."""

NOISY = 0.06
"""The same as a part of small peaks: most marks differ by much less, and few by more."""

_SURE = 0.95
"""Part of later trials, of the shape that was repeated, that a model is to be above."""

REFUSED = 1.02
"""Times its limit that a trial is said to need which was refused more."""


@dataclass(frozen=True)
class Run:
    """A trial that was run to be measured.

    Attributes
    ----------
    data : str
        Digest of the data set that its points are from, or `GENERATED`.
    shape : Shape
        Of the points that fit was given.
    size : int or None
    repeat : int
        Tells runs of one shape apart: they differ in all that is drawn.
    outcome, reason : str
    fit, predict : int
        Bytes at the peaks of both stages, all that the trial held, loading being a part of the
        fit; for a run that a limit ended, the limit.
    seconds : float
    setting : str
        Values of tuned parameters, as JSON; empty for the defaults.
    limit : int
        The budget that it was measured under; 0 where that was more than any.
    """

    data: str
    shape: Shape
    size: int | None
    repeat: int
    outcome: str
    reason: str
    fit: int
    predict: int
    seconds: float
    setting: str = ""
    limit: int = 0

    @property
    def ok(self) -> bool:
        """Whether it ended by itself and was measured."""
        return self.outcome == "ok"

    @property
    def counts(self) -> bool:
        """Whether it says something of memory: what was held, or that it was more than a limit."""
        return self.ok or self.outcome == "over_budget"

    @property
    def peak(self) -> int:
        """Bytes at the larger peak."""
        return max(self.fit, self.predict)

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)

    @classmethod
    def of(cls, content: dict[str, Any]) -> Run:
        """Read what `as_dict` gave. Raises TypeError or KeyError where it is something else."""
        return cls(**{**content, "shape": Shape(**content["shape"])})


def noise_of(peak: float) -> float:
    """Return the bytes by which marks of a peak may differ from trial to trial."""
    return min(NOISE, NOISY * max(0.0, peak))


def spread_of(runs: Iterable[Run]) -> float:
    """Return the largest part by which peaks of one shape and size differ, beyond the noise."""
    found = repeats_of(runs).values()
    parts = [(max(p) - min(p) - noise_of(max(p))) / max(p) for p in found if len(p) > 1]
    return max([0.0, *parts])


def unseen_of(runs: Iterable[Run]) -> float:
    """Return the part by which another peak may be above the largest of the repeated ones.

    It is the upper bound of a prediction interval for one more, of normal peaks (Student's t).
    """
    from scipy.special import stdtrit

    most = max(repeats_of(runs).values(), key=len, default=[])
    count = len(most)
    if count < 3 or not max(most):
        return 0.0
    above = stdtrit(count - 1, _SURE) * statistics.stdev(most) * math.sqrt(1 + 1 / count)
    return max(0.0, (statistics.fmean(most) + float(above)) / max(most) - 1)


def refused_of(runs: Sequence[Run]) -> float:
    """Return the part by which trials ask for more than their peak, as their budgets showed.

    What is refused may be memory that is never touched, of which no peak tells.
    """
    peaks = repeats_of(runs)
    parts = [
        REFUSED * run.limit / max(peaks[run.data, run.shape, run.size]) - 1
        for run in runs
        if run.outcome == "over_budget" and (run.data, run.shape, run.size) in peaks
    ]
    return max([0.0, *parts])


def repeats_of(runs: Iterable[Run]) -> dict[tuple[Any, ...], list[int]]:
    """Collect peaks by data, shape and size: those that differ only in what is drawn."""
    drawn: dict[Any, dict[int, int]] = {}
    for run in runs:
        if run.ok:
            peaks = drawn.setdefault((run.data, run.shape, run.size), {})
            peaks[run.repeat] = max(run.peak, peaks.get(run.repeat, 0))
    return {what: list(peaks.values()) for what, peaks in drawn.items()}
