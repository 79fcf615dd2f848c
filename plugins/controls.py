"""Controls: what scores mean is judged by random guessing, the class prior and the truth itself.

A method that does not beat `random` and `prior`, or beats `oracle`, shows a fault in the scoring.
They run for every task: y tells which (NaN or fractions: regression; -1 throughout: clustering).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Arrays, Method, Shape, Storage, hookimpl
from harness.estimator import Estimator, NonNegativeInt, PositiveInt, RandomState
from harness.semi_supervised import read_labels

_ACCEPTED: dict[str, Any] = {"dtype": [np.float64, np.float32], "accept_sparse": "csr"}


class ClassPrior(Estimator):
    """Predict what the labels alone suggest: the commonest class, the mean, or one cluster.

    Attributes
    ----------
    task_ : str
        "classification", "regression" or "clustering".
    classes_ : ndarray
        The classes; the clusters; empty for regression.
    """

    n_classes: NonNegativeInt | None = None
    """0 for regression; found from y by default."""
    n_clusters: PositiveInt | None = None
    """Clusters to tell apart where y holds no label."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: np.ndarray, y: np.ndarray | None = None) -> Self:
        """Look at the labels; X only says how many features there are."""
        self._validate_params()
        self.__dict__.pop("_counts", None)
        n = validate_data(self, X, **_ACCEPTED).shape[0]
        y = np.full(n, -1) if y is None else np.asarray(y)
        if len(y) != n:
            raise ValueError(f"X has {n} rows, y has {len(y)}")
        self.task_ = _task(y, self.n_classes)
        self.classes_, self.mean_, self.std_ = np.arange(0), 0.0, 0.0
        if self.task_ == "regression":
            known = y[~np.isnan(y)]
            if not known.size:
                raise ValueError("y holds no labeled point: every entry is NaN")
            self.mean_, self.std_ = float(known.mean()), float(known.std())
        elif self.task_ == "clustering":
            self.classes_ = np.arange(self.n_clusters or self.n_classes or 1)
            self.prior_ = np.eye(len(self.classes_))[0]
        else:
            labels = read_labels(y, self.n_classes)
            self.classes_, self.prior_ = labels.classes, labels.prior
        return self

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> Self:
        """Count some more labels, or values; `classes` are all of them, where there are some."""
        first = not hasattr(self, "_counts")
        if first:
            self._validate_params()
            self.task_ = "regression" if classes is None else "classification"
            self.classes_ = np.arange(0) if classes is None else np.unique(classes)
            self._counts, self._moments = np.zeros(len(self.classes_)), np.zeros(3)
        validate_data(self, X, reset=first, **_ACCEPTED)
        if self.task_ == "classification":
            self._counts += np.array([np.count_nonzero(y == label) for label in self.classes_])
            self.prior_ = self._counts / max(1.0, self._counts.sum())
            self.mean_, self.std_ = 0.0, 0.0
            return self
        known = np.asarray(y)[~np.isnan(y)]
        self._moments += np.array([len(known), known.sum(), np.square(known).sum()])
        count, total, squares = self._moments
        self.mean_ = float(total / max(1.0, count))
        self.std_ = float(np.sqrt(max(0.0, squares / max(1.0, count) - self.mean_**2)))
        return self

    def _rows(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **_ACCEPTED)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return np.broadcast_to(self.prior_, (X.shape[0], len(self.classes_)))

    def _values(self, X: np.ndarray) -> np.ndarray:
        return np.full(X.shape[0], self.mean_)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores of shape (n,) for two classes, else (n, n_classes)."""
        X = self._rows(X)
        if self.task_ == "regression":
            raise ValueError("decision_function scores classes; y held values")
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return classes, clusters or values, shape (n,)."""
        X = self._rows(X)
        if self.task_ == "regression":
            return self._values(X)
        return self.classes_[self._scores(X).argmax(axis=1)]


class RandomScores(ClassPrior):
    """Score at random: a point always gets the same score, and X says nothing about it.

    Each row is hashed (multiply-shift over its 64-bit words, then a finaliser), so that scores
    depend neither on the blocks in which they are asked for nor on their order.
    """

    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    def fit(self, X: np.ndarray, y: np.ndarray | None = None) -> Self:
        """Draw the hash function."""
        super().fit(X, y)
        self._draw()
        return self

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> Self:
        """Draw the hash function with the first points."""
        first = not hasattr(self, "_counts")
        super().partial_fit(X, y, classes)
        if first:
            self._draw()
        return self

    def _draw(self) -> None:
        rng = check_random_state(self.random_state)
        columns = max(1, len(self.classes_))
        words = (columns, self.n_features_in_)
        self.multipliers_ = rng.randint(0, 1 << 64, words, dtype=np.uint64) | np.uint64(1)

    def _rows(self, X: np.ndarray) -> np.ndarray:
        X = super()._rows(X)
        if issparse(X):  # which has no order
            return X.astype(np.float64, copy=False)
        return X.astype(np.float64, order="C", copy=False)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([_hashed(X, words) for words in self.multipliers_])

    def _values(self, X: np.ndarray) -> np.ndarray:
        # The spread of the labels themselves: a guess drawn from what y looks like.
        return self.mean_ + self.std_ * np.sqrt(12) * (_hashed(X, self.multipliers_[0]) - 0.5)


class Oracle(ClassPrior):
    """Stand in for the truth, which the harness puts in its place when it scores."""


def _task(y: np.ndarray, n_classes: int | None) -> str:
    if n_classes == 0 or (y.dtype.kind == "f" and not np.array_equal(y, np.floor(y))):
        return "regression"
    return "clustering" if y.dtype.kind in "iuf" and (y == -1).all() else "classification"


def _hashed(X: Any, multipliers: np.ndarray) -> np.ndarray:
    """Map rows to [0, 1)."""
    if issparse(X):  # the words of zeros are 0
        bits = csr_matrix((X.data.view(np.uint64), X.indices, X.indptr), X.shape) @ multipliers
    else:
        bits = np.einsum("ij,j->i", X.view(np.uint64), multipliers)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    return (bits >> np.uint64(11)) / 2.0**53


def storage(shape: Shape, size: int) -> Storage:
    """Count one block of rows with its scores. No fit looks at features."""
    block = Arrays(
        block=shape.block_bytes,
        converted=0 if shape.itemsize == 8 else 2 * shape.block_bytes,
        multipliers=8 * shape.n_features * max(1, shape.n_classes),
    )
    return Storage({"labels": _labels(shape), "a block": block + _scores(shape)})


def prior_storage(shape: Shape, size: int) -> Storage:
    """Count scores of one block of rows."""
    return Storage({"labels": _labels(shape), "a block": _scores(shape)})


def _labels(shape: Shape) -> Arrays:
    """Count the labeled rows with their classes, and what a fit asks of y."""
    labeled = min(shape.n_labeled, shape.n_at_once)
    return Arrays(rows=8 * labeled, codes=8 * labeled, asked=2 * shape.n_at_once)


def _scores(shape: Shape) -> Arrays:
    return Arrays(scores=8 * shape.block_rows * (3 + 2 * shape.n_classes))


@hookimpl
def harness_methods() -> list[Method]:
    """Provide the controls."""
    tasks = {"binary", "multiclass", "regression", "clustering"}
    chance = partial(Method, tasks=tasks, control="chance")
    return [
        chance("random", RandomScores, storage, features={"predict"}),
        chance("prior", ClassPrior, prior_storage, features=frozenset()),
        chance("oracle", Oracle, prior_storage, features=frozenset(), control="truth"),
    ]
