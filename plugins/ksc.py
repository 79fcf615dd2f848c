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

from harness import Arrays, Method, Shape, Storage, hookimpl, kernels
from harness.estimator import Estimator, Fraction, PositiveFloat, PositiveInt, RandomState

SELECTION_SAMPLE = 4096
"""Points on which widths and numbers of clusters are compared."""

# Components of less variance than this are rounding, and their signs are noise.
_TOLERANCE = 1e-10


class KernelComponents:
    """The first weighted kernel principal components, on features of prototypes.

    The eigenvalues are those of V P_v Omega, equation 2, for the Nystrom kernel. Two passes over
    X; holds 16 s^2 bytes and a block of rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    prototypes : ndarray of shape (s, d)
    width : float
        Of the Gaussian kernel, in the units of X.
    n_components : int
        At most s are found.
    center : ndarray of shape (d,)
        What was subtracted from the prototypes, and is to be from X.
    """

    def __init__(
        self,
        X: np.ndarray,
        prototypes: np.ndarray,
        width: float,
        n_components: int,
        center: np.ndarray,
    ) -> None:
        self._nystrom = nystrom = kernels.NystromFeatures(prototypes, width, center=center)
        P, s = nystrom.projection, len(prototypes)
        weights = kernels.landmark_degree_weights(X, prototypes, width, P, center)
        # Moments of k(x, Z), which are projected once at the end instead of row by row.
        G, mean, mass = np.zeros((s, s), order="F"), np.zeros(s), 0.0
        step = max(kernels.block_rows(_row_bytes(s, X.shape[1], X.itemsize), 1), s // 4)
        for start in range(0, len(X), step):
            block = slice(start, start + step)
            K = nystrom.kernel(X[block])
            V = 1 / np.maximum(K @ weights, 1)
            mean += V @ K
            mass += V.sum()
            K *= np.sqrt(V)[:, None]
            kernels.add_gram(G, K)
            del K
        mean /= mass
        for j in range(s):
            G[j:, j] -= mass * mean[j] * mean[j:]
        kernels.mirror(G)
        m = min(n_components, s)
        self.eigenvalues, W = kernels.largest_eigenpairs(kernels.project_gram(G, P), m)
        self.eigenvalues = self.eigenvalues[::-1].copy()
        coef = P @ W[: P.shape[1], ::-1]
        coef[:, self.eigenvalues < _TOLERANCE] = 0
        # The last column gives degrees, which the line fit of two clusters asks for.
        self._coef = np.column_stack([coef, weights])
        self._bias = np.append(-mean @ coef, 0)
        # Only what prediction needs stays.
        del nystrom.projection

    def transform(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return score variables (n, n_components), float32, and degrees (n,), at least 1."""
        found = np.empty((len(X), len(self._bias)), np.float32)
        for block in kernels.row_blocks(
            len(X), _row_bytes(len(self._coef), X.shape[1], X.itemsize), 1
        ):
            found[block] = self._nystrom.kernel(X[block]) @ self._coef + self._bias
        return found[:, :-1], np.maximum(found[:, -1], 1)


class Codebook:
    """The commonest sign patterns of score variables, each with its mean direction.

    Parameters
    ----------
    scores : ndarray of shape (n, m)
    n_clusters : int
        Words; fewer where there are not so many patterns.

    Attributes
    ----------
    words : ndarray of shape (k, m), bool
        Commonest first.
    directions : ndarray of shape (k, m)
        Mean of the unit vectors of the points with that pattern.
    """

    def __init__(self, scores: np.ndarray, n_clusters: int) -> None:
        packed, codes, counts = np.unique(
            np.packbits(scores > 0, axis=1), axis=0, return_inverse=True, return_counts=True
        )
        chosen = np.argsort(-counts, kind="stable")[:n_clusters]
        self.words = np.unpackbits(packed[chosen], axis=1, count=scores.shape[1]).astype(bool)
        sums = [_sum_of_units(scores, np.flatnonzero(codes.ravel() == word)) for word in chosen]
        self.directions = _unit(np.array(sums))

    def decode(self, scores: np.ndarray, decoding: str) -> np.ndarray:
        """Return the nearest word of each row: in Hamming distance, then in angle, or in angle."""
        cosines = _unit(scores) @ self.directions.T
        if decoding == "cosine":
            return cosines.argmax(axis=1)
        # Signs that agree less those that differ: 2 more for each step of Hamming distance, while
        # two cosines differ by 2 at most.
        signs = np.where(scores > 0, np.float32(1), np.float32(-1))
        cosines *= 0.999
        cosines += signs @ np.where(self.words, np.float32(1), np.float32(-1)).T
        return cosines.argmax(axis=1)


def _sum_of_units(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the sum of some rows, each of length one, added one after another.

    A block at a time: where a kernel is narrow, one pattern has all points.
    """
    total = np.zeros(vectors.shape[1], vectors.dtype)
    for block in kernels.row_blocks(len(rows), 3 * vectors.shape[1], vectors.itemsize):
        units = _unit(vectors[rows[block]])
        units[0] += total
        total = units.sum(axis=0)
    return total


def _unit(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms > 0, norms, 1)


def balanced_line_fit(
    scores: np.ndarray,
    degrees: np.ndarray,
    labels: np.ndarray,
    n_clusters: int,
    balance_weight: float = 0.3,
) -> float:
    """Return how nearly each cluster is a line through the origin, and how equal clusters are.

    Of well separated clusters the score variables are multiples of the degree, so that a cluster's
    share of variance along its first direction is 1. It is mapped from [1 / m, 1] to [0, 1] and
    averaged over the clusters. Moments are about the origin, where the lines meet: about its own
    mean, a cluster of a few outliers is as good a line.

    Parameters
    ----------
    scores : ndarray of shape (n, m)
        m = n_clusters - 1, or fewer where there are not so many prototypes.
    degrees : ndarray of shape (n,)
        The second of m = 2 variables where there are two clusters.
    labels : ndarray of shape (n,)
    n_clusters : int
    balance_weight : float, default 0.3
        Share of the balance, the smallest cluster's size over the largest's; 1 - eta of Alzate &
        Suykens 2010, section 6.

    Returns
    -------
    float
        Between 0 and 1. An empty cluster is no line.
    """
    if n_clusters == 2:
        scores = np.column_stack([scores, degrees])
        scores /= np.sqrt(np.mean(scores**2, axis=0)) + np.finfo(np.float32).tiny
    m, fits = scores.shape[1], np.zeros(n_clusters)
    for j in range(n_clusters):
        members = scores[labels == j].astype(np.float64)
        spread = np.linalg.eigvalsh(members.T @ members)
        if spread[-1] > 0:
            # Of one variable everything is a line.
            fits[j] = (m * spread[-1] / spread.sum() - 1) / (m - 1) if m > 1 else 1
    counts = np.bincount(labels, minlength=n_clusters)
    balance = counts.min() / counts.max()
    return float((1 - balance_weight) * fits.mean() + balance_weight * balance)


class KernelSpectralClustering(ClusterMixin, Estimator):
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
    selector: str | kernels.Selector = "uniform"
    """How prototypes are chosen; where it asks for a kernel, at a width of one median distance."""
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
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

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
        s = min(self.n_prototypes, len(X))
        assert kernel.center is not None, "the Gaussian kernel is one of differences"
        self._center = kernel.center
        prototypes = X[kernels.select_landmarks(self.selector, X, s, rng, kernel)]
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

    def balanced_line_fit(self, X: np.ndarray) -> float:
        """Return the balanced line fit of the clusters on some points; see `line_fits_`."""
        scores, degrees = self._project(X)
        labels = self._decode(scores)
        return balanced_line_fit(scores, degrees, labels, self.n_clusters_, self.balance_weight)

    def _project(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        return self._components.transform(X)


def _row_bytes(s: int, d: int, itemsize: int) -> int:
    """Bytes held for a row: its kernel values in both precisions, itself as moved and scaled."""
    return (8 if itemsize == 8 else 12) * s + 2 * itemsize * d


def storage(shape: Shape, size: int, selector: str = "uniform") -> Storage:
    """Count prototypes, 16 s^2 of matrices and a block, scores and codes.

    Scores take four bytes for each point and cluster, counting their patterns 60 for each point.
    """
    n, d, i, Q = shape.n, shape.n_features, shape.itemsize, max(2, shape.n_classes)
    s, compared = min(size, n), min(n, SELECTION_SAMPLE)
    row = _row_bytes(s, d, i)
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
        **{name: sample + arrays for name, arrays in components.items()},
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
        block=shape.block_bytes if shape.n_test else 0,
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
