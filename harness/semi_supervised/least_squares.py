"""Least squares with a free intercept, on features or on a kernel matrix, of values or classes.

What the estimators of squared loss have in common: targets of partly labeled points, the two
systems that are solved, and `fit` and `predict` around them. Classes are regressed as +1 against
-1, one against the rest.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from harness.estimator import Estimator, NonNegativeInt, PositiveFloat
from harness.kernels.gaussian import GaussianExpansion, expansion_bytes
from harness.kernels.symmetric import solve_positive_definite
from harness.layers import Layer
from harness.plugin.abilities import takes_scaled_integers
from harness.plugin.shape import Shape
from harness.plugin.storage import Arrays
from harness.scaled_integers import ScaledIntegers
from harness.semi_supervised.labels import predict_labels, read_labels


@dataclass(frozen=True)
class Targets:
    """What least squares is to fit.

    Attributes
    ----------
    rows : ndarray of shape (n_labeled,)
        Numbers of the points whose target is known, ascending.
    values : ndarray of shape (n_labeled, Q)
        One column for values and for two classes, else one a class.
    classes : ndarray of shape (n_classes,) or None
    """

    rows: np.ndarray
    values: np.ndarray
    classes: np.ndarray | None = None


def read_targets(y: np.ndarray, n_classes: int | None = None) -> Targets:
    """Read the targets of a partly labeled sample.

    Parameters
    ----------
    y : array-like of shape (n,)
        Values, NaN where unknown; with `n_classes`, classes, -1 where unknown.
    n_classes : int, optional
        0 or None: y holds values.

    Raises
    ------
    ValueError
        If no target is known, one is infinite, or `read_labels` refuses the labels.
    """
    if n_classes:
        labels = read_labels(y, n_classes)
        return Targets(labels.rows, labels.targets(), labels.classes)
    y = np.asarray(y, dtype=np.float64)
    if np.isinf(y).any():
        raise ValueError("y holds an infinite value")
    rows = np.flatnonzero(~np.isnan(y))
    if not rows.size:
        raise ValueError("y holds no labeled point: every entry is NaN")
    return Targets(rows, y[rows, None])


def centered_ridge(
    F: np.ndarray,
    values: np.ndarray,
    penalty: float | np.ndarray,
    overwrite: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise |values - F w - b|^2 + sum_j penalty_j w_j^2 over w and b.

    Solves the smaller of the two systems, of order n or k. Holds F in float64 and that system.

    Parameters
    ----------
    F : ndarray of shape (n, k)
        float32 or float64.
    values : ndarray of shape (n, Q)
    penalty : float or ndarray of shape (k,)
        Above 0.
    overwrite : bool, default False
        Whether F, in float64, may be used up.

    Returns
    -------
    w : ndarray of shape (k, Q)
    b : ndarray of shape (Q,)
    """
    center, offset = F.mean(axis=0, dtype=np.float64), values.mean(axis=0)
    root = np.sqrt(penalty)
    A = np.subtract(F, center, out=F if overwrite else None)
    A /= root
    if len(A) < A.shape[1]:
        w = A.T @ _solve_plus_identity(A @ A.T, values - offset)
    else:
        w = _solve_plus_identity(A.T @ A, A.T @ (values - offset))
    w /= np.broadcast_to(root, w.shape[:1])[:, None]
    return w, offset - center @ w


