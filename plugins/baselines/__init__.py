"""What a user of scikit-learn runs today: its kernel maps with its ridge, and self-training.

The papers on streamed methods leave these out. They hold their features whole, so that their
storage grows with the number of points: it is scikit-learn's own, and is not improved on here.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

# Nystroem imports it when it is first used: within a trial, which would be charged for it.
import sklearn.gaussian_process.kernels  # noqa: F401
from annotated_types import Interval
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils import check_random_state

from harness import Arrays, Method, Shape, Storage, beside, hookimpl, kernels, log_uniform
from harness.estimator import PositiveFloat, PositiveInt, RandomState
from harness.layers import KernelValues, Layer, Linear, Waves
from harness.semi_supervised import (
    DecisionThreshold,
    DecisionThresholdMixin,
    Labels,
    PartlyLabeledClassifier,
    SplitClassifier,
    expand_scores,
)

from .scikit_learn import (
    distance_bytes,
    packed_rows_bytes,
    ridge_bytes,
    weights_bytes,
    with_zeros,
)

_STEPS = 200
"""Steps of logistic regression: where it has not converged by then, scores hardly change."""


class _FeatureClassifier(kernels.GaussianWidth, PartlyLabeledClassifier):
    """A feature map of scikit-learn's, and one of its linear classifiers on the features."""

    @property
    def _takes_sparse(self) -> bool:
        return True

    def _fit_map(self, X: np.ndarray) -> None:
        width = self._width_on(X)
        rng = check_random_state(self.random_state)
        self._map = self._make_map(0.5 / width**2, X.shape[0], rng).fit(X)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self._classifier.decision_function(self._map.transform(X))

    def _layers(self) -> list[Layer]:
        machine: Any = self._classifier
        machine = getattr(machine, "estimator_", machine)
        return [
            *self._map_layers(),
            Linear(np.atleast_2d(machine.coef_).T, np.atleast_1d(machine.intercept_)),
        ]

    def _map_layers(self) -> list[Layer]:
        """Return those of `Nystroem`."""
        points, root = self._map.components_, self._map.normalization_
        return [KernelValues(with_zeros(points), (0.5 / self._map.gamma) ** 0.5), Linear(root.T)]

    def _as_decision(self, scores: np.ndarray) -> np.ndarray:
        return expand_scores(scores, self._present, len(self.classes_))


class RBFSamplerRidge(_FeatureClassifier):
    """`RBFSampler` and `RidgeClassifier`, on the labeled points alone."""

    n_components: PositiveInt = 100
    """Random Fourier features: cosines with a random phase."""
    alpha: PositiveFloat = 1.0
    """Penalty of the squared norm."""
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        if len(labels.rows) < X.shape[0]:
            X = X[labels.rows]
        self._fit_map(X)
        self._train_on(self._map.transform(X), labels)

    def _make_map(self, gamma: float, n: int, rng: np.random.RandomState) -> RBFSampler | Nystroem:
        return RBFSampler(gamma=gamma, n_components=self.n_components, random_state=rng)

    def _map_layers(self) -> list[Layer]:
        if isinstance(self._map, RBFSampler):
            return [Waves(self._map.random_weights_, self._map.random_offset_)]
        return super()._map_layers()

    def _train_on(self, Z: np.ndarray, labels: Labels) -> None:
        self._classifier = RidgeClassifier(alpha=self.alpha).fit(Z, labels.codes)


class NystroemRidge(SplitClassifier, RBFSamplerRidge):
    """`Nystroem` and `RidgeClassifier`: landmarks are of all points."""

    n_components: PositiveInt = 100
    """Landmarks; all points where there are fewer."""

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        self._learn(X, labels.rows)
        self._train_on(self._Z, labels)
        del self._Z

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        self._fit_map(X)
        self._Z = self._map.transform(X[labeled])

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        self._train_on(self._Z[labels.rows], labels)
        return self._classifier.decision_function(self._Z[held_out])

    def _make_map(self, gamma: float, n: int, rng: np.random.RandomState) -> Nystroem:
        return Nystroem(gamma=gamma, n_components=min(self.n_components, n), random_state=rng)


