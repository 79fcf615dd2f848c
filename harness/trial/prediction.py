"""What an estimator predicts, brought into one form and checked, a block of points at a time.

Scores have one column per class (one number for two classes), whatever classes the estimator saw;
labels follow from scores by scikit-learn's own rule, so no kernel is evaluated twice. `predict` is
asked only where there are no scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.datasets import Features
from harness.plugin.abilities import (
    PROBABILITIES,
    SCORE_ATTRIBUTES,
    fitted_classes,
    fitted_predictions,
    scorer,
)
from harness.plugin.method import NO_SCORE
from harness.plugin.shape import score_rows, target_type


def predict(
    estimator: Any, X: Features, task: str, n_classes: int, probabilities: bool = False
) -> dict[str, np.ndarray]:
    """Predict points that `fit` did not see.

    Parameters
    ----------
    estimator : fitted estimator
    X : (n, d) array
    task : str
    n_classes : int
    probabilities : bool, default False
        Whether scores are probabilities, if the estimator has some.

    Returns
    -------
    dict
        "values" (n,) for regression; "labels" (n,) and, where the estimator has them, "scores"
        (n,) or (n, n_classes) otherwise. Labels that follow from scores are of `target_type`.

    Raises
    ------
    ValueError
        If what the estimator returns has another shape or type, or is not finite.
    """
    n = X.shape[0]
    if task == "regression":
        return {"values": _numbers("predict", estimator.predict(X), (n,))}
    if task in ("binary", "multiclass"):
        scoring = scorer(estimator, probabilities)
        if scoring is not None:
            name, score = scoring
            return _from_scores(estimator, name, score(X), n, n_classes)
    return {"labels": _labels("predict", estimator.predict(X), n)}


@dataclass(frozen=True)
class Transduction:
    """What `fit` left for the points that it saw: nothing of it is copied until it is asked for.

    Attributes
    ----------
    estimator : fitted estimator
    name : str
        The attribute that holds it.
    raw : ndarray of shape (n,) or (n, columns)
        As the estimator holds it.
    n_classes : int
    """

    estimator: Any
    name: str
    raw: np.ndarray
    n_classes: int

    @property
    def has_scores(self) -> bool:
        """Whether there are scores, or labels only."""
        return self.name in SCORE_ATTRIBUTES

    def rows(self, rows: slice | np.ndarray) -> dict[str, np.ndarray]:
        """Return what there is for some rows of the X of `fit`, as `predict` does."""
        part = self.raw[rows]
        if self.has_scores:
            return _from_scores(self.estimator, self.name, part, len(part), self.n_classes)
        return {"labels": _labels(self.name, part, len(part))}

    def blocks(self, rows: slice) -> Iterator[dict[str, np.ndarray]]:
        """Return the same for consecutive rows, a block at a time."""
        step = score_rows(self.n_classes)
        for start in range(rows.start, rows.stop, step):
            yield self.rows(slice(start, min(start + step, rows.stop)))


def transduction(
    estimator: Any, n: int, task: str, n_classes: int, probabilities: bool = False
) -> Transduction | None:
    """Find what `fit` left for the points that it saw; None if it left nothing.

    Parameters
    ----------
    estimator : fitted estimator
    n : int
        Rows of the X of `fit`.
    task : str
    n_classes : int
    probabilities : bool, default False
        Whether scores are probabilities, if the estimator has some.

    Raises
    ------
    ValueError
        If it is not numbers, or not of `n` points.
    """
    left = fitted_predictions(estimator, task, probabilities)
    if left is None:
        return None
    name, raw = left[0], _array(*left)
    classes = len(_classes(estimator, n_classes))
    one_score = name not in SCORE_ATTRIBUTES or classes == 2
    shapes = [(n,)] * one_score + [(n, classes)] * (name in SCORE_ATTRIBUTES)
    return Transduction(estimator, name, _of_shape(name, raw, *shapes), n_classes)


def named(part: dict[str, np.ndarray], *sources: str | None) -> dict[str, np.ndarray]:
    """Call scores probabilities if they are, wherever they come from.

    Parameters
    ----------
    part : dict of str to array
        As `predict` returns it.
    *sources : str or None
        Methods and attributes of all parts; None of one without scores.
    """
    if "scores" not in part or not set(sources) <= PROBABILITIES:
        return part
    return {"probabilities" if name == "scores" else name: part[name] for name in part}


def join(parts: Iterable[dict[str, np.ndarray]], total: int) -> dict[str, np.ndarray]:
    """Join predictions of `total` points in place; what some part lacks is left out."""
    joined: dict[str, np.ndarray] = {}
    start = 0
    for part in parts:
        if not start:
            joined = {
                kind: np.empty((total, *values.shape[1:]), values.dtype)
                for kind, values in part.items()
            }
        joined = {kind: values for kind, values in joined.items() if kind in part}
        stop = start + len(next(iter(part.values())))
        for kind, values in joined.items():
            values[start:stop] = part[kind]
        start = stop
    return dict(sorted(joined.items()))


def held_out_predictions(
    estimator: Any, n_held_out: int, task: str, n_classes: int
) -> dict[str, np.ndarray]:
    """Return what `fit_labels` left for the points whose label it was not given."""
    if task == "regression":
        values = estimator.held_out_values_
        return {"values": _numbers("held_out_values_", values, (n_held_out,))}
    raw = estimator.held_out_scores_
    return _from_scores(estimator, "held_out_scores_", raw, n_held_out, n_classes)


def _classes(estimator: Any, n_classes: int) -> np.ndarray:
    classes = fitted_classes(estimator, n_classes)
    return classes[classes >= 0].astype(target_type(n_classes))


def _from_scores(
    estimator: Any, name: str, raw: Any, n: int, n_classes: int
) -> dict[str, np.ndarray]:
    classes = _classes(estimator, n_classes)
    one_score = [(n,)] if len(classes) == 2 else []
    scores = _numbers(name, raw, *one_score, (n, len(classes)))
    if scores.ndim == 1:
        labels = np.where(scores > 0, classes[1], classes[0])
        if n_classes == 2:
            return {"scores": scores, "labels": labels}
        scores = np.column_stack([-scores, scores])
    else:
        labels = classes[scores.argmax(axis=1)]
    if n_classes == 2 and len(classes) == 2:
        return {"scores": scores[:, 1] - scores[:, 0], "labels": labels}
    if len(classes) == n_classes and np.array_equal(classes, np.arange(n_classes)):
        return {"scores": scores, "labels": labels}
    # a class that no labeled point had ranks below every other, and alike in every block
    full = np.full((n, n_classes), NO_SCORE)
    full[:, classes] = scores
    return {"scores": full, "labels": labels}


def _numbers(name: str, raw: Any, *shapes: tuple[int, ...]) -> np.ndarray:
    """Return what an estimator gave as an array of finite numbers of one of some shapes."""
    values = _of_shape(name, _array(name, raw), *shapes).astype(np.float64, copy=False)
    bad = values.size - np.count_nonzero(np.isfinite(values))
    if bad:
        message = f"{name} gave {bad} values of {values.size} that are NaN or infinite"
        raise ValueError(message)
    return values


def _array(name: str, raw: Any) -> np.ndarray:
    values = np.asarray(raw)
    if values.dtype.kind not in "fiub":
        message = f"{name} gave {type(raw).__name__} of {values.dtype}, not numbers"
        raise ValueError(message)
    return values


def _of_shape(name: str, values: np.ndarray, *shapes: tuple[int, ...]) -> np.ndarray:
    if values.shape not in shapes:
        message = f"{name} gave shape {values.shape}, expected {' or '.join(map(str, shapes))}"
        raise ValueError(message)
    return values


def _labels(name: str, raw: Any, n: int) -> np.ndarray:
    values = _numbers(name, raw, (n,))
    labels = values.astype(np.int64)
    if not np.array_equal(labels, values):
        message = f"{name} gave labels that are not whole numbers"
        raise ValueError(message)
    return labels
