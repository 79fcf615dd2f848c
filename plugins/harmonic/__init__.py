"""Harmonic functions and class mass normalisation (Zhu, Ghahramani & Lafferty 2003).

Labels spread over a complete graph whose edges weigh exp(-|x - z|^2 / (2 sigma^2)): a point that
has no label takes the weighted mean of all others, f_u = (D_uu - W_uu)^-1 W_ul f_l.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils.validation import check_is_fitted

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels
from harness.estimator import PositiveFloat, PositiveInt
from harness.kernels.graph_systems import steps_bytes
from harness.kernels.neighbors import NeighborSearch
from harness.semi_supervised import (
    DecisionThresholdMixin,
    Labels,
    SplitClassifier,
    threshold_bytes,
    threshold_rows,
    transduced,
)

from .graph import CompleteGraph, extend_harmonically
from .laplacian import SOLVE_COLUMNS, GroundedLaplacian, ReducedLaplacian, tile_copies_bytes

# Unlabeled points up to which a factorisation is taken: about as fast as conjugate gradients at
# useful widths, far faster at small ones, and exact at all.
_FACTORED = 4_000
# Conjugate gradients settle in 5 to 30 iterations at useful widths. Each costs n^2 kernel values
# on the complete graph, but next to nothing on a sparse one, where many more are needed.
_ITERATIONS = {"complete": 200, "sparse": 2_000}


class HarmonicFunction(kernels.GaussianWidth, DecisionThresholdMixin, SplitClassifier):
    """Gaussian fields and harmonic functions, with Parzen induction out of sample.

    Attributes
    ----------
    label_distributions_ : ndarray of shape (n, n_classes)
        The harmonic function of each class; rows sum to one.
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`, from their `label_distributions_`. `decision_function`
        takes them for new points: it gives others, since a point is then its own neighbor.
    transduction_ : ndarray of shape (n,)
        The classes of the points of `fit`; labels that were given stay.
    """

    sigma: PositiveFloat = 0.5
    """Width of the edge weights."""
    n_neighbors: PositiveInt | None = None
    """Only edges between points of which one is among so many nearest of the other. All edges by
    default.
    """
    solver: Literal["auto", "cholesky", "cg"] = "auto"
    """A Cholesky factorisation, or conjugate gradients, which hold nothing of size n^2. "auto"
    factors for up to 4,000 unlabeled points of the complete graph.
    """

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        deviations = _deviations(labels)
        unlabeled = np.setdiff1d(np.arange(len(X)), labels.rows)
        if self._prepare(X, len(unlabeled)):
            extended = np.empty((len(X), deviations.shape[1]))
            laplacian = GroundedLaplacian(X, self._width, unlabeled, labels.rows)
            extended[labels.rows] = deviations
            extended[unlabeled] = laplacian.extend(deviations)
            del laplacian
        else:
            extended = self._iterate(self._graph(), labels.rows, deviations)
        total = extended[unlabeled].sum(axis=0)
        self.label_distributions_ = self._distributions(labels, extended, total, len(unlabeled))
        del extended
        # new points are scored otherwise: the threshold is one of its own
        self._place_threshold_by(X, labels, self._scores)
        self._induced_offset = self.offset_
        rows = threshold_rows(labels, len(X))
        seen = self._as_decision(self._weighted(self.label_distributions_))
        self._place_threshold(seen[rows], labels)
        self.decision_scores_ = self._moved(seen)
        self.transduction_ = transduced(self.decision_scores_, labels)

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        """Eliminate the points that never get a label, or build the graph."""
        self.__dict__.pop("label_distributions_", None)
        self._labeled = labeled
        self._unlabeled = np.setdiff1d(np.arange(len(X)), self._labeled)
        self._reduced: ReducedLaplacian | None = None
        if self._prepare(X, len(self._unlabeled)):
            self._reduced = GroundedLaplacian(
                X, self._width, self._unlabeled, self._labeled
            ).reduce()
        else:
            self._kept_graph = self._graph()

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        deviations = _deviations(labels)
        if self._reduced is not None:
            extended, total = self._reduced.extend(labels.rows, deviations)
        else:
            known = self._labeled[labels.rows]
            everywhere = self._iterate(self._kept_graph, known, deviations)
            extended = everywhere[self._labeled]
            total = everywhere.sum(axis=0) - deviations.sum(axis=0)
        n_unlabeled = len(self._unlabeled) + len(held_out)
        distributions = self._distributions(labels, extended, total, n_unlabeled)
        return self._weighted(distributions[held_out])

    def _prepare(self, X: np.ndarray, n_unlabeled: int) -> bool:
        """Set what all solvers need; return whether the system is to be factored."""
        if self.n_neighbors is not None and self.solver == "cholesky":
            message = (
                "solver='cholesky' factors the complete graph; with n_neighbors="
                f"{self.n_neighbors} use solver='auto' or 'cg'. In a search hold n_neighbors "
                "at null"
            )
            raise ValueError(message)
        factored = _factors(n_unlabeled, self.solver, self.n_neighbors)
        # A width below the rounding of distances would make weights of nothing but that.
        rounded: DTypeLike
        if self.n_neighbors is not None:
            rounded = np.float64
        else:
            rounded = X.dtype if factored else np.float32
        extent = (X.max(axis=0) - X.min(axis=0)).max()
        smallest = max(float(np.finfo(rounded).eps) ** 0.5 * float(extent), 1e-100)
        self._X, self._center = X, kernels.column_medians(X)
        self._width = max(self._width_on(X), smallest)
        return factored

    def _graph(self) -> CompleteGraph | kernels.NeighborGraph:
        if self.n_neighbors is None:
            return CompleteGraph(self._X, self._width)
        return kernels.NeighborGraph(self._X, self.n_neighbors, self._width)

    def _iterate(
        self,
        graph: CompleteGraph | kernels.NeighborGraph,
        known: np.ndarray,
        deviations: np.ndarray,
    ) -> np.ndarray:
        limit = _ITERATIONS["complete" if self.n_neighbors is None else "sparse"]
        return extend_harmonically(graph, known, deviations, max_iterations=limit)[0]

    def _distributions(
        self, labels: Labels, extended: np.ndarray, total: np.ndarray, n_unlabeled: int
    ) -> np.ndarray:
        """Return label distributions from deviations; set what later predictions need."""
        self._prior = labels.prior
        mean = labels.prior.copy()
        if n_unlabeled:
            mean[:-1] += total / n_unlabeled
            mean[-1] -= total.sum() / n_unlabeled
        self._mass_weights = self._weigh(mean)
        distributions = np.empty((len(extended), len(labels.classes)))
        found = distributions[:, :-1]
        np.clip(extended + labels.prior[:-1], 0, 1, out=found)
        distributions[:, -1] = np.clip(1 - found.sum(axis=1), 0, 1)
        # Iterations that were cut short may leave more than one to share.
        distributions /= distributions.sum(axis=1, keepdims=True)
        return distributions

    def _weigh(self, mean: np.ndarray) -> np.ndarray:
        return np.ones(len(mean))

    def _weighted(self, distributions: np.ndarray) -> np.ndarray:
        scores = distributions * self._mass_weights
        return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores

    def _as_decision(self, scores: np.ndarray) -> np.ndarray:
        # a class without a label has a distribution, too: 0 everywhere
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _decision(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self, "label_distributions_")
        return self._as_decision(self._scores(X)) + self._induced_offset

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return scores by Parzen induction (Delalleau, Bengio & Le Roux 2006).

        A new point takes the mean of all points of `fit`, weighted by its edges to them.
        """
        distributions, search = np.empty((len(X), len(self.classes_))), None
        if self.n_neighbors is not None:
            search = NeighborSearch(self._X, self.n_neighbors, self._width)
        n, d = self._X.shape
        width = _induced_width(n, d, X.itemsize, self.n_neighbors)
        width += 24 * len(self.classes_)
        for block in kernels.row_blocks(len(X), width, 1):
            distributions[block] = self._induce(X[block], search)
        return self._weighted(distributions)

    def _induce(self, X: np.ndarray, search: NeighborSearch | None) -> np.ndarray:
        if search is None:
            W = kernels.gaussian_kernel(X, self._X, self._width, center=self._center)
            found = W @ self.label_distributions_
        else:
            points, W = search.nearest(X)
            # a class at a time: what is gathered is as large as the weights
            columns = self.label_distributions_.T
            found = np.column_stack([np.einsum("ij,ij->i", W, f[points]) for f in columns])
        tie = np.finfo(W.dtype).tiny
        total = W.sum(axis=1, dtype=np.float64)[:, None] + tie
        return (found + tie * self._prior) / total


class ClassMassNormalization(HarmonicFunction):
    """Harmonic functions whose classes are weighed so that their masses match the prior.

    In two classes the score is an increasing affine function of the harmonic one: the threshold
    changes, the ranking does not.
    """

    def _weigh(self, mean: np.ndarray) -> np.ndarray:
        return self._prior / np.maximum(mean, np.finfo(float).tiny)


def _deviations(labels: Labels) -> np.ndarray:
    """Return labels as deviations from the prior; the last class is what the others leave."""
    return (np.eye(len(labels.classes))[labels.codes] - labels.prior)[:, :-1]


def _factors(n_unlabeled: int, solver: str, n_neighbors: int | None) -> bool:
    if solver == "auto":
        return n_neighbors is None and n_unlabeled <= _FACTORED
    return solver == "cholesky"


def _induced_width(n: int, d: int, itemsize: int, n_neighbors: int | None) -> int:
    """Bytes held for a new row: its neighbors, or its kernel values and features."""
    if n_neighbors is not None:
        return 28 * min(n_neighbors, n)
    return itemsize * (n + d) + (0 if itemsize == 8 else 8 * n)


def storage(
    shape: Shape,
    size: int,
    solver: str = "auto",
    n_neighbors: int | None = None,
    tuned: bool = False,
) -> Storage:
    """Count the system that is solved; then distributions and scores.

    Up to 4,000 unlabeled points, or with `solver="cholesky"`, the packed matrix over them,
    4 u (u + 2), and if sigma is tuned the packed Laplacian of the labeled ones, 4 l (l + 2), and a
    block of 2,048 u. Beyond, where less is needed than at 4,000, 48 n for each class but one, and
    up to 48 n k with k nearest neighbors.
    """
    n, d, i, Q = shape.n, shape.n_features, shape.itemsize, shape.n_classes
    X = Arrays(X=shape.data_bytes)
    # with the middle of the points, kept twice and turned into their type
    points = X + Arrays(rows=16 * n, center=32 * d, deviations=8 * shape.n_labeled * (Q - 1))
    if _factors(shape.n_unlabeled, solver, n_neighbors):
        solving = _factoring_phases(shape, tuned)
    else:
        solving = _iterating_phases(shape, n_neighbors)
    distributions = Arrays(distributions=8 * n * Q)
    scores = Arrays(scores=8 * n * (Q if Q > 2 else 1))
    # rows are asked for by and by, as the threshold has them copied
    asked = Arrays(asked=kernels.stream_bytes(min(n, 256), shape.row_bytes, 1))
    threshold = Arrays(threshold=threshold_bytes(n, Q))
    kept = distributions + scores + Arrays(rows=8 * n)
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        **solving,
        "distributions": distributions + Arrays(solutions=16 * n * (Q - 1), order=8 * n),
        "new scores": distributions + _inducing_arrays(shape, min(n, 256), n_neighbors) + asked,
        "threshold": distributions + threshold,
        "scores": distributions + scores + Arrays(weighted=8 * n * Q, order=16 * n),
    }
    block = Arrays(block=shape.new_block_bytes)
    new = kept + block + _inducing_arrays(shape, shape.block_rows, n_neighbors)
    return Storage(beside(points, fit), {"a block": X + new})


def _inducing_arrays(shape: Shape, rows: int, n_neighbors: int | None) -> Arrays:
    """Return a block of new rows, and what is found of them."""
    n, d, i = shape.n, shape.n_features, shape.itemsize
    found = 8 * shape.n_classes
    width = _induced_width(n, d, i, n_neighbors) + 3 * found
    new = Arrays(new_weights=kernels.stream_bytes(rows, width, 1), found=rows * found)
    if n_neighbors is not None:
        return new + Arrays(neighbors=NeighborSearch.bytes(n, d, n_neighbors))
    return new + Arrays(moved=min(n, kernels.center_rows(d, i)) * d * i, norms=2 * n * i)


def _factoring_phases(shape: Shape, tuned: bool) -> dict[str, Arrays]:
    u, labeled, d, i = shape.n_unlabeled, shape.n_labeled, shape.n_features, shape.itemsize
    copies, targets = tile_copies_bytes(shape.n, d, i), shape.n_classes - 1
    # only the second matrix of a search is filled beside what BLAS packed for the first
    blas = Arrays(blas=kernels.PackedSymmetric.factoring_bytes(u))
    packed = Arrays(laplacian=kernels.PackedSymmetric.bytes(u))
    laplacian = packed + blas
    # a tile in float64 with its masks, or in float32 with a copy that a product makes
    filling = Arrays(tile=12 * min(shape.n, kernels.TILE) ** 2, copies=copies)
    filled = (laplacian if tuned else packed) + filling
    # right-hand sides, copied to be solved with, and what is known; then all that is extended
    solved = Arrays(right_hand_sides=8 * targets * (2 * u + labeled))
    phases = {
        "Laplacian": filled,
        "pull of the known": filled + Arrays(values=8 * targets * (u + labeled)),
        "solution": laplacian + solved,
    }
    if not tuned:
        return phases
    # the known points too are taken in tiles that end at their half
    columns = min((labeled + 1) // 2, kernels.TILE)
    rows = min(u, kernels.block_rows(kernels.TILE))
    reduced = laplacian + Arrays(
        reduced=kernels.PackedSymmetric.bytes(labeled),
        # blocks below 64 KiB, that malloc does not map: rows of tiles
        left_in_the_heap=2 * min(copies, 1 << 16),
    )
    influence = reduced + Arrays(influence=8 * u * columns)
    weights = Arrays(weights=i * rows * columns)
    multiplied = 16 * columns**2 + (0 if i == 8 else 8 * rows * columns)
    return phases | {
        "influence": influence + Arrays(solved=8 * u * min(columns, SOLVE_COLUMNS)),
        "weights of the known": influence + weights + Arrays(tile=8 * columns**2, copies=copies),
        "reduction": influence + weights + Arrays(products=multiplied),
        "held-out scores": reduced
        + Arrays(half=kernels.PackedSymmetric.bytes((labeled + 1) // 2)),
    }


def _iterating_phases(shape: Shape, n_neighbors: int | None) -> dict[str, Arrays]:
    n, d, i = shape.n, shape.n_features, shape.itemsize
    columns = shape.n_classes - 1
    if n_neighbors is not None:
        making, graph = kernels.NeighborGraph.bytes(n, d, n_neighbors)
        # of the iteration six, and of the graph's product three
        iterated = 8 * n * (9 * columns + 3)
        return {
            "graph": Arrays(graph=making),
            "iteration": Arrays(graph=graph, vectors=iterated)
            + Arrays(steps=steps_bytes(columns, _ITERATIONS["sparse"])),
        }
    tile, u, labeled = min(n, kernels.DEGREE_TILE), shape.n_unlabeled, shape.n_labeled
    shared = Arrays(points=24 * n + 8 * u, known=8 * columns * labeled)
    # while the graph multiplies, its product and the vectors in float32
    multiplied = Arrays(weights=5 * tile**2, copies=tile * (d + 2) * (i + 8))
    return {
        "iteration": shared + Arrays(vectors=8 * columns * (11 * u) // 2) + multiplied,
        "residuals": shared + Arrays(vectors=8 * columns * 6 * u),
    }


@hookimpl
def harness_methods() -> list[Method]:
    """Provide harmonic functions, plain, with class mass normalisation and on a sparse graph."""
    harmonic = partial(
        Method,
        storage=storage,
        size="n_unlabeled",
        non_monotone_at=(_FACTORED + 1,),
        tasks={"binary", "multiclass"},
        params={"decision_threshold": "share"},
        space={"sigma": choice([0.05, 0.1, 0.15, 0.25, 0.5, 1.0])},
        reference="zhu2003",
    )
    return [
        harmonic("harmonic", HarmonicFunction),
        harmonic("cmn", ClassMassNormalization),
        harmonic(
            "label-propagation",
            HarmonicFunction,
            non_monotone_at=(),
            params={"decision_threshold": "share", "n_neighbors": 10},
            space={"sigma": choice([0.1, 0.25, 0.5, 1.0])},
            reference="zhu2002",
        ),
    ]
