"""The linear SVM of sparse points about their mean, which are never written with their zeros.

LIBLINEAR has no place for a mean that is subtracted. Its objective is minimised here by Newton's
method, with the kernel (x - mean)'(z - mean) + 1: the penalised intercept is a feature of its own.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from harness.semi_supervised.squared_hinge import Expansion, HingeLosses, minimise

_TOL = 1e-15
"""Squared error of the machine, in parts of its squared norm: scores have seven digits."""
_MOST_STEPS = 200
# Vectors of points that Newton's method holds, those of a product and sides among them.
_VECTORS = 18


class CentredProduct:
    """Products with the kernel matrix of points about their mean, and of a constant feature.

    Parameters
    ----------
    X : csr_matrix of shape (n, d)
    mean : ndarray of shape (d,)
    """

    def __init__(self, X: csr_matrix, mean: np.ndarray) -> None:
        self.n = int(X.shape[0])
        self._X, self._mean = X, mean

    def weights(self, a: np.ndarray) -> tuple[np.ndarray, float]:
        """Return sum_i a_i (x_i - mean), shape (d,), and sum_i a_i."""
        total = float(a.sum())
        return self._X.T @ a - self._mean * total, total

    def multiply(self, a: np.ndarray) -> np.ndarray:
        """Return the kernel matrix times a, both of shape (n,)."""
        w, b = self.weights(a)
        product = self._X @ w
        product += b - self._mean @ w
        return product


def train(
    X: csr_matrix, codes: np.ndarray, C: float, mean: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise (|w|^2 + b^2) / 2 + C sum max(0, 1 - y f)^2, f = w'(x - mean) + b.

    Parameters
    ----------
    X : csr_matrix of shape (n, d)
    codes : ndarray of shape (n,)
        Classes by number; more than two are told apart one against the rest.
    C : float
    mean : ndarray of shape (d,)

    Returns
    -------
    coef : ndarray of shape (d, Q)
    intercept : ndarray of shape (Q,)
        Of points that are not moved. Q is 1 for two classes.
    """
    kernel, classes = CentredProduct(X, mean), np.unique(codes)
    wanted = classes[1:] if len(classes) == 2 else classes
    coef, intercept = np.empty((X.shape[1], len(wanted))), np.empty(len(wanted))
    for q, code in enumerate(wanted):
        own = C * (codes == code)
        losses, start = HingeLosses(own, C - own), Expansion.zero(kernel.n)
        found = minimise(kernel, start, losses, _TOL, free_bias=False, max_steps=_MOST_STEPS)
        w, b = kernel.weights(found.coefficients)
        coef[:, q], intercept[q] = w, b - mean @ w
    return coef, intercept


def training_bytes(n: int, n_features: int, machines: int) -> int:
    """Bytes that `train` holds beside its inputs: vectors of points and of features, weights."""
    return 8 * (_VECTORS * n + (4 + machines) * (n_features + 1))
