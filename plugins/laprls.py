"""Laplacian regularised least squares (Belkin, Niyogi & Sindhwani 2006), exact and on landmarks.

Kernel ridge regression whose penalty adds how much the function varies along a graph of all
points. A penalty alpha (|f|^2 + m f'Lf) is alpha times the squared norm in another space, whose
kernel (Sindhwani, Niyogi & Belkin 2005) or features no label decides: they are computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from functools import partial
from typing import Self

import numpy as np
from scipy.linalg import cholesky, lu_factor, lu_solve, solve_triangular
from sklearn.utils import check_random_state

from harness import Arrays, Method, Shape, Storage, choice, hookimpl, kernels, log_uniform
from harness.estimator import (
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
)
from harness.semi_supervised import (
    GaussianExpansionMixin,
    RidgeOnFeatures,
    SplitLeastSquares,
    centered_kernel_ridge,
    expansion_arrays,
)


class _ManifoldPenalty(kernels.GaussianWidth):
    """Parameters of a penalty along a graph of all points."""

    _: KW_ONLY
    alpha: PositiveFloat = 0.001
    """gamma_A."""
    manifold: NonNegativeFloat = 1.0
    """gamma_I / gamma_A, for V."""
    graph_sigma: PositiveFloat | None = None
    """Width of the weights. `sigma` by default."""


class LapRLS(_ManifoldPenalty, GaussianExpansionMixin, SplitLeastSquares):
    """Minimise the mean squared error plus alpha (|f|^2 + manifold V(f)), with a free intercept.

    V(f) = sum_ij w_ij (f_i - f_j)^2 / sum_ij w_ij, the mean squared step along the edges of a
    graph: Gaussian weights between points of which one is among the nearest of the other.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n, Q)
    """

    n_neighbors: PositiveInt = 10
    """Of the graph."""

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Compute the deformed kernel's functions at the rows that may get targets."""
        self._width, self._center = self._width_on(X), kernels.column_medians(X)
        self._points, n = X - self._center, len(X)
        # (I + M K) S = (unit vectors of the labeled points): k~(., x_i) = k(., X) s_i.
        A = self._laplacian_times_kernel()
        A.flat[:: n + 1] += 1
        S = np.zeros((n, len(labeled)), order="F")
        S[labeled, np.arange(len(labeled))] = 1
        # looking whether all is finite would hold a byte for each element
        factor = lu_factor(A, overwrite_a=True, check_finite=False)
        self._functions = lu_solve(factor, S, overwrite_b=True, check_finite=False)
        del A, factor
        self._kernel = np.empty((len(labeled), len(labeled)))
        for block in self._blocks(len(labeled)):
            rows = self._points[labeled[block]]
            K = kernels.gaussian_kernel(rows, self._points, self._width)
            np.matmul(K, self._functions, out=self._kernel[block])
        return self

    def _laplacian_times_kernel(self) -> np.ndarray:
        """Return M K, with M the Laplacian in the units of `manifold`, in columns."""
        n = len(self._points)
        product = np.zeros((n, n), order="F")
        if n > 1 and self.manifold:
            width = self._width * _graph_sigma(self.graph_sigma, self.sigma) / self.sigma
            graph = kernels.NeighborGraph(self._points, self.n_neighbors, width)
            everything, degrees = np.arange(n), graph.multiply(np.arange(n), np.ones((n, 1)))
            total = degrees.sum()
            # without an edge that is more than rounding there is no manifold
            unit = 2 * self.manifold / total if total > np.finfo(float).tiny ** 0.5 else 0.0
            for block in self._blocks(n):
                K = kernels.gaussian_kernel(self._points[block], self._points, self._width).T
                around = graph.multiply(everything, K)
                K *= degrees
                K -= around
                del around
                np.multiply(K, unit, out=product[:, block])
                del K
        return product

    def _fit_values(self, rows: slice | np.ndarray, values: np.ndarray) -> None:
        positions = np.arange(len(self._kernel))[rows]
        K = self._kernel[np.ix_(positions, positions)]
        penalty = len(values) * self.alpha
        a, self.intercept_ = centered_kernel_ridge(K, values, penalty)
        self._coefficients = np.zeros((len(self._kernel), values.shape[1]))
        self._coefficients[rows] = a

    def _values_of(self, rows: np.ndarray) -> np.ndarray:
        return self._kernel[rows] @ self._coefficients + self.intercept_

    def _finish(self) -> None:
        self.dual_coef_ = self._functions @ self._coefficients
        del self._functions, self._kernel, self._coefficients

    def _blocks(self, n: int) -> Iterator[slice]:
        return kernels.row_blocks(n, _row_width(*self._points.shape))

    def _expansion(self) -> kernels.GaussianExpansion:
        return kernels.GaussianExpansion(
            self._points, self._width, self.dual_coef_, self.intercept_, self._center
        )


