"""Anchor graph regularisation (Liu, He & Chang 2010): labels of anchors, which points share.

m anchors stand for all points. Each point is tied to its s nearest anchors, with weights of sum 1
in a row of Z, and two points are tied through the anchors that they have in common:
W = Z D^-1 Z' with D = diag(Z' 1) (section 3). Labels are learned of anchors alone, so that one
m x m matrix, summed up over blocks of points, is all that is solved.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels, log_uniform
from harness.estimator import NonNegativeInt, PositiveFloat, PositiveInt
from harness.semi_supervised import (
    DecisionThresholdMixin,
    Labels,
    SplitClassifier,
    threshold_block_rows,
    threshold_bytes,
)

from . import prototype_vectors
from .anchors import move_to_means, moving_bytes
from .weights import AnchorWeights

_TIE = 1e-9
"""Share of the mean diagonal by which anchors are tied to the class prior. Where no label reaches
an anchor, the system would be singular.
"""
_LEAST_MASS = 1e-3
"""Share of an equal part below which the mass of a class does not count: scores are divided by it.
"""


class AnchorGraphRegularization(
    kernels.Landmarks, kernels.GaussianWidth, DecisionThresholdMixin, SplitClassifier
):
    """Least squares of labels on anchors, and smoothness along the anchor graph.

    Minimises |Z_l A - Y_l|^2 + gamma tr(A' Z'LZ A), L = I - W, by
    A = (Z_l'Z_l + gamma Z'LZ)^-1 Z_l'Y_l. Scores of a point are z'a_j in parts of the sum of all
    points' (section 4).

    Attributes
    ----------
    anchors_ : ndarray of shape (m, d), float32
        Less `center_`.
    center_ : ndarray of shape (d,)
    anchor_labels_ : ndarray of shape (m, n_classes)
        A.
    class_mass_ : ndarray of shape (n_classes,)
        The mean of z'a_j over the points of `fit`.
    """

    n_landmarks: PositiveInt = 100
    """m, the anchors; all points where there are fewer."""
    n_neighbors: PositiveInt = 3
    """s, the nearest anchors that a point is tied to."""
    weights: Literal["lae", "kernel"] = "lae"
    """Local anchor embedding, or a Gaussian kernel of width `sigma` in parts of its sum."""
    gamma: PositiveFloat = 0.01
    """Penalty of differences along the graph."""
    kmeans_iter: NonNegativeInt = 10
    """Iterations of k-means from the landmarks that `selector` chose. 0 leaves them."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel("rbf", X, self.sigma, self.sigma_unit)
        sample = self._select(X, self.n_landmarks, rng, kernel)
        self.center_ = kernels.column_medians(X)
        self.anchors_ = kernels.centered_rows(X, sample, self.center_)
        if len(self.anchors_) < len(X):
            move_to_means(X, self.anchors_, self.center_, self.kmeans_iter)
        self._ties = AnchorWeights(
            self.anchors_,
            self.n_neighbors,
            kernel.width if self.weights == "kernel" else None,
            self.center_,
        )
        self._reduce(X)
        s = self._ties.n_neighbors
        self._nearest = np.empty((len(labeled), s), np.intp)
        self._weights_of_labeled = np.empty((len(labeled), s))
        for block in self._ties.blocks(len(labeled)):
            found = self._ties.of(X[labeled[block]])
            self._nearest[block], self._weights_of_labeled[block] = found

    def _reduce(self, X: np.ndarray) -> None:
        """Sum up the mass of anchors, Z'1, and Z'LZ = Z'Z - Z'Z D^-1 Z'Z."""
        m = len(self.anchors_)
        gram, mass = np.zeros((m, m)), np.zeros(m)
        for block in self._ties.blocks(len(X)):
            nearest, weights = self._ties.of(X[block])
            mass += np.bincount(nearest.ravel(), weights.ravel(), m)
            _add_products(gram, nearest, weights)
        self._mass = mass / len(X)
        # an anchor of no point has a row of zeros
        root = np.sqrt(np.maximum(mass, np.finfo(float).tiny))
        shared = gram / root
        for rows in kernels.row_blocks(m, m):
            gram[rows] -= shared[rows] @ shared.T
        self._laplacian = gram

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        Z, nearest = self._weights_of_labeled[labels.rows], self._nearest[labels.rows]
        # as deviations from the prior: what no label reaches is of the prior's class
        prior = labels.prior
        targets = np.eye(len(labels.classes))[labels.codes] - prior
        A = self.gamma * self._laplacian
        right = np.zeros((len(A), len(prior)))
        _add_products(A, nearest, Z)
        for j in range(nearest.shape[1]):
            np.add.at(right, nearest[:, j], Z[:, j, None] * targets)
        A.flat[:: len(A) + 1] += _TIE * max(np.trace(A) / len(A), np.finfo(float).tiny)
        found = kernels.solve_positive_definite(A.T, right)
        del A
        found += prior
        self.anchor_labels_ = found
        # a class that few points are of may be below zero on the whole
        self.class_mass_ = np.maximum(self._mass @ found, _LEAST_MASS / len(self.classes_))
        return self._scores_at(self._nearest[held_out], self._weights_of_labeled[held_out])

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        del self._laplacian, self._nearest, self._weights_of_labeled
        self._place_threshold_by(X, labels, self._scores)

    def _scores_at(self, nearest: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return scores of points, of which one column is left of two classes."""
        found = np.zeros((len(nearest), len(self.classes_)))
        for j in range(nearest.shape[1]):
            found += weights[:, j, None] * self.anchor_labels_[nearest[:, j]]
        found /= self.class_mass_
        return found[:, 1:] - found[:, :1] if found.shape[1] == 2 else found

    def _scores(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self, "anchor_labels_")
        found = np.empty((len(X), len(self.classes_) if len(self.classes_) != 2 else 1))
        for block in self._ties.blocks(len(X)):
            found[block] = self._scores_at(*self._ties.of(X[block]))
        return found


def _add_products(gram: np.ndarray, nearest: np.ndarray, weights: np.ndarray) -> None:
    """Add Z'Z of rows whose entries are `weights` at the columns `nearest`; gram is in C order."""
    flat, m = gram.reshape(-1), len(gram)
    for j in range(nearest.shape[1]):
        for k in range(nearest.shape[1]):
            # of one dimension, or NumPy adds ten times as slowly
            np.add.at(flat, nearest[:, j] * m + nearest[:, k], weights[:, j] * weights[:, k])


def storage(
    shape: Shape, size: int, selector: str = "uniform", n_neighbors: int = 3, tuned: bool = False
) -> Storage:
    """Count anchors, 4 m d, and matrices over them, 16 m^2; nothing grows with n but the data."""
    n, d, i, m = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    Q, labeled, s = shape.n_classes, shape.n_labeled, min(n_neighbors, size, shape.n)
    X = Arrays(X=shape.data_bytes)
    anchors = Arrays(anchors=4 * m * (d + 2), middle=16 * d)
    square = 8 * m * m
    seen = AnchorWeights.bytes(n, m, d, s)
    rows = max(seen, AnchorWeights.bytes(labeled, m, d, s, picked=True))
    ties = Arrays(mass=16 * m, ties_of_labeled=16 * labeled * s)
    tied = ties + Arrays(left_in_heap=AnchorWeights.left_bytes(n, m, d, s))
    scores = Arrays(anchor_labels=16 * m * Q, targets=16 * labeled * Q)
    blas = kernels.blas_bytes(m, 4, d)
    summed = blas + kernels.blas_bytes(m, terms=m)
    solving = Arrays(blas=summed + kernels.cholesky_blas_bytes(m))
    kept = anchors + Arrays(mass=8 * m, anchor_labels=8 * m * Q) + solving
    before = kernels.cholesky_blas_bytes(m) if tuned else 0
    placed = min(n, threshold_block_rows(shape.row_bytes))
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        "selection": Arrays(selection=kernels.selection_bytes(selector, n, d, m, i)),
        "anchors": anchors + Arrays(picked=kernels.stream_bytes(m, 2 * d)),
        "k-means": anchors + Arrays(means=moving_bytes(n, m, d), blas=blas + before),
        "weights": anchors + ties + Arrays(gram=square, rows=rows, blas=blas + before),
        "graph": anchors
        + tied
        + Arrays(
            gram=square, shared=square, product=kernels.stream_bytes(m, m), blas=summed + before
        ),
        "solution": anchors + tied + scores + solving + Arrays(laplacian=square, system=square),
        "threshold": kept
        + Arrays(
            threshold=threshold_bytes(n, Q),
            asked=placed * shape.row_bytes,
            rows=AnchorWeights.bytes(placed, m, d, s) + 24 * placed * Q,
        ),
    }
    new = Arrays(
        block=shape.new_block_bytes,
        rows=AnchorWeights.bytes(shape.block_rows, m, d, s) + 24 * shape.block_rows * Q,
    )
    return Storage(beside(X, fit), {"a block": X + kept + new})


def _sizes(shape: Shape) -> tuple[int, int]:
    """Return one anchor at the least, a quarter of the points at the most.

    A point that is an anchor is tied to itself. Where most are, labels go nowhere.
    """
    return 1, max(1, shape.n // 4)


@hookimpl
def harness_methods() -> list[Method]:
    """Provide anchor graph regularisation and the prototype vector machine."""
    return [
        Method(
            "anchor-graph",
            AnchorGraphRegularization,
            storage,
            size="n_landmarks",
            sizes=_sizes,
            # of 7,600 digits with ten labels, 300 anchors are 0.09 more accurate than 100
            enough=300,
            tasks={"binary", "multiclass"},
            params={"decision_threshold": "share"},
            space={"gamma": log_uniform(1e-4, 1.0)},
            head_params={"gamma"},
            reference="liu2010",
        ),
        Method(
            "pvm",
            prototype_vectors.PrototypeVectorMachine,
            prototype_vectors.storage,
            size="n_landmarks",
            tasks={"binary", "multiclass"},
            params={"decision_threshold": "share"},
            space={"sigma": choice([0.2, 0.25, 0.35, 0.5]), "C": log_uniform(1.0, 1e4)},
            head_params={"C"},
            reference="zhang2009",
        ),
    ]
