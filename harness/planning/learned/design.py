"""Which trials are measured: few points first, then what the plan of each budget would take.

What a plan needs to know is what the method holds near the budget. So after a ladder of small
trials each budget is planned with what is known, the trial that it plans is measured under that
budget, and it is planned again, until it plans what was measured. Last, a large trial is repeated
to see by how much peaks differ where only what is drawn does.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.planning.learned.model import LearnedStorage
from harness.planning.learned.question import UNBOUNDED, most_bytes
from harness.planning.learned.runs import NOISE, Run, repeats_of, spread_of, unseen_of
from harness.planning.size import Plan, plan
from harness.plugin.method import N_UNLABELED, Method
from harness.plugin.shape import Shape

_FIRST_POINTS, _MORE_POINTS = 100, 3
_FIRST_SIZE, _MORE_SIZE = 8, 4
_RUNGS = 5
_ROUNDS = 6
"""Trials at most that are measured near the plan of one budget."""

_ALIKE, _LOOSELY_ALIKE = 1.03, 1.15
"""Counts within the first factor are alike; where peaks differ by chance, up to the second."""

_REPEATS = 3
"""Trials that differ only in what is drawn, where their peaks hardly differ."""
MOST_REPEATS = 8
"""The same at most."""
_STEADY = 0.01
"""Part of a peak by which others may be above those seen, up to which no more are asked for."""
_TRIFLE = 24_000
"""Bytes that are a small part of any budget: measuring itself is no truer."""

_PATIENCE = 20.0
"""Seconds of a rung after which a ladder ends."""
_QUICK, _REPEATING = 3.0, 30.0
"""Seconds of a trial that is repeated, and of all of its repeats, where there are such."""

_DRAWS = 2
"""Trials near a plan that takes most of its budget, which differ in what is drawn."""

_NEARLY_ALL = 0.8
"""Part of a budget from which a plan is measured under it.

