"""Cluster kernels (Chapelle, Weston & Scholkopf 2002), as Hou, Zhang & Zhou 2017 use them.

L = D^-1/2 K D^-1/2 = U S U', L~ = U phi(S) U', K~ = D~^1/2 L~ D~^1/2 with D~_ii = 1 / L~_ii, and a
support vector machine on K~.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, Shape, choice, hookimpl, kernels, log_uniform

# Eigenvalues below this are rounding; the Nystrom extension divides by them.
_RANK_TOLERANCE = 1e-10


class InverseSpectrum:
    """L~ = (1 + eps - L)^-1 without an eigenvector: one packed matrix, inverted in place.

    Out of sample it follows from L~ = (1 + L L~) / (1 + eps), which extends without dividing by
    an eigenvalue.
    """

    def __init__(self, X: np.ndarray, width: float, epsilon: float) -> None:
        self._shift = 1 + epsilon
        self._matrix = kernels.PackedSymmetric(len(X))
        self.degrees = np.zeros(len(X))

        def tile(rows: slice, columns: slice) -> np.ndarray:
            K = kernels.gaussian_kernel(X[rows], X[columns], width)
            self.degrees[rows] += K.sum(axis=1, dtype=np.float64)
            if rows != columns:
                self.degrees[columns] += K.sum(axis=0, dtype=np.float64)
            return np.negative(K, out=K)

        self._matrix.fill(tile)
        self._matrix.scale(self.degrees**-0.5)
        self._matrix.add_to_diagonal(self._shift)
        self._matrix.invert()
        self.diagonal = self._matrix.diagonal()

    def gram(self, rows: np.ndarray) -> np.ndarray:
        """Return L~[rows][:, rows]."""
        blocks = kernels.row_blocks(len(rows), 5 * len(rows))
        return np.concatenate([self._matrix.take(rows[block], rows) for block in blocks])

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """Return L~ @ vectors, and keep what extends it to other points."""
        values = self._matrix.multiply(vectors)
        self._extension = values / self._shift
        return values

    def extend(self, L: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return L~ @ vectors and the diagonal of L~ at new points.

        Parameters
        ----------
        L : ndarray of shape (m, n)
            Normalised kernel between the new points and those of `fit`.
        own : ndarray of shape (m,)
            Normalised kernel of each new point with itself.
        """
        spread = self._matrix.multiply(L.T)
        quadratic = np.einsum("ij,ji->i", L, spread)
        diagonal = 1 / self._shift + (own + quadratic) / self._shift**2
        return L @ self._extension, diagonal


