"""What all classifiers of partly labeled points do alike: checks, labels, folds and decisions.

An author writes what is his own: what is learned from all points, the machine on the labeled ones,
and the scores of new points.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness.estimator import ClassCount, Estimator
from harness.layers import Expand, Layer, columns
from harness.scaled_integers import ScaledIntegers
from harness.semi_supervised.labels import Labels, as_decision, predict_labels, read_labels


class PartlyLabeledClassifier(ClassifierMixin, Estimator):
    """A classifier of points of which some have no label: y is -1 there.

    A subclass writes `_fit(X, y)`, which begins with `_read(y)`, and `_scores(X)` of new points,
    a column a class, or one for two classes. X is in C order, float32 or float64; new points are
    in the type of `_X`, where an estimator keeps its points there. It may write `_layers()`, of
    which `_scores` are made, so that its models can be written as ONNX. Where its `_takes_sparse`
    is true, X may be a sparse matrix in compressed rows (CSR) instead.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    """

    _: KW_ONLY
    n_classes: ClassCount | None = None
    """Found from y by default."""

    @property
    def _takes_sparse(self) -> bool:
        """Whether X may be sparse, with the parameters as they are set."""
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags

    @property
    def _accepts(self) -> dict[str, Any]:
        """Return how X is checked: its type, its order, and whether it may be sparse."""
        sparse = "csr" if self._takes_sparse else False
        return {"dtype": [np.float64, np.float32], "order": "C", "accept_sparse": sparse}

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `harness.kernels.ScaledIntegers`, with the parameters as they are set.

        Where it is, `fit` looks at rows of it, and never at X as a whole.
        """
        return False

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from all points; y is -1 where a point has no label."""
        self._fit(*self._checked(X, y))
        return self

    def _checked(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Check parameters and arguments of `fit`."""
        self._validate_params()
        if self._keeps_integers(X):
            y = column_or_1d(y)
            check_consistent_length(X, y)
        else:
            X, y = validate_data(self, X, y, **self._accepts)
        # of labels alone, for what looks at y sorts it
        check_classification_targets(y[y != -1])
        return X, y

    def _keeps_integers(self, X: np.ndarray) -> bool:
        """Return whether X is taken as it is: small integers are finite and in order already."""
        if not (isinstance(X, ScaledIntegers) and self.takes_scaled_integers):
            return False
        self.n_features_in_ = X.shape[1]
        return True

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
        accepts = self._accepts | ({} if kept is None else {"dtype": kept.dtype})
        return self._decision(validate_data(self, X, reset=False, **accepts))

    def _decision(self, X: np.ndarray) -> np.ndarray:
        return self._moved(self._as_decision(self._scores(X)))

    @abstractmethod
    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return scores of new points, of shape (n, 1) for two classes, else (n, n_classes)."""

    @available_if(lambda self: hasattr(self, "_layers"))  # type: ignore[untyped-decorator]
    def layers(self) -> list[Layer]:
        """Return what scores of new points are made of; of a subclass that writes `_layers()`."""
        check_is_fitted(self)
        found = list(self._layers())
        if len(self._present) < len(self.classes_):
            found.append(Expand(self._present, len(self.classes_), columns(found)))
        return found

    def _as_decision(self, scores: np.ndarray) -> np.ndarray:
        """Return scores (n, 1) or (n, n_classes) as a decision, classes without a label last."""
        return as_decision(scores, self._present, len(self.classes_))

    def _place_threshold(self, scores: np.ndarray, labels: Labels, fewest: int = 0) -> None:
        """Find where decisions become classes; `DecisionThresholdMixin` does, zero is no place."""

    def _moved(self, scores: np.ndarray) -> np.ndarray:
        """Return decisions as they are handed out."""
        return scores

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the highest score; of two classes, the second above 0."""
        return predict_labels(self.decision_function(X), self.classes_)


class SplitClassifier(PartlyLabeledClassifier):
    """The same with a fit in two stages, for searches that keep the first.

    A subclass writes `_learn(X, labeled)`, all that no label decides; `_train(labels, held_out)`,
    the machine on the labels that are known, which returns the scores of rows whose label is not;
    and `_finish(X, labels)`, what is left to do where the fit is not one of a search.

    Attributes
    ----------
    held_out_scores_ : ndarray of shape (h,) or (h, n_classes)
        After `fit_labels`: of the rows that may have labels and were given none.
    """

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        self._learn(X, labels.rows)
        self.fit_labels(y[labels.rows])
        self._finish(X, labels)

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Do all that no label decides; `labeled` are the rows that may get labels."""
        self._validate_params()
        if not self._keeps_integers(X):
            X = validate_data(self, X, **self._accepts)
        self._learn(X, np.asarray(labeled))
        return self

    def fit_labels(self, y: np.ndarray) -> Self:
        """Train on those of the labeled rows whose y is not -1; score the others."""
        labels = self._read(y)
        scores = self._train(labels, np.flatnonzero(np.asarray(y) == -1))
        decisions = self._as_decision(scores)
        self._place_threshold(decisions, labels, fewest=2)
        self.held_out_scores_ = self._moved(decisions)
        return self

    @abstractmethod
    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        """Learn what no label decides; `labeled` are the rows that may get labels."""

    @abstractmethod
    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        """Train on `labels`, and return scores of the rows whose label is held out.

        Both count rows among those that may get labels. Scores are as those of `_scores`.
        """

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        """Let go of what only a search needs; `labels` counts the rows of X."""
