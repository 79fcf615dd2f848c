"""What an estimator predicts, brought into one form and checked.

Scores have one column per class (one number for two classes), whatever classes the estimator saw;
labels follow from scores by scikit-learn's own rule, so no kernel is evaluated twice. `predict` is
asked only where there are no scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from harness.method import target_type


def predict(estimator: Any, X: np.ndarray, task: str, n_classes: int) -> dict[str, np.ndarray]:
    """Predict points that `fit` did not see.

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
    if task == "regression":
        return {"values": _numbers("predict", estimator.predict(X), (len(X),))}
    if task in ("binary", "multiclass"):
        for name in ("decision_function", "predict_proba"):
            if hasattr(estimator, name):
                raw = getattr(estimator, name)(X)
                return _from_scores(estimator, name, raw, len(X), n_classes)
    return {"labels": _labels("predict", estimator.predict(X), len(X))}


def transduction(
    estimator: Any, rows: slice, n: int, task: str, n_classes: int
) -> dict[str, np.ndarray] | None:
    """Return what `fit` left for some of the points that it saw, or None if it left nothing.

    Parameters
    ----------
    estimator : fitted estimator
    rows : slice
        Rows of the X of `fit` to return.
    n : int
        All rows of that X.
    task : str
    n_classes : int
    """
    if task == "clustering" and hasattr(estimator, "labels_"):
        return {"labels": _labels("labels_", estimator.labels_, n)[rows]}
    if task not in ("binary", "multiclass"):
        return None
    for name in ("decision_scores_", "label_distributions_"):
        if hasattr(estimator, name):
            found = _from_scores(estimator, name, getattr(estimator, name), n, n_classes)
            return {kind: values[rows] for kind, values in found.items()}
    if hasattr(estimator, "transduction_"):
        return {"labels": _labels("transduction_", estimator.transduction_, n)[rows]}
    return None


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


def _from_scores(
    estimator: Any, name: str, raw: Any, n: int, n_classes: int
) -> dict[str, np.ndarray]:
    classes = np.asarray(getattr(estimator, "classes_", np.arange(n_classes)))
    classes = classes[classes >= 0].astype(target_type(n_classes))
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
    # a class that no labeled point had ranks below every other
    full = np.full((n, n_classes), scores.min(initial=0.0) - 1)
    full[:, classes] = scores
    return {"scores": full, "labels": labels}


def _numbers(name: str, raw: Any, *shapes: tuple[int, ...]) -> np.ndarray:
    """Return what an estimator gave as an array of finite numbers of one of some shapes."""
    values = np.asarray(raw)
    if values.dtype.kind not in "fiub":
        message = f"{name} gave {type(raw).__name__} of {values.dtype}, not numbers"
        raise ValueError(message)
    if values.shape not in shapes:
        message = f"{name} gave shape {values.shape}, expected {' or '.join(map(str, shapes))}"
        raise ValueError(message)
    values = values.astype(np.float64, copy=False)
    bad = values.size - np.count_nonzero(np.isfinite(values))
    if bad:
        message = f"{name} gave {bad} values of {values.size} that are NaN or infinite"
        raise ValueError(message)
    return values


def _labels(name: str, raw: Any, n: int) -> np.ndarray:
    values = _numbers(name, raw, (n,))
    labels = values.astype(np.int64)
    if not np.array_equal(labels, values):
        message = f"{name} gave labels that are not whole numbers"
        raise ValueError(message)
    return labels
