"""What a method is, and how its size follows from a budget.

A `Method` joins an ordinary scikit-learn estimator to what the harness must know about it: the one
integer parameter that trades memory for quality or time (the *size*), and the bytes that fit and
prediction hold at their peak as a function of shape and size (the *storage model*). `plan` then
finds the largest size that fits a budget; no plugin solves for its own size.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from harness.datasets.buffers import reading_bytes
from harness.space import Distribution
from harness.units import format_bytes

if TYPE_CHECKING:
    import numpy as np

TASKS = ("binary", "multiclass", "regression", "clustering")
SIZE_TRADES = ("quality", "time")
PREDICT_BLOCK = 1024
"""Rows that the harness hands to one call of `decision_function` or `predict`."""

N_UNLABELED = "n_unlabeled"
"""The size of a method that keeps a subsample of the unlabeled points instead of a parameter."""

# What the interpreter allocates around any fit, and what a heap has between its blocks.
_FIXED_OVERHEAD = 1 << 18
# What a search has of its own: settings, scores, and the heap between two fits.
_SEARCH_OVERHEAD = 1 << 16


@dataclass(frozen=True)
class Shape:
    """What is known of a trial before any data is loaded.

    Parameters
    ----------
    n_labeled, n_unlabeled : int
        Points that `fit` sees, with and without a label.
    n_features : int
        Columns of X.
    n_classes : int
        Number of classes (or clusters); 0 for regression.
    n_test : int, default 0
        Points that are predicted but not seen by `fit`.
    itemsize : int, default 8
        Bytes of one element of X.
    mapped : bool, default False
        Whether X is mapped from its file, so that `fit`'s X is not charged.
    n_scored : int or None, default None
        Points whose predictions are handed over. None: those that `fit` does not see, or the
        unlabeled ones where it sees all.
    """

    n_labeled: int
    n_unlabeled: int
    n_features: int
    n_classes: int
    n_test: int = 0
    itemsize: int = 8
    mapped: bool = False
    n_scored: int | None = None

    @property
    def scored(self) -> int:
        """Points whose predictions are handed over."""
        return (self.n_test or self.n_unlabeled) if self.n_scored is None else self.n_scored

    @property
    def n(self) -> int:
        """Points that `fit` sees."""
        return self.n_labeled + self.n_unlabeled

    @property
    def data_bytes(self) -> int:
        """Bytes of the X that `fit` is given."""
        return 0 if self.mapped else self.n * self.row_bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of X."""
        return self.n_features * self.itemsize

    @property
    def block_bytes(self) -> int:
        """Bytes of one block of rows handed to prediction."""
        return min(PREDICT_BLOCK, max(self.n, self.n_test)) * self.row_bytes


def _whole_sample(shape: Shape) -> tuple[int, int]:
    return 1, shape.n