class LandmarkLapRLS(kernels.Landmarks, _ManifoldPenalty, GaussianExpansionMixin, RidgeOnFeatures):
    """The same on Nystrom features, with a graph through the landmarks.

    Every point is tied to the nearest landmarks, with Gaussian weights of sum 1 in Z (n x s), and
    points are tied through them: W = Z D^-1 Z' with D the landmarks' share of all points (Liu, He
    & Chang 2010). Its degrees are 1 and its Laplacian I - W is positive semidefinite, so one Gram
    matrix of features and ties side by side, summed up over blocks of rows, is all it takes.

    Attributes
    ----------
    coef_ : ndarray of shape (s, Q)
        Coefficients of the landmarks' kernel functions.
    """

    n_neighbors: PositiveInt = 3
    """Landmarks that a point is tied to."""

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Compute features in which the whole penalty is a ridge, of the labeled rows."""
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel("rbf", X, self.sigma, self.sigma_unit)
        sample = self._select(X, self.n_landmarks, rng, kernel)
        self._center = kernels.column_medians(X)
        self._landmarks = kernels.centered_rows(X, sample, self._center)
        self._width = kernel.width
        P: np.ndarray
        P = kernels.NystromFeatures(self._landmarks, self._width, dtype=np.float32).projection
        R = self._mean_variation(X, P) if self.manifold else np.zeros((P.shape[1],) * 2)
        R *= 2 * self.manifold
        R.flat[:: len(R) + 1] += 1
        L = cholesky(R.T, lower=True, overwrite_a=True)
        right = P.T.astype(np.float64, order="F")
        del P, R
        self._projection = solve_triangular(L, right, lower=True, overwrite_b=True).T
        del L, right
        self._features = np.empty((len(labeled), self._projection.shape[1]))
        for block in self._blocks(len(labeled)):
            np.matmul(self._rows(X[labeled[block]]), self._projection, out=self._features[block])
        return self

    def _mean_variation(self, X: np.ndarray, P: np.ndarray) -> np.ndarray:
        """Return F'(I - Z D^-1 Z')F / n of the features F = K P of all points."""
        s, k = P.shape
        gram, through, ties = kernels.GramSum(k), np.zeros((k, s)), np.zeros(s)
        for block in self._blocks(len(X)):
            K = self._rows(X[block])
            F = K @ P
            Z = self._ties(K)
            gram.add(F)
            through += F.T @ Z
            ties += np.ones(len(K), np.float32) @ Z
            del K, F, Z
        G = gram.total()
        del gram
        through /= np.sqrt(np.maximum(ties, np.finfo(float).tiny))
        variation = through @ through.T
        del through
        np.subtract(G, variation, out=variation)
        del G
        variation /= len(X)
        return _positive_part(variation)

    def _ties(self, K: np.ndarray) -> np.ndarray:
        """Keep the largest entries of each row, with sum 1; K is used up."""
        r, s = min(self.n_neighbors, K.shape[1]), K.shape[1]
        # where all weights vanish, the nearest have the same one
        K += np.finfo(K.dtype).tiny
        if r < s:
            others = np.argpartition(K, s - r - 1, axis=1)[:, : s - r]
            np.put_along_axis(K, others, 0, axis=1)
        if self.graph_sigma is not None:
            # of values in another width the same weights are a power; the nearest keep one
            K /= K.max(axis=1, keepdims=True)
            np.power(K, (self.sigma / _graph_sigma(self.graph_sigma, self.sigma)) ** 2, out=K)
        K /= K.sum(axis=1, keepdims=True)
        return K

    def _finish(self) -> None:
        self.coef_ = self._projection @ self._weights
        del self._projection, self._features, self._weights

    def _rows(self, X: np.ndarray) -> np.ndarray:
        return kernels.gaussian_kernel(
            kernels.centered(X, self._center), self._landmarks, self._width
        )

    def _blocks(self, n: int) -> Iterator[slice]:
        return kernels.row_blocks(n, _landmark_row_width(*self._landmarks.shape), 4)

    def _expansion(self) -> kernels.GaussianExpansion:
        return kernels.GaussianExpansion(
            self._landmarks, self._width, self.coef_, self.intercept_, self._center
        )


def _graph_sigma(graph_sigma: float | None, sigma: float) -> float:
    """Return a width within 1e-6 and 1e6 times the kernel's: only overflow is beyond."""
    return sigma if graph_sigma is None else min(max(graph_sigma, 1e-6 * sigma), 1e6 * sigma)


