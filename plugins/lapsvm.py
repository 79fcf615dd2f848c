"""Laplacian support vector machines in the primal (Belkin et al. 2006; Melacci & Belkin 2011).

A support vector machine whose penalty adds how much the function varies along a graph of all
points. The dual inverts a matrix of all points; the primal multiplies with half a kernel matrix,
and finds the same minimum.
"""

from __future__ import annotations

import mmap
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels, log_uniform
from harness.estimator import NonNegativeFloat, PositiveFloat, PositiveInt
from harness.layers import Center, KernelValues, Layer, Linear
from harness.semi_supervised import Labels, SplitClassifier, transduced
from harness.semi_supervised.gaussian_triangle import BAND, GaussianTriangle
from harness.semi_supervised.squared_hinge import Expansion, HingeLosses, minimise


@dataclass(frozen=True)
class _ManifoldLosses:
    """Squared hinge losses of labeled points, and weight / 2 f'Lf of all, L = D - W."""

    hinge: HingeLosses
    graph: kernels.NeighborGraph
    weight: float

    def value(self, scores: np.ndarray) -> float:
        return self.hinge.value(scores) + float(scores @ self.coupled(scores)) / 2

    def gradient(self, scores: np.ndarray) -> np.ndarray:
        return self.hinge.gradient(scores) + self.coupled(scores)

    def curvature(self, scores: np.ndarray) -> np.ndarray:
        return self.hinge.curvature(scores)

    def coupled(self, vector: np.ndarray) -> np.ndarray:
        around = self.graph.multiply(np.arange(len(vector)), vector[:, None])[:, 0]
        np.subtract(self.graph.row_sums * vector, around, out=around)
        around *= self.weight
        return around


