"""What an estimator may be able to do besides `fit` and `predict`, and how the harness asks.

Each ability is a protocol, for authors and type checkers, and one function that answers whether an
estimator has it. The functions take an estimator or its class. They look an attribute up as Python
does, so a method that scikit-learn's `available_if` hides is not there; `isinstance` of a
`runtime_checkable` protocol finds it from Python 3.12 on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeGuard

if TYPE_CHECKING:
    import numpy as np

    from harness.layers import Layer


class SplitFit(Protocol):
    """A fit in two stages, so that a search computes the first one once.

    After `fit_labels`, the points whose label was held out have scores in `held_out_scores_`
    (classification) or values in `held_out_values_` (regression), in their order.
    """

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Learn what neither labels nor head parameters decide; `labeled` are row numbers."""

    def fit_labels(self, y: np.ndarray) -> Any:
        """Learn the rest from one y for each labeled row, -1 or NaN where it is held out."""

    def set_params(self, **params: Any) -> Self:
        """Set head parameters between two calls of `fit_labels`."""


class StepwiseFit(Protocol):
    """A fit that can be paused at checkpoints."""

    def fit_steps(self, X: np.ndarray, y: np.ndarray) -> Iterator[Any]:
        """Yield after each step; exhausted, it is `fit` but for `finish_fit`."""


class LearnsInParts(Protocol):
    """A fit that is given points a part at a time, each of them once."""

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> Any:
        """Learn from some more points; `classes` are all that y will ever hold."""


class FinishedFit(Protocol):
    """A fit in steps that has work left where it stops."""

    def finish_fit(self) -> Any:
        """Do what only a fit that stops must do, all of it whenever called."""


class Diagnosed(Protocol):
    """A fitted estimator that says how far it has come."""

    def diagnostics(self, X: np.ndarray) -> Mapping[str, float]:
        """Return finite numbers by name, such as the error of an approximation."""


class Layered(Protocol):
    """An estimator that says what its scores of new points are made of."""

    def layers(self) -> Sequence[Layer]:
        """Return what turns rows into scores, values, or a column a cluster."""


SCORE_METHODS = ("decision_function", "predict_proba")
"""Scores of new points; the first that there is."""

SCORE_ATTRIBUTES = ("decision_scores_", "label_distributions_")
"""Scores that `fit` left for its own points; the first that there is."""

PROBABILITIES = frozenset({"predict_proba", "label_distributions_"})
"""Scores that are probabilities of classes; they come first where these are asked for."""

_LABELS = "transduction_"
_CLUSTERS = "labels_"


def splits_fit(estimator: object) -> TypeGuard[SplitFit]:
    """Return whether the fit is split in two."""
    return hasattr(estimator, "fit_features") and hasattr(estimator, "fit_labels")


def fits_in_steps(estimator: object) -> TypeGuard[StepwiseFit]:
    """Return whether the fit can be paused."""
    return hasattr(estimator, "fit_steps")


def learns_in_parts(estimator: object) -> TypeGuard[LearnsInParts]:
    """Return whether points may be given a part at a time.

    Parameters
    ----------
    estimator : estimator
        As it is set, for a method that depends on parameters is hidden by some of them.
    """
    return hasattr(estimator, "partial_fit")


def takes_sparse(estimator: object) -> bool:
    """Return whether an estimator, as it is set, takes a sparse X: what its tags say.

    Parameters
    ----------
    estimator : estimator
        Its `__sklearn_tags__().input_tags.sparse` is asked; one without tags takes dense data.
    """
    tags = getattr(estimator, "__sklearn_tags__", None)
    return tags is not None and bool(tags().input_tags.sparse)


def takes_scaled_integers(estimator: object) -> bool:
    """Return whether an estimator, as it is set, takes small integers that stand for numbers.

    Parameters
    ----------
    estimator : estimator
        Its `takes_scaled_integers` is asked; one without it is given numbers.
    """
    return bool(getattr(estimator, "takes_scaled_integers", False))


def finishes_fit(estimator: object) -> TypeGuard[FinishedFit]:
    """Return whether a fit in steps has work left where it stops."""
    return hasattr(estimator, "finish_fit")


def diagnoses(estimator: object) -> TypeGuard[Diagnosed]:
    """Return whether the estimator says how far it has come."""
    return hasattr(estimator, "diagnostics")


def layers_of(estimator: object) -> Sequence[Layer] | None:
    """Return what scores of new points are made of; None if the estimator does not say."""
    layers = getattr(estimator, "layers", None)
    return None if layers is None else layers()


def scorer(
    estimator: object, probabilities: bool = False
) -> tuple[str, Callable[[np.ndarray], Any]] | None:
    """Return the method that scores new points, with its name; None if there are only labels.

    Parameters
    ----------
    estimator : fitted estimator or class
    probabilities : bool, default False
        Whether a method that gives probabilities is taken, if there is one.
    """
    return _first(estimator, _ordered(SCORE_METHODS, probabilities))


def predicts_new_rows(estimator: object) -> bool:
    """Return whether points can be predicted that `fit` did not see."""
    return scorer(estimator) is not None or hasattr(estimator, "predict")


def fitted_predictions(
    estimator: object, task: str, probabilities: bool = False
) -> tuple[str, Any] | None:
    """Return what `fit` left for its own points, with its name; scores before labels.

    Parameters
    ----------
    estimator : fitted estimator
    task : str
        Regression has none of it.
    probabilities : bool, default False
        Whether probabilities are taken, if there are some.
    """
    if task == "clustering":
        return _first(estimator, (_CLUSTERS,))
    if task in ("binary", "multiclass"):
        return _first(estimator, (*_ordered(SCORE_ATTRIBUTES, probabilities), _LABELS))
    return None


def transduced_labels(estimator: object) -> Any:
    """Return the labels that `fit` left for its own points; None if there are none."""
    return getattr(estimator, _LABELS, None)


def fitted_classes(estimator: object, n_classes: int) -> np.ndarray:
    """Return the classes in the order of the scores' columns: all of them if it does not say."""
    import numpy as np

    return np.asarray(getattr(estimator, "classes_", np.arange(n_classes)))


def _ordered(names: tuple[str, ...], probabilities: bool) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: probabilities and name not in PROBABILITIES))


def _first(estimator: object, names: tuple[str, ...]) -> tuple[str, Any] | None:
    for name in names:
        if hasattr(estimator, name):
            return name, getattr(estimator, name)
    return None
