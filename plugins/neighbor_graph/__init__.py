"""Label spreading, Poisson learning and cluster kernels (Zhou et al. 2004; Calder et al. 2020).

Labels are carried along the edges of a sparse graph, between points of which one is among the k
nearest of the other. Edges weigh exp(-4 |x - z|^2 / r^2), with r the distance of x to its k-th
neighbor: there is no width to choose. Label propagation on such a graph, whose limit is a harmonic
function, is `harmonic` with `n_neighbors`.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Annotated

import numpy as np
from annotated_types import Interval
from sklearn.utils.validation import check_is_fitted

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels, log_uniform
from harness.estimator import PositiveInt
from harness.kernels.graph_systems import steps_bytes
from harness.kernels.neighbors import NeighborSearch
from harness.semi_supervised import (
    DecisionThresholdMixin,
    Labels,
    SplitClassifier,
    threshold_block_rows,
    threshold_bytes,
    threshold_rows,
    transduced,
)

from . import cluster_kernel
from .diffusion import ITERATIONS, poisson, spread


class NeighborGraphClassifier(DecisionThresholdMixin, SplitClassifier):
    """Values of all points from those of a graph of nearest neighbors.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`. A new point takes the mean of its nearest neighbors'
        values, weighted by its edges to them.
    transduction_ : ndarray of shape (n,)
        Classes of the points of `fit`; labels that were given stay.
    """

    n_neighbors: PositiveInt = 10
    """k, nearest neighbors of a point; all others where there are fewer."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    @abstractmethod
    def _solve(self, rows: np.ndarray, labels: Labels) -> np.ndarray:
        """Return values of all points, a column a class; `rows` are those of the labels."""

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        kernels.refuse_overflow(X, 1.0)
        self._X, self._labeled = X, labeled
        self._graph = kernels.NeighborGraph(X, self.n_neighbors, None)

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        for name in ("_values", "decision_scores_", "transduction_"):
            self.__dict__.pop(name, None)
        self._values = self._solve(self._labeled[labels.rows], labels)
        return self._columns(self._values[self._labeled[held_out]])

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        del self._graph
        # new points are scored otherwise: the threshold is one of its own
        self._place_threshold_by(X, labels, self._scores)
        self._induced_offset = self.offset_
        seen = self._as_decision(self._columns(self._values))
        self._place_threshold(seen[threshold_rows(labels, len(X))], labels)
        self.decision_scores_ = self._moved(seen)
        self.transduction_ = transduced(self.decision_scores_, labels)

    def _columns(self, values: np.ndarray) -> np.ndarray:
        return values[:, 1:] - values[:, :1] if values.shape[1] == 2 else values.copy()

    def _decision(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self, "decision_scores_")
        return self._as_decision(self._scores(X)) + self._induced_offset

    def _scores(self, X: np.ndarray) -> np.ndarray:
        search = NeighborSearch(self._X, self.n_neighbors, None)
        found = np.empty((len(X), self._values.shape[1]))
        for block in kernels.row_blocks(len(X), _new_row_bytes(len(self._X), self.n_neighbors), 1):
            points, W = search.nearest(X[block])
            W /= W.sum(axis=1, keepdims=True)
            for j, values in enumerate(self._values.T):
                np.einsum("ij,ij->i", W, values[points], out=found[block, j])
        return self._columns(found)


class LabelSpreading(NeighborGraphClassifier):
    """Label spreading: F = (1 - alpha) (I - alpha S)^-1 Y, S = D^-1/2 W D^-1/2.

    Rows of F are scores in parts of their sum. A point that no label reaches has the shares of the
    classes among the labeled points.
    """

    alpha: Annotated[float, Interval(gt=0, lt=1)] = 0.99
    """Part of its label that a point takes from its neighbors."""

    def _solve(self, rows: np.ndarray, labels: Labels) -> np.ndarray:
        found = spread(self._graph, rows, labels.codes, len(labels.classes), self.alpha)
        total = found.sum(axis=1)
        reached = total > np.finfo(float).tiny
        found /= np.where(reached, total, 1)[:, None]
        found[~reached] = labels.prior
        return found


class PoissonLearning(NeighborGraphClassifier):
    """Poisson learning: L u = sum_j (y_j - mean y) delta_j at the labeled points.

    Where labels are very few, a harmonic function is nearly constant but at the labels themselves.
    Sources in their place keep classes apart.
    """

    def _solve(self, rows: np.ndarray, labels: Labels) -> np.ndarray:
        return poisson(self._graph, rows, labels.codes, len(labels.classes))


def _new_row_bytes(n: int, k: int) -> int:
    """Bytes held for a new row: its neighbors, their weights and their values."""
    return 28 * min(k, n)


def storage(shape: Shape, size: int, n_neighbors: int = 10) -> Storage:
    """Count the graph, up to 48 n k bytes while it is made, then 24 n k, and 48 n Q to solve."""
    n, d, Q = shape.n, shape.n_features, shape.n_classes
    X = Arrays(X=shape.data_bytes)
    making, graph = kernels.NeighborGraph.bytes(n, d, n_neighbors)
    values = Arrays(values=8 * n * Q, center=32 * d, labeled=16 * shape.n_labeled)
    scores = Arrays(scores=8 * n * shape.n_machines, order=16 * n)
    rows = min(n, threshold_block_rows(shape.row_bytes))
    fit = {
        "graph": Arrays(graph=making, center=32 * d),
        # four of the iteration, and two of its product, then of the solution
        "iteration": Arrays(graph=graph, vectors=8 * n * (6 * Q + 5))
        + Arrays(steps=steps_bytes(Q, ITERATIONS)),
        "scores": values + scores + Arrays(threshold=threshold_bytes(n, Q)),
        "new scores": values
        + _new_arrays(shape, rows, n_neighbors)
        + Arrays(asked=rows * shape.row_bytes, threshold=threshold_bytes(n, Q)),
    }
    block = Arrays(block=shape.new_block_bytes)
    new = values + scores + block + _new_arrays(shape, shape.block_rows, n_neighbors)
    return Storage(beside(X, fit), {"a block": X + new})


def _new_arrays(shape: Shape, rows: int, k: int) -> Arrays:
    n, d = shape.n, shape.n_features
    width = _new_row_bytes(n, k)
    return Arrays(
        neighbors=NeighborSearch.bytes(n, d, k) + kernels.stream_bytes(rows, width, 1),
        found=24 * rows * shape.n_classes + 8 * n,
    )


@hookimpl
def harness_methods() -> list[Method]:
    """Provide label spreading, Poisson learning and the cluster kernel of a sparse graph."""
    sparse = partial(
        Method,
        storage=storage,
        size="n_unlabeled",
        tasks={"binary", "multiclass"},
        params={"decision_threshold": "share"},
    )
    return [
        sparse(
            "label-spreading",
            LabelSpreading,
            space={"alpha": choice([0.5, 0.9, 0.99])},
            head_params={"alpha"},
            reference="zhou2004",
        ),
        sparse("poisson-learning", PoissonLearning, reference="calder2020"),
        Method(
            "knn-clusk",
            cluster_kernel.NeighborClusterKernelSVM,
            cluster_kernel.storage,
            size="rank",
            sizes=cluster_kernel.sizes,
            # ranks of 10 to 100 are level on three sets: points are kept rather than eigenvectors
            enough=20,
            tasks={"binary", "multiclass"},
            params={"decision_threshold": "share"},
            space={"sigma": choice([0.5, 1.0, 2.0]), "C": log_uniform(1e-3, 1e4)},
            head_params={"C", "transfer", "epsilon", "degree", "cut"},
            reference="zhou2009",
        ),
    ]
