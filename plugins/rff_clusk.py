"""Cluster kernel on random Fourier features: an eigensystem of their covariance, and a linear SVM.

One draw of features z stands for the kernel, so L = D^-1/2 K D^-1/2 is about A A', of rows
z / sqrt(D). The eigenvectors of A'A and a transfer function make the virtual samples of Chapelle,
Weston & Scholkopf (2002, section 4). Points are passed over twice: their sum gives the degrees,
then the covariance is summed up. SoCK draws features anew in each of its steps and holds a factor
of all points; here nothing grows with them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.utils import check_random_state

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels, log_uniform
from harness.estimator import PositiveInt, RandomState
from harness.layers import Layer, Linear, Normalize
from harness.semi_supervised import VirtualSampleSVM, svm_phases

# Where eigenvalues of L, of which the largest is 1, are dropped.
_TOLERANCE = 1e-6


class RandomFeatureClusterKernelSVM(kernels.GaussianWidth, VirtualSampleSVM):
    """Linear SVM on the virtual samples of a cluster kernel of random Fourier features.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Of the features' L, before the transfer function, descending. Random features can be a
        little apart from a kernel without negative values, so the first may be above 1.
    """

    n_components: PositiveInt = 100
    """D, random Fourier features: pairs of cosine and sine."""
    rank: PositiveInt | None = None
    """k, the eigenvectors kept; all that stand out from rounding by default."""
    transfer: kernels.Transfer = "regularized-laplacian"
    """What becomes of the eigenvalues, as for NysCK."""
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return True

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        rng, center = check_random_state(self.random_state), kernels.column_medians(X)
        self._fourier = kernels.RandomFourierFeatures(
            X.shape[1], self.n_components, self._width_on(X), rng, center=center
        )
        eigenvalues, V = kernels.eigensystem(self._covariance(X).T)
        kept = max(1, min(self.rank or len(V), int(np.sum(eigenvalues > _TOLERANCE))))
        V = V[:, :kept]
        V /= np.sqrt(eigenvalues[:kept])
        self._keep(X, labeled, eigenvalues[:kept], V.astype(np.float32, order="C"))

    def _covariance(self, X: np.ndarray) -> np.ndarray:
        """Return A'A, the sum of z z' / D over all points, float64 of shape (D, D)."""
        total = np.zeros(self._fourier.n_components)
        for block in self._blocks(len(X)):
            total += self._map(X[block]).sum(axis=0, dtype=np.float64)
        gram, total = kernels.GramSum(len(total)), total.astype(np.float32)
        for block in self._blocks(len(X)):
            Z = self._map(X[block])
            # of random features a degree can be below k(x, x), even negative
            Z /= np.sqrt(np.maximum(Z @ total, 1), dtype=np.float32)[:, None]
            gram.add(Z)
            # or it would stand beside the next one
            del Z
        return gram.total()

    def _map(self, X: np.ndarray) -> np.ndarray:
        return self._fourier.transform(X)

    def _weights_of(self, n_labels: int) -> np.ndarray:
        phi = self._transferred(self.eigenvalues_, self.transfer, n_labels)
        return np.sqrt(np.maximum(phi, 0)).astype(np.float32)

    def _blocks(self, n: int) -> Iterator[slice]:
        step = _block_rows(self._fourier.n_components, self._fourier.n_features)
        return (slice(start, min(start + step, n)) for start in range(0, n, step))

    def _layers(self) -> list[Layer]:
        return [*self._fourier.layers(), Linear(self.projection_), Normalize(), self._linear()]


def _row_width(m: int, d: int) -> int:
    """Numbers held for a row: features, virtual sample, and itself, picked and moved."""
    return 2 * m + 3 * d


def _block_rows(m: int, d: int) -> int:
    # a sum of products reads and writes all of a matrix, so blocks are not small beside it
    return max(kernels.block_rows(_row_width(m, d), 4), m // 4)


def storage(shape: Shape, size: int, rank: int | None = None, tuned: bool = False) -> Storage:
    """Count frequencies, 2 d D bytes, with a D x D eigensystem, 16 D^2, then virtual samples."""
    n, d, i, m = shape.n, shape.n_features, shape.itemsize, 2 * max(1, size // 2)
    k, rows = min(m, rank or m), _block_rows(m, d)
    row = 8 * m + (4 + i) * d
    products = max(kernels.blas_bytes(m, 4), kernels.blas_bytes(m // 2, 4, d))
    frequencies = Arrays(frequencies=2 * d * m, center=8 * d, blas=products)
    learning = {
        "sums": Arrays(
            gram=kernels.GramSum.bytes(m),
            panel=kernels.GramSum.panel_bytes(m),
            features=min(n, rows) * 4 * (m + d),
        ),
        "eigensystem": Arrays(**kernels.eigen_arrays(m), lapack=kernels.blas_bytes(m)),
    }
    basis = frequencies + Arrays(projection=4 * m * k, lapack=kernels.blas_bytes(m))
    fit = {
        "width": Arrays(sample=kernels.width_bytes(n, d, i)),
        **beside(frequencies, learning),
        **beside(basis, svm_phases(shape, k, row, rows, tuned)),
    }
    new = basis + Arrays(
        block=shape.new_block_bytes, rows=min(shape.block_rows, rows) * (row - i * d)
    )
    # y, in the copies that checking it makes
    return Storage(fit, {"a block": new}, Arrays(X=shape.data_bytes, labels=2 * n))


def _sizes(shape: Shape) -> tuple[int, int]:
    return 2, max(2, min(shape.n, 10_000))


@hookimpl
def harness_methods() -> list[Method]:
    """Provide the cluster kernel on random Fourier features."""
    return [
        Method(
            "rff-clusk",
            RandomFeatureClusterKernelSVM,
            storage,
            size="n_components",
            sizes=_sizes,
            tasks={"binary", "multiclass"},
            params={"decision_threshold": "share"},
            space={"sigma": choice([0.25, 0.5, 1.0, 2.0]), "C": log_uniform(1e-3, 1e4)},
            head_params={"C", "transfer", "epsilon", "degree"},
            reference="chapelle2002",
        )
    ]
