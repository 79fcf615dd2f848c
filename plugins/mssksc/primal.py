"""Semi-supervised kernel spectral learning on explicit features (Mehrkanoon & Suykens 2016).

All three minimise |w|^2 / 2 - g1/2 e'Ve + g2/2 (e - c)'A(e - c) with e = Phi w + b, where V holds
inverse degrees and A marks the labeled points. They differ in their features Phi: random Fourier
(RFF), Nystrom (FS, fixed size) or the kernel at prototypes (RD, reduced). Both quadratic terms are
m x m matrices summed up over row blocks, so memory does not grow with the number of points.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, sqrt
from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from harness import Arrays, Shape, Storage, beside, kernels
from harness.estimator import (
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    RandomState,
)
from harness.kernels.features import FeatureMap
from harness.layers import Layer, Linear
from harness.semi_supervised import (
    DecisionThresholdMixin,
    Labels,
    SplitClassifier,
    threshold_block_rows,
    threshold_bytes,
)

from .feature_blocks import (
    KernelFeatures,
    map_block_rows,
    map_blocks,
    normalise_gram,
    spread_rows,
    type_of_sums,
)
from .stationary import solve_stationary

# Points drawn for each prototype that is chosen among them.
_POOL = 10
# Points that stand for all in the sum of features from which degrees are taken.
_DEGREE_SAMPLE = 16_384
# Bytes for each order of a system that solving it works in.
_SOLVER_WORKSPACE = 540

_NO_MINIMUM, _ROUNDED = "lower gamma1 or raise gamma2", "lower gamma2"


class PrimalMSSKSC(kernels.GaussianWidth, DecisionThresholdMixin, SplitClassifier):
    """Multi-class semi-supervised kernel spectral clustering, solved in the primal.

    Attributes
    ----------
    coef_ : ndarray of shape (m, Q)
        One column for two classes: the second would be its opposite.
    intercept_ : ndarray of shape (Q,)
    """

    features: Literal["fourier", "nystrom", "kernel"] = "fourier"
    """What stands for the kernel. "fourier": random Fourier features (RFF-MSSKSC, equation 19).
    "nystrom": k(x, Z) whitened by the prototypes' own kernel matrix (FS-MSSKSC, equation 11);
    with every point a prototype it is the exact model. "kernel": k(x, Z) itself (RD-MSSKSC,
    equation 13), whose n x Q dual variables are not formed, for w has the same scores; its
    kernel is K_xZ K_Zx, so that gamma2 must be 10 to 1,000 times larger.
    """
    n_components: PositiveInt | None = None
    """Features, m. None: the paper's count, from the numbers of labeled and unlabeled points
    (equations 21 and 22, `prototype_count`). Fourier features come in pairs: an odd number is
    rounded down, but 1 up to one pair.
    """
    frequencies: kernels.FrequencyName = "gaussian"
    """How frequencies of Fourier features are drawn: independently, as in the paper, or as
    `rff-ridge` has them.
    """
    selector: str | kernels.Selector = "uniform"
    """How prototypes are chosen from all points. The paper maximises their quadratic Renyi entropy
    ("renyi"), which gains 0.0002 at most and costs 0.018 on ijcnn1.
    """
    gamma1: NonNegativeFloat = 0.1
    """Weight of the spectral term. Below 1 the problem is convex in w for the exact kernel and its
    degrees; random features and "kernel" may need less. 0 is ridge regression.
    """
    gamma2: PositiveFloat = 1.0
    """Weight of the labels, for each labeled point. Larger values overfit a few labels: by up to
    0.1 of AUC at 100 on a9a, australian, svmguide3 and breast_cancer.
    """
    degrees: Literal["floored", "feature", "exact"] = "floored"
    """Degrees in the kernel of the features, which for random features can be negative: floored at
    1, the least that a Gaussian degree can be, or as they are, none of them 0; or exact ones of
    the Gaussian kernel, at n^2 d operations. The first two sum features over at most 16,384
    points, drawn from all.
    """
    penalise_bias: bool = False
    """True solves the paper's equation 19, whose identity covers the bias too (the kernel is then
    Omega + 1); False solves the objective it is derived from, equation 17.
    """
    normalize: bool = False
    """Centre the spectral term and divide it by its largest eigenvalue: it then rewards what
    varies between clusters and not a constant, and is convex in w for every gamma1 below 1,
    whatever the features. The paper's is neither.
    """
    dtype: Literal["float32", "float64"] = "float32"
    """Of the features. Sums are those of `kernels.GramSum`; over labeled points they are in
    float64 where gamma2 would make rounding count. In float32 "nystrom" keeps few features of
    wide kernels, and "kernel" loses the penalty beside its squares.
    """
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        self._draw_features(X, len(labels.rows))
        start = None
        if self.gamma1:
            start = self._spectral_term(X)
            start *= -self.gamma1
        dtype = type_of_sums(self._map.dtype, self.gamma2, len(labels.rows))
        H = kernels.GramSum(self._m + 1, dtype, start)
        right: np.ndarray = np.zeros((), dtype)
        for block, features in self._features(X, labels.rows):
            Phi = features.astype(dtype, copy=False)
            H.add(Phi, self.gamma2)
            right = right + self.gamma2 * (Phi.T @ labels.targets(block).astype(dtype))
        del features, Phi
        self._solve(H.total(), right)
        del H, start
        self._place_threshold_by(X, labels, self._scores)

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        """Keep the features of `labeled`; the spectral term waits for a gamma1 that is not 0."""
        self._draw_features(X, len(labeled))
        self._X = X
        self._spectral: np.ndarray | None = None
        self._known: np.ndarray | None = None
        self._gram: np.ndarray | None = None
        self._samples = np.empty((len(labeled), self._m + 1), self._map.dtype)
        for block, Phi in self._features(X, labeled):
            self._samples[block] = Phi

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        if self.gamma1 and self._spectral is None:
            self._spectral = self._spectral_term(self._X)
        spectral = self._spectral if self.gamma1 else None
        known = labels.codes_of_all(len(self._samples))
        if self._known is None or self._gram is None or not np.array_equal(self._known, known):
            self._known, self._gram = known, None
            gram = kernels.GramSum(self._m + 1, np.float64)
            self._cross: np.ndarray = np.zeros(())
            for block in map_blocks(len(labels.rows), self._X.shape[1]):
                Phi = self._samples[labels.rows[block]].astype(np.float64, copy=False)
                gram.add(Phi)
                self._cross = self._cross + Phi.T @ labels.targets(block)
            del Phi
            self._gram = gram.total()
        H = self.gamma2 * self._gram
        if spectral is not None:
            for j in range(len(H)):
                H[:, j] -= self.gamma1 * spectral[:, j]
        self._solve(H, self.gamma2 * self._cross)
        weights = np.vstack([self.coef_, self.intercept_]).astype(self._map.dtype)
        scores = np.empty((len(held_out), weights.shape[1]))
        for block in map_blocks(len(held_out), self._X.shape[1]):
            scores[block] = self._samples[held_out[block]] @ weights
        return scores

    def _draw_features(self, X: np.ndarray, n_labeled: int) -> None:
        self._width, self._center = self._width_on(X), kernels.column_medians(X)
        self._rng = check_random_state(self.random_state)
        self._map = self._make_map(X, n_labeled)
        self._m = self._map.n_components

    def _make_map(self, X: np.ndarray, n_labeled: int) -> FeatureMap:
        m = self.n_components
        if m is None:
            m = prototype_count(n_labeled, len(X) - n_labeled)
        if self.features == "fourier":
            drawn = (X.shape[1], m, self._width, self._rng, self.dtype, self._center)
            return kernels.RandomFourierFeatures(*drawn, frequencies=self.frequencies)
        Z = self._prototypes(X, min(m, len(X)))
        if self.features == "kernel":
            return KernelFeatures(Z, self._width, self.dtype, self._center)
        return kernels.NystromFeatures(Z, self._width, dtype=self.dtype, center=self._center)

    def _prototypes(self, X: np.ndarray, m: int) -> np.ndarray:
        # a function of its own: the pool is let go before prototypes are whitened
        rows = spread_rows(len(X), _POOL * m, self._rng)
        pool = X if len(rows) == len(X) else X[rows]
        kernel = kernels.BoundKernel(kernels.KERNELS["rbf"], self._width, self._center)
        chosen = kernels.select_landmarks(self.selector, pool, m, self._rng, kernel)
        return kernels.centered_rows(pool, chosen, self._center, np.dtype(self.dtype))

    def _spectral_term(self, X: np.ndarray) -> np.ndarray:
        """Return Phi'V Phi, V the inverse degrees, bias included; normalised if asked for."""
        term = kernels.GramSum(self._m + 1, self._map.dtype)
        if self.degrees == "exact":
            degrees = kernels.exact_degrees(X, self._width)
        else:
            sampled = len(X) > _DEGREE_SAMPLE
            rows = spread_rows(len(X), _DEGREE_SAMPLE, self._rng) if sampled else None
            total = np.zeros(self._m)
            for _, Phi in self._features(X, rows):
                total += Phi[:, :-1].sum(axis=0, dtype=np.float64)
            del Phi  # or its block would stay beside the next one
            total *= max(1, len(X) / _DEGREE_SAMPLE)
            total = total.astype(self._map.dtype)
        for block, Phi in self._features(X):
            D = degrees[block] if self.degrees == "exact" else Phi[:, :-1] @ total
            if self.degrees == "floored":
                np.maximum(D, 1, out=D)
            elif not D.all():
                raise ValueError("degrees='feature': a point has degree 0; use 'floored'")
            Phi /= np.sqrt(np.abs(D)).astype(Phi.dtype)[:, None]
            term.add(Phi)
            if (D < 0).any():
                term.add(np.ascontiguousarray(Phi[D < 0]), -2.0)
        del Phi, D  # a total may be twice as many pages
        S = term.total()
        if self.normalize:
            normalise_gram(S, len(X) * np.finfo(self._map.dtype).eps)
        return S

    def _features(
        self, X: np.ndarray, rows: np.ndarray | None = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks and features, in one array, with a last column of ones for the bias."""
        n = len(X) if rows is None else len(rows)
        Phi = np.empty((min(map_block_rows(X.shape[1]), n), self._m + 1), self._map.dtype)
        for block in map_blocks(n, X.shape[1]):
            Phi = Phi[: block.stop - block.start]
            Phi[:, -1] = 1
            self._map.transform(X[block if rows is None else rows[block]], out=Phi[:, :-1])
            yield block, Phi

    def _solve(self, H: np.ndarray, right: np.ndarray) -> None:
        penalised = len(H) if self.penalise_bias else len(H) - 1
        H[np.arange(penalised), np.arange(penalised)] += 1
        found = solve_stationary(H, right.astype(np.float64), _NO_MINIMUM, _ROUNDED)
        self.coef_, self.intercept_ = np.split(np.ascontiguousarray(found), [len(found) - 1])
        self.intercept_ = self.intercept_[0]

    def _layers(self) -> list[Layer]:
        coef = self.coef_.astype(self._map.dtype)
        return [*self._map.layers(), Linear(coef, self.intercept_)]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        coef = self.coef_.astype(self._map.dtype)
        scores = np.empty((len(X), coef.shape[1]))
        for block, Phi in self._features(X):
            np.add(Phi[:, :-1] @ coef, self.intercept_, out=scores[block])
        return scores


def prototype_count(n_labeled: int, n_unlabeled: int) -> int:
    """Return the paper's number of features: equations 21 and 22 with q1 = q2 = 1.

    The roots of both numbers, or all of fewer than 200 labeled and 500 unlabeled points.
    """
    labeled = n_labeled if n_labeled < 200 else ceil(sqrt(n_labeled))
    return labeled + (n_unlabeled if n_unlabeled < 500 else ceil(sqrt(n_unlabeled)))


def primal_storage(
    shape: Shape,
    size: int | None,
    features: str = "fourier",
    frequencies: str = "gaussian",
    selector: str = "uniform",
    degrees: str = "floored",
    dtype: str = "float32",
    gamma2: float = 1.0,
    tuned: bool = False,
) -> Storage:
    """Count the map, a matrix of order m (three in a search), and 512 rows."""
    n, d, labeled, item = shape.n, shape.n_features, shape.n_labeled, np.dtype(dtype).itemsize
    m = prototype_count(labeled, shape.n_unlabeled) if size is None else size
    m = m if features == "fourier" else min(m, n)
    rows, picked = map_block_rows(d), d * shape.itemsize
    # y, in the copies that checking it makes
    held = Arrays(X=shape.data_bytes, labels=2 * n + 9 * labeled)
    maps = {
        "fourier": Arrays(
            frequencies=kernels.frequency_bytes(frequencies, d, m // 2, item),
            phases=kernels.phase_bytes(frequencies, rows, d, item),
        ),
        "nystrom": Arrays(prototypes=m * d * item, projection=m * m * item),
        "kernel": Arrays(prototypes=m * d * item),
    }
    if not tuned:
        # of a solution, or of sums in float64, of labeled points or of all
        summed = [kernels.summing_panel_bytes(many, rows, m + 1) for many in (labeled, n)]
        panels = max(kernels.blas_bytes(m), *(summed if item == 8 else summed[:1]))
        panels += kernels.blas_bytes(min(m, rows), item)
    else:
        # of a fold's points the last block may have any number of rows
        panels = kernels.blas_bytes(m + 1, terms=min(labeled, rows))
        panels += 0 if features == "fourier" else kernels.blas_bytes(m)
        panels += kernels.blas_bytes(m, 4)
    if item == 8:
        # of a block of points with frequencies or prototypes
        mapped = kernels.product_panel_bytes(min(n, rows), m, d)
        panels += max(0, mapped - kernels.blas_bytes(min(m, rows)))
    feature_map = maps[features] + Arrays(blas=panels)
    # of a row: its features, itself in the type of the map, and scaled; kernel values
    of_map, of_points = {"fourier": (1, 1), "nystrom": (2, 2), "kernel": (1, 2)}[features]
    width = (of_map * m + of_points * d) * item
    placed = min(n, threshold_block_rows(picked))
    threshold = Arrays(
        threshold=threshold_bytes(n, shape.n_classes), rows=placed * (width + picked)
    )
    training = _matrix_phases(shape, m, width, degrees, np.dtype(dtype), gamma2, tuned)
    fit = {
        "labels": Arrays(checked=7 * labeled),
        "width": Arrays(sample=kernels.width_bytes(n, d, shape.itemsize)),
        **({} if features == "fourier" else _prototype_phases(shape, m, features, selector, item)),
        **beside(feature_map, training),
        "threshold": feature_map + threshold,
    }
    new = feature_map + Arrays(
        block=shape.new_block_bytes, rows=min(rows, shape.block_rows) * width
    )
    return Storage(fit, {"a block": new}, held)


def _matrix_phases(
    shape: Shape, m: int, width: int, degrees: str, dtype: np.dtype, gamma2: float, tuned: bool
) -> dict[str, Arrays]:
    """Return what is held while matrices of order m are summed up and solved with."""
    n, d, labeled, columns = shape.n, shape.n_features, shape.n_labeled, shape.n_machines
    item, rows, picked = dtype.itemsize, map_block_rows(d), d * shape.itemsize
    matrix = 8 * (m + 1) ** 2
    block = min(rows, n) * (width + (picked if n > _DEGREE_SAMPLE else 0))
    of_degrees = {"rows": block}
    if degrees == "exact":
        of_degrees = {"degrees": 8 * n, "rows": max(block, kernels.tile_bytes(n, d))}
    exact = type_of_sums(dtype, gamma2, labeled).itemsize == 8
    known = width + picked + 16 * columns + ((m + 1) * 8 if exact and item == 4 else 0)
    panel = Arrays(panel=kernels.GramSum.panel_bytes(m + 1) if item == 4 else 0)
    # sums of all points in float32 reach half of a matrix, the labels' stand beside a whole one
    total = kernels.GramSum.bytes(m + 1) if item == 4 and not tuned else matrix
    phases = {
        "sums of all points": panel + Arrays(total=total, **of_degrees),
        "sums of labeled points": panel
        + Arrays(total=matrix, rows=min(rows, labeled) * known, right_hand_sides=16 * m * columns),
        "solution": Arrays(
            system=matrix, workspace=_SOLVER_WORKSPACE * m, solutions=8 * 3 * m * columns
        ),
    }
    if not tuned:
        return phases
    kept = Arrays(
        labeled_features=labeled * (m + 1) * item,
        # of matrices that malloc does not map, those below 256 KiB, some stay behind
        left_in_the_heap=2 * min(matrix, 1 << 18) + (1 << 17),
    )
    fold = min(rows, labeled) * (m + 1) * (item + 8)
    phases["sums of a fold"] = Arrays(total=matrix, of_fold=matrix, rows=fold)
    phases["solution"] += Arrays(total=matrix, of_fold=matrix)
    return beside(kept, phases)


def _prototype_phases(
    shape: Shape, m: int, features: str, selector: str, item: int
) -> dict[str, Arrays]:
    """Return what is held while prototypes are chosen from a pool, and then whitened."""
    d, i, size = shape.n_features, shape.itemsize, min(shape.n, _POOL * m)
    pool = Arrays(pool=size * d * i if size < shape.n else 0)
    prototypes = Arrays(prototypes=m * d * item)
    phases = {
        "selection": pool + Arrays(selection=kernels.selection_bytes(selector, size, d, m, i)),
        "prototypes": pool + prototypes + Arrays(moved=kernels.stream_bytes(m, 2 * d)),
    }
    if features == "nystrom":
        phases["whitening"] = prototypes + kernels.eigen_arrays(m)
    return phases


def sizes(shape: Shape) -> tuple[int, int]:
    """Return a pair of features at the least, as many as points or 10,000 at the most."""
    return 2, max(2, min(shape.n, 10_000))
