"""Tri-training around any classifier (Zhou & Li 2005): three label points for each other."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state

from harness.plugin.abilities import PROBABILITIES, scorer

_FIRST_ERROR = 0.5
_MOST_ROUNDS = 100


class TriTraining(ClassifierMixin, BaseEstimator):
    """Three classifiers, of which two label points for the third where they agree.

    Each learns from a bootstrap sample at first; samples are drawn within classes, so that none is
    without one. A round is table 1 of the paper: what two classifiers agree on is taken while
    their error on the labeled points, times how many are taken, falls.

    Parameters
    ----------
    estimator : object
        A classifier, which is cloned.
    random_state : int, RandomState or None, default None
        Of bootstrap samples and subsamples.

    Attributes
    ----------
    estimators_ : list of object
        The three classifiers.
    classes_ : ndarray of int
    n_iter_ : int
        Rounds, the last one without a change unless it was number 100.
    """

    def __init__(self, estimator: Any, random_state: Any = None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from all points; y is -1 where a point has no label, and 0, 1, ... elsewhere."""
        rng = check_random_state(self.random_state)
        known = y != -1
        X_known, codes, others = X[known], y[known], X[~known]
        self.classes_ = np.unique(codes)
        samples = [_bootstrap(codes, rng) for _ in range(3)]
        self.estimators_ = [
            clone(self.estimator).fit(X_known[rows], codes[rows]) for rows in samples
        ]
        errors, taken = np.full(3, _FIRST_ERROR), np.zeros(3)
        self.n_iter_, changed = 0, others.shape[0] > 0
        while changed and self.n_iter_ < _MOST_ROUNDS:
            self.n_iter_ += 1
            seen = np.array([model.predict(X_known) for model in self.estimators_])
            labeled = np.array([model.predict(others) for model in self.estimators_])
            updates: dict[int, tuple[np.ndarray, float]] = {}
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                agreed = seen[j] == seen[k]
                error = float((seen[j] != codes)[agreed].mean()) if agreed.any() else 1.0
                rows = np.flatnonzero(labeled[j] == labeled[k])
                rows = _rows_to_take(rows, error, errors[i], taken[i], rng)
                if rows.size:
                    updates[i] = rows, error
            for i, (rows, error) in updates.items():
                targets = labeled[(i + 1) % 3][rows]
                self.estimators_[i] = clone(self.estimator).fit(
                    _stacked(X_known, others[rows]), np.concatenate([codes, targets])
                )
                errors[i], taken[i] = error, len(rows)
            changed = bool(updates)
        self.n_iter_ = max(1, self.n_iter_)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the mean of the three; of classifiers without probabilities, shares of votes."""
        found = np.zeros((X.shape[0], len(self.classes_)))
        for model in self.estimators_:
            scoring = scorer(model, probabilities=True)
            if scoring and scoring[0] in PROBABILITIES:
                found += scoring[1](X)
            else:
                found += model.predict(X)[:, None] == self.classes_
        found /= 3
        return found

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the highest probability."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _stacked(first: Any, second: Any) -> Any:
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    return np.concatenate([first, second])


def _bootstrap(codes: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return rows drawn with replacement, as many of each class as there are."""
    classes = [np.flatnonzero(codes == c) for c in np.unique(codes)]
    return np.concatenate([rng.choice(rows, len(rows)) for rows in classes])


def _rows_to_take(
    rows: np.ndarray, error: float, before: float, taken: float, rng: np.random.RandomState
) -> np.ndarray:
    """Return those of the points agreed on that lower the bound of the error, or none.

    Parameters
    ----------
    rows : ndarray of int
        Points that two classifiers agree on.
    error, before : float
        Their error now, and when the third one was trained last.
    taken : float
        Points it was given then.
    rng : numpy.random.RandomState
    """
    none = rows[:0]
    if not error < before:
        return none
    if not taken:
        taken = math.floor(error / (before - error) + 1)
    if not taken < len(rows):
        return none
    if error * len(rows) < before * taken:
        return rows
    if taken > error / (before - error):
        return np.sort(rng.choice(rows, math.ceil(before * taken / error - 1), replace=False))
    return none