def _positive_part(A: np.ndarray) -> np.ndarray:
    """Return a positive semidefinite matrix without the rounding that made it indefinite.

    In the place of A, which is in C order.
    """
    A += A.T.copy()
    A /= 2
    eigenvalues, U = kernels.eigensystem(A)
    U *= np.sqrt(np.maximum(eigenvalues, 0))
    return np.matmul(U, U.T, out=A)


def _row_width(n: int, n_features: int) -> int:
    """Doubles held for a row of n kernel values: these three times, and its features twice."""
    return 3 * n + 2 * n_features


def exact_storage(shape: Shape, size: int, n_neighbors: int = 10, tuned: bool = False) -> Storage:
    """Count points in float64, 8 n^2 of the system, and its solutions, 8 n l."""
    n, d, labeled = shape.n, shape.n_features, shape.n_labeled
    value = 8 * max(1, shape.n_classes)
    X = Arrays(X=shape.data_bytes)
    # of SciPy's library: a factor, and what it solves for
    blas = max(kernels.blas_bytes(n, terms=n // 2, others=n), kernels.blas_bytes(labeled, terms=n))
    points, panels = Arrays(points=8 * n * d, middle=16 * d), Arrays(blas=blas)
    # what a fit of a search has packed is there in the next
    packed = panels if tuned else Arrays()
    fitting = X + points + Arrays(values=(8 + value) * labeled)
    width = _row_width(n, d)
    block = Arrays(kernel_rows=kernels.stream_bytes(n, width))
    # scaled points beside kernel values, then these three times
    rows = Arrays(kernel_rows=kernels.stream_bytes(n, width, held=max(4 * width, 24 * n)))
    making, graph = kernels.NeighborGraph.bytes(n, d, n_neighbors)
    system, solutions = Arrays(system=8 * n * n), Arrays(solutions=8 * n * labeled)
    reduced = Arrays(reduced=8 * labeled**2)
    return Storage(
        fit={
            # before the points are moved
            "width": X + packed + Arrays(sample=kernels.width_bytes(n, d, shape.itemsize)),
            "graph": fitting + packed + Arrays(graph=making),
            "system": fitting + packed + system + rows + Arrays(graph=graph),
            "solution": fitting + panels + system + solutions,
            "reduction": fitting + panels + solutions + reduced + block,
            "coefficients": fitting
            + panels
            + solutions
            + reduced
            + Arrays(factor=8 * labeled**2, right_hand_sides=2 * value * labeled),
        },
        predict={"a block": points + panels + expansion_arrays(shape, n, 8)},
    )


def _landmark_row_width(n_landmarks: int, n_features: int) -> int:
    """Numbers held for a row: kernel values, features and ties, and X picked, moved and scaled."""
    return 4 * (n_landmarks + n_features)


def landmark_storage(
    shape: Shape, size: int, selector: str = "uniform", tuned: bool = False
) -> Storage:
    """Count landmarks, 28 s^2 for features and graph, 8 l s of labeled features that are kept."""
    n, d, i, s = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    labeled, columns, square = shape.n_labeled, max(1, shape.n_classes), 8 * s * s
    points = Arrays(X=shape.data_bytes, values=8 * labeled * (1 + columns))
    landmarks = Arrays(landmarks=4 * s * d, middle=16 * d)
    # in SciPy's library, of the kernel matrix, and later of the factor of the penalty; in NumPy's
    scipy = kernels.blas_bytes(s, 4, terms=d, others=s)
    later = max(scipy, kernels.cholesky_blas_bytes(s), kernels.blas_bytes(s, terms=s))
    numpy, least = kernels.square_product_bytes(s), min(labeled, s)
    fitting = points + landmarks
    drawn = fitting + Arrays(projection=4 * s * s)
    summed = drawn + Arrays(gram=square, through_landmarks=square)
    width = _landmark_row_width(s, d)
    solving = kernels.blas_bytes(least, terms=max(labeled, s), others=least)
    last = later + max(numpy, solving)
    packed = {"features": scipy, "ties": scipy, "graph": scipy}
    packed |= {"variation": scipy + numpy, "eigenvectors": scipy + numpy}
    packed |= {"labeled features": later + numpy, "coefficients": last}
    system = fitting + Arrays(system=square, labeled_features=8 * labeled * s)
    phases = {
        "width": points + Arrays(sample=kernels.width_bytes(n, d, i)),
        "selection": points + Arrays(selection=kernels.selection_bytes(selector, n, d, s, i)),
        "landmarks": fitting + Arrays(picked=kernels.stream_bytes(s, 2 * d, held=(i + 4) * d)),
        "features": fitting + kernels.eigen_arrays(s),
        # points near the origin and scaled; then kernel values, features and an order of them
        "ties": summed + Arrays(rows=kernels.stream_bytes(n, width, 4, 8 * d + 16 * s)),
        "graph": summed + Arrays(product=4 * s * s, rows=kernels.stream_bytes(n, width, 4, 8 * s)),
        "variation": summed + Arrays(variation=square),
        "eigenvectors": drawn
        + Arrays(
            variation=square,
            eigenvectors=square,
            workspace=kernels.eigen_workspace(s),
        ),
        "labeled features": system + Arrays(rows=kernels.stream_bytes(labeled, width, 4)),
        "coefficients": system
        + Arrays(
            solved=8 * labeled * s,
            reduced=8 * least**2,
            right_hand_sides=8 * (labeled + least + s) * columns,
        ),
    }
    return Storage(
        # what a fit of a search has packed is there in the next
        fit={
            name: arrays + Arrays(blas=last if tuned else packed.get(name, 0))
            for name, arrays in phases.items()
        },
        predict={"a block": landmarks + Arrays(blas=last) + expansion_arrays(shape, s, 4)},
    )


@hookimpl
def harness_methods() -> list[Method]:
    """Provide LapRLS, exact and on landmarks."""
    laprls = partial(
        Method,
        tasks={"regression", "binary", "multiclass"},
        space={
            "alpha": log_uniform(1e-6, 0.1),
            "manifold": choice([1.0, 10.0, 1e3, 1e5]),
            "sigma": choice([1.0, 3.0]),
        },
        head_params={"alpha"},
        reference="belkin2006",
    )
    return [
        laprls("laprls", LapRLS, exact_storage, size="n_unlabeled"),
        laprls("laprls-landmarks", LandmarkLapRLS, landmark_storage, size="n_landmarks"),
    ]