An allocation may be refused that is never touched, so that no peak tells of it.
"""


@dataclass(frozen=True)
class Wanted:
    """A trial to be measured.

    Attributes
    ----------
    size, n_kept : int or None
        As a plan has them.
    repeat : int
    setting : str
        Values of tuned parameters, as JSON; empty for the defaults.
    limit : int
        Bytes that it may take; 0 for the most that any may.
    """

    size: int | None
    n_kept: int | None
    repeat: int = 0
    setting: str = ""
    limit: int = 0


@dataclass(frozen=True)
class Design:
    """All trials of one method on one shape, and the budgets that they are measured for.

    Attributes
    ----------
    method : Method
        Without a storage model.
    shape : Shape
        All points of a trial.
    budgets : sequence of (int or None, int or None)
        Bytes, and a bound on the size; None for no bound.
    params : mapping
        Fixed by the study.
    data : str
        As in `Run`.
    settings : sequence of str, default none
        Values of tuned parameters, each as JSON, of which the one counts that needs most.
    tuned : bool, default False
        Whether trials search parameters.
    """

    method: Method
    shape: Shape
    budgets: Sequence[tuple[int | None, int | None]]
    params: Mapping[str, Any]
    data: str
    settings: Sequence[str] = ()
    tuned: bool = False

    @property
    def most_bytes(self) -> int:
        """Bytes that a measured trial may take."""
        return most_bytes([many for many, _ in self.budgets])

    def next(self, runs: Sequence[Run]) -> Wanted | None:
        """Return the trial that is to be measured next; None where enough is known."""
        mine = [run for run in runs if run.data == self.data]
        wanted = self._climb(mine, "")
        largest = self._largest_rung(mine)
        if wanted is not None or largest is None:
            return wanted
        for setting in self.settings:
            tried = replace(largest, setting=setting)
            if not self._at(tried, mine):
                return tried
        setting = self.setting(mine)
        if (wanted := self._climb(mine, setting)) is not None:
            return wanted
        mine = [run for run in mine if run.setting == setting]
        method = self.learned(runs)
        for many, most in self.budgets:
            wanted = self._near(self._plan(method, many, most), many, mine)
            if wanted is not None:
                return replace(wanted, setting=setting)
        wanted = self._repeated(mine)
        return None if wanted is None else replace(wanted, setting=setting)

    def setting(self, runs: Sequence[Run]) -> str:
        """Return the values of tuned parameters that need most; empty where all need the same."""
        mine = [run for run in runs if run.data == self.data]
        largest = self._largest_rung(mine)
        if not self.settings or largest is None:
            return ""
        peaks = {
            setting: max(run.peak for run in found)
            for setting in ("", *self.settings)
            if (found := self._at(replace(largest, setting=setting), mine)) and found[0].counts
        }
        most = max(peaks, key=peaks.__getitem__)
        return most if peaks[most] > peaks[""] * (1 + _STEADY) + NOISE else ""

    def planned(self, runs: Sequence[Run], budget: int | None, largest: int | None = None) -> Plan:
        """Plan a budget by what is known."""
        return self._plan(self.learned(runs), budget, largest)

    def _plan(self, method: Method, budget: int | None, largest: int | None) -> Plan:
        return plan(method, self.shape, budget, self.params, largest, tuned=self.tuned)

    def learned(self, runs: Sequence[Run]) -> Method:
        """Return the method with the storage model of some runs."""
        setting = self.setting(runs)
        alike = [run for run in runs if run.setting == setting]
        return self.method.learned(LearnedStorage(alike, self.data))

    def _climb(self, mine: Sequence[Run], setting: str) -> Wanted | None:
        """Return the next rung that is to be measured; None where all have been."""
        for ladder in self._ladders():
            for rung in ladder:
                found = self._at(replace(rung, setting=setting), mine)
                if not found:
                    return replace(rung, setting=setting)
                if not found[0].ok or found[0].seconds > _PATIENCE:
                    break
        return None

    def _largest_rung(self, mine: Sequence[Run]) -> Wanted | None:
        """Return the rung, at the defaults, that held most and ended well; None where none did.

        Runs of the same data with more or fewer labels may have ended well all the same.
        """
        peaks = {
            rung: found[0].peak
            for ladder in self._ladders()
            for rung in ladder
            if (found := self._at(rung, mine)) and found[0].ok
        }
        return max(peaks, key=peaks.__getitem__, default=None)

    def _ladders(self) -> Iterator[list[Wanted]]:
        """Yield what grows along points, and along sizes of the fewest points."""
        method, shape = self.method, self.shape
        fixed = None if method.size is None else self.params.get(method.size)
        smallest = None if fixed is None else int(fixed)
        low, high = 0, 0
        if sized := method.size not in (None, N_UNLABELED, *self.params):
            low, high = map(operator.index, method.sizes(method.training_shape(shape)))
            smallest = _rungs(low, high, _FIRST_SIZE, _MORE_SIZE)[0]
        points: list[int | None] = [None]
        if method.uses_unlabeled and shape.n_unlabeled:
            points = [*_rungs(1, shape.n_unlabeled, _FIRST_POINTS, _MORE_POINTS)]
        if method.size == N_UNLABELED:
            kept = [fixed] if fixed is not None else points
            yield [Wanted(many or shape.n_unlabeled, None) for many in kept]
            return
        yield [Wanted(smallest, many) for many in points]
        if sized:
            first = points[0]
            top = high
            if first is not None:
                fewest = method.training_shape(shape, None, first)
                top = max(low, min(high, operator.index(method.sizes(fewest)[1])))
            yield [Wanted(many, first) for many in _rungs(low, top, _FIRST_SIZE, _MORE_SIZE)]

    def _near(self, planned: Plan, budget: int | None, mine: Sequence[Run]) -> Wanted | None:
        """Return what to measure of a plan; None if it is known, or too much was tried."""
        if not planned.feasible or (budget is None and planned.planned_bytes > UNBOUNDED):
            return None
        limit = budget if budget and planned.planned_bytes >= _NEARLY_ALL * budget else 0
        wanted = Wanted(planned.size, planned.n_kept, limit=limit)
        alike = max(_ALIKE, min(_LOOSELY_ALIKE, 1 + spread_of(mine)))
        # those of other blocks, with more labels or another type, say nothing of this plan
        own = [run for run in mine if self._is_own(run)]
        near = [run for run in own if self._is_near(run, wanted, alike)]
        if any(not run.counts for run in near):
            return None
        under = [run for run in near if not limit or 0 < run.limit <= limit]
        if any(run.ok for run in under):
            if len(under) >= _DRAWS or under[0].seconds > _PATIENCE:
                return None
            # heaps are not smooth: the same trial holds 5 % more of 3 MB with other points
            return replace(wanted, repeat=_unused(under))
        tried = {
            _what(run)
            for run in own
            if (run.limit == limit if limit else _beside(run, budget, planned))
        }
        if len(tried) >= _ROUNDS:
            return None
        return self._beyond(limit, alike, own) or wanted

    def _beyond(self, limit: int, alike: float, own: Sequence[Run]) -> Wanted | None:
        """Return what tells more of a plan that this limit refused; None where enough is known.

        By how much it is above the limit, no refusal tells: plans would come down in small steps.
        So it is measured without the limit. Where that is refused, too, a size is taken between
        those that fit and those that do not.
        """
        refused = [run for run in own if limit and run.limit == limit and not run.ok]
        if not refused:
            return None
        last = Wanted(refused[-1].size, self._kept(refused[-1]))
        near = [run for run in own if self._is_near(run, last, alike)]
        if any(run.ok for run in near):
            return None
        if all(run.limit for run in near):
            return last
        if not last.size:
            return None
        alike_in_n = [
            run for run in own if self._is_near(run, replace(last, size=run.size), alike)
        ]
        least = min(run.size or 1 for run in alike_in_n if not run.ok)
        most = max(
            [run.size or 1 for run in alike_in_n if run.ok and (run.size or 1) < least] + [1]
        )
        return None if least <= 2 * most else replace(last, size=math.isqrt(most * least))

    def _repeated(self, mine: Sequence[Run]) -> Wanted | None:
        """Return a trial that is to be measured again; None where enough have been.

        What peaks differ by is asked of one shape, for all: of a large one, beside whose peak
        what measuring adds is little.
        """
        repeats = {what[1:]: len(peaks) for what, peaks in repeats_of(mine).items()}
        if any(self._is_enough(many, mine) for many in repeats.values()):
            return None
        own = [run for run in mine if run.ok and self._is_own(run) and run.seconds <= _PATIENCE]
        quick = [run for run in own if run.seconds <= _QUICK] or own
        if not quick:
            return None
        begun = [run for run in quick if repeats[run.shape, run.size] >= _REPEATS]
        last = max(begun or quick, key=lambda run: run.peak)
        many = repeats[last.shape, last.size]
        if many >= _REPEATS and many * last.seconds > _REPEATING:
            return None
        same = [run for run in mine if (run.shape, run.size) == (last.shape, last.size)]
        return Wanted(last.size, self._kept(last), _unused(same))

    def _is_enough(self, many: int, mine: Sequence[Run]) -> bool:
        most = max((run.peak for run in mine if run.ok), default=1)
        steady = unseen_of(mine) <= max(_STEADY, _TRIFLE / most)
        return many >= (_REPEATS if steady else MOST_REPEATS)

    def _kept(self, run: Run) -> int | None:
        """Return the unlabeled points of a run as a plan says them."""
        if self.method.size == N_UNLABELED or not self.method.uses_unlabeled:
            return None
        kept = run.shape.n_unlabeled
        return None if kept == self.shape.n_unlabeled else kept

    def _at(self, wanted: Wanted, runs: Sequence[Run]) -> list[Run]:
        seen = self.method.training_shape(self.shape, wanted.size, wanted.n_kept)
        asked = (wanted.size, wanted.setting, seen)
        return [run for run in runs if (run.size, run.setting, run.shape) == asked]

    def _is_own(self, run: Run) -> bool:
        """Tell whether a run differs from this shape in its unlabeled points alone."""
        counts = ("n_labeled", "n_features", "n_classes", "itemsize", "mapped", "part")
        shapes = run.shape, self.shape
        theirs, own = ([getattr(shape, name) for name in counts] for shape in shapes)
        return theirs == own and run.shape.scored == self.shape.scored

    def _is_near(self, run: Run, wanted: Wanted, alike: float) -> bool:
        seen = self.method.training_shape(self.shape, wanted.size, wanted.n_kept)
        if run.shape.n_scored != seen.n_scored and run.shape.scored != seen.scored:
            return False
        pairs = ((run.shape.n, seen.n), (run.size or 1, wanted.size or 1))
        return all(max(a, b) <= alike * min(a, b) for a, b in pairs)


def _beside(run: Run, budget: int | None, planned: Plan) -> bool:
    """Tell whether a run was near a budget, so that it was measured for it."""
    about = budget or planned.planned_bytes
    return 0.5 * about < run.peak + NOISE < 2 * about


def _what(run: Run) -> tuple[Any, ...]:
    """Return what tells a run from its repeats."""
    return run.shape, run.size, run.limit


def _unused(runs: Sequence[Run]) -> int:
    """Return the smallest repeat that none of these has."""
    taken = {run.repeat for run in runs}
    return min(set(range(len(runs) + 1)) - taken)


def _rungs(low: int, high: int, first: int, factor: int) -> list[int]:
    """List counts from a small one up, none above `high`, a few in all."""
    found: list[int] = []
    at = max(low, min(first, high))
    while at < high and len(found) < _RUNGS:
        found.append(at)
        at *= factor
    return [*found, high] if len(found) < _RUNGS else found
