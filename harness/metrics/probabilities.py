"""Metrics of predicted probabilities: what a method says of its own certainty.

They are for methods that give probabilities (`predict_proba`, `label_distributions_`). Scores of
another kind are not turned into some, as scikit-learn's scorers do not either.
"""

from __future__ import annotations

import numpy as np

CALIBRATION_BINS = 15


def as_probabilities(scores: np.ndarray, absent: float) -> np.ndarray:
    """Return probabilities of all classes from how the harness hands them over.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, n_classes)
        Of two classes the difference of their probabilities.
    absent : float
        What stands for a class that no labeled point had.

    Returns
    -------
    ndarray of shape (n, n_classes)
    """
    if scores.ndim == 1:
        return np.column_stack([(1 - scores) / 2, (1 + scores) / 2])
    return np.where(scores == absent, 0.0, scores)


def log_loss(y_true: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean negative logarithm of the probability of the right class, in nats.

    A probability of 0 counts as 2e-16, as in scikit-learn.
    """
    least = np.finfo(float).eps
    right = np.clip(_of_class(y_true, probabilities), least, 1 - least)
    return float(-np.log(right).mean())


def brier_score(y_true: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean squared error of probabilities (Brier 1950); of two classes, that of the second alone.

    Of more it is summed over the classes, as in scikit-learn.
    """
    if probabilities.shape[1] == 2:
        return float(np.mean((probabilities[:, 1] - (y_true == 1)) ** 2))
    squares = np.square(probabilities).sum(axis=1)
    return float(np.mean(squares - 2 * _of_class(y_true, probabilities) + 1))


def expected_calibration_error(y_true: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean distance of certainty from accuracy, in 15 bins of equal width (Guo et al. 2017).

    Certainty is the probability of the predicted class.
    """
    certainty = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == y_true
    bins = np.clip(np.ceil(certainty * CALIBRATION_BINS).astype(int) - 1, 0, CALIBRATION_BINS - 1)
    gaps = np.bincount(bins, certainty - right, CALIBRATION_BINS)
    return float(np.abs(gaps).sum() / len(y_true))


def _of_class(y_true: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    return probabilities[np.arange(len(y_true)), y_true.astype(np.int64)]
