"""Nystrom cluster kernel (Hou, Zhang & Zhou 2017, algorithm 2), streamed.

A row of the virtual samples F is normalise(k(x, Z) M) with M of size s x k, so nothing of size
n x s or n x k is ever needed: the landmarks, three s x s matrices and a block of rows suffice.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, Shape, choice, hookimpl, kernels, log_uniform

# Where the eigenvalues of a Gram matrix that was summed up in float64 end and rounding begins.
_TOLERANCE = 1e-8


class NystromClusterKernelSVM(ClassifierMixin, BaseEstimator):
    """Linear SVM on the virtual samples of a Nystrom cluster kernel (NysCK).

    Parameters
    ----------
    n_landmarks : int, default 100
        s, the points sampled uniformly; all of them where there are fewer.
    rank : int, optional
        k, the eigenvectors kept. By default all that stand out from rounding; in the literal
        variant k log k <= s as in the paper, but below n_labeled + 9, where squares would begin.
    variant : {"one-shot", "literal"}, default "one-shot"
        "one-shot": the exact eigensystem of the Nystrom approximation of L = D^-1/2 K D^-1/2.
        "literal": the paper's equations 3-6 and 13, a cluster kernel of K, in which D cancels.
    transfer : str, optional
        As for ClusK. By default "regularized-laplacian", "poly-step" in the literal variant. The
        one-shot regularised Laplacian is without its multiple of the identity, 1 / (1 + eps):
        e / (1 + eps) / (1 + eps - e) of an eigenvalue e.
    degree : float, default 2.0
        Of the polynomial.
    degrees : {"nystrom", "exact"}, default "nystrom"
        D of the one-shot variant: of the Nystrom kernel, or of K at n^2 d operations.
    sigma : float, default 1.0
        Width of the kernel.
    sigma_unit : {"median", "absolute"}, default "median"
        What `sigma` counts: median distances between the points, or units of the features.
    C : float, default 10.0
        Penalty of the squared hinge loss. The regularised Laplacian gives most of a row's norm to
        the first eigenvector, which is nearly the same for all points; hence more than 1.
    n_classes : int, optional
        Found from y by default.
    random_state : int, RandomState instance or None, default None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    landmarks_ : ndarray of shape (s, d)
    projection_ : ndarray of shape (s, k)
        M.
    eigenvalues_ : ndarray of shape (k,)
        Of L (one-shot) or of K (literal), before the transfer function.
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "variant": [StrOptions({"one-shot", "literal"})],
        "transfer": [StrOptions(set(kernels.TRANSFERS)), None],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "degrees": [StrOptions({"nystrom", "exact"})],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sigma_unit": [StrOptions({"median", "absolute"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "n_classes": [Interval(Integral, 2, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_landmarks: int = 100,
        rank: int | None = None,
        variant: str = "one-shot",
        transfer: str | None = None,
        degree: float = 2.0,
        degrees: str = "nystrom",
        sigma: float = 1.0,
        sigma_unit: str = "median",
        C: float = 10.0,
        n_classes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.rank = rank
        self.variant = variant
        self.transfer = transfer
        self.degree = degree
        self.degrees = degrees
        self.sigma = sigma
        self.sigma_unit = sigma_unit
        self.C = C
        self.n_classes = n_classes
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn the kernel from all points and the SVM from those whose label is not -1."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        labels = kernels.read_labels(y, self.n_classes)
        self.classes_, self._present = labels.classes, labels.present
        rng = check_random_state(self.random_state)
        self._width = kernels.kernel_width(X, self.sigma, self.sigma_unit)
        sample = kernels.uniform_landmarks(X, min(self.n_landmarks, len(X)), rng)
        self.landmarks_ = X[sample]
        decompose = self._literal if self.variant == "literal" else self._one_shot
        decompose(X, len(labels.rows))
        F = np.empty((len(labels.rows), self.projection_.shape[1]))
        for block in self._blocks(len(F)):
            F[block] = self._virtual_samples(X[labels.rows[block]])
        svm = LinearSVC(C=self.C, dual=len(F) < F.shape[1], max_iter=10_000, random_state=rng)
        self._svm = svm.fit(F, labels.codes)
        return self

    def _one_shot(self, X: np.ndarray, n_labeled: int) -> None:
        nystrom = kernels.NystromFeatures(self.landmarks_, self._width, _TOLERANCE)
        P = nystrom.projection
        Z = self.landmarks_
        if self.degrees == "exact":
            D = kernels.exact_degrees(X, self._width)
        else:
            weights = kernels.landmark_degree_weights(X, Z, self._width, P)
            D = kernels.landmark_degrees(X, Z, self._width, weights)
        S = np.zeros((len(P), len(P)), order="F")
        for block in kernels.gram_blocks(len(X), len(P), X.shape[1]):
            C = nystrom.kernel(X[block])
            C /= np.sqrt(D[block])[:, None]
            kernels.add_gram(S, C)
            del C
        kernels.mirror(S)
        # G = P' S P has the nonzero eigenvalues of D^-1/2 C W^+ C' D^-1/2.
        for block in self._blocks(len(S)):
            S[block, : P.shape[1]] = S[block] @ P
        G = P.T @ S[:, : P.shape[1]]
        del S
        eigenvalues, V = kernels.eigensystem(G)
        del G
        kept = min(self.rank or len(eigenvalues), np.sum(eigenvalues > _TOLERANCE))
        self.eigenvalues_ = eigenvalues[:kept]
        V = V[:, :kept]
        phi = self._transferred("regularized-laplacian", n_labeled)
        if self.transfer in (None, "regularized-laplacian"):
            # phi(0) I is part of L~. As features it would give each of up to s directions that
            # are almost noise a weight of its own, and more of them the larger s is; as part of
            # the norm it would outweigh the rest. It tells no two points alike: leave it out.
            phi = phi - kernels.regularized_laplacian(np.zeros(1))
        V *= np.sqrt(np.maximum(phi, 0) / self.eigenvalues_)
        for block in self._blocks(len(P)):
            P[block, :kept] = P[block] @ V
        self.projection_ = P[:, :kept]

    def _literal(self, X: np.ndarray, n_labeled: int) -> None:
        eigenvalues, U = kernels.landmark_spectrum(self.landmarks_, self._width, _TOLERANCE)
        most = n_labeled + 8
        if self.rank is not None and self.rank > most:
            message = f"rank={self.rank}: poly-step squares all but the first {most} eigenvalues"
            warnings.warn(message + " of K, which are above 1", UserWarning, stacklevel=3)
        kept = min(self.rank or min(_paper_rank(len(U)), most), len(eigenvalues))
        self.eigenvalues_ = eigenvalues[:kept] * (len(X) / len(U))
        U = U[:, :kept]
        U *= np.sqrt(self._transferred("poly-step", n_labeled)) / eigenvalues[:kept]
        self.projection_ = U

    def _transferred(self, default: str, n_labeled: int) -> np.ndarray:
        transfer = self.transfer or default
        return kernels.transferred(self.eigenvalues_, transfer, n_labeled, self.degree)

    def _blocks(self, n: int) -> list[slice]:
        return list(kernels.row_blocks(n, _stream_width(*self.landmarks_.shape)))

    def _virtual_samples(self, X: np.ndarray) -> np.ndarray:
        F = kernels.gaussian_kernel(X, self.landmarks_, self._width) @ self.projection_
        # A point that no landmark sees has a row of zeros, and keeps it.
        F /= np.maximum(np.sqrt(kernels.squared_norms(F)), np.finfo(float).tiny)[:, None]
        return F

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores of shape (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        X = X.astype(self.landmarks_.dtype, copy=False)
        blocks = self._blocks(len(X))
        scores = [self._svm.decision_function(self._virtual_samples(X[block])) for block in blocks]
        return kernels.spread_scores(np.concatenate(scores), self._present, len(self.classes_))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each row."""
        return kernels.decide(self.decision_function(X), self.classes_)


def _paper_rank(n_landmarks: int) -> int:
    """Return the largest k with k log k <= s, at least 1."""
    k = np.arange(1, n_landmarks + 1)
    return int(np.searchsorted(k * np.log(k), n_landmarks, side="right")) or 1


def _stream_width(s: int, n_features: int) -> int:
    """Elements held for a row that is streamed: kernel row, virtual sample, scaled features."""
    return 2 * s + n_features


def storage(shape: Shape, size: int, variant: str = "one-shot", rank: int | None = None) -> int:
    """Bytes held: the data, s landmarks, and at the peak three s x s matrices or the SVM's rows.

    The SVM holds F of the labeled points (8 bytes an element) and LIBLINEAR's copy (16). The
    paper's formula is 8 n (d + s + 2 k) bytes, with n x s and n x k matrices held at once.
    """
    n, d, s = shape.n, shape.n_features, min(size, shape.n)
    square = 8 * s * s
    if variant == "literal":
        k, summing, matrices = rank or min(_paper_rank(s), shape.n_labeled + 8), 0, 2
    else:
        k, matrices = rank or s, 3
        summing = 2 * square + kernels.gram_block_bytes(n, s, d)
    decomposing = matrices * square + 600 * s
    blocks = kernels.stream_bytes(n, _stream_width(s, d))
    svm = square + 24 * shape.n_labeled * (min(k, s) + 2) + blocks
    loaded = shape.block_bytes if shape.n_test else 0
    predicting = square + loaded + blocks
    peak = max(kernels.width_bytes(n, d, shape.itemsize), summing, decomposing, svm, predicting)
    landmarks = s * d * shape.itemsize + 2 * kernels.blas_bytes(s)
    return shape.data_bytes + landmarks + 8 * 4 * n + peak


@hookimpl
def harness_methods() -> list[Method]:
    """Provide NysCK."""
    return [
        Method(
            "nysck",
            NystromClusterKernelSVM,
            storage,
            size="n_landmarks",
            tasks={"binary", "multiclass"},
            space={"sigma": choice([0.25, 0.5, 1.0, 2.0]), "C": log_uniform(1e-2, 1e3)},
            reference="hou2017",
        )
    ]
