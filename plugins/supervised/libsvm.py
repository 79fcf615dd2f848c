"""What LIBSVM is given: a tolerance, a matrix of kernels that it lacks; what its scores are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.svm import SVC

from harness.kernels.functions import BoundKernel
from harness.layers import Center, KernelValues, Layer, Linear, OneVsOne

GROUP_ROWS = 256
"""Of a matrix, at a time; fewer would have the chi-squared kernel transpose X more often than it
has cells to fill."""

# Of the deviation of scores: they are within 1 % of their range then.
_TOL = 1e-3


def libsvm_tolerance(K: np.ndarray, codes: np.ndarray, counts: np.ndarray, C: float) -> float:
    """Return where LIBSVM may end: 1e-3, or less where scores differ by less than 1.

    It ends where the gradient, which is in the units of scores, is violated by less than a number.
    Where C is small, all points of the rarer class have the weight C and those of the other the
    mean that makes up for them: scores differ as two mean kernel values do, times C.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Kernel values between some of the points.
    codes : ndarray of shape (m,)
        Their classes.
    counts : ndarray of shape (n_classes,)
        Of all points; the rarest class decides.
    C : float
    """
    present = np.unique(codes)
    means = np.stack([K[:, codes == code].mean(axis=1, dtype=np.float64) for code in present])
    covariance = np.atleast_2d(np.cov(means))
    variances = covariance.diagonal()
    pairs = variances[:, None] + variances - 2 * covariance
    apart = pairs[~np.eye(len(pairs), dtype=bool)].clip(0)
    if not apart.size:
        return _TOL
    deviation = C * counts[counts > 0].min() * float(np.sqrt(apart.min()))
    return _TOL * min(1.0, max(deviation, np.finfo(np.float32).eps))


def with_zeros(values: Any) -> np.ndarray:
    """Return what LIBSVM leaves as an array: of sparse points it leaves sparse matrices."""
    return values.toarray() if issparse(values) else values


def nodes_bytes(n: int, nnz: int) -> int:
    """Bytes of sparse points as LIBSVM holds them: a node of 16 for each nonzero.

    Each row has one that ends it, and the head of its allocation.
    """
    return 16 * nnz + 32 * n


def row_groups(n: int) -> list[slice]:
    """Return the rows of each group."""
    return [slice(start, min(start + GROUP_ROWS, n)) for start in range(0, n, GROUP_ROWS)]


def square_matrix(kernel: BoundKernel, X: np.ndarray) -> np.ndarray:
    """Return k between all rows of X in float64, each pair of groups of rows computed once."""
    K = np.empty((len(X), len(X)))
    for rows in row_groups(len(X)):
        K[rows, : rows.stop] = kernel(X[rows], X[: rows.stop])
        K[: rows.start, rows] = K[rows, : rows.start].T
    return K


def svm_layers(
    svm: SVC, kernel: str | BoundKernel, vectors: np.ndarray | None = None
) -> list[Layer]:
    """Return what the decisions of a machine are made of.

    Parameters
    ----------
    svm : SVC
        Fitted.
    kernel : str or BoundKernel
        The name of one that LIBSVM computes, or that of the matrix that it was given.
    vectors : ndarray of shape (n_support, d), optional
        Support vectors where it was given a matrix.
    """
    found: list[Layer]
    if isinstance(kernel, BoundKernel):
        assert vectors is not None, "a matrix has no points"
        points = kernel.near(vectors, vectors.dtype)
        near = Center(kernel.center, points.dtype)
        found = [near, KernelValues(points, kernel.width, kernel.kernel)]
    else:
        width = 1.0 if kernel == "linear" else float(svm.gamma) ** -0.5
        # SVC's gamma is 1 / (2 width^2) of the Gaussian kernel alone
        width *= 0.5**0.5 if kernel == "rbf" else 1.0
        found = [KernelValues(with_zeros(svm.support_vectors_), width, kernel)]
    if len(svm.classes_) == 2:
        return [*found, Linear(with_zeros(svm.dual_coef_).T, svm.intercept_)]
    pairs = Linear(_pair_coefficients(svm), svm.intercept_)
    return [*found, pairs, OneVsOne(len(svm.classes_))]


def _pair_coefficients(svm: SVC) -> np.ndarray:
    """Return the coefficients of support vectors in the machine of each pair of classes.

    Returns
    -------
    ndarray of shape (n_support, n_classes (n_classes - 1) / 2)
    """
    starts = np.concatenate([[0], np.cumsum(svm.n_support_)])
    pairs = list(itertools.combinations(range(len(svm.classes_)), 2))
    coef, duals = np.zeros((starts[-1], len(pairs))), with_zeros(svm.dual_coef_)
    for place, (i, j) in enumerate(pairs):
        for own, other in ((i, j), (j, i)):
            rows = slice(starts[own], starts[own + 1])
            # of each class there is a row for every other one
            coef[rows, place] = duals[other - (other > own), rows]
    return coef
