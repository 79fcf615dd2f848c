"""Semi-supervised kernel spectral learning with the exact kernel (Mehrkanoon 2016, equation 7).

Minimises |w|^2 / 2 - g1/2 e'Ve + g2/2 (e - c)'A(e - c) with e = Omega alpha + b and V = D^-1. With
S = D^-1/2 Omega D^-1/2 the first two terms turn Omega into another kernel K, and the constant of
the bias into a function u:

    K = D^1/2 S (I - g1 S)^-1 D^1/2,        u = (I - g1 Omega V)^-1 1.

What is left is a least-squares machine on the labeled points alone. K is a cluster kernel, that of
the regularised Laplacian with 1 + eps = 1 / g1.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgError, cho_solve

from harness import Arrays, Shape, Storage, kernels
from harness.estimator import NonNegativeFloat, PositiveFloat
from harness.layers import Center, KernelValues, Layer, Linear
from harness.semi_supervised import (
    DecisionThresholdMixin,
    Labels,
    SplitClassifier,
    threshold_bytes,
    threshold_rows,
)

from .stationary import solve_indefinite


class SpectralResolvent:
    """(I - g1 S)^-1 for S = D^-1/2 Omega D^-1/2, factored in packed form.

    All eigenvalues of S are in [0, 1] and the largest is 1, its eigenvector D^1/2 1, so that the
    matrix is positive definite for g1 < 1. The points are in an order whose last ones get labels:
    of the factor, their rows hold what eliminating all others leaves.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    width : float
    gamma1 : float
        Above 0, below 1.
    order : ndarray of shape (n,)
        Numbers of the rows, those that may get labels at the end.
    n_labeled : int
        How many these are.
    """

    def __init__(
        self, X: np.ndarray, width: float, gamma1: float, order: np.ndarray, n_labeled: int
    ) -> None:
        self._gamma1, self._free = gamma1, len(order) - n_labeled
        self._matrix, self.degrees = kernels.packed_gaussian(X, width, order)
        self._matrix.scale(np.sqrt(gamma1 / self.degrees))
        self._matrix.add_to_diagonal(1)
        self.influence = self.apply(np.ones((len(order), 1)))[:, 0]

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """Return (I - g1 Omega V)^-1 vectors, all in the given order."""
        root = np.sqrt(self.degrees)[:, None]
        return root * self._matrix.solve(vectors / root)

    def transform(self, Omega: np.ndarray) -> None:
        """Make the labeled points' part of Omega into that of K, in place.

        With T = S_ll + g1 S_lu (I - g1 S_uu)^-1 S_ul it is D^1/2 T (I - g1 T)^-1 D^1/2. Nothing is
        subtracted, so that digits last however small g1 is; the factor's last rows hold both the
        factor of I - g1 T and, divided by the root of g1, that of the second term of T.
        """
        rows = np.arange(self._free, len(self.degrees))
        root = np.sqrt(self.degrees[rows])
        T = Omega.T
        T /= root
        T /= root[:, None]
        for block in kernels.gram_blocks(self._free, len(rows)):
            part = self._matrix.take(np.arange(block.start, block.stop), rows)
            part /= np.sqrt(self._gamma1)
            kernels.add_gram(T, part)
            del part
        kernels.mirror(T)
        factor = np.empty_like(T)
        for block in kernels.row_blocks(len(rows), 5 * len(rows)):
            factor[block] = self._matrix.take(rows[block], rows)
        cho_solve((factor, True), T, overwrite_b=True, check_finite=False)
        T *= root
        T *= root[:, None]


class MSSKSC(kernels.GaussianWidth, DecisionThresholdMixin, SplitClassifier):
    """Multi-class semi-supervised kernel spectral clustering, exact.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n, Q)
        alpha; one column for two classes, because the second would be its opposite.
    intercept_ : ndarray of shape (Q,)
    degrees_ : ndarray of shape (n,)
        Row sums of the kernel matrix; absent for gamma1 = 0, which does not need them.
    curvature_ : float
        Of the objective along the bias, w at its best: no minimum exists unless it is positive.
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`.
    """

    gamma1: NonNegativeFloat = 0.1
    """Weight of the spectral term, below 1: the smallest eigenvalue of I - gamma1 S is 1 - gamma1.
    0 is kernel ridge regression (a least-squares SVM) on the labeled points.
    """
    gamma2: PositiveFloat = 1.0
    """Weight of the labels, for each labeled point."""
    penalise_bias: bool = False
    """False is equation 7. True adds b^2 / 2, which makes the kernel Omega + 1 of a model without
    bias, as equations 11, 13 and 19 have it.
    """

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        """Eliminate all points but the labeled ones.

        Raises
        ------
        ValueError
            If gamma1 is not below 1.
        """
        if not self.gamma1 < 1:
            message = (
                f"gamma1={self.gamma1:g} must be below 1: the smallest eigenvalue of I - gamma1 "
                f"D^-1/2 Omega D^-1/2 is 1 - gamma1 = {1 - self.gamma1:.3g}, and points without a "
                "label would lower the objective without end"
            )
            raise ValueError(message)
        self._X, self._labeled = X, labeled
        self._width, self._center = self._width_on(X), kernels.column_medians(X)
        self._order = np.concatenate([np.delete(np.arange(len(X)), labeled), labeled])
        self._influence, self._pull = np.ones(len(X)), 0.0
        self._resolvent: SpectralResolvent | None = None
        if self.gamma1:
            self._resolvent = SpectralResolvent(
                X, self._width, self.gamma1, self._order, len(labeled)
            )
            self._influence = self._resolvent.influence
            self._pull = self.gamma1 * float(np.sum(self._influence / self._resolvent.degrees))
        known, row_bytes = X[labeled], _row_bytes(len(labeled), X.shape[1], X.itemsize)
        self._gram = np.empty((len(labeled), len(labeled)))
        for block in kernels.row_blocks(len(labeled), row_bytes, 1):
            self._gram[block] = kernels.gaussian_kernel(
                known[block], known, self._width, center=self._center
            )
        if self._resolvent is not None:
            self._resolvent.transform(self._gram)

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        """Solve the system of the labeled points.

        Warns
        -----
        UserWarning
            If the objective has no minimum; its stationary point is then used.
        """
        influence = self._influence[len(self._influence) - len(self._gram) :]
        system = self._gram[np.ix_(labels.rows, labels.rows)]
        system[np.diag_indices(len(system))] += 1 / self.gamma2
        u = influence[labels.rows]
        right = np.column_stack([labels.targets(), u])
        try:
            solution = solve_indefinite(system, right)
        except LinAlgError as error:
            message = f"the labeled points' {error}: lower gamma2"
            raise ValueError(message) from error
        of_targets, of_bias = solution[:, :-1], solution[:, -1]
        self.curvature_ = float(u @ of_bias) - self._pull + self.penalise_bias
        if not self.curvature_ > 0:
            message = (
                f"the problem has no minimum (curvature along the bias {self.curvature_:.3g})"
            )
            message += ": lower gamma1 or raise gamma2; its stationary point is used"
            warnings.warn(message, stacklevel=3)
        self.intercept_ = u @ of_targets / self.curvature_
        multipliers = of_targets - np.outer(of_bias, self.intercept_)
        self._multipliers = np.zeros((len(influence), multipliers.shape[1]))
        self._multipliers[labels.rows] = multipliers
        scores = self._gram[held_out] @ self._multipliers
        scores += np.outer(influence[held_out], self.intercept_)
        return scores

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        del self._gram
        scores = self._kernel_product(X, X[labels.rows], self._multipliers)[self._order]
        self.dual_coef_ = np.zeros(scores.shape)
        if self._resolvent is not None:
            scores = self._resolvent.apply(scores)
        scores += self._influence[:, None] * self.intercept_
        # alpha = g2 A (c - e) + g1 V e
        if self._resolvent is not None:
            degrees = self._resolvent.degrees
            self.dual_coef_[self._order] = self.gamma1 * scores / degrees[:, None]
            self.degrees_ = np.empty(len(X))
            self.degrees_[self._order] = degrees
        self.dual_coef_[labels.rows] += self._multipliers
        del self._resolvent
        self.decision_scores_ = np.empty_like(scores)
        self.decision_scores_[self._order] = scores
        self.decision_scores_ = self._as_decision(self.decision_scores_)
        rows = threshold_rows(labels, len(X))
        self._place_threshold(self.decision_scores_[rows], labels)
        self.decision_scores_ = self._moved(self.decision_scores_)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self._kernel_product(X, self._X, self.dual_coef_) + self.intercept_

    def _layers(self) -> list[Layer]:
        points = kernels.centered(self._X, self._center, self._X.dtype)
        near, kernel = Center(self._center, points.dtype), KernelValues(points, self._width)
        return [near, kernel, Linear(self.dual_coef_, self.intercept_)]

    def _kernel_product(self, X: np.ndarray, Z: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        product = np.empty((len(X), vectors.shape[1]))
        n, d = Z.shape
        for block in kernels.row_blocks(len(X), _row_bytes(n, d, Z.itemsize), 1):
            K = kernels.gaussian_kernel(X[block], Z, self._width, center=self._center)
            np.matmul(K.astype(np.float64, copy=False), vectors, out=product[block])
        return product


def _row_bytes(n: int, d: int, itemsize: int) -> int:
    """Bytes held for a row: its kernel values, these in float64, its features as moved."""
    return (itemsize + 8) * n + itemsize * d


def exact_storage(shape: Shape, size: int, tuned: bool = False) -> Storage:
    """Count n^2 / 2 doubles packed, two to three matrices of the labeled points.

    4 n (n + 2) + 16 l^2: K of the labeled points, with a copy that becomes the system to solve, or
    with the rows of the factor that K is made of.
    """
    n, labeled, d, i = shape.n, shape.n_labeled, shape.n_features, shape.itemsize
    Q = shape.n_machines
    held = Arrays(X=shape.data_bytes, scores_and_degrees=8 * n * (5 + 2 * Q))
    panels = Arrays(blas=kernels.blas_bytes(labeled))
    packed = Arrays(packed=kernels.PackedSymmetric.bytes(n))
    factored = panels + packed + Arrays(factoring_blas=kernels.PackedSymmetric.factoring_bytes(n))
    known = Arrays(known=labeled * d * i, moved=kernels.center_rows(d, i) * d * i)
    of_known = Arrays(kernel_of_labeled=8 * labeled**2)
    row = _row_bytes(labeled, d, i)
    # four more arrays are held while rows of the factor are taken
    rows = max(kernels.BLOCK_BYTES / (16 * labeled), 16, labeled // 4)
    of_factor = int(5 * 8 * labeled * min(n - labeled, rows))
    reducing = factored + of_known + Arrays(known=labeled * d * i)
    squares = Arrays(system=8 * labeled**2)
    scores = Arrays(scores=8 * n * (2 * Q + 2))
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        "kernel matrix": (factored if tuned else panels + packed)
        + Arrays(tile=kernels.packed_gaussian_bytes(n, d, i, picked=2)),
        "rows of the factor": reducing + Arrays(rows=of_factor),
        "Schur complement": reducing
        + Arrays(factor=8 * labeled**2, rows=kernels.stream_bytes(labeled, 5 * labeled)),
        "kernel of labeled points": factored
        + of_known
        + known
        + Arrays(rows=kernels.stream_bytes(labeled, row, 1)),
        "solution": factored
        + of_known
        + squares
        + Arrays(workspace=8 * 64 * labeled, right_hand_sides=8 * labeled * (2 * Q + 2)),
        "kernel of all points": factored + known + Arrays(rows=kernels.stream_bytes(n, row, 1)),
        "extension": factored + Arrays(known=labeled * d * i, vectors=8 * n * 3 * Q),
        "threshold": panels + scores + Arrays(threshold=threshold_bytes(n, shape.n_classes)),
    }
    new = Arrays()
    if shape.n_test:
        # of a whole block: those left to predict are fewer where more are seen
        new = Arrays(
            kernel_rows=kernels.stream_bytes(shape.block_rows, _row_bytes(n, d, i), 1),
            moved=kernels.center_rows(d, i) * d * i,
            block=shape.block_bytes,
        )
    return Storage(fit, {"a block": panels + new}, held)
