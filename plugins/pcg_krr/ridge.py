"""Exact kernel ridge regression by preconditioned conjugate gradients."""

from __future__ import annotations

import warnings
from typing import Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from harness import kernels
from harness.estimator import PositiveFloat, PositiveInt
from harness.kernels.landmarks import SelectorName
from harness.layers import Layer
from harness.semi_supervised import SquaredLossMixin

from .low_rank import LowRankPreconditioner

TILE = 320
"""Rows and columns of the tiles of the kernel matrix that are computed at a time."""

# Residual, in parts of the right side, above which a fit says that it has not converged.
_FAR = 0.05


class PreconditionedKernelRidge(kernels.Landmarks, kernels.AnyKernel, SquaredLossMixin):
    """Minimise the squared error over the labeled points plus alpha |f|^2, with a free intercept.

    The function is that of `krr`, f = sum_i a_i k(., x_i) + b over all labeled points. Landmarks
    make the preconditioner alone: more of them save iterations and change nothing else.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_labeled, Q)
    intercept_ : ndarray of shape (Q,)
    n_iter_ : int
    residual_ : float
        Of the system, in parts of its right side.
    """

    alpha: PositiveFloat = 0.01
    """Penalty, on the scale of scikit-learn's `KernelRidge`."""
    max_iter: PositiveInt = 100
    """Products with the kernel matrix at most."""
    tol: PositiveFloat = 1e-3
    """Residual of the system, in parts of its right side, at which iterations end."""
    dtype: Literal["float32", "float64"] = "float32"
    """Of kernel values."""
    selector: SelectorName | kernels.Selector = "rpcholesky-accelerated"
    """How landmarks of the preconditioner are chosen: a name of `harness.kernels.SELECTORS`, or a
    callable (X, n_landmarks, random_state, kernel) that returns row numbers.
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the points whose target is known."""
        X, targets = self._read(X, y)
        rows, values = targets.rows, targets.values
        kernel = self._kernel_on(X)
        rng = check_random_state(self.random_state)
        chosen = self._select(X, self.n_landmarks, rng, kernel)
        features = kernels.LandmarkFeatures(X, kernel, chosen)
        inverse = LowRankPreconditioner(features, X, rows, self.alpha)
        del features
        offset = values.mean(axis=0)

        def multiply(vectors: np.ndarray) -> np.ndarray:
            product = self._products(X, rows, kernel, vectors)
            product -= product.mean(axis=0)
            product += self.alpha * vectors
            return product

        found = kernels.conjugate_gradients(
            multiply, values - offset, self.tol, self.max_iter, inverse.solve
        )
        del inverse
        self.dual_coef_ = found.solution
        self.dual_coef_ -= self.dual_coef_.mean(axis=0)
        product = self._products(X, rows, kernel, self.dual_coef_)
        self.intercept_ = offset - product.mean(axis=0)
        self.n_iter_, self.residual_ = found.n_iter, found.residual
        del product, found
        self._at = kernels.KernelRows(X, rows, kernel, np.dtype(self.dtype))
        if self.residual_ > max(_FAR, self.tol):
            message = f"after {self.n_iter_} iterations a part of {self.residual_:.2g} of the "
            message += f"right side is left, above tol={self.tol:g}; raise alpha, n_landmarks or "
            warnings.warn(message + "max_iter", ConvergenceWarning, stacklevel=2)
        return self

    def _products(
        self, X: np.ndarray, rows: np.ndarray, kernel: kernels.BoundKernel, vectors: np.ndarray
    ) -> np.ndarray:
        """Return K times vectors, in float64: a tile serves both sides of the diagonal."""
        dtype, product = np.dtype(self.dtype), np.zeros(vectors.shape)
        vectors = vectors.astype(dtype, copy=False)
        tiles = [slice(start, start + TILE) for start in range(0, len(rows), TILE)]
        for i, columns in enumerate(tiles):
            at = kernel.at(kernel.near(X[rows[columns]], dtype))
            for others in tiles[: i + 1]:
                K = at(kernel.near(X[rows[others]], dtype))
                product[columns] += K.T @ vectors[others]
                if others is not columns:
                    product[others] += K @ vectors[columns]
                del K
        return product

    def _values(self, X: np.ndarray) -> np.ndarray:
        values = self._at.values(X, self.dual_coef_)
        values += self.intercept_
        return values

    def layers(self) -> list[Layer]:
        """Return what values are made of."""
        check_is_fitted(self)
        return self._at.layers(self.dual_coef_, self.intercept_)
