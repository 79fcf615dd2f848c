"""Stochastic optimisation for the cluster kernel (SoCK; Hou, Zhang & Zhou 2017, algorithm 1).

Each step mixes a sample of L = D^-1/2 K D^-1/2, made of random Fourier features, into a low-rank
estimate Z and lowers its eigenvalues. Z = B B' stays positive semidefinite, so one factor B is all
that grows with the points: features are computed anew for each pass over the rows, and what is
decomposed is a Gram matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from harness import (
    Arrays,
    Method,
    Shape,
    Storage,
    beside,
    choice,
    hookimpl,
    kernels,
    log_uniform,
    overhead_bytes,
)
from harness.estimator import NonNegativeFloat, PositiveInt, RandomState
from harness.kernels.degrees import gaussian_tiles
from harness.layers import Center, KernelValues, Layer, Linear, Normalize
from harness.semi_supervised import Labels, SVMOnFeatures, threshold_bytes, transduced

from .proximal_low_rank import LowRankKernel, packed_bytes, step_bytes

# Features from which degrees are estimated, once: a sum over all points needs few.
_DEGREE_FEATURES = 1000
# More columns than half of the 20 x 100 features that the steps see cost time and gain nothing.
_MOST_COLUMNS = 1000
# Rows and columns of a tile of kernel values, as of exact degrees.
_TILE = 512
# Vectors that a machine is trained with, beside coefficients, scores and targets.
_VECTORS = 13
# Phases in which a pause's scores are made.
_SCORED = ("scores", "threshold")


class StochasticClusterKernelSVM(kernels.GaussianWidth, kernels.TransferSettings, SVMOnFeatures):
    """Linear SVM on the virtual samples of a stochastically optimised cluster kernel (SoCK).

    Steps begin at the paper's t = 2, where eta_t = 2 / t is 1: its first draw is discarded there.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (r,)
        Of L, before the transfer function.
    """

    rank: PositiveInt = 100
    """b, the eigenvectors kept at most."""
    n_components: PositiveInt = 100
    """a, random Fourier features drawn anew for each step."""
    n_iter: PositiveInt = 20
    """T, steps."""
    threshold: NonNegativeFloat = 1e-05
    """lambda. The largest eigenvalue of L is 1. Small, so that it is `rank` that limits."""
    transfer: kernels.Transfer = "regularized-laplacian"
    """What becomes of the eigenvalues, as for NysCK: the regularised Laplacian is without its
    multiple of the identity. "poly-step" is the paper's.
    """
    degrees: Literal["features", "exact"] = "features"
    """D: from 1,000 random features, at least 1; or exact, at n^2 d operations."""
    storage: Literal["held", "paper"] = "held"
    """By what a plan finds `rank`: the bytes that are held, or the paper's formula. The estimator
    itself does not read it.
    """
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def fit_steps(self, X: np.ndarray, y: np.ndarray) -> Iterator[None]:
        """Fit step by step: after each, the estimator answers as if it were fitted."""
        X, y = self._checked(X, y)
        self._labeled = self._read(y).rows
        self._y = y[self._labeled]
        yield from self._steps(X)

    def finish_fit(self) -> Self:
        """Train the SVM on the kernel as it is after the last step."""
        self.fit_labels(self._y)
        labels = self._read(self._y)
        self._finish(self._X, replace(labels, rows=self._labeled[labels.rows]))
        return self

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        self._labeled, self._y = labeled, None
        for _ in self._steps(X):
            pass

    def _steps(self, X: np.ndarray) -> Iterator[None]:
        rng = check_random_state(self.random_state)
        self._X, self._center, self._width = X, kernels.column_medians(X), self._width_on(X)
        self._exact_degrees: np.ndarray | None = None
        if self.degrees == "exact":
            self._degrees = self._exact_degrees = kernels.exact_degrees(X, self._width)
        else:
            self._degrees = kernels.feature_degrees(self._fourier(_DEGREE_FEATURES, rng), X)
        rank = min(self.rank, len(X))
        self._kernel = LowRankKernel(X, self._degrees, rank, self.threshold)
        for t in range(2, self.n_iter + 2):
            self._kernel.step(self._fourier(self.n_components, rng), 2 / t)
            self._stale = True
            yield

    def _fourier(
        self, n_components: int, rng: np.random.RandomState
    ) -> kernels.RandomFourierFeatures:
        return kernels.RandomFourierFeatures(
            self._X.shape[1], n_components, self._width, rng, center=self._center
        )

    def _learned(self) -> Self:
        """Train the SVM if the kernel has changed since."""
        check_is_fitted(self)
        if self._stale:
            if self._y is None:
                raise NotFittedError("fit_features has been called, but fit_labels has not")
            self.finish_fit()
        return self

    def fit_labels(self, y: np.ndarray) -> Self:
        """Learn the SVM from labels of the rows that may have one, -1 where it is held out."""
        self._y = np.asarray(y)
        super().fit_labels(y)
        self._seen_scores: np.ndarray | None = None
        self._stale = False
        return self

    def _labeled_features(self, n_labels: int) -> np.ndarray:
        lowered = self._kernel.eigenvalues
        self.eigenvalues_ = lowered + self.threshold
        phi = self._transferred(self.eigenvalues_, self.transfer, n_labels)
        self._weights = np.sqrt(phi / lowered).astype(np.float32)
        F = np.empty((len(self._labeled), len(lowered)), np.float32)
        for block in self._seen_blocks(len(F), picked=1):
            F[block] = self._virtual_samples(self._kernel.factor[self._labeled[block]])
        return F

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        self._place_threshold_by(self._kernel.factor, labels, self._scores_of_factor)

    def _virtual_samples(self, B: np.ndarray) -> np.ndarray:
        """Return rows of F: of U phi(S)^1/2, of which those of B are multiples, with norm one."""
        return kernels.normalize_rows(B * self._weights)

    def _scores_of_factor(self, B: np.ndarray) -> np.ndarray:
        return self._scores_of(self._virtual_samples(B))

    def _seen_blocks(self, n: int, picked: int = 0) -> Iterator[slice]:
        columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        width = _score_width(self._kernel.factor.shape[1], columns, picked)
        return kernels.row_blocks(n, width, 4)

    @property
    def decision_scores_(self) -> np.ndarray:
        """Scores of the points of `fit`, of shape (n,) for two classes, else (n, n_classes)."""
        self._learned()
        if self._seen_scores is None:
            B, columns = self._kernel.factor, self.coef_.shape[1]
            scores = np.empty((len(B), columns) if columns > 1 else len(B))
            for block in self._seen_blocks(len(B)):
                scores[block] = self._moved(self._as_decision(self._scores_of_factor(B[block])))
            self._seen_scores = scores
        return self._seen_scores

    @property
    def transduction_(self) -> np.ndarray:
        """Classes of the points of `fit`; labels that were given stay."""
        scores, labels = self.decision_scores_, self._read(self._y)
        return transduced(scores, replace(labels, rows=self._labeled[labels.rows]))

    def _scores(self, X: np.ndarray) -> np.ndarray:
        self._learned()
        return super()._scores(X)

    def _blocks(self, n: int) -> Iterator[slice]:
        d, itemsize = self._X.shape[1], self._X.itemsize
        return kernels.row_blocks(n, _extended_bytes(len(self.eigenvalues_), d, itemsize), 1)

    def _features(self, X: np.ndarray) -> np.ndarray:
        """Return virtual samples of new points: sum_j L(x, x_j) B_j / e, the Nystrom extension.

        The degree of x would multiply a whole row, which is then normalised.
        """
        B = np.zeros((len(X), len(self.eigenvalues_)), np.float32)
        for start in range(0, len(self._X), _TILE):
            tile = slice(start, start + _TILE)
            K = kernels.gaussian_kernel(X, self._X[tile], self._width, center=self._center)
            K /= np.sqrt(self._degrees[tile])
            B += K.astype(np.float32, copy=False) @ self._kernel.factor[tile]
            # or it would stand beside the next one
            del K
        B /= self.eigenvalues_
        return self._virtual_samples(B)

    def _layers(self) -> list[Layer]:
        self._learned()
        points = kernels.centered(self._X, self._center, self._X.dtype)
        extension = self._kernel.factor / np.sqrt(self._degrees)[:, None]
        extension *= self._weights / self.eigenvalues_
        near, kernel = Center(self._center, points.dtype), KernelValues(points, self._width)
        sums = Linear(extension.astype(np.float32))
        return [near, kernel, sums, Normalize(), self._linear()]

    def diagnostics(self, X: np.ndarray) -> dict[str, float]:
        """Return "error", |Z - L|_F / n with exact degrees (the paper's figure 2), and "rank".

        n^2 (d + r) operations for the points of `fit`, in tiles, and exact degrees once.
        """
        if self._exact_degrees is None:
            self._exact_degrees = kernels.exact_degrees(X, self._width)
        scale = (self._exact_degrees**-0.5).astype(np.float32)
        B, squares = self._kernel.factor, 0.0
        for rows, columns, L in gaussian_tiles(X, self._width):
            L *= scale[rows, None]
            L *= scale[columns]
            L -= B[rows] @ B[columns].T
            squares += (1 + (rows != columns)) * float(np.vdot(L, L))
        return {"error": squares**0.5 / len(X), "rank": float(B.shape[1])}


def _score_width(r: int, columns: int, picked: int = 0) -> int:
    """Elements held for a row that is scored: of F, of B if rows are picked from it, and scores.

    Scores are in float64 from their intercept on, and copied twice where a class has no label.
    """
    return (1 + picked) * r + 6 * columns


def _extended_bytes(r: int, d: int, itemsize: int) -> int:
    """Bytes held for a new row: kernel values and these in float32, B, one product, F, X moved."""
    return (itemsize + (4 if itemsize == 8 else 0)) * _TILE + 12 * r + itemsize * d


def storage_model(
    shape: Shape,
    size: int,
    n_components: int = 100,
    degrees: str = "features",
    storage: str = "held",
    tuned: bool = False,
    paused: bool = False,
) -> Storage:
    """Count B in float32, two matrices of order a + b and a block, or the SVM.

    A fit that is paused trains the SVM beside what its next step goes on from.

    With storage="paper" the formula of the paper's section 3.1, 8 n (d + 2 (a + b)).
    """
    n, labeled, d, a = shape.n, shape.n_labeled, shape.n_features, n_components
    if storage == "paper":
        # the paper counts everything
        counted = 8 * n * (d + 2 * (a + size)) - overhead_bytes(shape, tuned)
        return Storage({"section 3.1": Arrays(counted=counted)})
    b, i, columns = min(size, n), shape.itemsize, shape.n_machines
    # degrees, and their roots in float32
    held = Arrays(X=shape.data_bytes, degrees=12 * n)
    factor = Arrays(
        B=4 * n * b,
        # blocks below 64 KiB, that malloc does not map: what degrees took of those
        left_in_the_heap=min(2 * d * _DEGREE_FEATURES, 1 << 16),
    )
    samples = Arrays(labeled_rows_of_B=4 * labeled * b * (2 if tuned else 1))
    labeled_block = kernels.stream_bytes(labeled, _score_width(b, columns, picked=1), 4)
    # rows of B are read in place
    block = kernels.stream_bytes(n, _score_width(b, columns), 4)
    held_out = Arrays(held_out_scores=8 * labeled * columns)
    # of LAPACK's library, and of products of rows
    eigenvectors = kernels.blas_bytes(a + b, terms=64)
    blas = Arrays(blas=eigenvectors + packed_bytes(n, b, a, d))
    learning = {
        "step": Arrays(step=step_bytes(n, b, a, d)),
        "machines": samples + Arrays(machines=8 * labeled * (_VECTORS + 3 * columns)),
        "held-out scores": samples + Arrays(rows=labeled_block),
        "scores": held_out + Arrays(rows=block),
        "threshold": held_out + Arrays(threshold=threshold_bytes(n, shape.n_classes)),
    }
    if paused:
        learning = _paused_phases(shape, learning, columns)
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        "degrees": Arrays(weighing=_degree_bytes(n, d, degrees)),
        **beside(factor + blas, learning),
    }
    # of the smallest rank, whose blocks have most rows, or a plan would fall as the rank grows
    new_rows = min(shape.block_rows, kernels.block_rows(_extended_bytes(1, d, i), 1))
    packed = max(packed_bytes(n, b, a, d), kernels.blas_bytes(new_rows, i, max(d, _TILE)))
    factor += Arrays(blas=eigenvectors + packed)
    # scores of the points of fit stay until all are handed over
    seen = Arrays(seen_scores=8 * n * columns if shape.predicts_seen else 0)
    predict = {"seen points": factor + seen + Arrays(rows=block if shape.predicts_seen else 0)}
    if shape.n_test:
        new = Arrays(
            kernel_rows=kernels.stream_bytes(shape.block_rows, _extended_bytes(b, d, i), 1),
            moved=min(_TILE, kernels.center_rows(d, i)) * d * i,
            block=shape.new_block_bytes,
        )
        predict["a block"] = factor + seen + new
    return Storage(fit, predict, held)


def _paused_phases(shape: Shape, learning: dict[str, Arrays], columns: int) -> dict[str, Arrays]:
    """Return phases between which scores of one pause stay until there are those of the next."""
    n, tile = shape.n, min(shape.n, kernels.DEGREE_TILE)
    kept = Arrays(paused_scores=8 * n * columns, exact_degrees=8 * n)
    again = {name: Arrays(scores=8 * n * columns) + learning[name] for name in _SCORED}
    # how far Z is from L, by tiles of both and of their difference
    difference = Arrays(
        norms=4 * n, tiles=kernels.tile_bytes(n, shape.n_features), difference=4 * tile * tile
    )
    phases = learning | again | {"distance to L": difference}
    return beside(kept, phases)


def _degree_bytes(n: int, d: int, degrees: str) -> int:
    if degrees == "exact":
        return kernels.tile_bytes(n, d)
    return 2 * d * _DEGREE_FEATURES + kernels.stream_bytes(n, 2 * _DEGREE_FEATURES + d, 4)


def _sizes(shape: Shape) -> tuple[int, int]:
    return 1, min(shape.n, _MOST_COLUMNS)


@hookimpl
def harness_methods() -> list[Method]:
    """Provide SoCK."""
    return [
        Method(
            "sock",
            StochasticClusterKernelSVM,
            storage_model,
            size="rank",
            sizes=_sizes,
            tasks={"binary", "multiclass"},
            params={"decision_threshold": "share"},
            space={"sigma": choice([0.5, 1.0, 2.0, 4.0]), "C": log_uniform(1e-3, 1e4)},
            head_params={"C", "transfer", "epsilon", "degree", "cut"},
            reference="hou2017",
        )
    ]
