"""Cluster kernel of a graph of nearest neighbors (Zhou, Ng, She & Jiang 2009).

The graph of the cluster kernel of Chapelle, Weston & Scholkopf (2002) joins all points. Here it
joins each point to its k nearest, so that a budget bounds n k and not n^2. L = D^-1/2 W D^-1/2 is
sparse and its first eigenvectors are found by Lanczos steps. A transfer function makes virtual
samples of them, on which a linear machine learns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness import Arrays, Shape, Storage, beside, kernels
from harness.estimator import PositiveFloat, PositiveInt
from harness.kernels.neighbors import NeighborSearch
from harness.semi_supervised import (
    Labels,
    SVMOnFeatures,
    svm_phases,
    threshold_block_rows,
    threshold_bytes,
    transduced,
)

from .spectrum import eigenvector_bytes, first_eigenvectors


class NeighborClusterKernelSVM(kernels.GaussianWidth, kernels.TransferSettings, SVMOnFeatures):
    """Linear SVM on the virtual samples of a cluster kernel of a sparse graph.

    Weights are Gaussian, and of a point with itself 1: with all other points as neighbors it is
    `clusk`.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`. A new point takes the eigenvectors of its nearest neighbors,
        weighted by its edges to them: the Nystrom extension.
    transduction_ : ndarray of shape (n,)
        Classes of the points of `fit`; labels that were given stay.
    eigenvalues_ : ndarray of shape (r,)
        Of L, descending, before the transfer function.
    """

    rank: PositiveInt = 100
    """r, eigenvectors kept at most."""
    n_neighbors: PositiveInt = 10
    """k, nearest neighbors of a point; all others where there are fewer."""
    epsilon: PositiveFloat = 0.05
    """eps of the regularised Laplacian. Eigenvalues of a sparse graph are nearer to 1 than those
    of a complete one: clusters without noise want 0.005 or less.
    """
    transfer: kernels.Transfer = "regularized-laplacian"
    """What becomes of the eigenvalues, as for NysCK."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        self._X, self._labeled, self._width = X, labeled, self._width_on(X)
        graph = kernels.NeighborGraph(X, self.n_neighbors, self._width)
        self._roots = np.sqrt(graph.row_sums + 1)
        self.eigenvalues_, self._vectors = first_eigenvectors(graph, self._roots, self.rank)

    def _labeled_features(self, n_labels: int) -> np.ndarray:
        phi = self._transferred(self.eigenvalues_, self.transfer, n_labels)
        self._weights = np.sqrt(np.maximum(phi, 0)).astype(np.float32)
        return self._virtual_samples(self._vectors[self._labeled])

    def _virtual_samples(self, U: np.ndarray) -> np.ndarray:
        """Return rows of U phi^1/2 with norm one, in the place of U."""
        U *= self._weights
        return kernels.normalize_rows(U)

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        seen = np.empty((len(X), self.coef_.shape[1]))
        for block in kernels.row_blocks(len(X), 3 * self._vectors.shape[1], 4):
            seen[block] = self._scores_of(self._virtual_samples(self._vectors[block].copy()))
        # new points are scored otherwise: the threshold is one of its own
        self._place_threshold_by(X, labels, self._scores)
        self._induced_offset = self.offset_
        decisions = self._as_decision(seen)
        self._place_threshold(np.delete(decisions, labels.rows, axis=0), labels)
        self.decision_scores_ = self._moved(decisions)
        self.transduction_ = transduced(self.decision_scores_, labels)

    def _decision(self, X: np.ndarray) -> np.ndarray:
        return self._as_decision(self._scores(X)) + self._induced_offset

    def _blocks(self, n: int) -> Iterator[slice]:
        width = _new_row_bytes(len(self._X), self.n_neighbors, len(self.eigenvalues_))
        return kernels.row_blocks(n, width, 1)

    def _features(self, X: np.ndarray) -> np.ndarray:
        """Return virtual samples of new points: sum_j w(x, x_j) u_j / (d_j^1/2 e).

        The degree of x would multiply a whole row, which is then normalised.
        """
        points, W = NeighborSearch(self._X, self.n_neighbors, self._width).nearest(X)
        W /= self._roots[points]
        U = np.zeros((len(X), len(self.eigenvalues_)), np.float32)
        for near, weights in zip(points.T, W.T.astype(np.float32), strict=True):
            neighbors = self._vectors[near]
            neighbors *= weights[:, None]
            U += neighbors
            # or they would stand beside the next ones
            del neighbors
        U /= self.eigenvalues_.astype(np.float32)
        return self._virtual_samples(U)


def _new_row_bytes(n: int, k: int, r: int) -> int:
    """Bytes held for a new row: its neighbors and weights, virtual sample, neighbors' vectors."""
    return 40 * min(k, n) + 8 * r


def storage(shape: Shape, size: int, n_neighbors: int = 10, tuned: bool = False) -> Storage:
    """Count the graph, 48 n k while it is made, Lanczos vectors, 40 n r, and vectors, 4 n r."""
    n, d, r, k, Q = shape.n, shape.n_features, min(size, shape.n), n_neighbors, shape.n_machines
    making, graph = kernels.NeighborGraph.bytes(n, d, k)
    roots = Arrays(roots=8 * n, center=32 * d)
    vectors = roots + Arrays(vectors=4 * n * r)
    threshold = threshold_bytes(n, shape.n_classes)
    scores = Arrays(scores=8 * n * Q)
    new_row = _new_row_bytes(n, k, r)
    svm = svm_phases(shape, r, 8 * r, shape.n_labeled, tuned)
    searching, asked = NeighborSearch.bytes(n, d, k), min(n, threshold_block_rows(shape.row_bytes))
    fit = {
        "graph": Arrays(graph=making, center=32 * d),
        "eigenvectors": roots
        # blocks that malloc does not map: parts of vectors, of the graph
        + Arrays(
            graph=graph, found=eigenvector_bytes(n, r), left_in_the_heap=min(48 * n, 1 << 19)
        ),
        **beside(vectors, {name: svm[name] for name in ("labeled features", "machines")}),
        "scores": vectors + scores + Arrays(rows=kernels.stream_bytes(n, 3 * r, 4)),
        "threshold": vectors
        + scores
        + Arrays(
            threshold=threshold,
            unlabeled=8 * n * (Q + 1),
            asked=asked * shape.row_bytes,
            neighbors=searching + kernels.stream_bytes(asked, new_row, 1),
        ),
    }
    new = vectors + scores
    new += Arrays(
        order=8 * n,
        block=shape.new_block_bytes,
        neighbors=searching + kernels.stream_bytes(shape.block_rows, new_row, 1),
        new_scores=24 * shape.block_rows * Q,
    )
    return Storage(fit, {"a block": new}, Arrays(X=shape.data_bytes))


def sizes(shape: Shape) -> tuple[int, int]:
    """Return one eigenvector at the least; more than 200 cost time and gain nothing."""
    return 1, min(shape.n, 200)
