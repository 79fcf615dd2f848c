"""Where scores become classes: thresholds that give each class its share of the labeled points.

A few labels and a strong penalty rank points well and place zero badly. Losses see to it that
labeled points are on their side; what is left of a score elsewhere may all be above or below zero.
The shares of the classes are known better than that. So scores are moved, by one number for two
classes and by one a class for more, until as many unlabeled points are decided for each class as
its share among the labeled ones says. Within a class their order stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Literal

import numpy as np
from sklearn.utils.metaestimators import available_if

from harness.layers import Add, Layer
from harness.semi_supervised.classifiers import PartlyLabeledClassifier
from harness.semi_supervised.labels import Labels

DecisionThreshold = Literal["share", "zero"]
"""Moved to the shares of the classes, or as a method's paper has it."""

_MOST_SCORES, _MOST_ROWS, _FEWEST_ROWS = 1 << 14, 4096, 256
# Fewer unlabeled points say nothing of where shares are.
_FEWEST = 10
_SCORED_TOGETHER, _SCORED_BYTES = 256, 1 << 20
# Each class is moved in turn; shares are met within a point or two after a few turns.
_TURNS = 10


class DecisionThresholdMixin(PartlyLabeledClassifier):
    """A classifier whose decisions are moved as its parameter `decision_threshold` says.

    `fit` calls `_place_threshold` with decisions of points that have no label, which are not moved
    yet, or `_place_threshold_by`; whatever is handed out goes through `_moved`.

    Attributes
    ----------
    offset_ : ndarray of shape () or (n_classes,)
        What is added to scores.
    """

    _: KW_ONLY
    decision_threshold: DecisionThreshold = "zero"
    """Where scores become classes: "share" moves them until each class has its share of the
    labeled points among those without a label; "zero" leaves them, as printed. Of a study's
    methods the default is "share".
    """

    def _place_threshold(self, scores: np.ndarray, labels: Labels, fewest: int = _FEWEST) -> None:
        """Find `offset_`, which `_moved` adds to scores.

        Parameters
        ----------
        scores : ndarray of shape (n,) or (n, n_classes)
            Of points without a label; for a fold, of those held out.
        labels : Labels
        fewest : int, default 10
            Where there are fewer points nothing is moved.
        """
        if self.decision_threshold == "zero" or len(scores) < max(2, fewest):
            self.offset_ = np.zeros(scores.shape[1:])
        else:
            self.offset_ = share_offsets(scores, labels)

    def _place_threshold_by(
        self, X: np.ndarray, labels: Labels, score: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        """Do the same with a function such as `_scores`, of a few hundred rows of X at a time."""
        shared = self.decision_threshold != "zero"
        rows = threshold_rows(labels, len(X)) if shared else np.empty(0, np.int64)
        if len(rows) < _FEWEST:
            self.offset_ = np.zeros(() if len(self.classes_) == 2 else len(self.classes_))
            return
        together = threshold_block_rows(X.shape[1] * X.itemsize)
        parts = [score(X[rows[i : i + together]]) for i in range(0, len(rows), together)]
        self._place_threshold(self._as_decision(np.concatenate(parts)), labels)

    @available_if(lambda self: hasattr(self, "_layers"))  # type: ignore[untyped-decorator]
    def layers(self) -> list[Layer]:
        """Return what decisions are made of."""
        return [*super().layers(), Add(self.offset_)]

    def _moved(self, scores: np.ndarray) -> np.ndarray:
        """Return scores with `offset_` added, in place where they can hold it."""
        return np.add(scores, self.offset_, out=scores if scores.dtype == np.float64 else None)


def share_offsets(scores: np.ndarray, labels: Labels) -> np.ndarray:
    """Return what to add to scores, so that the classes have the shares of the labeled points.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, n_classes)
        At least two points. Those of a class without a labeled point are below all others, and
        stay so.
    labels : Labels

    Returns
    -------
    ndarray of shape () or (n_classes,)
    """
    prior = labels.prior
    if scores.ndim == 1:
        return np.asarray(-_cut(scores, prior[1]))
    present = labels.present
    own, offsets = scores, np.zeros(scores.shape[1])
    if len(present) < scores.shape[1]:
        own = scores[:, present]
    own = own.astype(np.float64, copy=False)
    # the only copy: in a search there may be many scores
    moved = own.copy()
    for _ in range(_TURNS):
        for j, share in enumerate(prior[present]):
            moved[:, j] = -np.inf
            others = moved.max(axis=1)
            moved[:, j] = own[:, j] - _cut(own[:, j] - others, share)
        moved -= (moved[0] - own[0]).mean()
    offsets[present] = moved[0] - own[0]
    absent = np.delete(np.arange(len(offsets)), present)
    offsets[absent] = offsets[present].min()
    return offsets


def _cut(scores: np.ndarray, share: float) -> float:
    """Return a threshold that this share of scores is above, half way between two of them."""
    n = len(scores)
    above = min(max(round(share * n), 1), n - 1)
    ordered = np.partition(scores, (n - above - 1, n - above))
    return float(ordered[n - above - 1]) / 2 + float(ordered[n - above]) / 2


def threshold_rows(labels: Labels, n: int) -> np.ndarray:
    """Return rows without a label whose scores a threshold is found from, spread over all n.

    Holds nothing of size n.
    """
    most = min(n, _most_rows(len(labels.classes)))
    rows = np.linspace(0, n - 1, most).round().astype(np.intp)
    places = np.searchsorted(labels.rows, rows)
    return rows[labels.rows[np.minimum(places, len(labels.rows) - 1)] != rows]


def _most_rows(n_classes: int) -> int:
    return min(max(_MOST_SCORES // max(1, n_classes), _FEWEST_ROWS), _MOST_ROWS)


def threshold_block_rows(row_bytes: int) -> int:
    """Return how many rows of so many bytes are scored together on the way to a threshold."""
    return min(max(_SCORED_BYTES // max(1, row_bytes), 16), _SCORED_TOGETHER)


def threshold_bytes(n: int, n_classes: int) -> int:
    """Bytes held while a threshold is found: scores of some points, and copies of them."""
    columns = n_classes if n_classes > 2 else 1
    return 8 * min(n, _most_rows(n_classes)) * (4 * columns + 3)
