"""Features of some rows, as many as there is room for; those of the others whenever asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.kernels.landmark_features import LandmarkFeatures


class FeatureCache:
    """The features of a changing set of rows of X, float32.

    Holds `n_held` rows of features, and one block of `LandmarkFeatures.blocks`. That is given out
    by `taken` and `gathered`, and used by all else: none of them during another.

    Parameters
    ----------
    features : LandmarkFeatures
    X : ndarray of shape (n, d)
    most_bytes : int
        What the rows that are held may take.
    most_rows : int
        Rows that are ever loaded at once.

    Attributes
    ----------
    block : ndarray
        Room for the features, or kernel rows, of a block.
    """

    def __init__(
        self, features: LandmarkFeatures, X: np.ndarray, most_bytes: int, most_rows: int
    ) -> None:
        self._features, self._X = features, X
        self.n_held = min(most_rows, most_bytes // (4 * features.n_components))
        self._buffer = np.empty((self.n_held, features.n_components), np.float32)
        self.block = features.block_buffer(most_rows)
        self.load(np.empty(0, np.intp))

    def load(self, rows: np.ndarray) -> None:
        """Replace the rows: the first `n_held` of them are computed now."""
        self.rows = rows
        self._held = self._buffer[: min(len(rows), self.n_held)]
        for block, points in self._features.points(self._X, rows[: self.n_held]):
            self._features.transform(points, out=self._held[block])

    def __len__(self) -> int:
        return len(self.rows)

    def mean_square(self) -> float:
        """Return the mean of |z|^2 over the landmarks, 1 where it is 0."""
        L = self._features.factor
        return float(np.linalg.norm(L)) ** 2 / len(L) or 1.0

    def _computed(self, positions: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield positions beyond those held, and their features, in blocks."""
        for block, points in self._features.points(self._X, self.rows[positions]):
            yield positions[block], self._features.transform(points, self.block[: points.shape[0]])

    def products(self, weights: np.ndarray) -> np.ndarray:
        """Return Z @ weights, float32 of shape (len(self),) or (len(self), m)."""
        weights = weights.astype(np.float32)
        found = np.empty((len(self), *weights.shape[1:]), np.float32)
        np.matmul(self._held, weights, out=found[: len(self._held)])
        for some, Z in self._computed(np.arange(len(self._held), len(self))):
            found[some] = Z @ weights
        return found

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return Z' @ values, shape (r, m); rows without a value other than 0 cost nothing.

        Parameters
        ----------
        values : ndarray of shape (len(self), m)
        """
        some = np.flatnonzero(values.any(axis=1))
        values = values[some].T.astype(np.float32)
        total, start = np.zeros((len(values), self._features.n_components)), 0
        # Blocks are added up in float64: longer sums in float32 would lose digits.
        for Z in self.taken(some):
            total += values[:, start : start + len(Z)] @ Z
            start += len(Z)
        return total.T

    def taken(self, positions: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the features at ascending positions, in blocks that may be written to."""
        held, others = self._split(positions)
        for block in self._features.blocks(len(held)):
            yield self._taken(held[block])
        for _, Z in self._computed(others):
            yield Z

    def gathered(self, positions: np.ndarray) -> np.ndarray:
        """Return the features at ascending positions, no more than r / 2, that may be written to.

        They are in `block`.
        """
        held, others = self._split(positions)
        self._taken(held)
        Z = self.block[: len(positions)]
        if len(others):
            self._features.transform(self._X[self.rows[others]], Z[len(held) :])
        return Z

    def _split(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = np.searchsorted(positions, len(self._held))
        return positions[:at], positions[at:]

    def _taken(self, some: np.ndarray) -> np.ndarray:
        return self._held.take(some, axis=0, out=self.block[: len(some)], mode="clip")


def cache_bytes(n: int, n_components: int) -> int:
    """Bytes of the features of n rows, or of as many as a solver should need: 8 MB and 6 r^2."""
    return min(4 * n * n_components, 8_000_000 + 6 * n_components**2)