class EigenSpectrum:
    """L~ = U phi(S) U' with all eigenvectors, for any transfer function.

    Holds 2 n^2 doubles: K and its eigenvectors.
    """

    def __init__(
        self, X: np.ndarray, width: float, transfer: str, n_labeled: int, degree: float
    ) -> None:
        n = len(X)
        L = np.empty((n, n))
        for block in kernels.row_blocks(n, n):
            L[block] = kernels.gaussian_kernel(X[block], X, width)
        self.degrees = L.sum(axis=1)
        L /= np.sqrt(self.degrees)[:, None]
        L /= np.sqrt(self.degrees)
        eigenvalues, U = kernels.eigensystem(L)
        del L
        self._factor, self._eigenvalues = U, eigenvalues
        weights = kernels.transferred(eigenvalues, transfer, n_labeled, degree)
        U *= np.sqrt(weights)
        self.diagonal = np.maximum(np.einsum("ij,ij->i", U, U), np.finfo(float).tiny)
        self._extends = eigenvalues > _RANK_TOLERANCE

    def gram(self, rows: np.ndarray) -> np.ndarray:
        """Return L~[rows][:, rows]."""
        F = self._factor[rows]
        return F @ F.T

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """Return L~ @ vectors, and keep what extends it to other points."""
        self._coefficients = self._factor.T @ vectors
        return self._factor @ self._coefficients

    def extend(self, L: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return L~ @ vectors and the diagonal of L~ at new points (Nystrom extension)."""
        F = L @ self._factor
        F *= np.where(self._extends, 1 / np.where(self._extends, self._eigenvalues, 1), 0)
        return F @ self._coefficients, np.einsum("ij,ij->i", F, F)


class ClusterKernelSVM(ClassifierMixin, BaseEstimator):
    """Support vector machine on a cluster kernel (ClusK).

    Parameters
    ----------
    transfer : str, default "regularized-laplacian"
        What becomes of the eigenvalues: "regularized-laplacian" 1 / (1 + eps - e), the paper's
        "poly-step" (square roots of the first n_labeled + 8, squares of the rest), "step",
        "polynomial", or "linear", which gives the RBF-SVM.
    epsilon : float, default 0.05
        eps of the regularised Laplacian.
    degree : float, default 2.0
        Of the polynomial.
    sigma : float, default 1.0
        Width of the kernel.
    sigma_unit : {"median", "absolute"}, default "median"
        What `sigma` counts: median distances between the points, or units of the features.
    C : float, default 1.0
        Penalty of the hinge loss.
    n_classes : int, optional
        Found from y by default. Three and more are told apart one against the rest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`.
    transduction_ : ndarray of shape (n,)
        Classes of the points of `fit`; labels that were given stay.
    """

    _parameter_constraints: ClassVar[dict] = {
        "transfer": [StrOptions(set(kernels.TRANSFERS))],
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sigma_unit": [StrOptions({"median", "absolute"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "n_classes": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self,
        transfer: str = "regularized-laplacian",
        epsilon: float = 0.05,
        degree: float = 2.0,
        sigma: float = 1.0,
        sigma_unit: str = "median",
        C: float = 1.0,
        n_classes: int | None = None,
    ) -> None:
        self.transfer = transfer
        self.epsilon = epsilon
        self.degree = degree
        self.sigma = sigma
        self.sigma_unit = sigma_unit
        self.C = C
        self.n_classes = n_classes

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn the kernel from all points and the SVM from those whose label is not -1."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        labels = kernels.read_labels(y, self.n_classes)
        self.classes_, self._X = labels.classes, X
        self._width = kernels.kernel_width(X, self.sigma, self.sigma_unit)
        self._spectrum = self._decompose(X, len(labels.rows))

        scale = self._spectrum.diagonal**-0.5
        weights, self._intercepts = self._train(labels, scale[labels.rows])
        vectors = np.zeros((len(X), weights.shape[1]))
        vectors[labels.rows] = weights * scale[labels.rows, None]
        values = self._spectrum.apply(vectors) * scale[:, None] + self._intercepts
        self.decision_scores_ = values[:, 0] if values.shape[1] == 1 else values
        self.transduction_ = kernels.decide(self.decision_scores_, self.classes_)
        self.transduction_[labels.rows] = self.classes_[labels.codes]
        return self

    def _decompose(self, X: np.ndarray, n_labeled: int) -> InverseSpectrum | EigenSpectrum:
        if self.transfer == "regularized-laplacian":
            return InverseSpectrum(X, self._width, self.epsilon)
        return EigenSpectrum(X, self._width, self.transfer, n_labeled, self.degree)

    def _train(self, labels: kernels.Labels, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gram = self._spectrum.gram(labels.rows)
        gram *= scale
        gram *= scale[:, None]
        targets = labels.targets()
        weights, intercepts = np.zeros(targets.shape), np.full(targets.shape[1], -1.0)
        # Its solver draws nothing, but without a seed SVC takes one from the global state.
        svm = SVC(
            C=self.C,
            kernel="precomputed",
            cache_size=max(1.0, 4 * len(gram) ** 2 / 2**20),
            random_state=0,
        )
        for j, target in enumerate(targets.T):
            # A class without a labeled point stays at -1, below all others.
            if np.ptp(target):
                svm.fit(gram, target)
                weights[svm.support_, j] = svm.dual_coef_[0]
                intercepts[j] = svm.intercept_[0]
        return weights, intercepts

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores of new points, by the Nystrom extension of the cluster kernel."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=self._X.dtype, order="C")
        scores = np.empty((len(X), len(self._intercepts)))
        step = _rows_extended(len(self._X))
        for start in range(0, len(X), step):
            scores[start : start + step] = self._extend(X[start : start + step])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _extend(self, X: np.ndarray) -> np.ndarray:
        L = kernels.gaussian_kernel(X, self._X, self._width).astype(np.float64, copy=False)
        # The new point counts itself, as the points of `fit` do.
        degrees = 1 + L.sum(axis=1)
        L /= np.sqrt(degrees)[:, None]
        L /= np.sqrt(self._spectrum.degrees)
        values, diagonal = self._spectrum.extend(L, 1 / degrees)
        scale = np.maximum(diagonal, np.finfo(float).tiny) ** -0.5
        return values * scale[:, None] + self._intercepts

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each row."""
        return kernels.decide(self.decision_function(X), self.classes_)


def _rows_extended(n: int) -> int:
    """Rows predicted together: enough for a product, few beside the n x n matrix."""
    return max(64, n // 64)


def storage(shape: Shape, size: int, transfer: str = "regularized-laplacian") -> int:
    """Bytes held: the data, n^2 / 2 doubles packed (2 n^2 if eigenvectors are needed), the SVM.

    The SVM holds its Gram matrix over the labeled points and LIBSVM's cache of it.
    """
    n, labeled, d, i = shape.n, shape.n_labeled, shape.n_features, shape.itemsize
    svm = 12 * labeled**2 + 64 * labeled
    extending = 24 * n * _rows_extended(n)
    if transfer == "regularized-laplacian":
        tile = min(n, kernels.TILE)
        tiles = 3 * 8 * tile**2 + 3 * tile * d * i
        gram = max(8 * labeled**2 + kernels.stream_bytes(labeled, 5 * labeled), svm)
        matrix = kernels.packed_bytes(n) + kernels.blas_bytes(n) + max(gram, tiles + extending)
    else:
        square = 8 * n * n
        working = max(square + 600 * n, 8 * labeled * n + svm, extending)
        matrix = square + 2 * kernels.blas_bytes(n) + working
    points = 8 * n * (6 + 4 * max(1, shape.n_classes)) + shape.block_bytes
    return shape.data_bytes + points + max(kernels.width_bytes(n, d, i), matrix)


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
            space={"sigma": choice([0.25, 0.5, 1.0, 2.0]), "C": log_uniform(1e-2, 1e3)},
            reference="hou2017",
        )
    ]
