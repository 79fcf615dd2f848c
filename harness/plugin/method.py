"""What a method is to the harness.

A `Method` joins an ordinary scikit-learn estimator to what the harness must know about it: the one
integer parameter that trades memory for quality or time (the *size*), and the bytes that fit and
prediction hold at their peak as a function of shape and size (the *storage model*).
`harness.planning.size` finds the largest size that fits a budget; no plugin solves for its own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from harness.errors import HarnessError
from harness.plugin.abilities import (
    learns_in_parts,
    splits_fit,
    takes_scaled_integers,
    takes_sparse,
)
from harness.plugin.search_space import Distribution
from harness.plugin.shape import Shape
from harness.plugin.storage import Arrays, Peaks, Storage

TASKS = ("binary", "multiclass", "regression", "clustering")
SIZE_TRADES = ("quality", "time")
LOOKS = ("fit", "predict")
CONTROLS = ("", "chance", "truth")
NO_SCORE = -(2 - 2**-23) * 2.0**127
"""The score of a class that no labeled point had: the least that float32 has."""

N_UNLABELED = "n_unlabeled"
"""The size of a method that keeps a subsample of the unlabeled points instead of a parameter."""


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
    storage : callable (Shape, size, **params) -> Storage or bytes, default None
        Arrays held in each phase of fit and prediction, X included, or bytes at the peak of both.
        None: the harness learns it, by measuring trials (`harness.planning.learned`).
        They must not fall as size grows, but at `non_monotone_at` and, if the size is
        "n_unlabeled", where it is all unlabeled points.
        Parameters of the estimator that it names as further arguments are passed to it, and
        `tuned`: whether parameters are searched by cross-validation, and `paused`: whether
        `fit_steps` is paused at checkpoints and asked for predictions.
    size : str or None, default None
        The estimator's integer parameter that the plan turns. "n_unlabeled" means that the
        harness keeps the largest uniform subsample of the unlabeled points that fits, and
        predicts the rest out of sample. None: nothing can be turned.
    sizes : callable Shape -> (smallest, largest), default 1 to n
        The range of sizes that make sense.
    non_monotone_at : sequence of int, default none
        Sizes that may need less than those below, as where another solver takes over.
    enough : int, default 100
        The smallest useful size. A budget in which it does not fit with all unlabeled points is
        one for a subsample of them.
    size_affects : {"quality", "time"}, default "quality"
        What the size trades memory for. One that trades for time alone, such as the rows of a
        cache, is not bounded by a budget of landmarks.
    tasks : set of str
        Any of "binary", "multiclass", "regression", "clustering".
    space : mapping of str to Distribution, default {}
        Parameters that are tuned, and over what range.
    head_params : set of str, default empty
        Parameters that only `fit_labels` reads, of an estimator that splits its fit in two: a
        search then computes once what serves all of their values.
    params : mapping, default {}
        Parameters held at values other than the estimator's defaults.
    uses_unlabeled : bool, default True
        False for supervised methods: `fit` is then given the labeled points only, and X of that
        size is all they are charged for.
    features : set of str, default {"fit", "predict"}
        What looks at features. `fit` gets zeros that take no memory in place of an X that it does
        not look at, prediction does for rows that it does not look at, and nothing is read.
    control : str, default ""
        What a method is a control for, which reports show and do not rank: "chance", for what
        scores are without learning, or "truth": its predictions are replaced by the truth when
        they are scored.
    reference : str, default ""
        Where the method is from.
    """

    name: str
    estimator: type
    storage: Callable[..., Storage | float] | None = None
    size: str | None = None
    sizes: Callable[[Shape], tuple[int, int]] = _whole_sample
    non_monotone_at: Sequence[int] = ()
    enough: int = 100
    size_affects: str = "quality"
    tasks: Set[str] = frozenset({"binary"})
    space: Mapping[str, Distribution] = field(default_factory=dict)
    head_params: Set[str] = frozenset()
    params: Mapping[str, Any] = field(default_factory=dict)
    uses_unlabeled: bool = True
    features: Set[str] = frozenset(LOOKS)
    control: str = ""
    reference: str = ""
    parameters: frozenset[str] = field(init=False, repr=False, compare=False)
    """Names that the estimator's constructor accepts."""

    def __post_init__(self) -> None:
        for name in ("tasks", "head_params", "features"):
            value = getattr(self, name)
            if isinstance(value, str):
                message = f"method {self.name!r}: {name} = {value!r}; give a set, {{{value!r}}}"
                raise ValueError(message)
            object.__setattr__(self, name, frozenset(value))
        for name, over in self.space.items():
            if not isinstance(over, Distribution):
                message = f"method {self.name!r}: space[{name!r}] is {over!r}; allowed are "
                raise ValueError(
                    message + "uniform(low, high), log_uniform(low, high) and choice(values)"
                )
        # here and not in each trial: looking it up copies a thousand pages of a forked child
        accepted = frozenset(self.accepted)
        object.__setattr__(self, "parameters", accepted)
        unknown = self.tasks - set(TASKS)
        if unknown or not self.tasks:
            message = f"method {self.name!r}: tasks {sorted(unknown)} are not among {TASKS}"
            raise ValueError(message)
        if self.size_affects not in SIZE_TRADES:
            message = f"method {self.name!r}: size_affects {self.size_affects!r} is not "
            raise ValueError(message + " or ".join(map(repr, SIZE_TRADES)))
        if self.control not in CONTROLS:
            message = f"method {self.name!r}: control {self.control!r} is not "
            raise ValueError(message + " or ".join(map(repr, CONTROLS)))
        sized = {self.size} if self.size not in (None, N_UNLABELED) else set()
        for name in {*sized, *self.space, *self.params, *self.head_params}:
            if name not in accepted:
                message = f"method {self.name!r}: {self.estimator.__name__} has no {name!r}"
                raise ValueError(message)
        unknown = self.features - set(LOOKS)
        if unknown or (self.space and "fit" not in self.features):
            message = f"method {self.name!r}: features {sorted(self.features)} are not of {LOOKS}"
            if not unknown:
                message = f"method {self.name!r}: a search over {sorted(self.space)} needs the "
                message += 'features of "fit"'
            raise ValueError(message)
        if self.head_params and not splits_fit(self.estimator):
            message = f"method {self.name!r}: head_params need an estimator with fit_features "
            raise ValueError(message + "and fit_labels")

    @property
    def bounded_by_landmarks(self) -> bool:
        """Whether a budget of landmarks bounds the size: not a subsample, nor a cache."""
        return self.size_affects == "quality" and self.size not in (None, N_UNLABELED)

    @property
    def learns_storage(self) -> bool:
        """Whether there is no storage model, so that one has to be learned."""
        return self.storage is None

    @property
    def storage_model(self) -> Callable[..., Storage | float]:
        """The storage model; raises HarnessError where it is still to be learned."""
        if self.storage is None:
            raise HarnessError(f"{self.name} has no storage model: it is still to be learned")
        return self.storage

    def learned(self, storage: Callable[..., Storage]) -> Method:
        """Return the same method with a storage model that was learned."""
        return replace(self, storage=storage)

    def default(self, name: str) -> Any:
        """Return the value that a parameter has where it is neither fixed nor tuned."""
        return self.params.get(name, self.accepted[name].default)

    @property
    def accepted(self) -> Mapping[str, inspect.Parameter]:
        """Parameters of the estimator."""
        return _parameters(self.estimator)

    @property
    def storage_parameters(self) -> Sequence[str]:
        """What the storage model is told besides shape and size."""
        return list(_parameters(self.storage_model))[2:]

    @property
    def may_subsample(self) -> bool:
        """Whether unlabeled points may be given up beside the size."""
        return self.uses_unlabeled and self.size != N_UNLABELED

    def held(
        self,
        shape: Shape,
        size: int | None,
        params: Mapping[str, Any],
        tuned: bool = False,
        paused: bool = False,
    ) -> Storage:
        """Return what is held in each phase; one phase for all where a model does not tell."""
        # as `make_estimator` sets it
        clusters = {"n_clusters": shape.n_classes} if shape.n_classes else {}
        given = {**clusters, **params, "tuned": tuned, "paused": paused}
        wanted = {name: value for name, value in given.items() if name in self.storage_parameters}
        held = self.storage_model(shape, size, **wanted)
        return held if isinstance(held, Storage) else Storage({"peak": Arrays(all=held)})

    def peaks(
        self,
        shape: Shape,
        size: int | None,
        params: Mapping[str, Any],
        tuned: bool = False,
        paused: bool = False,
    ) -> Peaks:
        """Bytes at the peaks of fit and prediction; the same where a model does not tell."""
        return Peaks(*map(int, self.held(shape, size, params, tuned, paused).peaks))

    def takes_sparse(self, params: Mapping[str, Any]) -> bool:
        """Return whether X may be sparse: of an estimator that looks at it, if its tags say so.

        Parameters
        ----------
        params : mapping
            Fixed by a study; tags may depend on them, as on a kernel.
        """
        return not self.features or takes_sparse(self._set(params))

    def takes_scaled_integers(self, params: Mapping[str, Any]) -> bool:
        """Return whether X may be small integers that stand for numbers, with fixed parameters."""
        return takes_scaled_integers(self._set(params))

    def learns_in_parts(self, params: Mapping[str, Any]) -> bool:
        """Return whether points may be given a part at a time, with these parameters."""
        return learns_in_parts(self._set(params))

    def _set(self, params: Mapping[str, Any]) -> Any:
        given = {name: value for name, value in params.items() if name in self.parameters}
        return self.estimator(**{**self.params, **given})

    def training_shape(
        self, shape: Shape, size: int | None = None, n_kept: int | None = None
    ) -> Shape:
        """Return the shape that `fit` sees: labeled points only, a subsample, or everything.

        Parameters
        ----------
        shape : Shape
            All points of the trial.
        size : int, optional
            Counts where it is the number of unlabeled points that are kept.
        n_kept : int, optional
            Unlabeled points that are kept beside a size; all by default.
        """
        kept = shape.n_unlabeled if n_kept is None else n_kept
        if not self.uses_unlabeled or shape.part is not None:
            kept = 0
        elif self.size == N_UNLABELED and size is not None:
            kept = size
        loaded = "fit" in self.features
        if kept == shape.n_unlabeled and loaded:
            return shape
        unseen = shape.n_test or shape.n_unlabeled - (kept if loaded else 0)
        return replace(
            shape, n_unlabeled=kept, n_test=unseen, n_scored=shape.scored, loaded=loaded
        )


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return _known_parameters(function)
    except TypeError:  # a model that was learned has no hash
        return inspect.signature(function).parameters


@functools.cache
def _known_parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Kept beside the method, which is pickled: a study of many cells asks for each."""
    return inspect.signature(function).parameters
