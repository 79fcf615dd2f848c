"""Ridge regression on random Fourier features, by one system or by conjugate gradients."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from harness import kernels
from harness.estimator import PositiveFloat, PositiveInt, RandomState
from harness.layers import Layer, Linear
from harness.semi_supervised import SquaredLossMixin

from .storage import is_direct, made_row
from .stored_features import StoredFeatures

# Residual, in parts of the right side, above which a fit says that it has not converged.
_FAR = 0.05


class RandomFourierRidge(kernels.GaussianWidth, SquaredLossMixin):
    """Minimise the squared error over the labeled points plus alpha |w|^2, with a free intercept.

    Of the two ways to the minimum the one is taken that holds less. One sums up the Gram matrix
    of the features, 8 m^2 bytes, and no feature is kept. The other keeps features of all labeled
    points, `bits` each, and takes conjugate gradients.

    Attributes
    ----------
    coef_ : ndarray of shape (m, Q), float32
    intercept_ : ndarray of shape (Q,)
    n_iter_ : int
        Of conjugate gradients; 0 where a system was solved.
    residual_ : float
        Of the system, in parts of its right side.
    """

    n_components: PositiveInt = 100
    """Random Fourier features, m; they come in pairs, and an odd number is rounded down."""
    alpha: PositiveFloat = 1.0
    """Penalty, on the scale of scikit-learn's `KernelRidge`."""
    frequencies: kernels.FrequencyName = "orthogonal"
    """How frequencies are drawn: "gaussian", independent; "orthogonal", in blocks of d, of less
    error; "hadamard", products of signs and Hadamard matrices, three bytes each instead of 4 d.
    """
    bits: Literal[32, 8, 4] = 8
    """Of a feature that is kept, by stochastic rounding."""
    max_iter: PositiveInt = 100
    """Products with all features at most."""
    tol: PositiveFloat = 1e-3
    """Residual of the system, in parts of its right side, at which iterations end."""
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the points whose target is known."""
        X, targets = self._read(X, y)
        rng = check_random_state(self.random_state)
        self._map = kernels.RandomFourierFeatures(
            X.shape[1],
            self.n_components,
            self._width_on(X),
            rng,
            center=kernels.column_medians(X),
            frequencies=self.frequencies,
        )
        offset = targets.values.mean(axis=0)
        values = targets.values - offset
        (n, Q), m, d = values.shape, self._map.n_components, X.shape[1]
        self.n_iter_, self.residual_ = 0, 0.0
        if is_direct(n, m, d, Q, X.itemsize, self.frequencies, self.bits):
            weights, mean = self._solve(X, targets.rows, values)
        else:
            weights, mean = self._iterate(X, targets.rows, values, rng)
        self.intercept_ = offset - mean @ weights
        self.coef_ = weights.astype(np.float32)
        if self.residual_ > max(_FAR, self.tol):
            message = f"after {self.n_iter_} iterations a part of {self.residual_:.2g} of the "
            message += f"right side is left, above tol={self.tol:g}; raise alpha or max_iter"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def _solve(
        self, X: np.ndarray, rows: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights that solve the normal equations, and the mean of the features."""
        m = self._map.n_components
        gram, mean = kernels.GramSum(m, exact=True), np.zeros(m)
        right = np.zeros((m, values.shape[1]))
        for block, part in self._features(X, rows):
            gram.add(part)
            mean += part.sum(axis=0, dtype=np.float64)
            right += part.T @ values[block].astype(np.float32)
        del part
        G, n = gram.total(), len(rows)
        mean /= n
        for j in range(m):
            G[:, j] -= n * mean[j] * mean
        G[np.diag_indices(m)] += self.alpha
        return kernels.solve_positive_definite(G, right), mean

    def _iterate(
        self, X: np.ndarray, rows: np.ndarray, values: np.ndarray, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights that iterations end in, and the mean of the features."""
        n, m = len(rows), self._map.n_components
        draws, bound = np.random.default_rng(rng.randint(2**31)), (m // 2) ** -0.5
        kept = StoredFeatures(n, m, self.bits, bound, draws)
        for block, part in self._features(X, rows, self.bits < 32):
            kept.put(block, part)
        del part
        mean, right = np.zeros(m), np.zeros((m, values.shape[1]))
        for block, Z in kept.blocks():
            mean += Z.sum(axis=0, dtype=np.float64)
            right += Z.T @ values[block].astype(np.float32)
        # or its block would stand beside those of the iterations
        del Z
        mean /= n

        def multiply(vectors: np.ndarray) -> np.ndarray:
            product, about = self.alpha * vectors, (mean @ vectors).astype(np.float32)
            single = vectors.astype(np.float32)
            for _, Z in kept.blocks():
                found = Z @ single
                found -= about
                product += Z.T @ found
            return product

        found = kernels.conjugate_gradients(multiply, right, self.tol, self.max_iter)
        self.n_iter_, self.residual_ = found.n_iter, found.residual
        return found.solution, mean

    def _features(
        self, X: np.ndarray, rows: np.ndarray | None = None, rounded: bool = False
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of some rows of X, all by default, and their features in one array."""
        n, m = len(X) if rows is None else len(rows), self._map.n_components
        itemsize = 0 if rows is None else X.itemsize
        step = kernels.block_rows(made_row(m, X.shape[1], itemsize, rounded), 1)
        Z = np.empty((min(step, n), m), np.float32)
        for start in range(0, n, step):
            block = slice(start, min(start + step, n))
            points = X[block if rows is None else rows[block]]
            features = self._map.transform(points, Z[: len(points)])
            # or they would stand beside those of the next block
            del points
            yield block, features

    def _values(self, X: np.ndarray) -> np.ndarray:
        values = np.empty((len(X), self.coef_.shape[1]))
        for block, part in self._features(X):
            values[block] = part @ self.coef_
        values += self.intercept_
        return values

    def layers(self) -> list[Layer]:
        """Return what values are made of."""
        check_is_fitted(self)
        return [*self._map.layers(), Linear(self.coef_, self.intercept_)]
