"""Linear machines on features that are learned from all points: an author writes the map alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import KW_ONLY

import numpy as np

from harness.estimator import PositiveFloat
from harness.layers import Linear
from harness.plugin.shape import Shape
from harness.plugin.storage import Arrays
from harness.semi_supervised.classifiers import SplitClassifier
from harness.semi_supervised.labels import Labels
from harness.semi_supervised.one_vs_rest_svm import machine_bytes, train_linear_machines
from harness.semi_supervised.thresholds import (
    DecisionThresholdMixin,
    threshold_block_rows,
    threshold_bytes,
)


class SVMOnFeatures(DecisionThresholdMixin, SplitClassifier):
    """A linear SVM with the squared hinge loss for each class, on features of the labeled points.

    A subclass writes `_learn(X, labeled)`, which makes the map; `_labeled_features(n_labels)`, of
    the rows that may get labels; and `_features(X)`, of new points. Folds, held-out scores,
    blocks, thresholds and decisions follow.

    Attributes
    ----------
    coef_ : ndarray of shape (k, Q)
        In the features; Q is 1 for two classes.
    intercept_ : ndarray of shape (Q,)
    """

    _: KW_ONLY
    C: PositiveFloat = 1.0
    """Penalty of the squared hinge loss."""

    @abstractmethod
    def _labeled_features(self, n_labels: int) -> np.ndarray:
        """Return features of the rows that may get labels, where so many of them are known."""

    @abstractmethod
    def _features(self, X: np.ndarray) -> np.ndarray:
        """Return features of new points, shape (n, k)."""

    def _blocks(self, n: int) -> Iterable[slice]:
        """Cut n points into blocks whose features are made at once: all in one by default."""
        return [slice(0, n)]

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        F = self._labeled_features(len(labels.rows))
        known = F[labels.rows] if len(held_out) else F
        self.coef_, self.intercept_ = train_linear_machines(known, labels, self.C)
        return self._scores_of(F[held_out])

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        self._place_threshold_by(X, labels, self._scores)

    def _linear(self) -> Linear:
        """Return the last layer of a model's file."""
        return Linear(self.coef_, self.intercept_)

    def _scores_of(self, features: np.ndarray) -> np.ndarray:
        return features @ self.coef_ + self.intercept_

    def _scores(self, X: np.ndarray) -> np.ndarray:
        blocks = self._blocks(len(X))
        return np.concatenate([self._scores_of(self._features(X[block])) for block in blocks])


def svm_phases(
    shape: Shape, n_components: int, row_bytes: int, rows: float, tuned: bool
) -> dict[str, Arrays]:
    """Return what `SVMOnFeatures` holds of float32 features, phase by phase, beside the map.

    Parameters
    ----------
    shape : Shape
    n_components : int
        k, the features of a row.
    row_bytes : int
        Bytes held for a row whose features are made.
    rows : float
        Rows of a block at most.
    tuned : bool
        Whether a fold's features are picked from those of all labeled rows.
    """
    n, labeled = shape.n, shape.n_labeled
    samples = Arrays(labeled_features=4 * labeled * n_components * (2 if tuned else 1))
    placed = min(n, threshold_block_rows(shape.row_bytes))
    return {
        "labeled features": samples + Arrays(rows=int(min(labeled, rows) * row_bytes)),
        "machines": samples + Arrays(machines=machine_bytes(labeled, shape.n_machines)),
        "threshold": Arrays(
            threshold=threshold_bytes(n, shape.n_classes), rows=placed * row_bytes
        ),
    }
