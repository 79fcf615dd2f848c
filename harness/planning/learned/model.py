"""A storage model that was learned: measured trials, and the formulas above them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from harness.planning.learned.envelope import OVERCOUNTED, Envelope, Point, fit_envelope
from harness.planning.own_bytes import handed_bytes, standing_bytes
from harness.plugin.method import Method
from harness.plugin.shape import Shape
from harness.plugin.storage import Arrays, Storage

MEASURED, EXTRAPOLATED = "measured", "extrapolated"
"""Phases of a learned model: between what was measured, and beyond it."""

WRITTEN, LEARNED = "written", "learned"
"""Where a storage model is from, as a row says it."""

GENERATED = "generated"
"""What stands for the data where trials were measured on generated points."""

NOISE = 1 << 17
"""Bytes by which marks may differ from trial to trial, which a model has on top of large ones."""

_NOISY = 0.06
"""The same as a part of small peaks: most marks differ by much less, and few by more."""

_SURE = 0.95
"""Part of later trials, of the shape that was repeated, that a model is to be above."""

_REFUSED = 1.02
"""Times its limit that a trial is said to need which was refused more."""

UNSURE = 0.02
"""Spread of peaks from which a model says so."""

LARGE = 1_000_000
"""Bytes from which a trial is large beside what differs from trial to trial."""

_MARGIN = 0.005
_BEYOND = 1.05
"""What a count may be above the largest that was measured, and not be called extrapolated."""

_STAGES = ("fit", "predict")


class LearningError(Exception):
    """A method's storage cannot be learned; the message says why."""


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


@dataclass(frozen=True)
class LearnedStorage:
    """What a method holds, by what it held: called as a storage model is.

    Parameters
    ----------
    runs : sequence of Run
        Of one method with one set of fixed parameters.
    data : str, default GENERATED
        Whose points the runs should be of; those of generated points serve where there are none.
    """

    runs: Sequence[Run]
    data: str = GENERATED
    _fits: dict[Any, Fitted] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, shape: Shape, size: int | None) -> Storage:
        """Return what is held at a shape of `fit`: a phase that says whether it was measured.

        Raises
        ------
        LearningError
            If nothing could be measured.
        """
        fitted = self._fitted(shape)
        phase = MEASURED if fitted.covers(shape, size) else EXTRAPOLATED
        if fitted.spread > UNSURE:
            phase = f"{phase}, peaks differ by {fitted.spread:.0%}"
        totals = fitted.totals(shape, size)
        # below zero where a plan has more for the harness than a small trial holds in all
        fit = totals[0] - standing_bytes(shape, False)
        predict = totals[1] - standing_bytes(shape, False) - handed_bytes(shape)
        return Storage(
            fit={phase: Arrays(all=fit)},
            predict={phase: Arrays(all=predict)},
            includes_loading=True,
        )

    def overall(self) -> Fitted:
        """Return one formula for all shapes that were measured on generated points, else for all.

        Its constant is not below zero, so that it can stand in a storage model.
        """
        measured = [run for run in self.runs if run.counts]
        generated = [run for run in measured if run.data == GENERATED]
        if not any(run.ok for run in measured):
            raise LearningError(_why_nothing(self.runs))
        return Fitted.of(generated or measured, general=True)

    def _fitted(self, shape: Shape) -> Fitted:
        family = _family(shape)
        if family not in self._fits:
            self._fits[family] = Fitted.of(self._serving(family))
        return self._fits[family]

    def _serving(self, family: tuple[Any, ...]) -> list[Run]:
        """Choose the runs that are nearest to a family of shapes: its own, else all."""
        measured = [run for run in self.runs if run.counts]
        for data in (self.data, GENERATED):
            runs = [run for run in measured if run.data == data]
            own = [run for run in runs if _family(run.shape) == family]
            if any(run.ok for run in own):
                return own
            if any(run.ok for run in runs):
                return runs
        if any(run.ok for run in measured):
            return measured
        raise LearningError(_why_nothing(self.runs))


