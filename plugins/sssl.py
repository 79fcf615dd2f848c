"""Simple semi-supervised learning (Ji, Yang, Lin, Jin & Han 2012), exact and on landmarks.

Least squares on the first eigenfunctions of the kernel's integral operator, which all points
estimate. McWilliams, Balduzzi & Buhmann 2013 take those of M or 2 M landmarks in their place, and
a ridge in the place of a number of eigenfunctions: SSSL_M and SSSL_2M.
"""

from __future__ import annotations

from functools import partial
from typing import Self

import numpy as np
from sklearn.utils import check_random_state

from harness import Arrays, Method, Shape, Storage, choice, hookimpl, kernels, log_uniform
from harness.estimator import PositiveInt
from harness.semi_supervised import (
    GaussianExpansionMixin,
    RidgeOnFeatures,
    SplitLeastSquares,
    expansion_arrays,
)

# Eigenvalues of a float32 kernel matrix below this part of the largest are rounding.
_TOLERANCE = 1e-6
# Eigenfunctions that are computed, unless more are asked for: a search goes up to so many.
_MOST = 128
# Functions that vary so much less over the labeled points than others do get no weight: it would
# be any, and large where they do vary, as on outliers.
_UNSEEN = 0.03


class SSSL(kernels.GaussianWidth, GaussianExpansionMixin, SplitLeastSquares):
    """Least squares on the eigenfunctions of the kernel matrix of all points, equation 10.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (r,)
        Of the kernel matrix, descending.
    dual_coef_ : ndarray of shape (n, Q)
    """

    n_components: PositiveInt = 32
    """s, the eigenfunctions; no more than have an eigenvalue above rounding."""

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Compute the eigensystem; `labeled` are the rows that may get targets."""
        self._width, self._center = self._width_on(X), kernels.column_medians(X)
        self._points = kernels.centered(X, self._center)
        n, self._computed = len(X), max(_MOST, self.n_components)
        K = kernels.GaussianAt(self._points, self._width)(self._points)
        eigenvalues, U = kernels.largest_eigenpairs(K.T, min(n, self._computed))
        del K
        kept = eigenvalues > _TOLERANCE * eigenvalues[-1]
        self.eigenvalues_ = eigenvalues[kept][::-1]
        self._functions, self._labeled = U[:, kept][:, ::-1], labeled
        return self

    def _fit_values(self, rows: slice | np.ndarray, values: np.ndarray) -> None:
        if self.n_components > self._computed:
            message = (
                f"n_components={self.n_components}: {self._computed} eigenfunctions were "
                "computed; set it before fit_features"
            )
            raise ValueError(message)
        F = self._functions[self._labeled[rows], : self.n_components].astype(np.float64)
        center, offset = F.mean(axis=0), values.mean(axis=0)
        rounding = _TOLERANCE * np.linalg.norm(F)
        F -= center
        if np.linalg.norm(F) <= rounding:  # the points are all the same
            F[:] = 0
        self._weights = np.linalg.lstsq(F, values - offset, rcond=_UNSEEN)[0]
        self.intercept_ = offset - center @ self._weights

    def _values_of(self, rows: np.ndarray) -> np.ndarray:
        functions = self._functions[self._labeled[rows], : len(self._weights)]
        return functions @ self._weights + self.intercept_

    def _finish(self) -> None:
        s = len(self._weights)
        scaled = self._weights / self.eigenvalues_[:s, None]
        self.dual_coef_ = self._functions[:, :s] @ scaled
        del self._functions, self._labeled, self._weights

    def _expansion(self) -> kernels.GaussianExpansion:
        return kernels.GaussianExpansion(
            self._points, self._width, self.dual_coef_, self.intercept_, self._center
        )


class NystromSSSL(
    kernels.Landmarks, kernels.GaussianWidth, GaussianExpansionMixin, RidgeOnFeatures
):
    """Ridge regression on the eigenfunctions of landmarks that are chosen among all points.

    The features are S^-1/2 U'k(Z, x), with U S U' the kernel matrix of the landmarks, so that the
    ridge weighs the square of an eigenfunction's coefficient with the inverse of its eigenvalue.

    Attributes
    ----------
    coef_ : ndarray of shape (s, Q)
        Coefficients of the landmarks' kernel functions.
    landmarks_ : ndarray of shape (s, d)
        Less the middle of the points, see `harness.kernels.column_medians`.
    """

    n_views: PositiveInt = 1
    """How many times M landmarks are taken: 2 for SSSL_2M, as many as two views of XNV have."""

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Choose landmarks and keep the features of the rows that may get targets."""
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel("rbf", X, self.sigma, self.sigma_unit)
        sample = self._select(X, self.n_views * self.n_landmarks, rng, kernel)
        self._center = kernel.center
        self._nystrom = kernels.NystromFeatures.of_rows(X, sample, kernel)
        self.landmarks_ = self._nystrom.landmarks
        self._features = np.empty((len(labeled), self._nystrom.n_components))
        width = kernels.NystromFeatures.row_bytes(len(sample), X.shape[1], X.itemsize)
        for block in kernels.row_blocks(len(labeled), width, 1):
            self._nystrom.transform(X[labeled[block]], out=self._features[block])
        return self

    def _finish(self) -> None:
        self.coef_, self._width = self._nystrom.projection @ self._weights, self._nystrom.sigma
        del self._nystrom, self._features, self._weights

    def _expansion(self) -> kernels.GaussianExpansion:
        return kernels.GaussianExpansion(
            self.landmarks_, self._width, self.coef_, self.intercept_, self._center
        )


