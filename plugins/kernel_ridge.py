"""Kernel ridge regression, exact and on Nystrom features: the supervised baselines.

McWilliams, Balduzzi & Buhmann 2013 compare the correlated views with both. Landmarks are labeled
points here; with landmarks from all points, it is the SSSL_M of `plugins/sssl.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from harness import Arrays, Method, Shape, Storage, choice, hookimpl, kernels, log_uniform
from harness.estimator import PositiveFloat
from harness.semi_supervised import GaussianExpansionMixin, Labels, centered_kernel_ridge


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


class _Sums:
    """Sums over points of features and values, from which least squares with an intercept follow.

    Parameters
    ----------
    k : int
        Features.
    offset : ndarray of shape (Q,)
        What is taken off the values, for accuracy.
    """

    def __init__(self, k: int, offset: np.ndarray) -> None:
        self._offset, self._count = offset, 0
        self._gram, self._total = np.zeros((k, k), order="F"), np.zeros(k)
        self._cross, self._values = np.zeros((k, len(offset))), np.zeros(len(offset))

    def add(self, Z: np.ndarray, values: np.ndarray) -> None:
        """Add features and values of some points."""
        moved = values - self._offset
        self._count += len(Z)
        self._total += Z.sum(axis=0)
        self._values += moved.sum(axis=0)
        self._cross += Z.T @ moved
        kernels.add_gram(self._gram, Z)

    def solve(self, alpha: float, overwrite: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return weights and intercept; the sums are used up if they may be."""
        gram = self._gram if overwrite else self._gram.copy(order="F")
        # Centring the features leaves the intercept free of the penalty.
        mean, values = self._total / self._count, self._values / self._count
        for j in range(len(mean)):
            gram[:, j] -= self._count * mean[j] * mean
        gram[np.diag_indices(len(mean))] += alpha
        cross = self._cross - np.outer(self._total, values)
        w = kernels.solve_positive_definite(gram, cross)
        return w, self._offset + values - mean @ w


class NystromKernelRidge(kernels.Landmarks, kernels.GaussianWidth, GaussianExpansionMixin):
    """The same on Nystrom features, which are summed up in row blocks, or over parts of a stream.

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
        self._features = self._map(X, kernel, rng)
        self._sums = _Sums(self._features.n_components, values.mean(axis=0))
        self._add(X, rows, values)
        self._solve(overwrite=True)
        del self._features, self._sums
        return self

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> Self:
        """Add some more points to the sums. The first ones give landmarks and the width.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        y : ndarray of shape (n,)
        classes : ndarray, optional
            All that y will ever hold, 0 .. Q - 1; `n_classes` by default.
        """
        first = not hasattr(self, "_sums")
        if first:
            self._validate_params()
            n_classes = self.n_classes or 0 if classes is None else len(classes)
            if n_classes:
                self.classes_ = np.arange(n_classes)
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=first)
        rows, values = self._some_targets(np.asarray(y))
        if not len(rows):
            return self
        if first:
            rng = check_random_state(self.random_state)
            kernel = kernels.bind_kernel("rbf", X[rows], self.sigma, self.sigma_unit)
            self._features = self._map(X[rows], kernel, rng)
            self._sums = _Sums(self._features.n_components, values.mean(axis=0))
        self._add(X, rows, values)
        self._is_stale = True
        return self

    def _some_targets(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which points have a target, and the targets; a part may lack any class."""
        if not hasattr(self, "classes_"):
            rows = np.flatnonzero(~np.isnan(y))
            return rows, y[rows, None].astype(np.float64)
        rows, every = np.flatnonzero(y != -1), np.arange(len(self.classes_))
        return rows, Labels(every, rows, y[rows], every).targets()

    def _map(
        self, X: np.ndarray, kernel: kernels.BoundKernel, rng: np.random.RandomState
    ) -> kernels.NystromFeatures:
        sample = self._select(X, self.n_landmarks, rng, kernel)
        self._center, self._width = kernel.center, kernel.width
        self._n_chosen = len(sample)
        return kernels.NystromFeatures.of_rows(X, sample, kernel)

    def _add(self, X: np.ndarray, rows: np.ndarray, values: np.ndarray) -> None:
        copied = _copied(X.shape[1], X.itemsize)
        for block in kernels.gram_blocks(len(rows), self._n_chosen, copied):
            self._sums.add(self._features.transform(X[rows[block]]), values[block])

    def _solve(self, overwrite: bool) -> None:
        w, self.intercept_ = self._sums.solve(self.alpha, overwrite)
        self.coef_ = self._features.projection @ w
        self.landmarks_ = self._features.landmarks
        self._is_stale = False

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_is_stale")

    def _expansion(self) -> kernels.GaussianExpansion:
        if self._is_stale:  # parts came since: their sums are solved when somebody asks
            self._solve(overwrite=False)
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
    n, d, i = shape.n_at_once, shape.n_features, shape.itemsize
    s, columns = min(size, n), max(1, shape.n_classes)
    # in NumPy's library of the product that makes a block of features; more rows than s / 4 are
    # within what is packed already. In SciPy's of the kernel, the Gram matrix and its factor
    rows = min(n, s // 4)
    kernel = kernels.blas_bytes(s, i, terms=d, others=s)
    summing = max(kernel, kernels.blas_bytes(s, terms=rows, others=s))
    features = kernels.blas_bytes(rows, terms=s, others=s)
    # all that a fit packs is there in the next of a search
    blas = features + max(summing, kernels.cholesky_blas_bytes(s))
    landmarks = Arrays(landmarks=s * d * i, middle=16 * d)
    labeled = min(n, shape.n_labeled)
    points = Arrays(X=shape.data_bytes, values=8 * labeled * (1 + 2 * columns))
    choosing, fitting = points + Arrays(blas=blas if tuned else 0), points + landmarks
    projection = Arrays(projection=8 * s * s)
    # two of three copies of points at a time, or features and kernel values
    row, part = 2 * s + _copied(d, i), kernels.gram_block_bytes(labeled, s, _copied(d, i))
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
        predict=_asked(shape, landmarks + Arrays(blas=blas), s, tuned),
    )


def _asked(shape: Shape, held: Arrays, s: int, tuned: bool) -> dict[str, Arrays]:
    """Return the phases of a prediction; the sums over parts stay, and are solved first."""
    columns = max(1, shape.n_classes)
    block = Arrays(coefficients=8 * s * columns) + _predicting(shape, s, shape.itemsize, tuned)
    if shape.part is None:
        return {"a block": held + block}
    held += Arrays(projection=8 * s * s, gram=8 * s * s, cross=8 * s * columns)
    solving = Arrays(factor=8 * s * s, right_hand_sides=24 * s * columns)
    return {
        "solution": held + solving + Arrays(block=shape.new_block_bytes),
        "a block": held + block,
    }


def landmarks_at_once(shape: Shape) -> tuple[int, int]:
    """Return one landmark at the least, and all points that are given at a time."""
    return 1, max(1, shape.n_at_once)


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
        ridge(
            "nystrom-krr",
            NystromKernelRidge,
            storage,
            size="n_landmarks",
            sizes=landmarks_at_once,
        ),
    ]