@dataclass(frozen=True)
class Fitted:
    """The formulas of fit and prediction, and the runs that they are above.

    Attributes
    ----------
    envelopes : tuple of Envelope
        Of fit and prediction, beside X and what the harness holds.
    spread : float
        The part by which peaks of one shape differ where only what is drawn does.
    unseen : float
        The part by which others may be above the largest of these.
    refused : float
        The part by which more than a peak is asked for.
    runs : sequence of Run
    general : bool
        Whether they are for shapes that were not measured, and to be read.
    """

    envelopes: tuple[Envelope, ...]
    spread: float
    unseen: float
    refused: float
    runs: Sequence[Run]
    general: bool

    @classmethod
    def of(cls, runs: Sequence[Run], general: bool = False) -> Fitted:
        """Fit the runs of one method; at least one has ended by itself.

        Parameters
        ----------
        runs : sequence of Run
        general : bool, default False
            Whether the formula is for shapes that were not measured, and to be read.
        """
        lowest = 0.0 if general else -OVERCOUNTED
        envelopes = tuple(
            fit_envelope(
                [_point(run, stage, general) for run in runs],
                lowest,
                bends=not general,
                blocks=stage > 0,
            )
            for stage in range(len(_STAGES))
        )
        return cls(envelopes, spread_of(runs), unseen_of(runs), refused_of(runs), runs, general)

    def by_stage(self) -> dict[str, Envelope]:
        """Return the formulas by the name of their stage."""
        return dict(zip(_STAGES, self.envelopes, strict=True))

    def totals(self, shape: Shape, size: int | None) -> tuple[float, float]:
        """Return all bytes at the peaks of fit and prediction, with what they may differ by."""
        fit, predict = (
            (_known(shape, stage, self.general) + envelope(shape, size)) * (1 + _MARGIN)
            for stage, envelope in enumerate(self.envelopes)
        )
        return fit + self._more(fit), predict + self._more(predict)

    def _more(self, peak: float) -> float:
        """Return by what other trials may be above a peak: repeats differ by the noise, too."""
        return max(noise_of(peak), self.unseen * peak, self.refused * peak)

    def excess(self) -> tuple[float, bool]:
        """Return by what part the formulas are above the peaks, in the mean.

        Returns
        -------
        mean : float
            Over runs of 1 MB and more, or over all if there is none.
        large : bool
            Whether there is one.
        """
        ended = [run for run in self.runs if run.ok]
        large = [run for run in ended if run.peak >= LARGE]
        parts = [max(self.totals(run.shape, run.size)) / run.peak - 1 for run in large or ended]
        return sum(parts) / len(parts), bool(large)

    def covers(self, shape: Shape, size: int | None) -> bool:
        """Tell whether every count is within those that were measured."""
        kinds = {_family(run.shape) for run in self.runs}
        if len(kinds) == 1 and _family(shape) not in kinds:
            return False
        counts = [_counts(run.shape, run.size) for run in self.runs if run.ok]
        largest = [max(column) for column in zip(*counts, strict=True)]
        mine = _counts(shape, size)
        return all(m <= _BEYOND * most for m, most in zip(mine, largest, strict=True))

    def source(self) -> str:
        """Return a storage model in Python that says the same, to be pasted into a plugin."""
        held = ("shape.data_bytes", "0")
        lines = ["def storage(shape, size):"]
        for stage, envelope, data in zip(_STAGES, self.envelopes, held, strict=True):
            lines.append(f"    {stage} = {data}")
            lines += [f"    {stage} += {line}" for line in envelope.source()]
        lines += [
            "    return Storage(",
            '        fit={"all": Arrays(all=fit)}, predict={"all": Arrays(all=predict)}',
            "    )",
        ]
        return "\n".join(lines)


def is_learned(method: Method) -> bool:
    """Tell whether a method's storage model was learned, or is still to be."""
    return method.storage is None or isinstance(method.storage, LearnedStorage)


def noise_of(peak: float) -> float:
    """Return the bytes by which marks of a peak may differ from trial to trial."""
    return min(NOISE, _NOISY * max(0.0, peak))


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
        _REFUSED * run.limit / max(peaks[run.data, run.shape, run.size]) - 1
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


def _point(run: Run, stage: int, general: bool) -> Point:
    whole: float = (run.fit, run.predict)[stage]
    if not run.ok and whole == run.limit:
        whole *= _REFUSED
    own = whole - _known(run.shape, stage, general)
    return Point(run.shape, run.size, own, max(run.peak, 1), run.ok)


def _known(shape: Shape, stage: int, general: bool) -> float:
    """Bytes that need no learning: of X while it is fitted, and of what the harness holds.

    Not more than is held at each shape, since formulas only add to it: of a block of points that
    is predicted some may be all. A formula for a plugin has the plan's own on top.
    """
    standing = standing_bytes(shape, False)
    if stage == 0:
        return shape.data_bytes + standing
    return standing + (handed_bytes(shape) if general else 0)


def _family(shape: Shape) -> tuple[Any, ...]:
    """Return what shapes have in common that only differ in how many points there are."""
    plain = replace(shape, n_labeled=0, n_unlabeled=0, n_test=0, n_scored=0, n_validated=0)
    told = tuple(getattr(plain, item.name) for item in fields(plain))
    return (*told, shape.predicts_seen)


def _counts(shape: Shape, size: int | None) -> tuple[float, ...]:
    return (
        shape.n,
        shape.n_labeled,
        shape.n_features,
        shape.n_classes,
        shape.itemsize,
        size or 0,
    )


def _why_nothing(runs: Sequence[Run]) -> str:
    if not runs:
        return "nothing was measured"
    first = min(runs, key=lambda run: (run.shape.n, run.size or 0))
    size = "" if first.size is None else f" and size {first.size}"
    return (
        f"a trial with n = {first.shape.n}, d = {first.shape.n_features}{size} ended as "
        f"{first.outcome}: {first.reason}"
    )
