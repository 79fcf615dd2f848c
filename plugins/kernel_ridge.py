"""Kernel ridge regression, exact and on Nystrom features: the supervised baselines.

McWilliams, Balduzzi & Buhmann 2013 compare the correlated views with both. Landmarks are labeled
points here; with landmarks from all points, it is the SSSL_M of `plugins/sssl.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Self

import numpy as np
from sklearn.utils import check_random_state

from harness import Arrays, Method, Shape, Storage, choice, hookimpl, kernels, log_uniform
from harness.estimator import PositiveFloat
from harness.semi_supervised import GaussianExpansionMixin, centered_kernel_ridge


class CenteredKernelRidge(kernels.GaussianWidth, GaussianExpansionMixin):
    """Minimise the squared error over the labeled points plus alpha |f|^2, with a free intercept.

    Unlabeled points, if there are any, have no part in it.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_labeled, Q)
    """

    alpha: PositiveFloat = 0.01
    """Penalty, on the scale of scikit-learn's `KernelRidge`."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the points whose target is known."""
        X, targets = self._read(X, y)
        # In float64, or rounding would be above a small penalty; near the origin, for accuracy.
        self._points = X[targets.rows].astype(np.float64, copy=False)
        self._width = self._width_on(self._points)
        self._center = kernels.column_medians(self._points)
        self._points -= self._center
        K = kernels.GaussianAt(self._points, self._width)(self._points)
        solution = centered_kernel_ridge(K, targets.values, self.alpha)
        self.dual_coef_, self.intercept_ = solution
        return self

    def _expansion(self) -> kernels.GaussianExpansion:
        return kernels.GaussianExpansion(
            self._points, self._width, self.dual_coef_, self.intercept_, self._center
        )


class NystromKernelRidge(kernels.Landmarks, kernels.GaussianWidth, GaussianExpansionMixin):
    """The same on Nystrom features, which are summed up in row blocks.

    Attributes
    ----------
    coef_ : ndarray of shape (s, Q)
        Coefficients of the landmarks' kernel functions.
    landmarks_ : ndarray of shape (s, d)
        Less the middle of the points, see `harness.kernels.column_medians`.
    """

    alpha: PositiveFloat = 0.01
    """As in `CenteredKernelRidge`."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from the points whose target is known."""
        X, targets = self._read(X, y)
        rows, values = targets.rows, targets.values
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel("rbf", X, self.sigma, self.sigma_unit)
        sample = self._select(X, self.n_landmarks, rng, kernel)
        self._center = kernel.center
        nystrom = kernels.NystromFeatures.of_rows(X, sample, kernel)
        k = nystrom.n_components
        gram, total = np.zeros((k, k), order="F"), np.zeros(k)
        cross = np.zeros((k, values.shape[1]))
        offset = values.mean(axis=0)
        for block in kernels.gram_blocks(len(rows), len(sample), _copied(X.shape[1], X.itemsize)):
            Z = nystrom.transform(X[rows[block]])
            total += Z.sum(axis=0)
            cross += Z.T @ (values[block] - offset)
            kernels.add_gram(gram, Z)
            del Z
        # Centring the features leaves the intercept free of the penalty.
        mean = total / len(rows)
        for j in range(k):
            gram[:, j] -= len(rows) * mean[j] * mean
        gram[np.diag_indices(k)] += self.alpha
        w = kernels.solve_positive_definite(gram, cross)
        self.coef_ = nystrom.projection @ w
        self.intercept_ = offset - mean @ w
        self.landmarks_, self._width = nystrom.landmarks, kernel.width
        return self

    def _expansion(self) -> kernels.GaussianExpansion:
        return kernels.GaussianExpansion(
            self.landmarks_, self._width, self.coef_, self.intercept_, self._center
        )