class SelfTraining(DecisionThresholdMixin, SplitClassifier, _FeatureClassifier):
    """`SelfTrainingClassifier` around `LogisticRegression`, on `Nystroem` features of all points.

    Attributes
    ----------
    n_iter_ : int
        Fits of the classifier.
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`.
    """

    n_components: PositiveInt = 100
    """Landmarks; all points where there are fewer."""
    C: PositiveFloat = 1.0
    """Inverse of the penalty."""
    threshold: Annotated[float, Interval(ge=0, lt=1)] = 0.75
    """Probability from which on a point gets the class that is predicted."""
    max_iter: PositiveInt = 10
    """Rounds of labeling."""
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""
    _: KW_ONLY
    decision_threshold: DecisionThreshold = "zero"
    """Where scores become classes. "zero" is scikit-learn's. "share", a study's default, moves
    scores until each class has its share of the labeled points among the others, after the rounds.
    """

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        rows = self._read(y).rows
        self._learn(X, rows)
        labels = self._label(self._read(y[rows]))
        decide = self._classifier.decision_function
        self._place_threshold_by(self._Z, labels, decide)
        self.decision_scores_ = self._moved(self._as_decision(decide(self._Z)))
        del self._Z

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        self._labeled = labeled
        self._fit_map(X)
        self._Z = self._map.transform(X)

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        self._label(labels)
        return self._classifier.decision_function(self._Z[self._labeled[held_out]])

    def _label(self, labels: Labels) -> Labels:
        """Label and learn in turn."""
        codes = np.full(len(self._Z), -1)
        codes[self._labeled[labels.rows]] = labels.codes
        base = LogisticRegression(C=self.C, max_iter=_STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if codes.min() >= 0:
                # Nothing is left to label, which scikit-learn would warn of.
                warnings.simplefilter("ignore", UserWarning)
            self._classifier = SelfTrainingClassifier(
                base, threshold=self.threshold, max_iter=self.max_iter
            ).fit(self._Z, codes)
        self.n_iter_ = self._classifier.n_iter_ + 1
        return replace(labels, rows=self._labeled[labels.rows])

    def _make_map(self, gamma: float, n: int, rng: np.random.RandomState) -> Nystroem:
        return Nystroem(gamma=gamma, n_components=min(self.n_components, n), random_state=rng)


def sampler_storage(shape: Shape, size: int, tuned: bool = False) -> Storage:
    """Count frequencies, and a ridge regression on features of the labeled points."""
    n, d, m, i = shape.n, shape.n_features, size, shape.itemsize
    deep = 1 if shape.is_sparse else d  # of sparse points BLAS packs nothing
    X = Arrays(X=shape.data_bytes)
    frequencies = Arrays(frequencies=i * d * m)
    # of products with features, and of points of which features are made
    packed = 2 * kernels.blas_bytes(min(n, m), i) + kernels.blas_bytes(n, i, deep, m)
    more = max(0, kernels.blas_bytes(shape.block_rows, i, deep, m) - packed)
    kept = frequencies + Arrays(blas=packed)
    return Storage(
        fit={
            "width": X + Arrays(sample=_width_bytes(shape)),
            # in float64, then in the type of X
            "frequencies": X + Arrays(drawn=8 * d * m, converted=i * d * m if i < 8 else 0),
            "ridge": X + kept + Arrays(ridge=ridge_bytes(n, m, i, shape.n_classes)),
            # most where features are few
            "sorting of labels": X + kept + Arrays(labels=81 * n, features=n * (3 * m * i // 2)),
        },
        predict={
            "a block": kept
            + Arrays(
                searched_X=shape.data_bytes if tuned else 0,
                coefficients=weights_bytes(m, i, shape.n_classes),
                block=shape.block_bytes,
                features_and_scores=shape.block_rows * (m + 3 * shape.n_classes) * i,
                more_blas=more,
            )
        },
    )


def _width_bytes(shape: Shape) -> int:
    if shape.is_sparse:
        return kernels.sparse_width_bytes(shape.n, shape.row_bytes)
    return kernels.width_bytes(shape.n, shape.n_features, shape.itemsize)


def _landmark_phases(shape: Shape, m: int, rows: int) -> tuple[Arrays, dict[str, Arrays], Arrays]:
    """Return what `Nystroem` keeps, holds while it makes features of rows, and for a block.

    All rows are multiplied at once, in the distances and for the features.
    """
    n, i = shape.n, shape.itemsize
    d = 1 if shape.is_sparse else shape.n_features  # of sparse points BLAS packs nothing
    panels = packed_rows_bytes(max(rows, m), m, d, i)  # of rows, or of landmarks themselves
    kept = Arrays(
        landmarks=shape.matrix_bytes(m), root=i * m * m, blas=panels + 3 * kernels.blas_bytes(m, i)
    )
    features, block = rows * m * i, shape.block_rows * m * i
    picked = kept + Arrays(picked=shape.matrix_bytes(rows) if rows < n else 0, features=features)
    phases = {
        "width": kept + Arrays(sample=_width_bytes(shape)),
        "landmark kernel": kept + Arrays(kernel=i * m * m, upcast=distance_bytes(shape, m, m)),
        # in float64, with workspace and copies: what was measured for 800 and 1,500 landmarks
        "singular vectors": kept + Arrays(decomposition=(60 if i == 8 else 69) * m * m),
        "kernel rows": picked + Arrays(upcast=distance_bytes(shape, rows, m)),
        "features": picked + Arrays(product=features),
    }
    predicting = kept + Arrays(
        block=shape.block_bytes,
        kernel_rows=block,
        features_or_upcast=max(block, distance_bytes(shape, shape.block_rows, m)),
        more_blas=max(0, packed_rows_bytes(shape.block_rows, m, d, i) - panels),
    )
    return kept, phases, predicting


def nystroem_storage(shape: Shape, size: int) -> Storage:
    """Count landmarks with the root of their kernel matrix, then a ridge regression."""
    n, labeled, m, i = shape.n, shape.n_labeled, min(size, shape.n), shape.itemsize
    points = Arrays(X=shape.data_bytes, labels=8 * n)
    kept, phases, predicting = _landmark_phases(shape, m, labeled)
    ridge = Arrays(
        ridge=ridge_bytes(labeled, m, i, shape.n_classes),
        features_and_X=labeled * i * (2 * m // 5) + shape.matrix_bytes(labeled),
    )
    held = Arrays(X=shape.data_bytes if shape.predicts_seen else 0)
    return Storage(
        fit=beside(points, phases) | {"ridge": points + kept + ridge},
        predict={"a block": held + predicting},
    )


def self_training_storage(shape: Shape, size: int) -> Storage:
    """Count features of all points, and a copy of those with a label: it may be all of them."""
    n, m, i, Q = shape.n, min(size, shape.n), shape.itemsize, max(2, shape.n_classes)
    columns = shape.n_machines
    points = Arrays(labels=48 * n)
    kept, phases, predicting = _landmark_phases(shape, m, n)
    features = points + kept + Arrays(X=shape.data_bytes, features=2 * n * m * i)
    # LBFGS keeps 10 pairs of steps and works on 20 vectors more
    steps = Arrays(lbfgs=8 * 40 * (m + 1) * columns, scores_and_gradients=2 * n * Q * i)
    held = points + Arrays(X=shape.data_bytes if shape.predicts_seen else 0)
    return Storage(
        fit=beside(points + Arrays(X=shape.data_bytes), phases)
        | {
            "logistic regression": features + steps,
            "probabilities": features + Arrays(probabilities=24 * n * Q),
        },
        predict={"a block": held + Arrays(scores=8 * n * columns) + predicting},
    )


def landmark_sizes(shape: Shape) -> tuple[int, int]:
    """Return at most as many landmarks as points, or 3,000: decomposing them takes a minute."""
    return 1, max(1, min(shape.n, 3_000))


def feature_sizes(shape: Shape) -> tuple[int, int]:
    """Return 10,000 random features at the most, whatever the number of points."""
    return 1, 10_000


@hookimpl
def harness_methods() -> list[Method]:
    """Provide scikit-learn's baselines."""
    baseline = partial(Method, tasks={"binary", "multiclass"}, reference="scikit-learn")
    ridge = {"alpha": log_uniform(1e-3, 1e2), "sigma": log_uniform(0.1, 2)}
    return [
        baseline(
            "nystroem-ridge",
            NystroemRidge,
            nystroem_storage,
            size="n_components",
            sizes=landmark_sizes,
            space=ridge,
            head_params={"alpha"},
        ),
        baseline(
            "rbf-sampler-ridge",
            RBFSamplerRidge,
            sampler_storage,
            size="n_components",
            sizes=feature_sizes,
            space=ridge,
            uses_unlabeled=False,
        ),
        baseline(
            "self-training",
            SelfTraining,
            self_training_storage,
            size="n_components",
            sizes=landmark_sizes,
            params={"decision_threshold": "share"},
            space={"C": log_uniform(1e-2, 1e3), "sigma": log_uniform(0.1, 2)},
            head_params={"C"},
        ),
    ]
