"""Harmonic functions and class mass normalisation (Zhu, Ghahramani & Lafferty 2003).

Labels spread over a complete graph whose edges weigh exp(-|x - z|^2 / (2 sigma^2)): a point that
has no label takes the weighted mean of all others, f_u = (D_uu - W_uu)^-1 W_ul f_l.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, Shape, choice, hookimpl, kernels

# Weight of the edge that ties every point to the class prior: far below any that carries
# information, it decides where a point has no neighbour at all.
_TIE = 1e-12


class HarmonicFunction(ClassifierMixin, BaseEstimator):
    """Gaussian fields and harmonic functions, with Parzen induction out of sample.

    Parameters
    ----------
    sigma : float, default 0.25
        Width of the edge weights.
    sigma_unit : {"median", "absolute"}, default "median"
        What `sigma` counts: median distances between the points, or units of the features.
    n_classes : int, optional
        Found from y by default.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    label_distributions_ : ndarray of shape (n, n_classes)
        The harmonic function of each class; rows sum to one.
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        What `decision_function` would be at the points of `fit`.
    transduction_ : ndarray of shape (n,)
        The classes of the points of `fit`; labels that were given stay.
    """

    _parameter_constraints: ClassVar[dict] = {
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sigma_unit": [StrOptions({"median", "absolute"})],
        "n_classes": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self, sigma: float = 0.25, sigma_unit: str = "median", n_classes: int | None = None
    ) -> None:
        self.sigma = sigma
        self.sigma_unit = sigma_unit
        self.n_classes = n_classes

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Solve for the harmonic function; y is -1 where a point has no label."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        labels = kernels.read_labels(y, self.n_classes)
        self.classes_, self._X, self._prior = labels.classes, X, labels.prior
        self._width = kernels.kernel_width(X, self.sigma, self.sigma_unit)
        unlabeled = np.setdiff1d(np.arange(len(X)), labels.rows)

        f = np.eye(len(self.classes_))[labels.codes]
        distributions = np.empty((len(X), len(self.classes_)))
        distributions[labels.rows] = f
        if unlabeled.size:
            distributions[unlabeled] = self._harmonic(labels.rows, f, unlabeled)
        self._mass_weights = self._weigh(distributions[unlabeled])
        self.label_distributions_ = distributions
        self.decision_scores_ = self._decision(distributions)
        self.transduction_ = kernels.decide(self.decision_scores_, self.classes_)
        self.transduction_[labels.rows] = self.classes_[labels.codes]
        return self

    def _weights(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return kernels.gaussian_kernel(self._X[rows], self._X[columns], self._width)

    def _harmonic(self, labeled: np.ndarray, f: np.ndarray, unlabeled: np.ndarray) -> np.ndarray:
        degrees = np.zeros(len(unlabeled))
        system = kernels.PackedSymmetric(len(unlabeled))

        def tile(rows: slice, columns: slice) -> np.ndarray:
            W = self._weights(unlabeled[rows], unlabeled[columns])
            if rows == columns:
                # D - W is the same with and without loops, but rounding is not.
                np.fill_diagonal(W, 0)
            degrees[rows] += W.sum(axis=1, dtype=np.float64)
            if rows != columns:
                degrees[columns] += W.sum(axis=0, dtype=np.float64)
            return np.negative(W, out=W)

        system.fill(tile)
        # The last class is one minus the others.
        pull = np.tile(_TIE * self._prior[:-1], (len(unlabeled), 1))
        for block in kernels.row_blocks(len(unlabeled), kernels.TILE):
            for known in kernels.row_blocks(len(labeled), kernels.TILE):
                W = self._weights(unlabeled[block], labeled[known])
                degrees[block] += W.sum(axis=1, dtype=np.float64)
                pull[block] += W @ f[known, :-1]
                del W
        system.add_to_diagonal(degrees + _TIE)
        found = np.clip(system.solve(pull), 0, 1)
        return np.column_stack([found, np.clip(1 - found.sum(axis=1), 0, 1)])

    def _weigh(self, distributions: np.ndarray) -> np.ndarray:
        return np.ones(len(self.classes_))

    def _decision(self, distributions: np.ndarray) -> np.ndarray:
        scores = distributions * self._mass_weights
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores by Parzen induction (Delalleau, Bengio & Le Roux 2006).

        A new point takes the mean of all points of `fit`, weighted by its edges to them.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=self._X.dtype, order="C")
        distributions = np.empty((len(X), len(self.classes_)))
        for block in kernels.row_blocks(len(X), len(self._X) + X.shape[1], X.itemsize):
            distributions[block] = self._induce(X[block])
        return self._decision(distributions)

    def _induce(self, X: np.ndarray) -> np.ndarray:
        W = kernels.gaussian_kernel(X, self._X, self._width)
        tie = np.finfo(W.dtype).tiny
        total = W.sum(axis=1, dtype=np.float64)[:, None] + tie
        return (W @ self.label_distributions_ + tie * self._prior) / total

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each row."""
        return kernels.decide(self.decision_function(X), self.classes_)


class ClassMassNormalization(HarmonicFunction):
    """Harmonic functions whose classes are weighed so that their masses match the prior.

    In two classes the score is an increasing affine function of the harmonic one: the threshold
    changes, the ranking does not.
    """

    def _weigh(self, distributions: np.ndarray) -> np.ndarray:
        mass = distributions.mean(axis=0) if len(distributions) else self._prior
        return self._prior / np.maximum(mass, np.finfo(float).tiny)


def storage(shape: Shape, size: int) -> int:
    """Bytes held: the data, the packed matrix over the unlabeled points, tiles, distributions.

    8 d n + 4 u (u + 2) bytes and what is linear in n; prediction needs less.
    """
    n, u, d, i = shape.n, shape.n_unlabeled, shape.n_features, shape.itemsize
    tile = min(u, kernels.TILE)
    tiles = 2 * 8 * tile**2 + 3 * tile * d * i
    right_hand_sides = 8 * u * 4 * (shape.n_classes - 1)
    solving = kernels.packed_bytes(u) + kernels.blas_bytes(u) + max(tiles, right_hand_sides)
    # Other points, block by block; kernel rows in float32 are turned into float64 beside them.
    block = kernels.stream_bytes(n + shape.n_test, n + d, i) * (1 if i == 8 else 3)
    predicting = shape.block_bytes + block
    points = 8 * n * (2 * shape.n_classes + 4)
    return shape.data_bytes + points + max(kernels.width_bytes(n, d, i), solving, predicting)


@hookimpl
def harness_methods() -> list[Method]:
    """Provide harmonic functions, plain and with class mass normalisation."""
    shared = {
        "storage": storage,
        "size": "n_unlabeled",
        "tasks": {"binary", "multiclass"},
        "space": {"sigma": choice([0.05, 0.1, 0.15, 0.25, 0.5, 1.0])},
        "reference": "zhu2003",
    }
    return [
        Method("harmonic", HarmonicFunction, **shared),
        Method("cmn", ClassMassNormalization, **shared),
    ]
