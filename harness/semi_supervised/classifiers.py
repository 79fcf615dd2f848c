"""What all classifiers of partly labeled points do alike: checks, labels, and classes from scores.

An author writes what is his own: what is learned from all points, the machine on the labeled ones,
and the scores of new points.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness.estimator import ClassCount, Estimator
from harness.semi_supervised.labels import Labels, as_decision, predict_labels, read_labels


class PartlyLabeledClassifier(ClassifierMixin, Estimator):
    """A classifier of points of which some have no label: y is -1 there.

    A subclass writes `_fit(X, y)`, which begins with `_read(y)`, and `_decision(X)`, the scores of
    new points. X is in C order, float32 or float64; new points are in the type of `_X`, where an
    estimator keeps its points there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    """

    _: KW_ONLY
    n_classes: ClassCount | None = None
    """Found from y by default."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from all points; y is -1 where a point has no label."""
        self._fit(*self._checked(X, y))
        return self

    def _checked(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Check parameters and arguments of `fit`."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        # of labels alone, for what looks at y sorts it
        check_classification_targets(y[y != -1])
        return X, y

    @abstractmethod
    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Learn from all points."""

    def _read(self, y: np.ndarray) -> Labels:
        """Read labels, and remember which classes there are."""
        labels = read_labels(y, self.n_classes)
        self.classes_, self._present = labels.classes, labels.present
        return labels

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores of shape (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self)
        kept = getattr(self, "_X", None)
        dtype = [np.float64, np.float32] if kept is None else kept.dtype
        return self._decision(validate_data(self, X, reset=False, dtype=dtype, order="C"))

    @abstractmethod
    def _decision(self, X: np.ndarray) -> np.ndarray:
        """Return scores of new points."""

    def _as_decision(self, scores: np.ndarray) -> np.ndarray:
        """Return scores (n, 1) or (n, n_classes) as a decision, classes without a label last."""
        return as_decision(scores, self._present, len(self.classes_))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the highest score; of two classes, the second above 0."""
        return predict_labels(self.decision_function(X), self.classes_)


class SplitClassifier(PartlyLabeledClassifier):
    """The same with a fit in two stages, for searches that keep the first.

    A subclass writes `_learn(X, labeled)`, all that no label decides; `fit_labels(y)`, the machine
    on those of the labeled rows whose y is not -1, with `held_out_scores_` of the others; and
    `_finish(X, labels)`, what is left to do where the fit is not one of a search.
    """

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        self._learn(X, labels.rows)
        self.fit_labels(y[labels.rows])
        self._finish(X, labels)

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Do all that no label decides; `labeled` are the rows that may get labels."""
        self._validate_params()
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        self._learn(X, np.asarray(labeled))
        return self

    @abstractmethod
    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        """Learn what no label decides."""

    @abstractmethod
    def fit_labels(self, y: np.ndarray) -> Self:
        """Train on those of the labeled rows whose y is not -1."""

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        """Let go of what only a search needs."""
