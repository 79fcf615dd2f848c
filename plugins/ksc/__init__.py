"""Kernel spectral clustering: weighted kernel principal components, decoded by their signs.

Equation 1 of Mehrkanoon & Suykens 2016 with V = D^-1 (Alzate & Suykens 2010), solved in the primal
on a Nystrom map (fixed size): all points count, none but the prototypes are held beside X.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Arrays, Method, Shape, Storage, beside, hookimpl, kernels
from harness.estimator import Fraction, PositiveFloat, PositiveInt
from harness.layers import Layer

from .codebook import Codebook, balanced_line_fit
from .components import KernelComponents, row_bytes

SELECTION_SAMPLE = 4096
"""Points on which widths and numbers of clusters are compared."""


class KernelSpectralClustering(ClusterMixin, kernels.LandmarkSelection):
    """Kernel spectral clustering with out-of-sample extension, fixed size.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each point of `fit`, the commonest code word first.
    n_clusters_ : int
    sigma_ : float
        The width chosen, in units of `sigma_unit`.
    eigenvalues_ : ndarray of shape (n_clusters - 1,)
        Near 1 for well separated clusters.
    codebook_ : ndarray of shape (n_words, n_clusters - 1), bool
    line_fits_ : dict of (float, int) to float
        Balanced line fit of each width and number of clusters that was compared.
    """

    n_clusters: PositiveInt | Sequence[int] = 8
    """Of several numbers, the one whose balanced line fit is best."""
    n_prototypes: PositiveInt = 100
    """Points of the Nystrom map; all of them where there are fewer."""
    sigma: PositiveFloat | Sequence[float] = (0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5)
    """Width of the kernel. Of several, the one whose balanced line fit is best on a sample of
    4,096 points.
    """
    sigma_unit: Literal["median", "absolute"] = "median"
    """What `sigma` counts: median distances between the points, or units of the features."""
    decoding: Literal["hamming", "cosine"] = "hamming"
    """How clusters are read from scores. "hamming": the nearest code word, ties broken by the
    angle to its points' mean direction. "cosine": the nearest direction (soft KSC: Langone, Mall &
    Suykens 2013).
    """
    balance_weight: Fraction = 0.3
    """Share of the balance in the balanced line fit, 0 to 1."""

    def fit(self, X: np.ndarray, y: np.ndarray | None = None) -> Self:
        """Find the clusters; y is ignored."""
        self._validate_params()
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        widths, numbers = np.atleast_1d(self.sigma), np.atleast_1d(self.n_clusters)
        if not widths.size or not (widths > 0).all():
            raise ValueError(f"sigma={self.sigma!r} must hold widths above 0")
        least = 1 if numbers.size == 1 else 2
        if not numbers.size or numbers.dtype.kind not in "iu" or numbers.min() < least:
            message = f"n_clusters={self.n_clusters!r}: of several numbers all must be 2 or more"
            raise ValueError(message)
        if numbers.max() > len(X):
            raise ValueError(f"n_clusters={numbers.max()} is more than the {len(X)} points")
        rng = check_random_state(self.random_state)
        kernel = kernels.bind_kernel("rbf", X)
        assert kernel.center is not None, "the Gaussian kernel is one of differences"
        self._center = kernel.center
        prototypes = X[self._select(X, self.n_prototypes, rng, kernel)]
        prototypes -= self._center.astype(X.dtype)
        units = {float(w): kernels.kernel_width(X, w, self.sigma_unit) for w in widths}
        self.line_fits_: dict[tuple[float, int], float] = {}
        self.sigma_, self.n_clusters_ = float(widths[0]), int(numbers[0])
        if len(widths) * len(numbers) > 1 and numbers.max() > 1:
            sample = X
            if len(X) > SELECTION_SAMPLE:
                sample = X[np.sort(rng.choice(len(X), SELECTION_SAMPLE, replace=False))]
            for sigma, width in units.items():
                self._compare(sample, prototypes, sigma, width, numbers)
            del sample
            self.sigma_, self.n_clusters_ = max(self.line_fits_, key=self.line_fits_.__getitem__)
        m = max(1, self.n_clusters_ - 1)
        self._components = KernelComponents(X, prototypes, units[self.sigma_], m, self._center)
        self.eigenvalues_ = self._components.eigenvalues
        scores, _ = self._components.transform(X)
        self._codebook = Codebook(scores, self.n_clusters_)
        self.codebook_ = self._codebook.words
        self.labels_ = self._decode(scores)
        return self

    def _compare(
        self,
        X: np.ndarray,
        prototypes: np.ndarray,
        sigma: float,
        width: float,
        numbers: np.ndarray,
    ) -> None:
        """Note the balanced line fit of a width with each number of clusters."""
        most = int(numbers.max()) - 1
        components = KernelComponents(X, prototypes, width, most, self._center)
        scores, degrees = components.transform(X)
        for k in map(int, numbers):
            found = scores[:, : k - 1]
            labels = Codebook(found, k).decode(found, self.decoding)
            self.line_fits_[sigma, k] = balanced_line_fit(
                found, degrees, labels, k, self.balance_weight
            )

    def _decode(self, scores: np.ndarray) -> np.ndarray:
        labels = np.empty(len(scores), dtype=np.intp)
        for block in kernels.row_blocks(len(scores), 4 * self.n_clusters_, 4):
            labels[block] = self._codebook.decode(scores[block], self.decoding)
        return labels

    def score_variables(self, X: np.ndarray) -> np.ndarray:
        """Return e = Phi w + b, shape (n, n_clusters - 1)."""
        return self._project(X)[0]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the cluster of each row."""
        return self._decode(self._project(X)[0])

    def layers(self) -> list[Layer]:
        """Return what is largest for the cluster of a row."""
        return [*self._components.layers(), *self._codebook.layers(self.decoding)]

    def balanced_line_fit(self, X: np.ndarray) -> float:
        """Return the balanced line fit of the clusters on some points; see `line_fits_`."""
        scores, degrees = self._project(X)
        labels = self._decode(scores)
        return balanced_line_fit(scores, degrees, labels, self.n_clusters_, self.balance_weight)

    def _project(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return self._components.transform(X)


def storage(shape: Shape, size: int, selector: str = "uniform") -> Storage:
    """Count prototypes, 16 s^2 of matrices and a block, scores and codes.

    Scores take four bytes for each point and cluster, counting their patterns 60 for each point.
    """
    n, d, i, Q = shape.n, shape.n_features, shape.itemsize, max(2, shape.n_classes)
    s, compared = min(size, n), min(n, SELECTION_SAMPLE)
    row = row_bytes(s, d, i)
    # of eigenvectors, or of a block that is summed up
    summed = max(kernels.blas_bytes(s), kernels.blas_bytes(s, terms=s // 4))
    held = Arrays(
        X=shape.data_bytes,
        labels=8 * n,
        prototypes=s * d * i,
        blas=summed + kernels.blas_bytes(min(s, kernels.block_rows(row, 1))),
        # blocks below 64 KiB, that malloc does not map: what counting left of those
        left_in_the_heap=min(60 * compared, 1 << 19),
    )
    sample = Arrays(sample=compared * d * i if n > compared else 0)
    matrices = Arrays(kernel_matrix=8 * s * s, projection=8 * s * s, components=8 * s * Q)
    whitening = kernels.eigen_workspace(s) + kernels.stream_bytes(s, 2 * s + d) // 2
    block = min(n * row, max(kernels.stream_bytes(n, row, 1), s // 4 * row))
    components = {
        "whitening": matrices + Arrays(workspace=whitening),
        "scatter matrix": matrices + Arrays(kernel_rows=block),
        "components": matrices + Arrays(rows=kernels.stream_bytes(s, 2 * s)),
    }
    scoring = Arrays(kernel_rows=kernels.stream_bytes(n, row, 1), components=8 * s * (2 * Q + 2))
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        "prototypes": Arrays(selection=kernels.selection_bytes(selector, n, d, s, i)),
        **beside(sample, components),
        # scores of one cluster, or of each: directions, signs, and one number for each word
        "comparison": sample
        + scoring
        + _score_arrays(compared, Q)
        + Arrays(decoded=12 * compared * Q),
        "scores": scoring + _score_arrays(n, Q),
    }
    new = Arrays(
        kernel_rows=kernels.stream_bytes(shape.block_rows, row, 1),
        components=8 * s * (Q + 1),
        block=shape.new_block_bytes,
    )
    return Storage(fit, {"a block": new + _score_arrays(shape.block_rows, Q)}, held)


def _score_arrays(n: int, n_clusters: int) -> Arrays:
    return Arrays(scores=4 * n * n_clusters, patterns=60 * n)


@hookimpl
def harness_methods() -> list[Method]:
    """Provide kernel spectral clustering."""
    return [
        Method(
            "ksc",
            KernelSpectralClustering,
            storage,
            size="n_prototypes",
            tasks={"clustering"},
            reference="alzate2010",
        )
    ]
