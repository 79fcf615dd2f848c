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
    choice,
    hookimpl,
    kernels,
    log_uniform,
    overhead_bytes,
)
from harness.estimator import (
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    RandomState,
)

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


class StochasticClusterKernelSVM(kernels.DecisionThresholdMixin, kernels.SplitClassifier):
    """Linear SVM on the virtual samples of a stochastically optimised cluster kernel (SoCK).

    Steps begin at the paper's t = 2, where eta_t = 2 / t is 1: its first draw is discarded there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    offset_ : ndarray of shape () or (n_classes,)
        What the threshold adds to scores.
    eigenvalues_ : ndarray of shape (r,)
        Of L, before the transfer function.
    held_out_scores_ : ndarray of shape (h,) or (h, n_classes)
        Scores of the rows that may have labels and were given none.
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
    epsilon: PositiveFloat = 0.3
    """As for ClusK."""
    degree: PositiveFloat = 2.0
    """Of the polynomial."""
    cut: PositiveInt | None = None
    """Eigenvalues before the step: "step" keeps them, "poly-step" takes their square roots. The
    paper's n_labeled + 8 by default.
    """
    degrees: Literal["features", "exact"] = "features"
    """D: from 1,000 random features, at least 1; or exact, at n^2 d operations."""
    sigma: PositiveFloat = 1.0
    """Width of the kernel."""
    sigma_unit: Literal["median", "absolute"] = "median"
    """What `sigma` counts: median distances between the points, or units of the features."""
    C: PositiveFloat = 1.0
    """Penalty of the squared hinge loss."""
    storage: Literal["held", "paper"] = "held"
    """By what a plan finds `rank`: the bytes that are held, or the paper's formula. The estimator
    itself does not read it.
    """
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    def fit_steps(self, X: np.ndarray, y: np.ndarray) -> Iterator[None]:
        """Fit step by step: after each, the estimator answers as if it were fitted."""
        X, y = self._checked(X, y)
        self._labeled = self._read(y).rows
        self._y = y[self._labeled]
        yield from self._steps(X)

    def finish_fit(self) -> Self:
        """Train the SVM on the kernel as it is after the last step."""
        return self.fit_labels(self._y)

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        self._labeled, self._y = labeled, None
        for _ in self._steps(X):
            pass

    def _steps(self, X: np.ndarray) -> Iterator[None]:
        rng = check_random_state(self.random_state)
        self._X, self._center = X, kernels.column_medians(X)
        self._width = kernels.kernel_width(X, self.sigma, self.sigma_unit)
        self._exact_degrees: np.ndarray | None = None
        if self.degrees == "exact":
            self._degrees = self._exact_degrees = kernels.exact_degrees(X, self._width)
        else:
            self._degrees = kernels.feature_degrees(self._features(_DEGREE_FEATURES, rng), X)
        rank = min(self.rank, len(X))
        self._kernel = LowRankKernel(X, self._degrees, rank, self.threshold)
        for t in range(2, self.n_iter + 2):
            self._kernel.step(self._features(self.n_components, rng), 2 / t)
            self._stale = True
            yield

    def _features(
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
        labels, self._y = self._read(y), np.asarray(y)
        lowered = self._kernel.eigenvalues
        self.eigenvalues_ = lowered + self.threshold
        known = len(labels.rows)
        phi = kernels.apply_transfer(
            self.eigenvalues_, self.transfer, known, self.epsilon, self.degree, self.cut
        )
        self._weights = np.sqrt(phi / lowered).astype(np.float32)
        F = np.empty((len(y), len(lowered)), np.float32)
        for block in self._blocks(len(F), picked=1):
            F[block] = self._virtual_samples(self._kernel.factor[self._labeled[block]])
        samples = F if known == len(F) else F[labels.rows]
        self.coef_, self.intercept_ = kernels.train_linear_machines(samples, labels, self.C)
        held_out = self._score(F[self._y == -1])
        if len(held_out):
            self._place_threshold(held_out, labels, fewest=2)
        else:
            del F, samples
            factor = self._kernel.factor
            everywhere = replace(labels, rows=self._labeled[labels.rows])
            self._place_threshold_by(factor, everywhere, self._score_of_factor)
        self.held_out_scores_ = self._moved(held_out)
        self._scores: np.ndarray | None = None
        self._stale = False
        return self

    def _virtual_samples(self, B: np.ndarray) -> np.ndarray:
        """Return rows of F: of U phi(S)^1/2, of which those of B are multiples, with norm one."""
        return kernels.normalize_rows(B * self._weights)

    def _score(self, F: np.ndarray) -> np.ndarray:
        scores = F @ self.coef_ + self.intercept_
        return self._as_decision(scores)

    def _score_of_factor(self, B: np.ndarray) -> np.ndarray:
        return self._score(self._virtual_samples(B))

    def _blocks(self, n: int, picked: int = 0) -> Iterator[slice]:
        columns = 1 if len(self.classes_) == 2 else len(self.classes_)
        width = _score_width(self._kernel.factor.shape[1], columns, picked)
        return kernels.row_blocks(n, width, 4)

    @property
    def decision_scores_(self) -> np.ndarray:
        """Scores of the points of `fit`, of shape (n,) for two classes, else (n, n_classes)."""
        self._learned()
        if self._scores is None:
            B, columns = self._kernel.factor, self.coef_.shape[1]
            scores = np.empty((len(B), columns) if columns > 1 else len(B))
            for block in self._blocks(len(B)):
                scores[block] = self._moved(self._score_of_factor(B[block]))
            self._scores = scores
        return self._scores

    @property
    def transduction_(self) -> np.ndarray:
        """Classes of the points of `fit`; labels that were given stay."""
        classes = kernels.predict_labels(self.decision_scores_, self.classes_)
        given = self._y != -1
        classes[self._labeled[given]] = self._y[given]
        return classes

    def _decision(self, X: np.ndarray) -> np.ndarray:
        """Return scores by the Nystrom extension of the eigenvectors."""
        self._learned()
        width = _extended_bytes(len(self.eigenvalues_), X.shape[1], X.itemsize)
        columns = self.coef_.shape[1]
        scores = np.empty((len(X), columns) if columns > 1 else len(X))
        for block in kernels.row_blocks(len(X), width, 1):
            scores[block] = self._moved(self._score_of_factor(self._extend(X[block])))
        return scores

    def _extend(self, X: np.ndarray) -> np.ndarray:
        """Return sum_j L(x, x_j) B_j / e, but for the degree of x.

        It would multiply a whole row of F, which is then normalised.
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
        return B

    def diagnostics(self, X: np.ndarray) -> dict[str, float]:
        """Return "error", |Z - L|_F / n with exact degrees (the paper's figure 2), and "rank".

        n^2 (d + r) operations for the points of `fit`, in tiles, and exact degrees once.
        """
        if self._exact_degrees is None:
            self._exact_degrees = kernels.exact_degrees(X, self._width)
        scale = (self._exact_degrees**-0.5).astype(np.float32)
        B, squares = self._kernel.factor, 0.0
        for rows, columns, L in kernels.gaussian_tiles(X, self._width):
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
    b, i, columns = min(size, n), shape.itemsize, shape.n_classes if shape.n_classes > 2 else 1
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
        "threshold": held_out + Arrays(threshold=kernels.threshold_bytes(n, shape.n_classes)),
    }
    if paused:
        learning = _paused_phases(shape, learning, columns)
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        "degrees": Arrays(weighing=_degree_bytes(n, d, degrees)),
        **{name: factor + blas + arrays for name, arrays in learning.items()},
    }
    new_rows = kernels.block_rows(_extended_bytes(b, d, i), 1)
    packed = max(packed_bytes(n, b, a, d), kernels.blas_bytes(new_rows, i, max(d, _TILE)))
    factor += Arrays(blas=eigenvectors + packed)
    # scores of the points of fit stay until all are handed over
    seen = Arrays(seen_scores=8 * n * columns if shape.predicts_seen else 0)
    predict = {"seen points": factor + seen + Arrays(rows=block if shape.predicts_seen else 0)}
    if shape.n_test:
        new = Arrays(
            kernel_rows=kernels.stream_bytes(shape.block_rows, _extended_bytes(b, d, i), 1),
            moved=min(_TILE, kernels.center_rows(d, i)) * d * i,
            block=shape.block_bytes,
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
    return {name: kept + arrays for name, arrays in phases.items()}


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