@dataclass(frozen=True)
class Method:
    """A named learner: an estimator and what the harness must know to budget and tune it.

    Parameters
    ----------
    name : str
        Lower case with hyphens; what study files and tables call it.
    estimator : type
        A scikit-learn estimator class. `fit(X, y)` gets -1 (classification) or NaN (regression)
        where a point has no label, and labels 0 .. n_classes - 1 elsewhere.
    storage : callable (Shape, size, **params) -> bytes
        Bytes held at the peak of fit and prediction, X included. It must not fall as size grows,
        but at `falls_at` and, if the size is "n_unlabeled", where it is all unlabeled points.
        Parameters of the estimator that it names as further arguments are passed to it, and
        `tuned`: whether parameters are searched by cross-validation.
    size : str or None, default None
        The estimator's integer parameter that the plan turns. "n_unlabeled" means that the
        harness keeps the largest uniform subsample of the unlabeled points that fits, and
        predicts the rest out of sample. None: nothing can be turned.
    sizes : callable Shape -> (smallest, largest), default 1 to n
        The range of sizes that make sense.
    falls_at : sequence of int, default none
        Sizes that may need less than those below, as where another solver takes over.
    size_trades : {"quality", "time"}, default "quality"
        What the size trades memory for. One that trades for time alone, such as the rows of a
        cache, is not bounded by a budget of landmarks.
    tasks : set of str
        Any of "binary", "multiclass", "regression", "clustering".
    space : mapping of str to Distribution, default {}
        Parameters that are tuned, and over what range.
    label_params : set of str, default empty
        Parameters that only `fit_labels` reads, of an estimator that splits its fit in two: a
        search then computes once what serves all of their values.
    params : mapping, default {}
        Parameters held at values other than the estimator's defaults.
    uses_unlabeled : bool, default True
        False for supervised methods: `fit` is then given the labeled points only, and X of that
        size is all they are charged for.
    oracle : bool, default False
        A control whose predictions are replaced by the truth when they are scored.
    reference : str, default ""
        Where the method is from.
    """

    name: str
    estimator: type
    storage: Callable[..., float]
    size: str | None = None
    sizes: Callable[[Shape], tuple[int, int]] = _whole_sample
    falls_at: Sequence[int] = ()
    size_trades: str = "quality"
    tasks: frozenset[str] = frozenset({"binary"})
    space: Mapping[str, Distribution] = field(default_factory=dict)
    label_params: frozenset[str] = frozenset()
    params: Mapping[str, Any] = field(default_factory=dict)
    uses_unlabeled: bool = True
    oracle: bool = False
    reference: str = ""
    parameters: frozenset[str] = field(init=False, repr=False, compare=False)
    """Names that the estimator's constructor accepts."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", frozenset(self.tasks))
        object.__setattr__(self, "label_params", frozenset(self.label_params))
        # here and not in each trial: looking it up copies a thousand pages of a forked child
        accepted = frozenset(inspect.signature(self.estimator).parameters)
        object.__setattr__(self, "parameters", accepted)
        unknown = self.tasks - set(TASKS)
        if unknown or not self.tasks:
            message = f"method {self.name!r}: tasks {sorted(unknown)} are not among {TASKS}"
            raise ValueError(message)
        if self.size_trades not in SIZE_TRADES:
            message = f"method {self.name!r}: size_trades {self.size_trades!r} is not "
            raise ValueError(message + " or ".join(map(repr, SIZE_TRADES)))
        sized = {self.size} - {None, N_UNLABELED}
        for name in {*sized, *self.space, *self.params, *self.label_params}:
            if name not in accepted:
                message = f"method {self.name!r}: {self.estimator.__name__} has no {name!r}"
                raise ValueError(message)
        if self.label_params and not hasattr(self.estimator, "fit_labels"):
            message = f"method {self.name!r}: label_params need an estimator with fit_labels"
            raise ValueError(message)

    @property
    def counts_landmarks(self) -> bool:
        """Whether a budget of landmarks bounds the size: not a subsample, nor a cache."""
        return self.size_trades == "quality" and self.size != N_UNLABELED

    @property
    def defaults(self) -> dict[str, Any]:
        """The values that tuned parameters have where they are not tuned."""
        accepted = inspect.signature(self.estimator).parameters
        return {name: self.params.get(name, accepted[name].default) for name in self.space}

    def storage_bytes(
        self, shape: Shape, size: int, params: Mapping[str, Any], tuned: bool = False
    ) -> int:
        """Bytes at the peak for one size, with the estimator's parameters where it asks."""
        names = list(inspect.signature(self.storage).parameters)[2:]
        given = {**params, "tuned": tuned}
        wanted = {name: value for name, value in given.items() if name in names}
        return int(self.storage(shape, size, **wanted))

    def seen(self, shape: Shape, size: int | None = None) -> Shape:
        """Return the shape that `fit` sees: labeled points only, a subsample, or everything."""
        if not self.uses_unlabeled:
            kept = 0
        elif self.size == N_UNLABELED and size is not None:
            kept = size
        else:
            return shape
        unseen = shape.n_test + shape.n_unlabeled - kept
        return replace(shape, n_unlabeled=kept, n_test=unseen, n_scored=shape.scored)


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
    """

    size: int | None
    planned_bytes: int
    reason: str = ""

    @property
    def feasible(self) -> bool:
        """Whether there is a size that fits."""
        return not self.reason


def overhead_bytes(shape: Shape, tuned: bool = False) -> int:
    """Bytes that the harness itself holds in a trial: targets, row numbers, predictions.

    Row numbers are needed to read the data, not where these are mapped. Checkpoints add nothing:
    what is predicted at one is sent and let go before the fit goes on. Cross-validation of a
    supervised method also copies the labeled points of each fold.
    """
    targets = shape.n * (_label_bytes(shape) or 8)
    rows = 0 if shape.mapped else 8 * shape.n
    folds = shape.n_labeled * shape.row_bytes + _SEARCH_OVERHEAD
    fixed = _FIXED_OVERHEAD + (folds if tuned else 0)
    block = reading_bytes(min(PREDICT_BLOCK, shape.n_test), shape.row_bytes)
    return targets + rows + prediction_bytes(shape) + block + fixed


def loading_bytes(shape: Shape) -> int:
    """Bytes of X and of what reading it holds; no method holds anything yet."""
    return shape.data_bytes + (0 if shape.mapped else reading_bytes(shape.n, shape.row_bytes))


def prediction_bytes(shape: Shape) -> int:
    """Bytes of the predictions, a part of `overhead_bytes` that the harness holds after the fit.

    A method whose fit holds more than its prediction may take them off what its fit holds.
    """
    columns = shape.n_classes if shape.n_classes > 2 else 1
    return shape.scored * (8 * columns + _label_bytes(shape))


def _label_bytes(shape: Shape) -> int:
    return target_type(shape.n_classes).itemsize if shape.n_classes else 0


def target_type(n_classes: int) -> np.dtype:
    """Return the smallest integer type that holds -1 and all classes: one byte for up to 128."""
    import numpy as np

    return np.min_scalar_type(-max(1, n_classes))


def plan(
    method: Method,
    shape: Shape,
    budget: int | None,
    params: Mapping[str, Any] | None = None,
    largest: int | None = None,
    tuned: bool = False,
    shown: int = 0,
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

    Returns
    -------
    Plan
    """
    params = {**method.params, **(params or {})}

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
        peaks = [
            max(method.storage_bytes(seen, size, params, tuned), loading_bytes(seen))
            + overhead_bytes(seen, tuned)
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
        low, high = method.sizes(method.seen(shape))
    if largest is not None and turned:
        high = min(high, largest)
    if turned and high < low:
        reason = f"needs a size of at least {low}, at most {high} is possible"
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
    at = f" at its smallest size {low}" if turned else ""
    reason = (
        f"needs {format_bytes(needed(low))}{at}, of which the data "
        f"{format_bytes(method.seen(shape, low).data_bytes)}; the budget is "
        f"{format_bytes(budget)}"
    )
    return Plan(None, needed(low), reason)


def _largest(fits: Callable[[int], bool], low: int | None, high: int | None) -> int | None:
    """Return the largest size up to `high` that fits, by bisection; `low` does."""
    if low == high or fits(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
