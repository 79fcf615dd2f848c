"""Nystrom cluster kernel (Hou, Zhang & Zhou 2017, algorithm 2), streamed.

A row of the virtual samples F is normalise(k(x, Z) M) with M of size s x k, so nothing of size
n x s or n x k is ever needed: the landmarks, three s x s matrices and a block of rows suffice.
Kernel rows, features and M are float32, of points near the origin; eigensystems are float64, and
so are sums over points but for those of the few thousand rows that one product takes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from harness import (
    Arrays,
    Method,
    Shape,
    Storage,
    beside,
    choice,
    hookimpl,
    kernels,
    log_uniform,
    overhead_bytes,
)
from harness.estimator import PositiveInt
from harness.kernels.features import landmark_spectrum
from harness.kernels.transfer_functions import default_cut
from harness.semi_supervised import Labels, SVMOnFeatures, svm_phases

# Where eigenvalues of L, of which the largest is 1, are dropped.
_TOLERANCE = 1e-6
# Landmarks of which the others leave less than this part are dropped: their features would be
# rounding, as large as the root of this at the most.
_LEAST_PIVOT = 1e-6


class NystromClusterKernelSVM(
    kernels.Landmarks, kernels.GaussianWidth, kernels.TransferSettings, SVMOnFeatures
):
    """Linear SVM on the virtual samples of a Nystrom cluster kernel (NysCK).

    Attributes
    ----------
    center_ : ndarray of shape (d,), float64
        What is subtracted from points, `harness.kernels.column_medians` of those of `fit`.
    landmarks_ : ndarray of shape (s, d), float32
        Less `center_`.
    projection_ : ndarray of shape (s, k), float32
        M.
    eigenvalues_ : ndarray of shape (k,)
        Of L (one-shot) or of K (literal), before the transfer function.
    """

    rank: PositiveInt | None = None
    """k, the eigenvectors kept. By default all that stand out from rounding; with
    `storage="paper"` and in the literal variant k log k <= s as in the paper, in the latter at
    most `cut`, after which squares would begin.
    """
    variant: Literal["one-shot", "literal"] = "one-shot"
    """Which eigensystem. "one-shot": the exact one of the Nystrom approximation of
    L = D^-1/2 K D^-1/2. "literal": the paper's equations 3-6 and 13, a cluster kernel of K, in
    which D cancels.
    """
    transfer: kernels.Transfer | None = None
    """As for ClusK. By default "regularized-laplacian", "poly-step" in the literal variant."""
    degrees: Literal["nystrom", "features", "exact"] = "nystrom"
    """D of the one-shot variant: of the Nystrom kernel, of as many random Fourier features, or of
    K at n^2 d operations.
    """
    storage: Literal["held", "paper"] = "held"
    """What the plan counts: the bytes that are held, or the paper's 8 n (d + s + 2 k), which gives
    the paper's s for a budget and sets its k.
    """

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        rng = check_random_state(self.random_state)
        kernel = self._gaussian_on(X)
        self._width, self.center_ = kernel.width, kernel.center
        sample = self._select(X, self.n_landmarks, rng, kernel)
        if self.variant == "literal":
            self.landmarks_ = kernels.centered_rows(X, sample, kernel.center)
            self._basis = self._literal(len(X), len(labeled))
        else:
            self._basis = self._one_shot(X, kernel, sample, rng)
        self._X, self._labeled = X, labeled
        self._samples: np.ndarray | None = None
        self._weights = np.zeros(0, np.float32)

    def _one_shot(
        self,
        X: np.ndarray,
        kernel: kernels.BoundKernel,
        sample: np.ndarray,
        rng: np.random.RandomState,
    ) -> np.ndarray:
        """Return M without the transfer function: k(x, Z) M is a row of D^1/2 U.

        With features z of the landmarks the Nystrom approximation of L is A A', of rows
        z / sqrt(D), and A'A has its nonzero eigenvalues. No sum is divided by an eigenvalue of W:
        what float32 loses of a sum would be an eigenvalue of L then.
        """
        features = kernels.LandmarkFeatures(X, kernel, sample, _LEAST_PIVOT)
        self.landmarks_ = features.landmarks
        gram = self._degree_normalised_gram(X, features, rng)
        # symmetric: transposed it is in C order, and not copied
        eigenvalues, V = kernels.eigensystem(gram.T)
        del gram
        s = len(sample)
        most = self.rank or (_paper_rank(s) if self.storage == "paper" else len(eigenvalues))
        kept = min(most, int(np.sum(eigenvalues > _TOLERANCE)))
        self.eigenvalues_ = eigenvalues[:kept]
        V = V[:, :kept]
        V /= np.sqrt(self.eigenvalues_)
        return features.expansion(V)

    def _degree_normalised_gram(
        self, X: np.ndarray, features: kernels.LandmarkFeatures, rng: np.random.RandomState
    ) -> np.ndarray:
        """Return the sum of z z' / D."""
        degrees, total = None, None
        if self.degrees == "exact":
            degrees = kernels.exact_degrees(X, self._width)
        elif self.degrees == "features":
            d, s = X.shape[1], features.n_components
            fourier = kernels.RandomFourierFeatures(d, s, self._width, rng)
            degrees = kernels.feature_degrees(fourier, X)
        else:
            total = features.total(X)
        gram = kernels.GramSum(features.n_components)
        buffer = features.block_buffer(len(X))
        for block in features.blocks(len(X)):
            Z = features.transform(X[block], buffer[: block.stop - block.start])
            D = np.maximum(Z @ total, 1) if degrees is None else degrees[block]
            Z /= np.sqrt(D, dtype=np.float32)[:, None]
            gram.add(Z)
        del buffer, Z  # the total is twice as many pages
        return gram.total()

    def _literal(self, n: int, n_labeled: int) -> np.ndarray:
        eigenvalues, U = landmark_spectrum(self.landmarks_, self._width, _TOLERANCE)
        most = self.cut or default_cut(n_labeled)
        if self.rank is not None and self.rank > most and self._transfer == "poly-step":
            message = f"rank={self.rank}: poly-step squares all but the first {most} eigenvalues"
            warnings.warn(message + " of K, which are above 1", UserWarning, stacklevel=3)
        kept = min(self.rank or min(_paper_rank(len(U)), most), len(eigenvalues))
        self.eigenvalues_ = eigenvalues[:kept] * (n / len(U))
        return (U[:, :kept] / eigenvalues[:kept]).astype(np.float32)

    def _transfer_weights(self, n_labels: int) -> np.ndarray:
        """Return sqrt(phi(e)) of every eigenvalue that is kept."""
        phi = self._transferred(self.eigenvalues_, self._transfer, n_labels)
        if self.variant == "literal" and self.rank is None:
            phi[self.cut or default_cut(n_labels) :] = 0
        return np.sqrt(np.maximum(phi, 0)).astype(np.float32)

    @property
    def _transfer(self) -> str:
        usual = "poly-step" if self.variant == "literal" else "regularized-laplacian"
        return self.transfer or usual

    def _labeled_features(self, n_labels: int) -> np.ndarray:
        weights = self._transfer_weights(n_labels)
        if self._samples is None or not np.array_equal(weights, self._weights):
            self._weights = weights
            self._samples = np.empty((len(self._labeled), len(weights)), np.float32)
            for block in self._blocks(len(self._labeled)):
                F = self._samples[block]
                np.matmul(self._kernel(self._X[self._labeled[block]]), self._basis, out=F)
                F *= weights
                kernels.normalize_rows(F)
        return self._samples

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        self.projection_ = self._basis
        self.projection_ *= self._weights
        del self._basis, self._samples, self._X
        self._place_threshold_by(X, labels, self._scores)

    def _features(self, X: np.ndarray) -> np.ndarray:
        return kernels.normalize_rows(self._kernel(X) @ self.projection_)

    def _kernel(self, X: np.ndarray) -> np.ndarray:
        rows = kernels.centered(X, self.center_)
        return kernels.gaussian_kernel(rows, self.landmarks_, self._width)

    def _blocks(self, n: int) -> Iterator[slice]:
        s, d = self.landmarks_.shape
        step = max(kernels.block_rows(2 * _row_width(s, d), 4), s // 4)
        return (slice(start, min(start + step, n)) for start in range(0, n, step))


def _paper_rank(n_landmarks: int) -> int:
    """Return the largest k with k log k <= s, at least 1."""
    k = np.arange(1, n_landmarks + 1)
    return int(np.searchsorted(k * np.log(k), n_landmarks, side="right")) or 1


def _row_width(s: int, d: int) -> int:
    """Numbers held for a row: kernel values, virtual sample, itself in doubles, moved, scaled."""
    return 2 * s + 4 * d


def storage_model(
    shape: Shape,
    size: int,
    variant: str = "one-shot",
    rank: int | None = None,
    degrees: str = "nystrom",
    storage: str = "held",
    selector: str | kernels.Selector = "uniform",
    cut: int | None = None,
    tuned: bool = False,
) -> Storage:
    """Count landmarks with s x s matrices of their features, then the labeled virtual samples."""
    n, d, i, s = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    paper, literal = storage == "paper", variant == "literal"
    k = min(s, rank or (_paper_rank(s) if paper or literal else s))
    if paper:
        # section 3.2, which counts everything
        counted = 8 * n * (d + s + 2 * k) - overhead_bytes(shape, tuned)
        return Storage({"section 3.2": Arrays(counted=counted)})
    if literal and not rank:
        k = min(k, cut or default_cut(shape.n_labeled))
    row = 4 * _row_width(s, d) - (8 - i) * d
    rows = max(kernels.BLOCK_BYTES / (8 * _row_width(s, d)), 16, s // 4)
    # of LAPACK, and of products with blocks of rows
    panels = Arrays(blas=kernels.blas_bytes(s) + kernels.blas_bytes(min(s, int(rows)), 4))
    basis = panels + Arrays(landmarks=4 * s * d, projection=4 * s * k)
    learning = _literal_phases(s, d) if literal else _one_shot_phases(n, s, d, i, degrees)
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        "selection": Arrays(selection=kernels.selection_bytes(selector, n, d, s, i)),
        **beside(panels, learning),
        **beside(basis, svm_phases(shape, k, row, rows, tuned)),
    }
    rows_of_new = int(min(shape.block_rows, rows) * (row - i * d))
    new = basis + Arrays(block=shape.new_block_bytes, kernel_rows=rows_of_new)
    # y, in the copies that checking it makes
    return Storage(fit, {"a block": new}, Arrays(X=shape.data_bytes, labels=2 * n))


def _one_shot_phases(n: int, s: int, d: int, itemsize: int, degrees: str) -> dict[str, Arrays]:
    of_degrees = {
        "nystrom": {},
        "exact": {"degrees": 8 * n, "tile": kernels.tile_bytes(n, d)},
        "features": {"degrees": 8 * n, "fourier": 2 * s * d},
    }
    features = Arrays(landmark_features=kernels.LandmarkFeatures.bytes(s, d))
    block = kernels.LandmarkFeatures.block_bytes(n, s, d, itemsize, picked=False)
    phases = {
        "landmark features": Arrays(
            building=kernels.LandmarkFeatures.building_bytes(s, d, itemsize)
        ),
        "Gram matrix": features
        + Arrays(
            gram=kernels.GramSum.bytes(s), features=block, panel=kernels.GramSum.panel_bytes(s)
        ),
        "eigensystem": features + kernels.eigen_arrays(s),
    }
    return beside(of_degrees[degrees], phases)


def _literal_phases(s: int, d: int) -> dict[str, Arrays]:
    phases = {
        "landmarks": Arrays(picked=kernels.stream_bytes(s, 2 * d)),
        "kernel matrix": Arrays(matrix=8 * s * s, rows=kernels.stream_bytes(s, 2 * s + d)),
        "eigensystem": Arrays(kernels.eigen_arrays(s)),
    }
    return beside({"landmarks": 4 * s * d}, phases)


@hookimpl
def harness_methods() -> Iterator[Method]:
    """Provide NysCK."""
    yield Method(
        "nysck",
        NystromClusterKernelSVM,
        storage_model,
        size="n_landmarks",
        tasks={"binary", "multiclass"},
        params={"decision_threshold": "share"},
        space={"sigma": choice([0.25, 0.5, 1.0, 2.0]), "C": log_uniform(1e-3, 1e4)},
        head_params={"C", "transfer", "epsilon", "degree"},
        reference="hou2017",
    )