def exact_storage(shape: Shape, size: int, tuned: bool = False) -> Storage:
    """Count the points in float64 and their kernel matrix, 8 n^2; prediction has no matrix."""
    n, d, i = shape.n_labeled, shape.n_features, shape.itemsize
    value = 8 * n * max(1, shape.n_classes)
    X, points = Arrays(X=shape.data_bytes), Arrays(points=8 * n * d, middle=16 * d)
    fitting = X + points + Arrays(values=value)
    # of the kernel matrix and of its factor, in SciPy's library: what a fit packs stays
    blas = max(kernels.blas_bytes(n, terms=d, others=n), kernels.cholesky_blas_bytes(n))
    fitted = Arrays(blas=blas)
    before = fitting + Arrays(blas=blas if tuned else 0)
    return Storage(
        fit={
            "width": before + Arrays(sample=kernels.width_bytes(n, d)),
            "conversion": before + Arrays(not_yet_float64=n * d * i if i < 8 else 0),
            "solution": fitting
            + fitted
            + Arrays(kernel_matrix=8 * n * n, vectors=24 * n, right_hand_sides=2 * value),
        },
        predict={
            "a block": points
            + fitted
            + Arrays(coefficients=value)
            + _predicting(shape, n, 8, tuned)
        },
    )


def storage(
    shape: Shape, size: int, selector: str | kernels.Selector = "uniform", tuned: bool = False
) -> Storage:
    """Count landmarks, the projection of their features, and the Gram matrix of these.

    Two blocks of s / 4 rows, or of as many as are labeled, come beside them. Prediction has the
    landmarks and a block of points.
    """
    n, d, i, s = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    columns = max(1, shape.n_classes)
    # in NumPy's library of the product that makes a block of features; more rows than s / 4 are
    # within what is packed already. In SciPy's of the kernel, the Gram matrix and its factor
    rows = min(n, s // 4)
    kernel = kernels.blas_bytes(s, i, terms=d, others=s)
    summing = max(kernel, kernels.blas_bytes(s, terms=rows, others=s))
    features = kernels.blas_bytes(rows, terms=s, others=s)
    # all that a fit packs is there in the next of a search
    blas = features + max(summing, kernels.cholesky_blas_bytes(s))
    landmarks = Arrays(landmarks=s * d * i, middle=16 * d)
    points = Arrays(X=shape.data_bytes, values=8 * shape.n_labeled * (1 + 2 * columns))
    choosing, fitting = points + Arrays(blas=blas if tuned else 0), points + landmarks
    projection = Arrays(projection=8 * s * s)
    # two of three copies of points at a time, or features and kernel values
    row, part = 2 * s + _copied(d, i), kernels.gram_block_bytes(shape.n_labeled, s, _copied(d, i))
    block = int(part * max(2 / 3, 2 * s / row))
    return Storage(
        fit={
            "width": choosing + Arrays(sample=kernels.width_bytes(n, d, i)),
            "landmarks": choosing
            + Arrays(selection=kernels.selection_bytes(selector, n, d, s, i)),
            "projection": fitting
            + projection
            + Arrays(
                kernel_matrix=8 * s * s,
                workspace=kernels.eigen_workspace(s),
                blas=blas if tuned else kernel,
            ),
            "Gram matrix": fitting
            + projection
            + Arrays(
                gram=8 * s * s,
                block=block,
                cross=8 * s * columns,
                blas=blas if tuned else features + summing,
            ),
            "solution": fitting
            + projection
            + Arrays(gram=8 * s * s, right_hand_sides=24 * s * columns, blas=blas),
        },
        predict={
            "a block": landmarks
            + Arrays(coefficients=8 * s * columns, blas=blas)
            + _predicting(shape, s, i, tuned)
        },
    )


def _copied(n_features: int, itemsize: int) -> int:
    """Doubles for a row of X that is picked, moved and scaled."""
    return -(-3 * n_features * itemsize // 8)


def _predicting(shape: Shape, m: int, itemsize: int, tuned: bool) -> Arrays:
    """Return points and their kernel rows; a search needs the data too.

    Rows that it predicts are left out of the copy for fitting, which has room for them.
    """
    held = max(shape.data_bytes if tuned else 0, shape.predict_data_bytes)
    rows = kernels.expansion_bytes(shape.block_rows, m, shape.n_features, itemsize)
    return Arrays(X_and_block=held, kernel_rows=rows)


@hookimpl
def harness_methods() -> list[Method]:
    """Provide kernel ridge regression, exact and on landmarks."""
    ridge = partial(
        Method,
        tasks={"regression", "binary", "multiclass"},
        space={"alpha": log_uniform(1e-5, 10), "sigma": choice([0.5, 1.0, 2.0, 4.0, 8.0])},
        uses_unlabeled=False,
        reference="mcwilliams2013",
    )
    return [
        ridge("krr", CenteredKernelRidge, exact_storage),
        ridge("nystrom-krr", NystromKernelRidge, storage, size="n_landmarks"),
    ]
