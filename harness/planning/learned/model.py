"""A storage model that was learned: measured trials, and the formulas above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from harness.planning.learned.envelope import OVERCOUNTED, Envelope, Point, fit_envelope
from harness.planning.learned.runs import (
    GENERATED,
    REFUSED,
    Run,
    noise_of,
    refused_of,
    spread_of,
    unseen_of,
)
from harness.planning.own_bytes import handed_bytes, standing_bytes
from harness.plugin.method import Method
from harness.plugin.shape import Shape
from harness.plugin.storage import Arrays, Storage

MEASURED, EXTRAPOLATED = "measured", "extrapolated"
"""Phases of a learned model: between what was measured, and beyond it."""

WRITTEN, LEARNED = "written", "learned"
"""Where a storage model is from, as a row says it."""

UNSURE = 0.02
"""Spread of peaks from which a model says so."""

LARGE = 1_000_000
"""Bytes from which a trial is large beside what differs from trial to trial."""

MARGIN = 0.005
"""What a formula is put above the peaks, as a part of them."""

BEYOND = 1.05
"""What a count may be above the largest that was measured, and not be called extrapolated."""

STAGES = ("fit", "predict")


class LearningError(Exception):
    """A method's storage cannot be learned; the message says why."""


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
        return fitted.storage(shape, size, fitted.covers(shape, size))

    def covers(self, shape: Shape, size: int | None) -> bool:
        """Tell whether a shape of `fit` and a size are within what was measured."""
        return self._fitted(shape).covers(shape, size)

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
            for stage in range(len(STAGES))
        )
        return cls(envelopes, spread_of(runs), unseen_of(runs), refused_of(runs), runs, general)

    def by_stage(self) -> dict[str, Envelope]:
        """Return the formulas by the name of their stage."""
        return dict(zip(STAGES, self.envelopes, strict=True))

    def totals(self, shape: Shape, size: int | None) -> tuple[float, float]:
        """Return all bytes at the peaks of fit and prediction, with what they may differ by."""
        fit, predict = (
            (_known(shape, stage, self.general) + envelope(shape, size)) * (1 + MARGIN)
            for stage, envelope in enumerate(self.envelopes)
        )
        return fit + self._more(fit), predict + self._more(predict)

    def storage(self, shape: Shape, size: int | None, covered: bool) -> Storage:
        """Return what is held beside what a plan adds, in a phase that says how sure that is."""
        phase = MEASURED if covered else EXTRAPOLATED
        if self.spread > UNSURE:
            phase = f"{phase}, peaks differ by {self.spread:.0%}"
        totals = self.totals(shape, size)
        # below zero where a plan has more for the harness than a small trial holds in all
        fit = totals[0] - standing_bytes(shape, False)
        predict = totals[1] - standing_bytes(shape, False) - handed_bytes(shape)
        return Storage(
            fit={phase: Arrays(all=fit)},
            predict={phase: Arrays(all=predict)},
            includes_loading=True,
        )

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
        return within(shape, size, self.largest())

    def largest(self) -> list[float]:
        """Return the largest count of each kind that was measured."""
        counts = [_counts(run.shape, run.size) for run in self.runs if run.ok]
        return [max(column) for column in zip(*counts, strict=True)]

    def source(self) -> str:
        """Return a storage model in Python that says the same, to be pasted into a plugin."""
        held = ("shape.data_bytes", "0")
        lines = ["def storage(shape, size):"]
        for stage, envelope, data in zip(STAGES, self.envelopes, held, strict=True):
            lines.append(f"    {stage} = {data}")
            lines += [f"    {stage} += {line}" for line in envelope.source()]
        lines += [
            "    return Storage(",
            '        fit={"all": Arrays(all=fit)}, predict={"all": Arrays(all=predict)}',
            "    )",
        ]
        return "\n".join(lines)


def within(shape: Shape, size: int | None, largest: Sequence[float]) -> bool:
    """Tell whether every count is at most the largest of its kind, or hardly above."""
    mine = _counts(shape, size)
    return all(m <= BEYOND * most for m, most in zip(mine, largest, strict=True))


def is_learned(method: Method) -> bool:
    """Tell whether a method's storage model was learned, or is still to be."""
    return method.storage is None or isinstance(method.storage, LearnedStorage)


def _point(run: Run, stage: int, general: bool) -> Point:
    whole: float = (run.fit, run.predict)[stage]
    if not run.ok and whole == run.limit:
        whole *= REFUSED
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
