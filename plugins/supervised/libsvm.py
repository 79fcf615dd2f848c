"""What LIBSVM is given: a tolerance, and a matrix of kernels that it does not have itself."""

from __future__ import annotations

import numpy as np

from harness.kernels.functions import BoundKernel

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