def centered_kernel_ridge(
    K: np.ndarray, values: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise |values - f - b|^2 + alpha |f|^2 over f = sum_i a_i k(., x_i) and b.

    Parameters
    ----------
    K : ndarray of shape (n, n), float64
        C-contiguous; used up.
    values : ndarray of shape (n, Q)
    alpha : float
        Above 0.

    Returns
    -------
    a : ndarray of shape (n, Q)
        Of sum 0: the intercept is free.
    b : ndarray of shape (Q,)
    """
    mean, offset = K.mean(axis=0), values.mean(axis=0)
    K -= mean
    K -= mean[:, None]
    K += mean.mean()
    K /= alpha
    a = _solve_plus_identity(K, values - offset)
    a /= alpha
    a -= a.mean(axis=0)
    return a, offset - mean @ a


def _solve_plus_identity(A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve (A + I) x = right for a positive semidefinite A, which is used up."""
    A.flat[:: len(A) + 1] += 1
    # a symmetric matrix is its own transpose, in columns
    return solve_positive_definite(A.T, right)


class SquaredLossMixin(RegressorMixin, Estimator):
    """`predict` and scores of an estimator of values or, with `n_classes`, of classes.

    A subclass writes `_values(X)`, of shape (n, Q).

    Attributes
    ----------
    intercept_ : ndarray of shape (Q,)
    """

    _: KW_ONLY
    n_classes: NonNegativeInt | None = None
    """0 or None: y holds values, NaN where unknown. Two or more: y holds classes, -1 where
    unknown, and each is regressed as +1 against -1.
    """

    def _read(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, Targets]:
        """Check the parameters and the arguments of `fit`."""
        self._validate_params()
        if isinstance(X, ScaledIntegers) and takes_scaled_integers(self):
            self.n_features_in_ = X.shape[1]  # finite and in order already
        else:
            X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        return X, self._read_targets(y)

    def _read_targets(self, y: np.ndarray) -> Targets:
        targets = read_targets(y, self.n_classes)
        if targets.classes is not None:
            self.classes_ = targets.classes
        return targets

    @available_if(lambda self: self.n_classes)  # type: ignore[untyped-decorator] # scikit-learn's
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores of shape (n,) for two classes, else (n, n_classes)."""
        return self._checked_values(X)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return values, or classes where `n_classes` says so."""
        values = self._checked_values(X)
        return predict_labels(values, self.classes_) if self.n_classes else values

    def _checked_values(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return _one_column_flat(self._values(X))


class GaussianExpansionMixin(SquaredLossMixin):
    """The same of a sum of Gaussians: a subclass writes `_expansion()`."""

    @abstractmethod
    def _expansion(self) -> GaussianExpansion:
        """Return the function that was learned."""

    def _values(self, X: np.ndarray) -> np.ndarray:
        return self._expansion().values(X)

    def layers(self) -> list[Layer]:
        """Return what values are made of."""
        check_is_fitted(self)
        return self._expansion().layers()


class SplitLeastSquares(SquaredLossMixin):
    """The same with a fit in two stages, for searches that keep the first.

    It offers `fit_features(X, labeled)`; `_fit_values(rows, values)`, least squares on those rows
    of `labeled`; `_values_of(rows)`, of shape (len(rows), Q), for others of them; and `_finish()`,
    which lets go of what only fitting needs.
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from all points; y is NaN, or -1 with `n_classes`, where it is unknown."""
        X, targets = self._read(X, y)
        self.fit_features(X, targets.rows)
        self._fit_values(slice(None), targets.values)
        self._finish()
        return self

    def fit_labels(self, y: np.ndarray) -> Self:
        """Fit those of the labeled rows whose y is known; leave the values of the others.

        They are in `held_out_scores_` where `n_classes` is set, else in `held_out_values_`.
        """
        targets = self._read_targets(y)
        self._fit_values(targets.rows, targets.values)
        held_out = np.delete(np.arange(len(y)), targets.rows)
        values = _one_column_flat(self._values_of(held_out))
        setattr(self, "held_out_scores_" if self.n_classes else "held_out_values_", values)
        return self


class RidgeOnFeatures(SplitLeastSquares):
    """Least squares on features: the mean of the squared errors plus `alpha` times |w|^2.

    `fit_features` leaves `_features`, those of the labeled rows.
    """

    _: KW_ONLY
    alpha: PositiveFloat = 0.001
    """Penalty, beside the mean of the squared errors."""

    def _fit_values(self, rows: slice | np.ndarray, values: np.ndarray) -> None:
        penalty = len(values) * self.alpha
        self._weights, self.intercept_ = centered_ridge(
            self._features[rows], values, penalty, overwrite=not isinstance(rows, slice)
        )

    def _values_of(self, rows: np.ndarray) -> np.ndarray:
        return self._features[rows] @ self._weights + self.intercept_


def expansion_arrays(shape: Shape, n_points: int, itemsize: int) -> Arrays:
    """Return what a prediction by `kernels.GaussianExpansion` holds beside its points.

    Parameters
    ----------
    shape : Shape
    n_points : int
        Points of the expansion.
    itemsize : int
        Bytes of an element of theirs.
    """
    rows = expansion_bytes(shape.block_rows, n_points, shape.n_features, itemsize)
    return Arrays(
        coefficients=8 * n_points * max(1, shape.n_classes),
        X_and_block=shape.predict_data_bytes,
        kernel_rows=rows,
    )


def _one_column_flat(values: np.ndarray) -> np.ndarray:
    return values[:, 0] if values.shape[1] == 1 else values
