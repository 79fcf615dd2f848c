"""Linear machines on the virtual samples of a cluster kernel, made of eigenvectors in a map.

A map z approximates L = D^-1/2 K D^-1/2 by A A', of rows z / sqrt(D). With eigenvectors V of A'A,
row i of A V is one of the eigenvectors of L. D multiplies a row as a whole, which is then scaled
to norm one. So a point's virtual sample is normalise(z(x) M), and no row need be held.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

import numpy as np

from harness import kernels
from harness.semi_supervised.labels import Labels
from harness.semi_supervised.on_features import SVMOnFeatures


class VirtualSampleSVM(kernels.TransferSettings, SVMOnFeatures):
    """A linear SVM on normalise(z(x) M), M = V (phi(e) / e)^1/2 of all eigenvectors kept.

    A subclass writes `_map(X)`, the rows z; `_weights_of(n_labels)`, what eigenvectors are
    multiplied by; and `_blocks(n)`. Its `_learn` calls `_keep`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (k,)
        Before the transfer function, descending.
    projection_ : ndarray of shape (m, k), float32
        M.
    """

    @abstractmethod
    def _map(self, X: np.ndarray) -> np.ndarray:
        """Return z of some rows, float32 of shape (n, m)."""

    @abstractmethod
    def _weights_of(self, n_labels: int) -> np.ndarray:
        """Return phi(e)^1/2 of every eigenvalue where so many points are labeled, float32."""

    @abstractmethod
    def _blocks(self, n: int) -> Iterable[slice]:
        """Cut n points into blocks whose rows are made at once."""

    def _keep(
        self, X: np.ndarray, labeled: np.ndarray, eigenvalues: np.ndarray, basis: np.ndarray
    ) -> None:
        """Keep what was learned: `basis` is V e^-1/2, float32 of shape (m, k)."""
        self.eigenvalues_, self._basis = eigenvalues, basis
        self._X, self._labeled = X, labeled
        self._samples: np.ndarray | None = None
        self._weights = np.zeros(0, np.float32)

    def _labeled_features(self, n_labels: int) -> np.ndarray:
        weights = self._weights_of(n_labels)
        if self._samples is None or not np.array_equal(weights, self._weights):
            self._weights = weights
            self._samples = np.empty((len(self._labeled), len(weights)), np.float32)
            for block in self._blocks(len(self._labeled)):
                F = self._samples[block]
                np.matmul(self._map(self._X[self._labeled[block]]), self._basis, out=F)
                F *= weights
                kernels.normalize_rows(F)
        return self._samples

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        self.projection_ = self._basis
        self.projection_ *= self._weights
        del self._basis, self._samples, self._X
        super()._finish(X, labels)

    def _features(self, X: np.ndarray) -> np.ndarray:
        return kernels.normalize_rows(self._map(X) @ self.projection_)
