"""One machine for each class on coefficients of landmarks: what is to be minimised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.kernels.gaussian import block_rows
from harness.kernels.landmark_features import LandmarkFeatures, feature_block_rows
from harness.kernels.triangular_solve import PANEL
from harness.semi_supervised.labels import Labels

# Numbers in float32 that are held at once for each row of a block and each machine.
_COLUMNS = 6
LANDMARKS_AT_ONCE = 64
"""Landmarks, and columns of L, that are held in float64: no more at a time."""


@dataclass(frozen=True)
class LandmarkProblem:
    """Minimise a'K_BB a + C sum hinge(y f), or half of a'K_BB a + C sum (y - f)^2, f = k a + b.

    With `own` the second has -own'a besides. With |c|^2 / 2 added, which is part of its objective
    here, it is half of |w - c|^2 + C sum (y - f)^2, with w = L'a, of features, and c = L^-1 own.

    Parameters
    ----------
    features : LandmarkFeatures
    X : ndarray of shape (n, d)
    rows : ndarray of shape (m,)
        Row numbers.
    labels : Labels
        Of these rows: y is +1 or -1 for each of Q machines.
    C : float
    loss : {"hinge", "squared"}
    own : ndarray of shape (r, Q), optional
        y of the landmarks, 0 without a label; with the squared loss only.
    """

    features: LandmarkFeatures
    X: np.ndarray
    rows: np.ndarray
    labels: Labels
    C: float
    loss: str
    own: np.ndarray | None = None

    @property
    def n_machines(self) -> int:
        """Q, 1 for two classes."""
        return n_machines(len(self.labels.classes))

    def targets(self, some: slice | np.ndarray) -> np.ndarray:
        """Return y of some of the rows, float32 of shape (., Q)."""
        return self.labels.targets(some, np.float32)

    def is_own(self, q: int) -> np.ndarray:
        """Return whether y of a machine is +1, shape (m,)."""
        return self.labels.codes == (q if self.n_machines > 1 else 1)

    def kernel_rows(self, some: np.ndarray, buffer: np.ndarray) -> np.ndarray:
        """Return k between some of the rows and the landmarks, in the first rows of a buffer."""
        return self.features.kernel_rows(self.X[self.rows[some]], buffer[: len(some)])

    def blocks(self) -> Iterator[slice]:
        """Cut the rows into blocks of which `problem_block_bytes` are held besides features."""
        return self.features.blocks(len(self.rows), _COLUMNS * self.n_machines)

    def kernel_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield these blocks and their kernel rows, each in the same array."""
        buffer = self.buffer()
        for block in self.blocks():
            X = self.X[self.rows[block]]
            yield block, self.features.kernel_rows(X, buffer[: X.shape[0]])

    def exact_kernel_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks and their kernel rows in float64, for sums whose rounding would matter."""
        features, r = self.features, self.features.n_components
        m, d = features.landmarks.shape
        n, step, at_once = (
            len(self.rows),
            _exact_rows(m, d, self.n_machines),
            _exact_landmarks(m, d),
        )
        buffer = np.empty((min(n, step), r))
        for first in range(0, n, step):
            block = slice(first, min(first + step, n))
            X = features.near(self.X[self.rows[block]], np.float64)
            K = buffer[: X.shape[0]]
            for start in range(0, r, at_once):
                part = slice(start, start + at_once)
                K[:, part] = features.kernel.at(features.landmarks[part].astype(np.float64))(X)
            yield block, K

    def buffer(self) -> np.ndarray:
        """Return room for the kernel rows, or the features, of one of these blocks."""
        return np.empty((next(self.blocks()).stop, self.features.n_components), np.float32)


def n_machines(n_classes: int) -> int:
    """Return how many machines there are: one for each class, but one for two of them."""
    return n_classes if n_classes > 2 else 1


def problem_block_bytes(n: int, n_landmarks: int, n_features: int, n_classes: int) -> int:
    """Bytes of scores, targets and what is made of them, besides a block of features.

    The more machines, the fewer rows a block has: the features of the others are taken off.
    """
    b, d, columns = n_landmarks, n_features, _COLUMNS * n_machines(n_classes)
    rows = min(n, feature_block_rows(b, d, columns))
    fewer = min(n, feature_block_rows(b, d)) - rows
    return max(0, 4 * (columns * rows - fewer * (b + min(b, PANEL) + d)))


def exact_block_bytes(n: int, n_landmarks: int, n_features: int, n_classes: int) -> int:
    """Bytes that a block takes in float64."""
    b, d, Q = n_landmarks, n_features, n_machines(n_classes)
    rows = min(n, _exact_rows(b, d, Q))
    # a part of kernel rows, and of landmarks
    part = 8 * _exact_landmarks(b, d) * (rows + d)
    return rows * (8 * b + 16 * d + 8 * _COLUMNS * Q) + part


def _exact_landmarks(n_landmarks: int, n_features: int) -> int:
    """Landmarks that are in float64 at a time, fewer of wide ones."""
    return min(n_landmarks, LANDMARKS_AT_ONCE, block_rows(4 * n_features))


def _exact_rows(n_landmarks: int, n_features: int, machines: int) -> int:
    """Rows of a block in float64, with a part of it and X as it is beside it.

    A quarter of other blocks: few fits need such a pass, and it should not decide what all hold.
    """
    held = n_landmarks + min(LANDMARKS_AT_ONCE, n_landmarks) + _COLUMNS * machines
    return max(n_landmarks // 8, block_rows(4 * (held + 2 * n_features)))
