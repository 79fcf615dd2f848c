"""Correlated views (McWilliams, Balduzzi & Buhmann 2013, algorithm 1): XNV and XKS.

Two random views of all points, on landmarks or random Fourier features, say by their canonical
correlations which directions to trust; least squares on the labeled points penalises the others.
Features are float32 and come in blocks of rows, of which one Gram matrix is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from functools import partial
from typing import Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels, log_uniform
from harness.estimator import (
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    RandomState,
)
from harness.kernels.gaussian import CENTER_SAMPLE
from harness.layers import Add, Center, KernelValues, Layer, Linear, Sum
from harness.semi_supervised import SplitLeastSquares, centered_ridge

from .canonical_correlation import (
    CanonicalCorrelations,
    CanonicalPairs,
    RowSketch,
    canonical_bytes,
)

# Smallest correlation in (1 - c) / c, the penalty of a direction.
_LEAST_CORRELATION = 1e-6
# Rows of a sketch for each feature of a view.
_SKETCH_ROWS = 20


class CorrelatedViews(kernels.GaussianWidth, SplitLeastSquares):
    """Canonical ridge regression on two random views; subclasses draw the views.

    With z the canonical coordinates of a view and c the correlations, minimises over w and b

        mean_i (y_i - w'z_i - b)^2 + sum_j (1 - c_j) / c_j w_j^2 + alpha |w|^2.

    Attributes
    ----------
    canonical_correlations_ : ndarray of shape (k,)
        Descending.
    coef_ : ndarray of shape (s, Q)
        Of the landmarks' kernel functions, or of random features, of the views that predict.
    """

    _: KW_ONLY
    alpha: PositiveFloat = 0.01
    """The paper's gamma."""
    sigma: PositiveFloat = 2.0
    ridge: NonNegativeFloat = 0.01
    """Of the canonical correlation analysis, in mean variances of a view's features."""
    combine: bool = False
    """True averages the predictors of both views; False predicts from the first, as the paper
    does.
    """
    cca: Literal["exact", "randomized"] = "exact"
    """"randomized" analyses 20 M random sums of rows in the place of all."""
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    def fit_features(self, X: np.ndarray, labeled: np.ndarray) -> Self:
        """Draw the views, analyse them on all points, and keep the labeled ones' coordinates."""
        rng = check_random_state(self.random_state)
        # Around these centres of rows and of features little cancels in float32.
        sample = X[:: -(-len(X) // CENTER_SAMPLE)]
        self._center = kernels.column_medians(X)
        self._views = self._draw_views(X, rng)
        self._origins = [self._origin(view, sample) for view in self._views]
        pairs = self._analyse(X, rng)
        self.canonical_correlations_ = pairs.correlations
        if not self.combine:
            del self._views[1:], self._origins[1:]
        both = zip(self._views, pairs.bases, strict=False)
        self._bases = [view.coefficients(basis) for view, basis in both]
        del pairs, both
        k = len(self.canonical_correlations_)
        self._coordinates = [np.empty((len(labeled), k), np.float32) for _ in self._views]
        single = [basis.astype(np.float32) for basis in self._bases]
        for block in self._blocks(len(labeled)):
            rows = self._rows(X[labeled[block]])
            for z, R, basis in zip(self._coordinates, rows, single, strict=True):
                np.matmul(R, basis, out=z[block])
        return self

    def _origin(self, view: _LandmarkView | _FourierView, sample: np.ndarray) -> np.ndarray:
        """Return the mean of what the features of a view are linear in."""
        total = np.zeros(view.n_columns)
        for block in kernels.row_blocks(
            len(sample), _row_width(view.n_columns, sample.shape[1]), 4
        ):
            rows = view.rows(kernels.centered(sample[block], self._center))
            total += rows.sum(axis=0, dtype=np.float64)
        return (total / len(sample)).astype(np.float32)

    def _analyse(self, X: np.ndarray, rng: np.random.RandomState) -> CanonicalPairs:
        first, second = (view.n_components for view in self._views)
        analysis = CanonicalCorrelations(first, second, self.ridge)
        blocks: Iterator[list[np.ndarray]]
        blocks = ([*self._rows(X[block])] for block in self._blocks(len(X)))
        if self.cca == "randomized":
            blocks = self._sketched(blocks, rng)
        for rows in blocks:
            Z = np.empty((len(rows[0]), first + second), np.float32)
            self._views[0].features(rows[0], out=Z[:, :first])
            self._views[1].features(rows[1], out=Z[:, first:])
            analysis.add(Z)
            del rows, Z  # or they would be held while the next ones are made
        return analysis.solve()

    def _sketched(
        self, blocks: Iterator[list[np.ndarray]], rng: np.random.RandomState
    ) -> Iterator[list[np.ndarray]]:
        """Yield blocks of random sums of rows: features are linear in the rows."""
        cut, width = len(self._origins[0]), sum(map(len, self._origins))
        sketch = RowSketch(_SKETCH_ROWS * cut, width, rng)
        for rows in blocks:
            sketch.add(np.concatenate(rows, axis=1))
        for sums in sketch.blocks(kernels.block_rows(2 * width, 4)):
            yield [sums[:, :cut], sums[:, cut:]]

    def _rows(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Yield what the features of each view are linear in, less its origin."""
        X = kernels.centered(X, self._center)
        for view, origin in zip(self._views, self._origins, strict=True):
            R = view.rows(X)
            R -= origin
            yield R

    def _blocks(self, n: int) -> Iterator[slice]:
        width = _row_width(sum(map(len, self._origins)), len(self._center))
        return kernels.row_blocks(n, width, 4)

    def _fit_values(self, rows: slice | np.ndarray, values: np.ndarray) -> None:
        c = np.maximum(self.canonical_correlations_, _LEAST_CORRELATION)
        penalty = len(values) * (self.alpha + (1 - c) / c)
        self._weights = [centered_ridge(z[rows], values, penalty) for z in self._coordinates]

    def _values_of(self, rows: np.ndarray) -> np.ndarray:
        both = zip(self._coordinates, self._weights, strict=True)
        return sum(z[rows] @ w + b for z, (w, b) in both) / len(self._weights)

    def _finish(self) -> None:
        both = list(zip(self._bases, self._weights, strict=True))
        self.coef_ = np.concatenate([basis @ w for basis, (w, _) in both]) / len(both)
        self.intercept_ = np.asarray(sum(b for _, (_, b) in both) / len(both))
        del self._bases, self._coordinates, self._weights

    def _coefs(self) -> list[np.ndarray]:
        """Return the coefficients of each view."""
        cuts = np.cumsum([len(origin) for origin in self._origins])[:-1]
        return np.split(self.coef_.astype(np.float32), cuts)

    def layers(self) -> list[Layer]:
        """Return what values are made of."""
        each = zip(self._views, self._origins, self._coefs(), strict=True)
        views = [[*view.layers(), Center(origin), Linear(coef)] for view, origin, coef in each]
        return [Center(self._center, np.float32), Sum(views), Add(self.intercept_)]

    def _values(self, X: np.ndarray) -> np.ndarray:
        coefs = self._coefs()
        values = np.empty((len(X), len(self.intercept_)))
        for block in self._blocks(len(X)):
            both = zip(self._rows(X[block]), coefs, strict=True)
            values[block] = sum(R @ coef for R, coef in both) + self.intercept_
        return values


class _LandmarkView:
    """Nystrom features: rows are those of the kernel matrix."""

    def __init__(self, landmarks: np.ndarray, width: float) -> None:
        features = kernels.NystromFeatures(landmarks, width, dtype=np.float32)
        self._landmarks, self._width = landmarks, width
        self._projection, self.n_components = features.projection, features.n_components
        self.n_columns = len(landmarks)

    def layers(self) -> list[Layer]:
        return [KernelValues(self._landmarks, self._width)]

    def rows(self, X: np.ndarray) -> np.ndarray:
        return kernels.gaussian_kernel(X, self._landmarks, self._width)

    def features(self, rows: np.ndarray, out: np.ndarray) -> None:
        np.matmul(rows, self._projection, out=out)

    def coefficients(self, basis: np.ndarray) -> np.ndarray:
        return self._projection @ basis


class _FourierView:
    """Random Fourier features: rows are the features themselves."""

    def __init__(self, features: kernels.RandomFourierFeatures) -> None:
        self.rows, self.n_components = features.transform, features.n_components
        self.layers = features.layers
        self.n_columns = features.n_components

    def features(self, rows: np.ndarray, out: np.ndarray) -> None:
        out[...] = rows

    def coefficients(self, basis: np.ndarray) -> np.ndarray:
        return basis


class XNV(kernels.LandmarkSelection, CorrelatedViews):
    """Correlated Nystrom views: M landmarks each, of which no point is in both."""

    n_landmarks: PositiveInt = 100
    """M, at most half of the points. `selector` chooses 2 M, which are dealt out at random."""

    def _draw_views(self, X: np.ndarray, rng: np.random.RandomState) -> list[_LandmarkView]:
        M = min(self.n_landmarks, len(X) // 2)
        if not M:
            raise ValueError("n_samples=1 is too few: two views need a landmark each")
        kernel = kernels.bind_kernel("rbf", X, self.sigma, self.sigma_unit)
        drawn = self._select(X, 2 * M, rng, kernel)
        deals = np.sort(rng.permutation(drawn).reshape(2, M), axis=1)
        return [
            _LandmarkView(kernels.centered_rows(X, rows, self._center), kernel.width)
            for rows in deals
        ]


class XKS(CorrelatedViews):
    """Correlated kitchen sinks: two views of random Fourier features."""

    n_components: PositiveInt = 100
    """M, the features of each view; they come in pairs, so an odd number is rounded down."""
    frequencies: kernels.FrequencyName = "gaussian"
    """How frequencies are drawn: independently, as in the paper, or as `rff-ridge` has them."""

    def _draw_views(self, X: np.ndarray, rng: np.random.RandomState) -> list[_FourierView]:
        width, d = self._width_on(X), X.shape[1]
        return [
            _FourierView(
                kernels.RandomFourierFeatures(
                    d, self.n_components, width, rng, frequencies=self.frequencies
                )
            )
            for _ in range(2)
        ]


def _row_width(columns: int, n_features: int) -> int:
    """Numbers held for a row: what features are linear in, they themselves, and X twice."""
    return 2 * (columns + n_features)


def landmark_storage(
    shape: Shape,
    size: int,
    combine: bool = False,
    cca: str = "exact",
    selector: str = "uniform",
    tuned: bool = False,
) -> Storage:
    """Count 2 M landmarks, and 48 M^2 for both projections and the analysis."""
    n, d, i, M = shape.n, shape.n_features, shape.itemsize, min(size, max(1, shape.n // 2))
    landmarks = Arrays(first_view=4 * M * (d + M), landmarks=4 * M * d)
    drawing = {
        "selection": Arrays(selection=kernels.selection_bytes(selector, n, d, 2 * M, i)),
        "landmarks": landmarks + Arrays(picked=kernels.stream_bytes(M, 2 * d, held=(i + 4) * d)),
        "projection": landmarks
        + Arrays(
            eigensystem=16 * M * M + kernels.eigen_workspace(M),
            kernel_blas=kernels.blas_bytes(M, 4, terms=d, others=M),
        ),
    }
    return _storage(shape, M, 4 * M * d + 4 * M * M, drawing, combine, cca, tuned, True)


def fourier_storage(
    shape: Shape,
    size: int,
    combine: bool = False,
    cca: str = "exact",
    frequencies: str = "gaussian",
    tuned: bool = False,
) -> Storage:
    """Count 4 M d of frequencies, and 40 M^2 for the analysis."""
    M, d = max(2, size), shape.n_features
    drawn = kernels.frequency_bytes(frequencies, d, M // 2, 4)
    view = drawn + kernels.phase_bytes(frequencies, shape.n, d, 4)
    return _storage(shape, M, view, {}, combine, cca, tuned)


def _storage(
    shape: Shape,
    M: int,
    view: int,
    drawing: dict[str, Arrays],
    combine: bool,
    cca: str,
    tuned: bool,
    scaled: bool = False,
) -> Storage:
    """Return phases where a view of M features has so many bytes, and scales points or not."""
    n, d, i, labeled = shape.n, shape.n_features, shape.itemsize, shape.n_labeled
    columns, targets, least, used = 2 * M, max(1, shape.n_classes), min(labeled, M), 1 + combine
    # of NumPy's library, and of SciPy's, which factors covariances and solves with the factors
    numpy = kernels.square_product_bytes(M)
    scipy = max(kernels.cholesky_blas_bytes(M), kernels.blas_bytes(M, terms=M))
    # what a fit of a search has packed is there in the next
    panels, packed = Arrays(blas=numpy + scipy), Arrays(blas=(numpy + scipy) * tuned)
    more = kernels.blas_bytes(least, terms=max(labeled, M), others=least)
    points = Arrays(X=shape.data_bytes, values=8 * labeled * (1 + targets), middle=16 * d)
    width = _row_width(columns, d)
    # what features are linear in, beside points near the origin and, for kernel values, scaled,
    # then beside features; labeled points are picked before
    linear = Arrays(rows=kernels.stream_bytes(n, width, 4, (8 if scaled else 4) * (columns + d)))
    rows = Arrays(rows=kernels.stream_bytes(n, width, 4, max(8 * columns, 4 * (columns + d))))
    picked = Arrays(rows=kernels.stream_bytes(labeled, width, 4, (i + 4) * (columns + d)))
    sketch = 4 * _SKETCH_ROWS * M * (columns + 1) if cca == "randomized" else 0
    analysing = points + Arrays(views=2 * view, sketch=sketch)
    predicting = panels + Arrays(views=used * view)
    coordinates = points + predicting
    coordinates += Arrays(directions=8 * M * M * used, coordinates=4 * labeled * M * used)
    # in float64; a search picks the labeled points of a fold before
    solving = Arrays(
        labeled=(12 if tuned else 8) * labeled * M,
        gram=8 * least**2,
        right_hand_sides=8 * (labeled + least + M) * targets,
        more_blas=max(0, more - numpy),
    )
    summing = analysing + Arrays(gram=kernels.GramSum.bytes(columns))
    return Storage(
        fit={
            "width": packed + points + Arrays(sample=kernels.width_bytes(n, d, i)),
            **beside(packed + points, drawing),
            "rows": packed + summing + linear,
            "Gram matrix": packed
            + summing
            + rows
            + Arrays(panel=kernels.GramSum.panel_bytes(columns)),
            "canonical correlations": panels + analysing + Arrays(correlations=canonical_bytes(M)),
            "coordinates": coordinates + Arrays(single=4 * M * M * used) + picked,
            "coefficients": coordinates + solving,
        },
        predict={
            "a block": predicting
            + Arrays(
                middle=16 * d,
                X_and_block=shape.predict_data_bytes,
                rows=kernels.stream_bytes(shape.block_rows, width, 4),
                coefficients_and_scores=8 * targets * (shape.block_rows + 2 * columns),
            )
        },
    )


def landmark_sizes(shape: Shape) -> tuple[int, int]:
    """Return one landmark at the least, half of the points at the most."""
    return 1, max(1, shape.n // 2)


def fourier_sizes(shape: Shape) -> tuple[int, int]:
    """Return a pair of features at the least, as many as points or 10,000 at the most."""
    return 2, max(2, min(shape.n, 10_000))


@hookimpl
def harness_methods() -> list[Method]:
    """Provide XNV and XKS."""
    views = partial(
        Method,
        tasks={"regression", "binary", "multiclass"},
        space={
            "alpha": log_uniform(1e-3, 1),
            "ridge": choice([0.01, 0.1, 1.0]),
            "sigma": choice([1.5, 4.0]),
        },
        head_params={"alpha"},
        reference="mcwilliams2013",
    )
    return [
        views("xnv", XNV, landmark_storage, size="n_landmarks", sizes=landmark_sizes),
        views("xks", XKS, fourier_storage, size="n_components", sizes=fourier_sizes),
    ]