def exact_storage(shape: Shape, size: int, n_components: int = 32) -> Storage:
    """Count a float32 copy of the data, 4 n^2 of kernel matrix, 4 n s of eigenvectors."""
    n, d, i = shape.n, shape.n_features, shape.itemsize
    used, s = min(n, n_components), min(n, max(_MOST, n_components))
    values = 8 * max(1, shape.n_classes)
    points = Arrays(points=4 * n * d, middle=16 * d)
    blas = Arrays(blas=kernels.blas_bytes(n, 4, terms=d, others=n))
    X = Arrays(X=shape.data_bytes, values=(8 + values) * shape.n_labeled)
    fitting = points + X
    fitted, kernel_matrix = fitting + blas, Arrays(kernel_matrix=4 * n * n)
    eigenvectors = Arrays(eigenvectors=4 * n * s)
    return Storage(
        fit={
            # before the points are moved
            "width": X + Arrays(sample=kernels.width_bytes(n, d, i)),
            "kernel matrix": fitted + kernel_matrix + Arrays(norms=8 * n),
            "eigenvectors": fitted + kernel_matrix + eigenvectors + Arrays(workspace=400 * n),
            "order": fitted + eigenvectors + Arrays(ordered=4 * n * s),
            "coefficients": fitted + eigenvectors + Arrays(labeled=24 * shape.n_labeled * used),
            "expansion": fitted + eigenvectors + Arrays(used=8 * n * used, weights=values * n),
        },
        predict={"a block": points + blas + expansion_arrays(shape, n, 4)},
    )


def landmark_storage(
    shape: Shape, size: int, n_views: int = 1, selector: str = "uniform", tuned: bool = False
) -> Storage:
    """Count landmarks, 16 s^2 for their features, 8 l s of labeled points."""
    n, d, i, s = shape.n, shape.n_features, shape.itemsize, min(n_views * size, shape.n)
    labeled, columns, least = shape.n_labeled, max(1, shape.n_classes), min(shape.n_labeled, s)
    row = kernels.NystromFeatures.row_bytes(s, d, i)
    # of SciPy's library, and of NumPy's: a block of features, then what solves for coefficients
    scipy = kernels.blas_bytes(s, i, terms=d, others=s)
    rows = min(labeled, kernels.block_rows(row, 1))
    numpy = kernels.blas_bytes(rows, terms=s, others=s)
    more = kernels.blas_bytes(least, terms=max(labeled, s), others=least)
    later = max(scipy, kernels.cholesky_blas_bytes(least)) + max(numpy, more)
    # what a fit of a search has packed is there in the next
    packed = {"eigensystem": scipy, "labeled features": scipy + numpy, "coefficients": later}
    points = Arrays(X=shape.data_bytes, values=8 * labeled * (1 + columns))
    landmarks = Arrays(landmarks=s * d * i, middle=16 * d)
    fitting = points + landmarks
    features = fitting + Arrays(projection=8 * s * s, labeled_features=8 * labeled * s)
    block = kernels.stream_bytes(labeled, row, 1)
    phases = {
        "width": points + Arrays(sample=kernels.width_bytes(n, d, i)),
        "selection": points + Arrays(selection=kernels.selection_bytes(selector, n, d, s, i)),
        "eigensystem": fitting + kernels.eigen_arrays(s),
        "labeled features": features + Arrays(block=block),
        "coefficients": features
        + Arrays(
            solved=8 * labeled * s,
            gram=8 * least**2,
            right_hand_sides=8 * (labeled + least + s) * columns,
        ),
    }
    return Storage(
        fit={
            name: arrays + Arrays(blas=later if tuned else packed.get(name, 0))
            for name, arrays in phases.items()
        },
        predict={"a block": landmarks + Arrays(blas=later) + expansion_arrays(shape, s, i)},
    )


@hookimpl
def harness_methods() -> list[Method]:
    """Provide SSSL, SSSL_M and SSSL_2M."""
    widths = choice([0.5, 1.0, 2.0, 4.0])
    tasks = {"regression", "binary", "multiclass"}
    on_landmarks = partial(
        Method,
        estimator=NystromSSSL,
        storage=landmark_storage,
        size="n_landmarks",
        tasks=tasks,
        space={"alpha": log_uniform(1e-6, 0.1), "sigma": widths},
        head_params={"alpha"},
        reference="mcwilliams2013",
    )
    return [
        Method(
            "sssl",
            SSSL,
            exact_storage,
            size="n_unlabeled",
            space={"n_components": choice([4, 8, 16, 32, 64, 128]), "sigma": widths},
            head_params={"n_components"},
            tasks=tasks,
            reference="ji2012",
        ),
        on_landmarks("sssl-m"),
        on_landmarks("sssl-2m", params={"n_views": 2}),
    ]
