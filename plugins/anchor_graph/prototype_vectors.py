"""Prototype vector machine (Zhang, Kwok & Parvin 2009): labels of prototypes on a complete graph.

Prototypes serve twice: they approximate the kernel matrix of the graph, K = E W^-1 E' of kernel
values E at prototypes and W among them, and functions, which are weighted means of what prototypes
have. So a few matrices over prototypes, summed up over blocks of points, are all that is held.
"""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from scipy.linalg.blas import dsyrk
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from harness import Arrays, Shape, Storage, kernels
from harness.estimator import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from harness.semi_supervised import (
    DecisionThresholdMixin,
    Labels,
    SplitClassifier,
    threshold_block_rows,
    threshold_bytes,
)

from .anchors import move_to_means, moving_bytes

_TIES = 10.0 ** np.arange(-9, 1)
"""Shares of the mean diagonal by which prototypes are tied to the class prior: the least that a
system has a factor with. A kernel of low rank has small negative values, so D - K need not be
positive.
"""
_MAP_TOLERANCE = 1e-5


class PrototypeVectorMachine(
    kernels.Landmarks, kernels.GaussianWidth, DecisionThresholdMixin, SplitClassifier
):
    """Least squares of labels, smooth along a complete graph of low rank.

    Minimises tr(F'(D - K) F) / d + C |F_l - Y_l|^2 + C_u |F_u|^2 with F = H A, where rows of H are
    kernel values at prototypes in parts of their sum and d is the mean degree (section 3.3). Y are
    deviations from the class prior.

    Attributes
    ----------
    prototypes_ : ndarray of shape (m, d), float32
        Less `center_`.
    center_ : ndarray of shape (d,)
    prototype_labels_ : ndarray of shape (m, n_classes)
        A, and the class prior.
    """

    n_landmarks: PositiveInt = 100
    """m, the prototypes; all points where there are fewer."""
    kmeans_iter: NonNegativeInt = 10
    """Iterations of k-means from the landmarks that `selector` chose. 0 leaves them."""
    sigma: PositiveFloat = 0.25
    """Width of the kernel. Much wider, functions that are means of prototypes are all alike; much
    narrower, points see no prototype but one.
    """
    C: PositiveFloat = 100.0
    """C1 of the paper, the weight of labels."""
    unlabeled_penalty: NonNegativeFloat = 0.01
    """C2 of the paper, a weight that draws points without a label to the class prior."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel("rbf", X, self.sigma, self.sigma_unit)
        sample = self._select(X, self.n_landmarks, rng, kernel)
        self.center_ = kernels.column_medians(X)
        self.prototypes_ = kernels.centered_rows(X, sample, self.center_)
        if len(self.prototypes_) < len(X):
            move_to_means(X, self.prototypes_, self.center_, self.kmeans_iter)
        self._map = kernels.NystromFeatures(
            self.prototypes_, kernel.width, _MAP_TOLERANCE, center=self.center_
        )
        self._penalty = self._smoothness(X)
        self._of_labeled = np.empty((len(labeled), len(self.prototypes_)), np.float32)
        for block in self._blocks(len(labeled)):
            self._of_labeled[block] = _in_parts(self._map.kernel(X[labeled[block]]))

    def _smoothness(self, X: np.ndarray) -> np.ndarray:
        """Return H'(D - K) H / d + C_u H'H, float64 of shape (m, m), its lower triangle."""
        m, n = len(self.prototypes_), len(X)
        total = np.zeros(self._map.n_components)
        for block in self._blocks(n):
            total += self._map.transform(X[block]).sum(axis=0, dtype=np.float64)
        mean = float(total @ total) / n
        weighted = np.zeros((m, m), order="F")
        gram = kernels.GramSum(m, np.float64, start=weighted)
        # of K H, by features whose inner products K is
        shared = np.zeros((self._map.n_components, m))
        for block in self._blocks(n):
            K = self._map.kernel(X[block])
            Z = K @ self._map.projection
            H = _in_parts(K)
            shared += Z.T @ H
            # of few prototypes degrees can vanish far from all, and k(x, x) is 1
            degrees = np.maximum(Z @ total, 1)
            H *= np.sqrt(degrees / mean + self.unlabeled_penalty)[:, None]
            gram.add(H)
            # or they would stand beside the next ones
            del K, Z, H
        dsyrk(-1 / mean, shared.T, beta=1.0, c=weighted, lower=1, overwrite_c=1)
        return weighted

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        H = self._of_labeled[labels.rows].astype(np.float64)
        prior = labels.prior
        targets = np.eye(len(labels.classes))[labels.codes] - prior
        right = self.C * (H.T @ targets)
        for tie in _TIES:
            system = self._penalty.copy(order="F")
            # their share of what draws all points to the prior
            dsyrk(self.C - self.unlabeled_penalty, H.T, beta=1.0, c=system, lower=1, overwrite_c=1)
            mean = max(float(system.diagonal().mean()), np.finfo(float).tiny)
            system.flat[:: len(system) + 1] += tie * mean
            try:
                found = kernels.solve_positive_definite(system, right)
            except LinAlgError:
                if tie == _TIES[-1]:
                    raise
                continue
            break
        del system
        self.prototype_labels_ = found + prior
        return self._scores_at(self._of_labeled[held_out])

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        del self._penalty, self._of_labeled
        self._place_threshold_by(X, labels, self._scores)

    def _scores_at(self, H: np.ndarray) -> np.ndarray:
        """Return scores of rows, of which one column is left of two classes."""
        found: np.ndarray = H @ self.prototype_labels_
        return found[:, 1:] - found[:, :1] if found.shape[1] == 2 else found

    def _scores(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self, "prototype_labels_")
        found = np.empty((len(X), len(self.classes_) if len(self.classes_) != 2 else 1))
        for block in self._blocks(len(X)):
            found[block] = self._scores_at(_in_parts(self._map.kernel(X[block])))
        return found

    def _blocks(self, n: int) -> list[slice]:
        step = _block_rows(*self.prototypes_.shape)
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def _in_parts(K: np.ndarray) -> np.ndarray:
    """Return rows in parts of their sum, in their place; zeros where there is none."""
    total = K.sum(axis=1, keepdims=True)
    K /= np.maximum(total, np.finfo(K.dtype).tiny)
    return K


def _row_bytes(m: int, d: int) -> int:
    """Bytes held for a row: kernel values, in float32 too, features, itself moved and scaled."""
    return 20 * m + 16 * d


def _block_rows(m: int, d: int) -> int:
    # sums of products read and write matrices, so blocks are not small beside them
    return max(kernels.block_rows(_row_bytes(m, d), 1), m // 8)


def _block_bytes(n: int, m: int, d: int) -> int:
    """Bytes of such a block of n rows at most; never falls as m grows."""
    row = _row_bytes(m, d)
    return max(kernels.stream_bytes(n, row, 1), min(n, m // 8) * row)


def storage(
    shape: Shape, size: int, selector: str | kernels.Selector = "uniform", tuned: bool = False
) -> Storage:
    """Count prototypes, 4 m d, and matrices over them, 32 m^2; nothing else grows with n."""
    n, d, i, m = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    Q, labeled = shape.n_classes, shape.n_labeled
    prototypes = Arrays(prototypes=4 * m * (d + 2), middle=16 * d)
    mapped = prototypes + Arrays(projection=8 * m * m)
    rows = _block_bytes(n, m, d)
    penalty, of_labeled = Arrays(penalty=8 * m * m), Arrays(of_labeled=4 * labeled * m)
    solving = kernels.blas_bytes(m, terms=m) + kernels.cholesky_blas_bytes(m)
    # what a fold before this one has packed
    before = Arrays(packed=solving if tuned else 0)
    placed = min(n, threshold_block_rows(shape.row_bytes))
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        "selection": Arrays(selection=kernels.selection_bytes(selector, n, d, m, i)),
        "prototypes": prototypes + Arrays(picked=kernels.stream_bytes(m, 2 * d)),
        "k-means": prototypes
        + before
        + Arrays(means=moving_bytes(n, m, d), blas=kernels.blas_bytes(m, 4, d)),
        "map": prototypes + before + Arrays(**kernels.eigen_arrays(m)),
        "sums": mapped
        + penalty
        + before
        + Arrays(shared=8 * m * m, product=8 * m * m, rows=rows, blas=kernels.blas_bytes(m)),
        "solution": mapped
        + penalty
        + of_labeled
        + Arrays(
            system=8 * m * m,
            known=12 * labeled * m,
            targets=16 * labeled * Q,
            prototype_labels=24 * m * Q,
            packed=solving,
        ),
        "threshold": mapped
        + Arrays(
            threshold=threshold_bytes(n, Q),
            asked=placed * shape.row_bytes,
            rows=_block_bytes(placed, m, d) + 24 * placed * Q,
            packed=solving,
        ),
    }
    new = mapped + Arrays(
        block=shape.new_block_bytes,
        rows=_block_bytes(shape.block_rows, m, d) + 24 * shape.block_rows * Q,
        packed=solving,
        prototype_labels=8 * m * Q,
    )
    return Storage(fit, {"a block": new}, Arrays(X=shape.data_bytes))
