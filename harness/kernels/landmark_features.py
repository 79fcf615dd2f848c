"""Features of landmarks B whose inner products are K_xB K_BB^+ K_Bz, for any kernel.

They are z(x) = L^-1 k(B, x) with L L' = K_BB, pivots first: a triangular solve costs half of the
product that eigenvectors take, and landmarks that the others span already are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from harness.kernels.functions import BoundKernel, KernelFunction, kernel_bytes
from harness.kernels.gaussian import BLOCK_BYTES, block_rows
from harness.kernels.gram import GramSum
from harness.kernels.substitution import (
    PANEL,
    ForwardSubstitution,
    inverses_bytes,
    substitution_bytes,
)

# What the rows' k(x, x) would sum up to were all as the median, in parts of their sum.
_EVEN = 0.01


class LandmarkFeatures:
    """z(x) = L^-1 k(B, x), in float32.

    Holds `features_bytes` for the landmarks that are kept; `building_bytes` while it is made.

    Parameters
    ----------
    landmarks : ndarray of shape (b, d)
    kernel : BoundKernel
    tolerance : float, default 1e-5
        A landmark is dropped if the part of it that the others do not span has less than this
        share of its own k(x, x): rounding of kernel rows would be a feature like any other.

    Attributes
    ----------
    landmarks : ndarray of shape (r, d), float32
        Those kept, in the order of the pivots.
    kept : ndarray of shape (r,), int32
        Which of the landmarks given these are.
    factor : ndarray of shape (r, r), float32
        L, lower triangular.
    unit_diagonal : bool
        Whether k(x, x) is 1 for every x.
    """

    def __init__(
        self, landmarks: np.ndarray, kernel: BoundKernel, tolerance: float = 1e-5
    ) -> None:
        double = landmarks.astype(np.float64, copy=False)
        L = kernel(double, double).T
        del double
        self.unit_diagonal = kernel.kernel.diagonal is None
        scale = None if self.unit_diagonal else _scale_to_unit_diagonal(L)
        least = tolerance * max(L.diagonal().max(), 0.0)
        L, pivots, rank, _ = dpstrf(L, tol=least, lower=1, overwrite_a=1)
        # Where k(x, x) = 0 for all of them one is kept: its feature is 0 everywhere.
        self.kept = kept = pivots[: max(1, rank)] - 1
        self.kernel = kernel
        self.landmarks = np.ascontiguousarray(landmarks[kept], np.float32)
        self.factor = np.zeros((len(kept), len(kept)), np.float32, order="F")
        for j in range(len(kept)):
            self.factor[j:, j] = L[j : len(kept), j] if rank else 1
        if scale is not None:
            self.factor *= scale[kept, None]
        del L
        self._at_landmarks = kernel.at(self.landmarks)
        self._substitution = ForwardSubstitution(self.factor)

    @property
    def n_components(self) -> int:
        """Number of features, r."""
        return len(self.landmarks)

    def kernel_rows(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return k between the rows of X and the landmarks, float32 of shape (n, r)."""
        return self._at_landmarks(X.astype(np.float32, copy=False), out=out)

    def transform(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the features of X, float32 of shape (n, r), in `out` if it is given."""
        return self._substitution.solve_rows(self.kernel_rows(X, out))

    def is_uneven(self, X: np.ndarray, rows: np.ndarray) -> bool:
        """Whether a few rows have values of k(x, x) beside which all others are nothing."""
        if self.unit_diagonal:
            return False
        blocks = self.blocks(len(rows))
        own = np.concatenate([self.kernel.diagonal(X[rows[block]]) for block in blocks])
        return bool(len(rows) * np.median(own) < _EVEN * own.sum(dtype=np.float64))

    def expansion(self, weights: np.ndarray) -> np.ndarray:
        """Return a such that k(x, B) a = z(x) @ weights; both of shape (r, Q)."""
        return solve_triangular(
            self.factor, weights.astype(np.float32), lower=True, trans="T", check_finite=False
        )

    def blocks(self, n: int, columns: int = 0) -> Iterator[slice]:
        """Cut n rows into blocks that suit kernel rows, a copy of X, and `columns` beside them."""
        step = feature_block_rows(*self.landmarks.shape, columns)
        return (slice(start, min(start + step, n)) for start in range(0, n, step))

    def points(self, X: np.ndarray, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows and what X holds there, each in the same array."""
        most = min(len(rows), feature_block_rows(*self.landmarks.shape))
        buffer = np.empty((most, X.shape[1]), X.dtype)
        for block in self.blocks(len(rows)):
            some = rows[block]
            # Otherwise NumPy takes from a copy of all of X; and into one in its mode "raise".
            if X.flags.c_contiguous:
                yield block, X.take(some, axis=0, out=buffer[: len(some)], mode="clip")
            else:
                yield block, X[some]

    def block_buffer(self, n: int) -> np.ndarray:
        """Return room for the features of one of these blocks.

        An array made anew for each of them would be fresh pages every time: an eighth of the time.
        """
        r = self.n_components
        return np.empty((min(n, feature_block_rows(*self.landmarks.shape)), r), np.float32)

    def sums(
        self,
        X: np.ndarray,
        rows: np.ndarray,
        codes: np.ndarray | None,
        n_classes: int,
        gram: bool = True,
    ) -> tuple[np.ndarray | None, np.ndarray]:
        """Return Z'Z over some rows of X, and their features by class, without holding Z.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        rows : ndarray of shape (m,)
        codes : ndarray of shape (m,), optional
            Classes from 0, -1 for none, which has the last column.
        n_classes : int
        gram : bool, default True
            Whether the first is asked for; it is None otherwise.

        Returns
        -------
        ndarray of shape (r, r), float64, or None
        ndarray of shape (r, n_classes + 1), float64
        """
        r = self.n_components
        total = GramSum(r) if gram else None
        by_class = np.zeros((r, n_classes + 1))
        buffer = self.block_buffer(len(rows))
        for block, points in self.points(X, rows):
            Z = self.transform(points, buffer[: len(points)])
            if codes is not None:
                own = codes[block, None] == np.append(np.arange(n_classes), -1)
                by_class += Z.T @ own.astype(np.float32)
            if total is not None:
                total.add(Z)
        return None if total is None else total.total(), by_class

    def scores(
        self,
        X: np.ndarray,
        coefficients: np.ndarray,
        rows: np.ndarray | None = None,
        buffer: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return k(x, B) @ coefficients for some or all rows of X, float32 of shape (n, Q).

        Parameters
        ----------
        X : ndarray of shape (n, d)
        coefficients : ndarray of shape (r, Q)
        rows : ndarray, optional
            All by default.
        buffer : ndarray, optional
            What `block_buffer` returns, where there is one already.
        """
        n = len(X) if rows is None else len(rows)
        scores = np.empty((n, coefficients.shape[1]), np.float32)
        buffer = self.block_buffer(n) if buffer is None else buffer
        all_rows = ((block, X[block]) for block in self.blocks(n))
        for block, points in all_rows if rows is None else self.points(X, rows):
            K = self.kernel_rows(points, buffer[: len(points)])
            np.matmul(K, coefficients, out=scores[block])
        return scores


def _scale_to_unit_diagonal(K: np.ndarray) -> np.ndarray:
    """Divide rows and columns of K by the roots of its diagonal, in place, and return the roots.

    Those of rows of zeros are 1: they stay zero, and no pivot is found in them.
    """
    roots = np.sqrt(np.maximum(K.diagonal(), 0))
    roots[roots == 0] = 1
    K /= roots
    K /= roots[:, None]
    return roots


def feature_block_rows(n_landmarks: int, n_features: int, columns: int = 0) -> int:
    """Rows of a block: half of the landmarks, or what fits `BLOCK_BYTES`.

    Features are held, a panel of them, X as it is and in float32, and as many float32 numbers of a
    row as there are further columns.
    """
    columns += n_landmarks + min(n_landmarks, PANEL) + 3 * n_features
    return max(n_landmarks // 2, block_rows(columns, 4))


def feature_block_bytes(
    n: int,
    n_landmarks: int,
    n_features: int,
    itemsize: int = 8,
    kernel: str | KernelFunction = "rbf",
) -> int:
    """Bytes of a block of `LandmarkFeatures.blocks` at most; never falls as n or b grows."""
    row = 4 * n_landmarks + (12 if itemsize != 4 else 4) * n_features
    row += substitution_bytes(1, n_landmarks)
    held = min(n * row, max(BLOCK_BYTES, 16 * row, n_landmarks // 2 * row))
    if kernel == "rbf":
        return held  # its copy of X is in the row
    if not isinstance(kernel, str):
        n = min(n, feature_block_rows(n_landmarks, n_features))
    return held + kernel_bytes(kernel, n, n_landmarks, n_features, 4)


def features_bytes(n_landmarks: int, n_features: int) -> int:
    """Bytes that `LandmarkFeatures` hold: landmarks, their norms, L, and what solves with it."""
    b, d = n_landmarks, n_features
    return 4 * b * (b + d + 2) + inverses_bytes(b)


def building_bytes(
    n_landmarks: int,
    n_features: int,
    itemsize: int = 4,
    kernel: str | KernelFunction = "rbf",
) -> int:
    """Bytes held while `LandmarkFeatures` are made, the features and landmarks included."""
    b, d = n_landmarks, n_features
    inverting = features_bytes(b, d) + 2 * inverses_bytes(min(b, PANEL))
    own = 0 if isinstance(kernel, str) else kernel_bytes(kernel, b, b, d)
    matrix = 8 * b * b + 16 * b * d + own
    return b * d * itemsize + max(matrix, 12 * b * b + 4 * b * d, inverting)
