"""How a method's size follows from a budget: by what the method holds, and the harness itself."""

from __future__ import annotations

import inspect
import itertools
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.datasets.buffers import reading_bytes
from harness.method import N_UNLABELED, Method, Shape, score_rows
from harness.space import Distribution
from harness.units import format_bytes

# What the interpreter allocates around any fit, and what a heap has between its blocks.
_FIXED_OVERHEAD = 1 << 18
# What a search has of its own: settings, scores, and the heap between two fits.
_SEARCH_OVERHEAD = 1 << 16


@dataclass(frozen=True)
class Plan:
    """The size a method gets at a budget, or why there is none.

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
    """

    size: int | None
    planned_bytes: int
    reason: str = ""
    outcome: str = "infeasible"

    @property
    def feasible(self) -> bool:
        """Whether there is a size that fits."""
        return not self.reason


def overhead_bytes(shape: Shape, tuned: bool = False) -> int:
    """Bytes that the harness itself holds in a trial: targets, row numbers, predictions.

    Row numbers are needed to read the data, not where these are mapped. A search predicts at most
    half of the labeled points at once.
    """
    targets = shape.n * (shape.label_bytes or 8)
    rows = 0 if shape.mapped else 8 * shape.n
    fixed = _FIXED_OVERHEAD + (_SEARCH_OVERHEAD if tuned else 0)
    block = reading_bytes(min(shape.block_rows, shape.n_test), shape.row_bytes)
    predicted = prediction_bytes(shape)
    if tuned:
        predicted = max(predicted, _predicted_bytes(shape, -(-shape.n_labeled // 2)))
    return targets + rows + predicted + block + fixed


def fold_bytes(shape: Shape) -> int:
    """Bytes of the labeled points that cross-validation copies where a fit is not split in two."""
    return shape.n_labeled * shape.row_bytes


def loading_bytes(shape: Shape) -> int:
    """Bytes of X and of what reading it holds; no method holds anything yet."""
    return shape.data_bytes + (0 if shape.mapped else reading_bytes(shape.n, shape.row_bytes))


def prediction_bytes(shape: Shape) -> int:
    """Bytes of predictions, a part of `overhead_bytes` that the harness holds after the fit.

    They are handed over block by block: scores and labels of one, in the estimator's type and in
    float64, whatever the number of points. A method whose fit holds more than its prediction may
    take them off what its fit holds.
    """
    return _predicted_bytes(shape, min(shape.scored, _predicted_rows(shape)))


def _predicted_rows(shape: Shape) -> int:
    """Rows of one block of predictions, of points that fit saw or of others."""
    return max(score_rows(shape.n_classes), shape.block_rows)


def _predicted_bytes(shape: Shape, rows: int) -> int:
    columns = shape.n_classes if shape.n_classes > 2 else 1
    return rows * (2 * 8 * columns + 16 + shape.label_bytes)


def plan(
    method: Method,
    shape: Shape,
    budget: int | None,
    params: Mapping[str, Any] | None = None,
    largest: int | None = None,
    tuned: bool = False,
    shown: int = 0,
    space: Mapping[str, Distribution] | None = None,
) -> Plan:
    """Find the largest size whose storage model fits a budget.

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

    Returns
    -------
    Plan
    """
    params, tuned = {**method.params, **(params or {})}, tuned or bool(space)
    settings = [params | setting for setting in _settings_that_count(method, space or {})]

    lacking = shown if shown > shape.n_unlabeled else 0
    shown = min(shown, shape.n_unlabeled)
    searched = replace(
        shape, n_labeled=shape.n_labeled + shown, n_unlabeled=shape.n_unlabeled - shown
    )

    def needed(size: int | None) -> int:
        fitted = method.seen(shape, size)
        # of the points that are kept, the search is shown the labels of some
        kept = max(0, size - shown) if method.size == N_UNLABELED else size
        shown_too = method.seen(searched, kept)
        if shown_too.n > fitted.n:  # more than the mapped rows: these are read
            shown_too = replace(shown_too, mapped=False)
        copies = tuned and not hasattr(method.estimator, "fit_features")
        peaks = [
            max(
                loading_bytes(seen),
                *(method.storage_bytes(seen, size, setting, tuned) for setting in settings),
            )
            + overhead_bytes(seen, tuned)
            + (fold_bytes(seen) if copies else 0)
            for seen in (fitted, shown_too)
        ]
        if shown_too.n > fitted.n:  # the points of the fit wait beside those of the search
            peaks[1] += fitted.data_bytes
        return max(peaks)

    if lacking:
        at_hand = f"there are {shape.n_unlabeled}"
        reason = f"tuning shows the labels of {lacking} unlabeled points; {at_hand}"
        return Plan(None, overhead_bytes(shape, tuned), reason)
    turned = method.size is not None and params.get(method.size, 0) is not None
    if not turned:
        low = high = None if method.size else 0
    elif method.size in params:
        low = high = int(params[method.size])
    elif method.size == N_UNLABELED:
        low, high = 1, max(1, shape.n_unlabeled)
    else:
        low, high = map(operator.index, method.sizes(method.seen(shape)))
    if largest is not None and turned:
        high = min(high, largest)
    if turned and high < low:
        least = "fixed at" if method.size in params else "at least"
        reason = f"{method.size} is {least} {low}, and here at most {high}"
        return Plan(None, needed(low), reason)
    if budget is None:
        return Plan(high if turned else None, needed(high))
    whole = [high] if turned and method.size == N_UNLABELED else []
    starts = {low, *whole, *(size for size in method.falls_at if turned and low < size <= high)}
    for start in sorted(starts, reverse=True):
        if needed(start) <= budget:
            size = _largest(lambda size: needed(size) <= budget, start, high)
            return Plan(size if turned else None, needed(size))
        high = start - 1 if turned else None
    fixed = method.size in params
    at = f" {'with' if fixed else 'at its smallest,'} {method.size} = {low}" if turned else ""
    reason = (
        f"needs {format_bytes(needed(low))}{at}, of which the data "
        f"{format_bytes(method.seen(shape, low).data_bytes)}; the budget is "
        f"{format_bytes(budget)}"
    )
    return Plan(None, needed(low), reason)


def _settings_that_count(
    method: Method, space: Mapping[str, Distribution]
) -> list[dict[str, Any]]:
    """Return the settings of a search whose bytes may be the most."""
    asked = set(inspect.signature(method.storage).parameters).intersection(space)
    values = {name: [method.default(name), *space[name].grid(2)] for name in sorted(asked)}
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def _largest(fits: Callable[[int], bool], low: int | None, high: int | None) -> int | None:
    """Return the largest size up to `high` that fits, by bisection; `low` does."""
    if low == high or fits(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
