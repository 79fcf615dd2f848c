"""How a method's size follows from a budget: by what the method holds, and the harness itself."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from harness.planning.own_bytes import (
    converting_bytes,
    fold_bytes,
    folded_bytes,
    handed_bytes,
    loading_bytes,
    overhead_bytes,
    part_bytes,
    predicted_rows,
    prediction_bytes,
    standing_bytes,
)
from harness.plugin.abilities import splits_fit
from harness.plugin.method import N_UNLABELED, Method
from harness.plugin.search_space import Distribution
from harness.plugin.shape import Shape
from harness.plugin.storage import Peaks, Storage
from harness.units import format_bytes

_ALL_AT_ONCE = "learns from all points at once: it has no partial_fit for parts of a stream"

_UNNAMED = "all"  # what a storage model that returns one number is said to hold


@dataclass(frozen=True)
class Plan:
    """The size and the points that a method gets at a budget, or why there is none.

    Attributes
    ----------
    size : int or None
        None for methods without a size, and where nothing fits.
    planned_bytes : int
        The storage model at that size (at the smallest size where nothing fits), with the
        harness's own arrays.
    reason : str
        Empty if the plan is feasible.
    outcome : str
        What a trial ends as if it is not: "infeasible", or "error" where the method's own storage
        model or sizes failed.
    n_kept : int or None
        Unlabeled points that fit is given where not all of them fit beside a useful size; None
        where it is given all that it can use.
    phase : str
        When most is held: a phase of the storage model ("fit: ..." or "predict: ..."), "loading",
        "search" or "checkpoint".
    """

    size: int | None
    planned_bytes: int
    reason: str = ""
    outcome: str = "infeasible"
    n_kept: int | None = None
    phase: str = ""

    @property
    def feasible(self) -> bool:
        """Whether there is a size that fits."""
        return not self.reason


def plan(
    method: Method,
    shape: Shape,
    budget: int | None,
    params: Mapping[str, Any] | None = None,
    largest: int | None = None,
    tuned: bool = False,
    shown: int = 0,
    space: Mapping[str, Distribution] | None = None,
    paused: bool = False,
) -> Plan:
    """Find the largest size whose storage model fits a budget, and the points that fit with it.

    All unlabeled points are kept if the method's smallest useful size fits with them. If it does
    not, there are three choices: all points and a smaller size, as many points as fit with the
    useful size, and as many as take half of the room above one point and the smallest size. The
    one with the largest product is taken: share of the points times share of the useful size.

    Parameters
    ----------
    method : Method
        Its storage model must be monotone between the sizes where it may fall: there the search
        is a bisection.
    shape : Shape
        All points of the trial; the method's own part of them is worked out here.
    budget : int or None
        Bytes; None for no limit, which gives the largest sensible size.
    params : mapping, optional
        Parameters fixed by the study. If they fix the size, it is taken as given; None leaves it
        to the estimator's own rule, and the storage model is asked with a size of None.
    largest : int, optional
        A bound on the size itself (a landmark budget).
    tuned : bool, default False
        Whether parameters are searched by cross-validation.
    shown : int, default 0
        Unlabeled points that the search is shown the targets of.
    space : mapping of str to Distribution, optional
        What is searched, so that `tuned` need not be said. Of parameters that the storage model
        asks for, the value counts that needs most: any of a choice, an end of a range, the
        default.
    paused : bool, default False
        Whether the fit is paused at checkpoints and asked for predictions.

    Returns
    -------
    Plan
    """
    params, tuned = {**method.params, **(params or {})}, tuned or bool(space)
    half = -(-(shape.n_searched + shown) // 2)  # of what a search knows the labels of
    shape = replace(shape, n_validated=max(half, shown) if tuned else 0)
    settings = [params | setting for setting in settings_that_count(method, space or {})]
    lacking = shown if shown > shape.n_unlabeled else 0
    shown = min(shown, shape.n_unlabeled)
    if shape.is_sparse and not method.takes_sparse(params):
        return Plan(None, 0, _dense_only(shape))
    if shape.part is not None:
        if not method.learns_in_parts(params):
            return Plan(None, 0, _ALL_AT_ONCE)
        method = replace(method, uses_unlabeled=False)  # of a stream only labeled points teach
    need = _Need(method, shape, settings, tuned, paused, shown)
    if lacking:
        at_hand = f"there are {shape.n_unlabeled}"
        reason = f"tuning shows the labels of {lacking} unlabeled points; {at_hand}"
        return Plan(None, overhead_bytes(shape, tuned), reason)
    if method.size is None or params.get(method.size, 0) is None:
        return need.without_size(None if method.size else 0, budget)
    fixed = method.size in params
    if fixed:
        low = high = int(params[method.size])
    elif method.size == N_UNLABELED:
        low, high = 1, max(1, shape.n_unlabeled)
    else:
        low, high = map(operator.index, method.sizes(method.training_shape(shape)))
    if largest is not None:
        high = min(high, largest)
    if high < low:
        least = "fixed at" if fixed else "at least"
        reason = f"{method.size} is {least} {low}, and here at most {high}"
        return replace(need.planned(low, reason=reason), size=None)
    if budget is None:
        return need.planned(high)
    useful = min(high, max(low, method.enough)) if method.bounded_by_landmarks else low
    found = need.with_all(low, high, budget)
    size = None if found is None else found.size
    if method.may_subsample and (size is None or size < useful):
        tried = [*([found] if found else []), *need.with_fewer(useful, low, budget)]
        found = max(tried, key=lambda tried: need.share(tried, useful), default=None)
    at = f" {'with' if fixed else 'at its smallest,'} {method.size} = {low}"
    return found or need.refused(low, budget, at)


def _dense_only(shape: Shape) -> str:
    """Say why a method that takes no sparse X is not given one with its zeros."""
    filled = format_bytes(shape.n * shape.n_features * shape.itemsize)
    return (
        f"takes dense data only; the set is sparse, with {shape.n_features:,} columns and "
        f"{100 * shape.density:.2g} % nonzeros: dense its {shape.n:,} points are {filled}, which "
        "an entry without `sparse: true` gives"
    )


@dataclass(frozen=True)
class _Need:
    """What trials of one method on one data set need, by size and by the points that are kept."""

    method: Method
    shape: Shape
    settings: list[dict[str, Any]]
    tuned: bool
    paused: bool
    shown: int

    @property
    def fewest(self) -> int:
        """Unlabeled points that are kept at least: without a label, as many as clusters."""
        fewest = 1 if self.shape.n_labeled else max(1, self.shape.n_classes)
        return min(fewest, self.shape.n_unlabeled)

    def bytes(self, size: int | None, n_kept: int | None = None) -> int:
        """Return what is needed at the peak; `n_kept` is None for all unlabeled points."""
        return int(max(self._stages(size, n_kept).values()))

    def planned(self, size: int | None, n_kept: int | None = None, reason: str = "") -> Plan:
        """Return the plan of this size and these points, with its bytes and its phase."""
        stage, many = self._peak(size, n_kept)
        seen = self.method.training_shape(self.shape, size, n_kept)
        phase = self._held(seen, size).largest(stage) if stage in ("fit", "predict") else stage
        return Plan(size, many, reason, n_kept=n_kept, phase=phase)

    def _peak(self, size: int | None, n_kept: int | None) -> tuple[str, int]:
        stages = self._stages(size, n_kept)
        stage = max(stages, key=stages.__getitem__)
        return stage, int(stages[stage])

    def _stages(self, size: int | None, n_kept: int | None) -> dict[str, float]:
        """Return bytes by stage: points of the fit are read, fitted, searched, predicted.

        Never two of these at once.
        """
        method, shown = self.method, self.shown
        fitted = method.training_shape(self.shape, size, n_kept)
        if not shown:
            return self._of(fitted, size)
        # of the points that are kept, the search is shown the labels of some
        left = size
        if size is not None and method.size == N_UNLABELED:
            left = max(0, size - shown)
        kept_left = None if n_kept is None else max(0, n_kept - shown)
        searched = replace(
            self.shape,
            n_labeled=self.shape.n_labeled + shown,
            n_unlabeled=self.shape.n_unlabeled - shown,
        )
        shown_too = method.training_shape(searched, left, kept_left)
        waiting = 0
        if shown_too.n > fitted.n:  # more than the mapped rows: these are read
            shown_too = replace(shown_too, mapped=False)
            # the points of the fit wait beside those of the search
            waiting = fitted.data_bytes
        searching = max(self._of(shown_too, size).values()) + waiting
        return self._of(fitted, size) | {"search": searching}

    def _of(self, seen: Shape, size: int | None) -> dict[str, float]:
        models = list(self._models(seen, size))
        held = Peaks(*map(max, zip(*(model.peaks for model in models), strict=True)))
        handed, standing = handed_bytes(seen), standing_bytes(seen, self.tuned)
        block = converting_bytes(seen)
        held = Peaks(held.fit + block, held.predict + block)
        stages = {"fit": held.fit, "predict": held.predict + handed}
        if not all(model.includes_loading for model in models):
            stages = {"loading": loading_bytes(seen), **stages}
            if seen.part is not None:
                stages["fit"] += part_bytes(seen)
        if seen.part is not None:  # a chunk of a stream is held while blocks of it are predicted
            stages["predict"] += max(0, seen.data_bytes - seen.new_block_bytes)
        if self.paused:
            stages["checkpoint"] = held.fit + handed
        if self.tuned:
            splits = seen.part is None and splits_fit(self.method.estimator)
            fitted = held.fit if splits else max(held) + fold_bytes(seen)
            stages["search"] = fitted + folded_bytes(seen, True)
        return {stage: int(many) + standing for stage, many in stages.items()}

    def _models(self, seen: Shape, size: int | None) -> Iterator[Storage]:
        for setting in self.settings:
            yield self.method.held(seen, size, setting, self.tuned, self.paused)

    def _held(self, seen: Shape, size: int | None) -> Storage:
        """Return what the setting holds that needs most."""
        return max(self._models(seen, size), key=lambda held: max(held.peaks))

    def without_size(self, size: int | None, budget: int | None) -> Plan:
        """Plan a method whose size is not turned: points are all that it can give up."""
        if budget is None or self.bytes(size) <= budget:
            return replace(self.planned(size), size=None)
        most, fewest = self.shape.n_unlabeled - 1, self.fewest
        if self.method.may_subsample and most >= fewest and self.bytes(size, fewest) <= budget:
            kept = _largest(lambda kept: self.bytes(size, kept) <= budget, fewest, most)
            return replace(self.planned(size, kept), size=None)
        return self.refused(size, budget)

    def refused(self, size: int | None, budget: int, at: str = "") -> Plan:
        """Say what is needed at the least, at this size, and for what."""
        # few points that are copied may take more than all of them where they lie
        choices = (None, self.fewest or None) if self.method.may_subsample else (None,)
        kept = min(choices, key=lambda kept: self.bytes(size, kept))
        terms = ", ".join(f"{what} {format_bytes(many)}" for what, many in self.terms(size, kept))
        least = self.planned(size, kept)
        reason = f"needs {format_bytes(least.planned_bytes)}{at}, of which {terms}; the budget is "
        return replace(least, size=None, n_kept=None, reason=reason + format_bytes(budget))

    def with_all(self, low: int, high: int, budget: int) -> Plan | None:
        """Find the largest size that fits with all points; None where none does."""
        turned = high > low
        whole = [high] if self.method.size == N_UNLABELED else []
        starts = {
            low,
            *whole,
            *(at for at in self.method.non_monotone_at if turned and low < at <= high),
        }
        for start in sorted(starts, reverse=True):
            if self.bytes(start) <= budget:
                return self.planned(_largest(lambda size: self.bytes(size) <= budget, start, high))
            high = start - 1 if turned else high
        return None

    def with_fewer(self, useful: int, low: int, budget: int) -> Iterator[Plan]:
        """Yield plans for as many points as fit beside the useful size, and as fit in half."""
        most, fewest = self.shape.n_unlabeled, self.fewest
        least = self.bytes(low, fewest)
        if most <= fewest or least > budget:
            return
        half = least + (budget - least) // 2

        def up_to(size: int, n_kept: int) -> int:
            if useful == low:
                return low
            high = operator.index(
                self.method.sizes(self.method.training_shape(self.shape, None, n_kept))[1]
            )
            return max(low, min(size, high))

        def fits_useful(n_kept: int) -> bool:
            return self.bytes(up_to(useful, n_kept), n_kept) <= budget

        fewer = [_largest(fits_useful, fewest, most - 1)] if fits_useful(fewest) else []
        if useful != low:
            fewer.append(_largest(lambda kept: self.bytes(low, kept) <= half, fewest, most - 1))
        for kept in fewer:
            high = up_to(budget, kept)
            size = _largest(partial(self._fits, budget, kept), low, high)
            yield self.planned(size, kept)

    def _fits(self, budget: int, n_kept: int, size: int) -> bool:
        return self.bytes(size, n_kept) <= budget

    def share(self, planned: Plan, useful: int) -> float:
        """Return the share of the points that are kept, times that of a useful size."""
        kept = self.shape.n_unlabeled if planned.n_kept is None else planned.n_kept
        of_points = (self.shape.n_labeled + kept) / max(1, self.shape.n)
        return of_points * (min(1, (planned.size or 0) / useful) if useful else 1)

    def terms(self, size: int | None, n_kept: int | None) -> list[tuple[str, float]]:
        """Name the largest parts of what is needed at the peak, the largest first."""
        seen = self.method.training_shape(self.shape, size, n_kept)
        stage, _ = self._peak(size, n_kept)
        held = self._held(seen, size)
        # where no phase of the model is the peak, of what the method holds its own peak counts
        arrays = {_UNNAMED: max(held.peaks)}
        if stage in ("fit", "predict"):
            arrays = {**held.phases()[held.largest(stage)]}
        if _UNNAMED in arrays:
            arrays[_UNNAMED] -= seen.data_bytes
            arrays["X"] = seen.data_bytes
        named = {
            "X": f"the data of {seen.n:,} points",
            _UNNAMED: "what the method holds beside them",
        }
        parts = {named.get(name, name.replace("_", " ")): many for name, many in arrays.items()}
        if stage != "fit":
            rows = min(seen.scored, predicted_rows(seen))
            classes = f" x {seen.n_classes} classes" if seen.n_classes > 2 else ""
            reading = max(0, loading_bytes(seen) - max(held.peaks)) + handed_bytes(seen)
            parts[f"predictions of {rows:,} points{classes}"] = prediction_bytes(seen)
            parts["what reading takes"] = reading - prediction_bytes(seen)
        parts[f"{seen.n:,} targets"] = seen.n * (seen.label_bytes or 8)
        fixed = replace(seen, n_labeled=0, n_unlabeled=0)
        parts["a fixed part"] = standing_bytes(fixed, self.tuned)
        largest = sorted(parts.items(), key=lambda part: part[1], reverse=True)
        return [part for part in largest[:3] if part[1] > 0]


def settings_that_count(method: Method, space: Mapping[str, Distribution]) -> list[dict[str, Any]]:
    """Return the settings of a search whose bytes may be the most."""
    asked = set(method.storage_parameters).intersection(space)
    values = {name: [method.default(name), *space[name].grid(2)] for name in sorted(asked)}
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def _largest(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest size up to `high` that fits, by bisection; `low` does."""
    if low == high or fits(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
