"""Nystrom cluster kernel (Hou, Zhang & Zhou 2017, algorithm 2), streamed.

A row of the virtual samples F is normalise(k(x, Z) M) with M of size s x k, so nothing of size
n x s or n x k is ever needed: the landmarks, three s x s matrices and a block of rows suffice.
Kernel rows, features and M are float32, of points near the origin; eigensystems are float64, and
so are sums over points but for those of the few thousand rows that one product takes.
"""

from __future__ import annotations

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
from harness.kernels.transfer_functions import default_cut
from harness.layers import Center, KernelValues, Layer, Linear, Normalize
from harness.semi_supervised import VirtualSampleSVM, svm_phases

from .literal import literal_eigensystem, literal_phases, paper_rank
from .one_shot import LEAST_PIVOT, one_shot_eigensystem, one_shot_phases


class NystromClusterKernelSVM(kernels.Landmarks, kernels.GaussianWidth, VirtualSampleSVM):
    """Linear SVM on the virtual samples of a Nystrom cluster kernel (NysCK).

    Attributes
    ----------
    center_ : ndarray of shape (d,), float64
        What is subtracted from points, `harness.kernels.column_medians` of those of `fit`.
    landmarks_ : ndarray of shape (s, d), float32
        Less `center_`.
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

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel("rbf", X, self.sigma, self.sigma_unit)
        self._width, self.center_ = kernel.width, kernel.center
        sample = self._select(X, self.n_landmarks, rng, kernel)
        if self.variant == "literal":
            self.landmarks_ = kernels.centered_rows(X, sample, kernel.center)
            cut, squares = self.cut or default_cut(len(labeled)), self._transfer == "poly-step"
            found = literal_eigensystem(
                self.landmarks_, self._width, len(X), self.rank, cut, squares
            )
        else:
            features = kernels.LandmarkFeatures(X, kernel, sample, LEAST_PIVOT)
            self.landmarks_ = features.landmarks
            most = self.rank or (paper_rank(len(sample)) if self.storage == "paper" else None)
            degrees = self._degrees(X, features.n_components, rng)
            found = one_shot_eigensystem(X, features, degrees, most)
        self._keep(X, labeled, *found)

    def _degrees(self, X: np.ndarray, s: int, rng: np.random.RandomState) -> np.ndarray | None:
        """Return D, None for that of the Nystrom kernel."""
        if self.degrees == "exact":
            return kernels.exact_degrees(X, self._width)
        if self.degrees == "features":
            fourier = kernels.RandomFourierFeatures(X.shape[1], s, self._width, rng)
            return kernels.feature_degrees(fourier, X)
        return None

    def _weights_of(self, n_labels: int) -> np.ndarray:
        phi = self._transferred(self.eigenvalues_, self._transfer, n_labels)
        if self.variant == "literal" and self.rank is None:
            phi[self.cut or default_cut(n_labels) :] = 0
        return np.sqrt(np.maximum(phi, 0)).astype(np.float32)

    @property
    def _transfer(self) -> str:
        usual = "poly-step" if self.variant == "literal" else "regularized-laplacian"
        return self.transfer or usual

    def _layers(self) -> list[Layer]:
        kernel = KernelValues(self.landmarks_, self._width)
        near = Center(self.center_, np.float32)
        return [near, kernel, Linear(self.projection_), Normalize(), self._linear()]

    def _map(self, X: np.ndarray) -> np.ndarray:
        rows = kernels.centered(X, self.center_)
        return kernels.gaussian_kernel(rows, self.landmarks_, self._width)

    def _blocks(self, n: int) -> Iterator[slice]:
        s, d = self.landmarks_.shape
        step = max(kernels.block_rows(2 * _row_width(s, d), 4), s // 4)
        return (slice(start, min(start + step, n)) for start in range(0, n, step))


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
    k = min(s, rank or (paper_rank(s) if paper or literal else s))
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
    learning = literal_phases(s, d) if literal else one_shot_phases(n, s, d, i, degrees)
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