class LapSVM(kernels.GaussianWidth, SplitClassifier):
    """Minimise |f|^2 / 2 + manifold V(f) / 2 + C sum_labeled max(0, 1 - y f)^2, with a free bias.

    V(f) = sum_ij w_ij (f_i - f_j)^2 / sum_ij w_ij, the mean squared step along the edges of a
    graph, as in `laprls`. Newton's method in the kernel's space is the preconditioned one of
    Melacci & Belkin (section 4).

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`.
    transduction_ : ndarray of shape (n,)
        Classes of the points of `fit`; labels that were given stay.
    """

    _: KW_ONLY
    C: PositiveFloat = 1.0
    """Cost of the squared hinge loss of a labeled point: gamma_A is 1 / (2 C l)."""
    manifold: NonNegativeFloat = 1.0
    """gamma_I / gamma_A, for V."""
    n_neighbors: PositiveInt = 10
    """Of the graph: edges between points of which one is among so many nearest of the other."""
    tol: PositiveFloat = 0.0001
    """Excess of the objective over its minimum, in parts of |f|^2 / 2."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        self._width, self._center = self._width_on(X), kernels.column_medians(X)
        self._X, self._candidates = X, labeled
        self._graph = kernels.NeighborGraph(X, min(self.n_neighbors, len(X) - 1), self._width)
        self._product = GaussianTriangle(X, self._width, self._center)

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        # of other labels, or they would stand beside what is learned now
        for name in ("_coefficients", "decision_scores_", "transduction_"):
            self.__dict__.pop(name, None)
        n, labeled, targets = self._product.n, self._candidates[labels.rows], labels.targets()
        scores = np.empty((n, targets.shape[1]))
        coefficients = np.empty(scores.shape, self._X.dtype)
        self._intercepts = np.empty(targets.shape[1])
        for j, target in enumerate(targets.T):
            f = self._machine(labeled, target)
            scores[:, j], coefficients[:, j], self._intercepts[j] = (
                f.scores,
                f.coefficients,
                f.bias,
            )
            # or it would be held while the next machine is trained
            del f
        self._coefficients = coefficients
        self.decision_scores_ = self._as_decision(scores)
        self.transduction_ = transduced(self.decision_scores_, replace(labels, rows=labeled))
        return scores[self._candidates[held_out]]

    def _machine(self, labeled: np.ndarray, target: np.ndarray) -> Expansion:
        n = self._product.n
        if not np.ptp(target):
            # a class without a labeled point
            return Expansion.zero(n, target[0])
        positive, negative = np.zeros(n), np.zeros(n)
        positive[labeled], negative[labeled] = self.C * (target > 0), self.C * (target < 0)
        total = self._graph.row_sums.sum()
        # without an edge that is more than rounding there is no manifold
        unit = 2 * self.manifold / total if total > np.finfo(float).tiny ** 0.5 else 0.0
        losses = HingeLosses(positive, negative)
        coupled = _ManifoldLosses(losses, self._graph, unit) if unit else losses
        return minimise(self._product, Expansion.zero(n), coupled, self.tol)

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        del self._product, self._graph

    def _layers(self) -> list[Layer]:
        points = kernels.centered(self._X, self._center, self._X.dtype)
        near = Center(self._center, self._X.dtype)
        machine = Linear(self._coefficients, self._intercepts)
        return [near, KernelValues(points, self._width), machine]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        scores = np.empty((len(X), len(self._intercepts)))
        blocks = kernels.row_blocks(len(X), len(self._X) + X.shape[1], X.itemsize)
        for block, K in kernels.gaussian_rows(X, self._X, self._width, blocks, self._center):
            np.matmul(K, self._coefficients, out=scores[block])
        scores += self._intercepts
        return scores


def storage(shape: Shape, size: int, n_neighbors: int = 10) -> Storage:
    """Count half the kernel matrix in float32, 2 n (n + 64), the graph and a machine's vectors."""
    n, d, i, rows = shape.n, shape.n_features, shape.itemsize, shape.block_rows
    Q = shape.n_machines
    X = Arrays(X=shape.data_bytes)
    making, edges = kernels.NeighborGraph.bytes(n, d, n_neighbors)
    matrix = X + Arrays(kernel_matrix=GaussianTriangle.bytes(n), graph=edges, center=16 * d)
    known = Arrays(labels=8 * shape.n_labeled * (Q + 2))
    scores, coefficients = Arrays(scores=8 * n * Q), Arrays(coefficients=i * n * Q)
    moved = Arrays(moved=min(n, kernels.center_rows(d, i)) * d * i)
    band = Arrays(band=min(n, BAND) * i * (d + (n if i == 8 else 0)), norms=8 * n * 4)
    # a Newton step's eleven, the machine before it, costs, and products with the graph
    vectors = Arrays(vectors=22 * (8 * n + mmap.PAGESIZE), left_in_the_heap=min(48 * n, 1 << 19))
    fit = {
        "width": X + Arrays(sample=kernels.width_bytes(n, d, i)),
        "graph": X + Arrays(graph=making, center=32 * d),
        "kernel matrix": matrix + known + band + moved,
        **beside(
            matrix + known + scores + coefficients,
            {
                "machine": vectors,
                "scores": Arrays(held_out_scores=8 * shape.n_labeled * Q, order=16 * n),
            },
        ),
    }
    new = coefficients + moved + scores + Arrays(order=8 * n, block=shape.new_block_bytes)
    new += Arrays(new_scores=16 * rows * Q, kernel_rows=kernels.stream_bytes(rows, n + d, i))
    return Storage(fit, {"a block": X + new})


@hookimpl
def harness_methods() -> list[Method]:
    """Provide LapSVM in the primal."""
    return [
        Method(
            "lapsvm",
            LapSVM,
            storage,
            size="n_unlabeled",
            tasks={"binary", "multiclass"},
            space={
                "C": log_uniform(0.1, 1e3),
                "manifold": choice([1.0, 10.0, 1e3]),
                "sigma": choice([0.25, 0.5, 1.0]),
            },
            head_params={"C", "manifold"},
            reference="melacci2011",
        )
    ]
