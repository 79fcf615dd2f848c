"""Cluster kernels (Chapelle, Weston & Scholkopf 2002), as Hou, Zhang & Zhou 2017 use them.

L = D^-1/2 K D^-1/2 = U S U', L~ = U phi(S) U', K~ = D~^1/2 L~ D~^1/2 with D~_ii = 1 / L~_ii, and a
support vector machine on K~.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from harness import Arrays, Method, Shape, Storage, choice, hookimpl, kernels, log_uniform
from harness.estimator import PositiveFloat
from harness.semi_supervised import (
    DecisionThresholdMixin,
    GramProduct,
    Labels,
    SplitClassifier,
    machine_bytes,
    threshold_bytes,
    threshold_rows,
    train_machines,
    transduced,
)

# Excess of the SVM's objective over its minimum, in parts of it.
_TOL = 1e-5
# Eigenvalues below this are rounding; the Nystrom extension divides by them.
_RANK_TOLERANCE = 1e-10
# So are elements of the diagonal of L~ below this part of the largest: a point that has no part in
# the eigenvectors that are kept.
_DIAGONAL_TOLERANCE = 1e-12


class InverseSpectrum:
    """The regularised Laplacian's L~ without an eigenvector: one packed matrix, inverted in place.

    With A = (1 + eps - L)^-1 it is L~ = A - 1 / (1 + eps) = L A / (1 + eps). The second form
    extends to new points without dividing by an eigenvalue.
    """

    def __init__(self, X: np.ndarray, width: float, epsilon: float) -> None:
        self._shift = 1 + epsilon
        self._matrix, self.degrees = kernels.packed_gaussian(X, width)
        self._matrix.scale(self.degrees**-0.5)
        self._matrix.add_to_diagonal(self._shift)
        self._matrix.invert()

    def gram(self, rows: np.ndarray, n_labeled: int) -> np.ndarray:
        """Return L~[rows][:, rows] in float32."""
        gram = np.empty((len(rows), len(rows)), np.float32)
        for block in kernels.row_blocks(len(rows), 5 * len(rows)):
            part = self._matrix.take(rows[block], rows)
            part[np.arange(len(part)), np.arange(block.start, block.stop)] -= 1 / self._shift
            gram[block] = part
        return gram

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of L~."""
        return self._matrix.diagonal() - 1 / self._shift

    def apply(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return L~ @ vectors, and what L at new points makes of it there."""
        values = self._matrix.multiply(vectors)
        extension = values / self._shift
        values -= vectors / self._shift
        return values, extension


class EigenSpectrum:
    """L~ = U phi(S) U' with all eigenvectors, for any function phi (eigenvalues, n_labeled).

    Holds 2 n^2 doubles while it is made, n^2 afterwards.
    """

    def __init__(self, X: np.ndarray, width: float, phi: Callable[..., np.ndarray]) -> None:
        n, center = len(X), kernels.column_medians(X)
        L = np.empty((n, n))
        for block in kernels.row_blocks(n, n):
            L[block] = kernels.gaussian_kernel(X[block], X, width, center=center)
        np.fill_diagonal(L, 1)
        self.degrees = L.sum(axis=1)
        L /= np.sqrt(self.degrees)[:, None]
        L /= np.sqrt(self.degrees)
        self._eigenvalues, self._U = kernels.eigensystem(L)
        self._phi = phi

    def gram(self, rows: np.ndarray, n_labeled: int) -> np.ndarray:
        """Return L~[rows][:, rows] in float32, where `n_labeled` labels are known."""
        self._weights = self._phi(self._eigenvalues, n_labeled=n_labeled)
        F = self._U[rows]
        F *= np.sqrt(self._weights)
        gram = np.empty((len(F), len(F)), np.float32)
        for block in kernels.row_blocks(len(F), len(F)):
            gram[block] = F[block] @ F.T
        return gram

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of L~."""
        diagonal = np.empty(len(self._U))
        for block in kernels.row_blocks(len(diagonal), len(diagonal)):
            diagonal[block] = self._U[block] ** 2 @ self._weights
        return diagonal

    def apply(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return L~ @ vectors, and what L at new points makes of it there (Nystrom extension)."""
        coefficients = self._weights[:, None] * (self._U.T @ vectors)
        extends = self._eigenvalues > _RANK_TOLERANCE
        inverses = np.where(extends, 1 / np.where(extends, self._eigenvalues, 1), 0)
        return self._U @ coefficients, self._U @ (inverses[:, None] * coefficients)


class ClusterKernelSVM(
    kernels.GaussianWidth, kernels.TransferSettings, DecisionThresholdMixin, SplitClassifier
):
    """Support vector machine on a cluster kernel (ClusK).

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`.
    transduction_ : ndarray of shape (n,)
        Classes of the points of `fit`; labels that were given stay.
    """

    transfer: kernels.Transfer = "regularized-laplacian"
    """What becomes of the eigenvalues: "regularized-laplacian" 1 / (1 + eps - e) less its value at
    0, the paper's "poly-step" (square roots of
    the first `cut`, squares of the rest), "step", "polynomial", or "linear", which gives the
    RBF-SVM.
    """
    C: PositiveFloat = 1.0
    """Penalty of the squared hinge loss."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        self._X, self._labeled = X, labeled
        self._width, self._center = self._width_on(X), kernels.column_medians(X)
        self._spectrum: InverseSpectrum | EigenSpectrum
        if self.transfer == "regularized-laplacian":
            self._spectrum = InverseSpectrum(X, self._width, self.epsilon)
        else:
            # no method of this object: a circle would keep the matrix past its time
            phi = partial(
                kernels.apply_transfer, transfer=self.transfer, degree=self.degree, cut=self.cut
            )
            self._spectrum = EigenSpectrum(X, self._width, phi)
        self._gram: np.ndarray | None = None
        self._gram_labels = 0

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        whole = gram = self._normalised(len(labels.rows))
        if len(held_out):
            gram = whole[np.ix_(labels.rows, labels.rows)]
        product = GramProduct(gram)
        coefficients, self._intercepts = train_machines(product, labels, self.C, _TOL)
        self._weights = np.zeros((len(whole), coefficients.shape[1]))
        self._weights[labels.rows] = coefficients
        return whole[held_out] @ self._weights.astype(np.float32) + self._intercepts

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        vectors = np.zeros((len(X), self._weights.shape[1]))
        vectors[labels.rows] = self._weights * self._scale[:, None]
        values, extension = self._spectrum.apply(vectors)
        diagonal, degrees = self._spectrum.diagonal(), self._spectrum.degrees
        # The matrix is not needed any more.
        del self._spectrum, self._gram, vectors
        self._power = _power_of(diagonal, degrees)
        extension /= np.sqrt(degrees)[:, None]
        ones = np.ones(len(X))
        self._extension = np.column_stack([ones, diagonal / degrees**self._power, extension])
        self._least = _DIAGONAL_TOLERANCE * diagonal.max()
        values *= _inverse_roots(diagonal, self._least)[:, None]
        rows = threshold_rows(labels, len(X))
        self._place_threshold(self._as_decision(values[rows] + self._intercepts), labels)
        self.decision_scores_ = self._moved(self._as_decision(values + self._intercepts))
        self.transduction_ = transduced(self.decision_scores_, labels)

    def _normalised(self, n_labeled: int) -> np.ndarray:
        """Make K~ of the labeled rows, whose number sets where some transfer functions step."""
        if self._gram is None or n_labeled != self._gram_labels:
            self._gram = None  # before the next one takes as much
            self._gram = self._spectrum.gram(self._labeled, n_labeled)
            diagonal = self._gram.diagonal()
            self._scale = _inverse_roots(diagonal, _DIAGONAL_TOLERANCE * diagonal.max())
            self._gram *= self._scale
            self._gram *= self._scale[:, None]
            self._gram_labels = n_labeled
        return self._gram

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return scores of new points, by the Nystrom extension of the cluster kernel.

        Its diagonal there would take n^2 operations a point. It goes with a power of the degree
        (1 where the first eigenvector is most of it, -1 for the linear transfer function), so
        what is left of it without that power is interpolated.
        """
        n, d = self._X.shape
        width = _extended_bytes(n, d, X.itemsize)
        blocks = list(kernels.row_blocks(len(X), width, 1))
        sums = np.empty((len(X), self._extension.shape[1]))
        exact = np.empty((blocks[0].stop, len(self._X)))
        for block, K in kernels.gaussian_rows(X, self._X, self._width, blocks, self._center):
            exact[: len(K)] = K
            np.matmul(exact[: len(K)], self._extension, out=sums[block])
        total, smooth = sums[:, 0], sums[:, 1]
        # The new point counts itself, as the points of `fit` do.
        degrees = 1 + total
        diagonal = smooth / np.maximum(total, np.finfo(float).tiny) * degrees**self._power
        scale = _inverse_roots(diagonal, self._least) / np.sqrt(degrees)
        return sums[:, 2:] * scale[:, None] + self._intercepts


def _inverse_roots(diagonal: np.ndarray, least: float) -> np.ndarray:
    """Return 1 / sqrt(diagonal), 0 where it is not above `least`."""
    return np.where(diagonal > least, diagonal, np.inf) ** -0.5


def _power_of(values: np.ndarray, degrees: np.ndarray) -> float:
    """Return the slope of log values on log degrees, between -1 and 1."""
    logs = np.log(degrees) - np.log(degrees).mean()
    slope = np.log(np.maximum(values, np.finfo(float).tiny)) @ logs
    return float(np.clip(slope / max(logs @ logs, np.finfo(float).eps), -1, 1))


def _extended_bytes(n: int, d: int, itemsize: int) -> int:
    """Bytes held for a new row: its kernel values, these in float64, its features as moved."""
    return (itemsize + 8) * n + itemsize * d


def storage(
    shape: Shape, size: int, transfer: str = "regularized-laplacian", tuned: bool = False
) -> Storage:
    """Count n^2 / 2 doubles packed (2 n^2 if eigenvectors are needed), and the SVM.

    The SVM holds its Gram matrix over the labeled points in float32; in a search also the part of
    it that belongs to a fold.
    """
    n, labeled, d, i = shape.n, shape.n_labeled, shape.n_features, shape.itemsize
    columns = shape.n_machines
    held = Arrays(
        X=shape.data_bytes,
        degrees=8 * 4 * n,
        # blocks below 64 KiB, that malloc does not map: each setting of a search leaves some
        left_in_the_heap=min(8 * 24 * n, 1 << 19) if tuned else 0,
    )
    gram = Arrays(gram=4 * labeled**2)
    svm = gram + Arrays(
        gram_of_a_fold=4 * labeled**2 if tuned else 0,
        machines=machine_bytes(labeled, columns),
    )
    known = Arrays(weights=8 * labeled * 2 * columns)
    scores = Arrays(scores=8 * n * (3 * columns + 4))
    if transfer == "regularized-laplacian":
        packed = Arrays(packed=kernels.PackedSymmetric.bytes(n))
        blas = Arrays(blas=kernels.PackedSymmetric.factoring_bytes(n))
        factored = packed + blas
        matrix = {
            "kernel matrix": (factored if tuned else packed)
            + Arrays(tile=kernels.packed_gaussian_bytes(n, d, i)),
            "virtual labeled points": factored
            + gram
            + Arrays(block=kernels.stream_bytes(labeled, 5 * labeled)),
            "machines": factored + svm,
            "product": factored
            + gram
            + known
            + Arrays(product=8 * n * columns, tile=8 * kernels.TILE**2),
            # that of the matrix, what extends it, and what makes it the former
            "scores": factored + gram + known + Arrays(vectors=8 * n * (3 * columns + 2)),
        }
    else:
        square = Arrays(kernel_matrix=8 * n * n)
        blas = Arrays(blas=kernels.blas_bytes(n, terms=64) + kernels.blas_bytes(labeled))
        square += blas
        rows = Arrays(rows=8 * labeled * n, block=kernels.stream_bytes(labeled, labeled))
        matrix = {
            "eigensystem": square + Arrays(eigenvectors=8 * n * n, workspace=400 * n),
            "machines": square + rows + svm,
            # of all points, before and after the matrix is applied to them
            "scores": square + gram + Arrays(vectors=8 * n * (4 * columns + 2)),
        }
    threshold = Arrays(threshold=threshold_bytes(n, shape.n_classes))
    fit = {"width": Arrays(sample=kernels.width_bytes(n, d, i)), **matrix}
    extending = Arrays(scores=8 * n * (2 * columns + 4))
    if shape.n_test:
        # of a whole block: those left to extend to are fewer where more are seen
        extending += Arrays(
            kernel_rows=kernels.stream_bytes(shape.block_rows, _extended_bytes(n, d, i), 1),
            moved=(kernels.center_rows(d, i) * d + n) * i,
            block=shape.block_bytes,
        )
    return Storage(
        fit | {"threshold": blas + scores + threshold}, {"a block": blas + extending}, held
    )


@hookimpl
def harness_methods() -> list[Method]:
    """Provide ClusK."""
    return [
        Method(
            "clusk",
            ClusterKernelSVM,
            storage,
            size="n_unlabeled",
            tasks={"binary", "multiclass"},
            params={"decision_threshold": "share"},
            space={"sigma": choice([0.25, 0.5, 1.0, 2.0]), "C": log_uniform(1e-3, 1e4)},
            head_params={"C"},
            reference="hou2017",
        )
    ]
