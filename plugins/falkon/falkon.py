"""FALKON: kernel ridge regression on landmarks by preconditioned conjugate gradients."""

from __future__ import annotations

import warnings
from typing import Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from harness import kernels
from harness.estimator import PositiveFloat, PositiveInt
from harness.layers import Layer
from harness.semi_supervised import SquaredLossMixin

from .preconditioner import FalkonPreconditioner

# Residual, in parts of the right side, above which a fit says that it has not converged.
_FAR = 0.05


class Falkon(kernels.Landmarks, kernels.AnyKernel, SquaredLossMixin):
    """Minimise the squared error over the labeled points plus alpha |f|^2, f on landmarks.

    The function is that of `nystrom-krr`, with a free intercept: f = sum_j a_j k(., z_j) + b. Its
    system K_nM' K_nM + alpha K_MM, about the mean of the points, is never made.

    Attributes
    ----------
    coef_ : ndarray of shape (M, Q)
    intercept_ : ndarray of shape (Q,)
    landmarks_ : ndarray of shape (M, d)
        Less the middle of the points, see `harness.kernels.column_medians`.
    n_iter_ : int
    residual_ : float
        Of the preconditioned system, in parts of its right side.
    """

    alpha: PositiveFloat = 0.01
    """Penalty, on the scale of scikit-learn's `KernelRidge`: n lambda of the paper."""
    max_iter: PositiveInt = 50
    """Passes over the points at most."""
    tol: PositiveFloat = 1e-4
    """Residual of the preconditioned system, in parts of its right side, at which passes end."""
    dtype: Literal["float32", "float64"] = "float32"
    """Of kernel values and of the preconditioner."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return self.kernel in kernels.OF_SCALED_INTEGERS

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the points whose target is known."""
        X, targets = self._read(X, y)
        rows, values = targets.rows, targets.values
        kernel = self._kernel_on(X)
        rng = check_random_state(self.random_state)
        chosen = self._select(X, self.n_landmarks, rng, kernel)
        self._at = at = kernels.KernelRows(X, chosen, kernel, np.dtype(self.dtype))
        pre = FalkonPreconditioner(at.points, kernel.at_origin)
        pre.weigh(len(rows), self.alpha)
        offset = values.mean(axis=0)
        mean, right = self._sums(X, rows, values, offset)

        def multiply(vectors: np.ndarray) -> np.ndarray:
            products = self._centered_products(X, rows, pre.solve(vectors), mean)
            product = pre.solve_transposed(products)
            product += self.alpha * pre.penalty(vectors)
            return product

        found = kernels.conjugate_gradients(
            multiply, pre.solve_transposed(right), self.tol, self.max_iter
        )
        self.coef_ = pre.solve(found.solution)
        self.intercept_ = offset - mean @ self.coef_
        self.landmarks_ = at.points
        self.n_iter_, self.residual_ = found.n_iter, found.residual
        if found.residual > max(_FAR, self.tol):
            message = f"after {found.n_iter} passes a part of {found.residual:.2g} of the right "
            message += f"side is left, above tol={self.tol:g}; raise alpha or max_iter"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def _sums(
        self, X: np.ndarray, rows: np.ndarray, values: np.ndarray, offset: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of k(x, Z), shape (M,), and K_nM' of values about theirs, (M, Q)."""
        at = self._at
        mean, right = np.zeros(len(at.points)), np.zeros((len(at.points), values.shape[1]))
        for block, K in at.blocks(X, rows):
            mean += K.sum(axis=0, dtype=np.float64)
            right += K.T @ (values[block] - offset).astype(K.dtype)
        mean /= len(rows)
        return mean, right

    def _centered_products(
        self, X: np.ndarray, rows: np.ndarray, coef: np.ndarray, mean: np.ndarray
    ) -> np.ndarray:
        """Return K_nM' (K_nM coef), of values about their mean."""
        product, about = np.zeros(coef.shape), mean @ coef
        single = coef.astype(self._at.points.dtype)
        for _, K in self._at.blocks(X, rows):
            values = K @ single
            values -= about.astype(K.dtype)
            product += K.T @ values
        return product

    def _values(self, X: np.ndarray) -> np.ndarray:
        values = self._at.values(X, self.coef_)
        values += self.intercept_
        return values

    def layers(self) -> list[Layer]:
        """Return what values are made of."""
        check_is_fitted(self)
        return self._at.layers(self.coef_, self.intercept_)
