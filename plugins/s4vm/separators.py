"""Low-density separators that differ: local minima of a transductive machine's objective.

Each begins with random labels and lowers

    |f|^2 / 2 + C sum_labeled q(y_i f_i) + C* sum_unlabeled q(y_j f_j),   q(t) = max(0, 1 - t)^2,

in f and in the labels y_j in turn, of which a given number are positive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.cluster.vq import kmeans2

from harness.semi_supervised.kernel_operators import KernelProduct
from harness.semi_supervised.squared_hinge import (
    Expansion,
    HingeLosses,
    minimise,
    newton_step,
    tolerated,
)

_ROUNDS = 30
"""Newton steps of a separator at most; labels follow each of them."""
_TOLERANCE = 1e-2
"""Of a separator's objective, in parts of |f|^2 / 2: only its labels are kept."""
_COLUMNS = 1024


@dataclass(frozen=True)
class Separation:
    """One class against the rest.

    Attributes
    ----------
    kernel : KernelProduct
        Of all points.
    labeled, unlabeled : ndarray of int
        Rows of the kernel.
    targets : ndarray of shape (len(labeled),)
        +1 or -1.
    C, weight : float
        Cost of a labeled point, and of another one.
    """

    kernel: KernelProduct
    labeled: np.ndarray
    unlabeled: np.ndarray
    targets: np.ndarray
    C: float
    weight: float

    def losses(self, guessed: np.ndarray | None = None) -> HingeLosses:
        """Return losses of the labeled points, and of guessed labels of all others."""
        positive, negative = np.zeros(self.kernel.n), np.zeros(self.kernel.n)
        positive[self.labeled] = self.C * (self.targets > 0)
        negative[self.labeled] = self.C * (self.targets < 0)
        if guessed is not None:
            positive[self.unlabeled] = self.weight * (guessed > 0)
            negative[self.unlabeled] = self.weight * (guessed < 0)
        return HingeLosses(positive, negative)

    def machine(self, guessed: np.ndarray | None, start: Expansion, tol: float) -> Expansion:
        """Return the machine of these labels."""
        return minimise(self.kernel, start, self.losses(guessed), tol)

    def separator(
        self, guessed: np.ndarray, n_positive: int, start: Expansion
    ) -> tuple[float, np.ndarray]:
        """Return the objective and the labels of the local minimum that labels lead to."""
        f = start
        for _ in range(_ROUNDS):
            losses = self.losses(guessed)
            objective = f.objective(losses)
            f, solved = newton_step(self.kernel, f, losses, tolerated(f, objective, _TOLERANCE))
            following = highest(f.scores[self.unlabeled], n_positive)
            if solved and (following == guessed).all():
                break
            guessed = following
        return f.objective(self.losses(guessed)), guessed


def highest(scores: np.ndarray, n_positive: int) -> np.ndarray:
    """Return +1 for so many of the highest scores, else -1: int8 of shape (u,)."""
    labels = np.full(len(scores), -1, np.int8)
    labels[np.argsort(-scores, kind="stable")[:n_positive]] = 1
    return labels


def diverse(
    objectives: np.ndarray, labels: np.ndarray, n_clusters: int, rng: np.random.RandomState
) -> np.ndarray:
    """Return the labels of the lowest objective in each of some clusters of labels, shape (t, u).

    Parameters
    ----------
    objectives : ndarray of shape (m,)
    labels : ndarray of shape (m, u), int8
    n_clusters : int
        Of k-means.
    rng : RandomState
    """
    products = _products(labels)
    u = labels.shape[1]
    first = np.flatnonzero(np.tril(products == u, -1).sum(axis=1) == 0)
    if len(first) <= n_clusters:
        return labels[first]
    # points as far apart as the labels are, in no more columns than there are points
    values, vectors = np.linalg.eigh(products[np.ix_(first, first)])
    points = vectors * np.sqrt(np.maximum(values, 0))
    # scikit-learn's would have BLAS set its threads, which takes a buffer of 32 MiB
    _, clusters = kmeans2(
        points, n_clusters, minit="++", missing="raise", rng=rng.randint(1 << 31)
    )
    order = np.argsort(objectives[first], kind="stable")
    _, best = np.unique(clusters[order], return_index=True)
    found: np.ndarray = labels[first[order[best]]]
    return found


def _products(labels: np.ndarray) -> np.ndarray:
    """Return the inner products of all pairs of labels, float64 of shape (m, m)."""
    m, u = labels.shape
    total = np.zeros((m, m))
    for start in range(0, u, _COLUMNS):
        columns = labels[:, start : start + _COLUMNS].astype(np.float32)
        total += columns @ columns.T
    return total
