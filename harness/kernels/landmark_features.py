"""Features of landmarks B whose inner products are K_xB K_BB^+ K_Bz, for any kernel.

They are z(x) = L^-1 k(B, x) with L L' = K_BB, pivots first: a triangular solve costs half of the
product that eigenvectors take, and landmarks that the others span already are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.sparse import issparse

from harness.kernels.functions import (
    BoundKernel,
    KernelFunction,
    is_shift_invariant,
    kernel_bytes,
)
from harness.kernels.gaussian import (
    BLOCK_BYTES,
    block_rows,
    centered_rows,
    stream_bytes,
)
from harness.kernels.gram import GramSum, blas_bytes
from harness.kernels.symmetric import triangle_in_float32
from harness.kernels.triangular_solve import (
    PANEL,
    ForwardSubstitution,
    inverses_bytes,
    substitution_bytes,
)
from harness.scaled_integers import ScaledIntegers

# What the rows' k(x, x) would sum up to were all as the median, in parts of their sum.
_EVEN = 0.01
# Columns that LAPACK factors between two products.
_FACTORED_AT_ONCE = 64


class LandmarkFeatures:
    """z(x) = L^-1 k(B, x), in float32.

    Holds `bytes` for the landmarks that are kept; `building_bytes` while it is made.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, d)
        Landmarks are dense. Kernel rows of sparse points are products of these with them.
    kernel : BoundKernel
    rows : ndarray of shape (b,), optional
        Row numbers of the landmarks; all by default.
    tolerance : float, default 1e-5
        A landmark is dropped if the part of it that the others do not span has less than this
        share of its own k(x, x): rounding of kernel rows would be a feature like any other.

    Attributes
    ----------
    landmarks : ndarray of shape (r, d), float32
        Those kept, in the order of the pivots, `near` the origin.
    near : callable X, dtype -> ndarray
        `BoundKernel.near` of the kernel: points as the next takes them.
    kernel : BoundKernel
        Of points near the origin.
    kept : ndarray of shape (r,), int32
        Which of the landmarks given these are.
    factor : ndarray of shape (r, r), float32
        L, lower triangular.
    unit_diagonal : bool
        Whether k(x, x) is 1 for every x.
    """

    def __init__(
        self,
        X: np.ndarray,
        kernel: BoundKernel,
        rows: np.ndarray | None = None,
        tolerance: float = 1e-5,
    ) -> None:
        landmarks = centered_rows(X, rows, kernel.center)
        self.near, self.kernel = kernel.near, kernel.at_origin
        L = self._gram(landmarks)
        self.unit_diagonal = kernel.kernel.diagonal is None
        scale = None if self.unit_diagonal else _scale_to_unit_diagonal(L)
        least = tolerance * max(L.diagonal().max(), 0.0)
        L, pivots, rank, _ = dpstrf(L, tol=least, lower=1, overwrite_a=1)
        # Where k(x, x) = 0 for all of them one is kept: its feature is 0 everywhere.
        self.kept = kept = pivots[: max(1, rank)] - 1
        if not rank:
            L[0, 0] = 1
        self.factor = triangle_in_float32(L, len(kept))
        del L
        if scale is not None:
            self.factor *= scale[kept, None]
        self.landmarks = _in_columns(landmarks, kept) if issparse(X) else landmarks[kept]
        del landmarks
        self._at_landmarks = self.kernel.at(self.landmarks)
        self._substitution = ForwardSubstitution(self.factor)

    def _gram(self, landmarks: np.ndarray) -> np.ndarray:
        """Return the lower triangle of their kernel matrix in float64, in Fortran order."""
        b, d = landmarks.shape
        K, step = np.zeros((b, b), order="F"), _tile_rows(d)
        for start in range(0, b, step):
            columns = slice(start, start + step)
            right = landmarks[columns].astype(np.float64)
            for first in range(start, b, step):
                rows = slice(first, first + step)
                left = right if rows == columns else landmarks[rows].astype(np.float64)
                K[rows, columns] = self.kernel(left, right)
        return K

    @property
    def n_components(self) -> int:
        """Number of features, r."""
        return len(self.landmarks)

    def kernel_rows(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return k between the rows of X and the landmarks, float32 of shape (n, r)."""
        return self._at_landmarks(self.near(X), out=out)

    def transform(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the features of X, float32 of shape (n, r), in `out` if it is given."""
        return self._substitution.solve_rows(self.kernel_rows(X, out))

    def total(self, X: np.ndarray) -> np.ndarray:
        """Return the sum of the features of all rows of X, float32 of shape (r,).

        Only kernel values are computed for each row: their sums, in float64, are substituted once.
        """
        n = X.shape[0]
        buffer, total = self.block_buffer(n), np.zeros(self.n_components)
        for block in self.blocks(n):
            K = self.kernel_rows(X[block], buffer[: block.stop - block.start])
            total += K.sum(axis=0, dtype=np.float64)
        return self._substitution.solve_rows(total.astype(np.float32)[None])[0]

    def is_uneven(self, X: np.ndarray, rows: np.ndarray) -> bool:
        """Whether a few rows have values of k(x, x) beside which all others are nothing."""
        if self.unit_diagonal:
            return False
        blocks = self.blocks(len(rows))
        own = np.concatenate([self.kernel.diagonal(X[rows[block]]) for block in blocks])
        return bool(len(rows) * np.median(own) < _EVEN * own.sum(dtype=np.float64))

    def expansion(self, weights: np.ndarray) -> np.ndarray:
        """Return a such that k(x, B) a = z(x) @ weights; both of shape (r, Q)."""
        right = weights.astype(np.float32, order="F")
        return solve_triangular(
            self.factor, right, lower=True, trans="T", overwrite_b=True, check_finite=False
        )

    def blocks(self, n: int, columns: int = 0) -> Iterator[slice]:
        """Cut n rows into blocks that suit kernel rows, a copy of X, and `columns` beside them."""
        m, d = self.landmarks.shape
        step = feature_block_rows(m, d, columns)
        return (slice(start, min(start + step, n)) for start in range(0, n, step))

    def points(self, X: np.ndarray, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows and what X holds there, each in the same array."""
        if issparse(X) or isinstance(X, ScaledIntegers):
            yield from ((block, X[rows[block]]) for block in self.blocks(len(rows)))
            return
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
        self, X: np.ndarray, rows: np.ndarray, codes: np.ndarray | None, n_classes: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return Z'Z over some rows of X, and their features by class, without holding Z.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        rows : ndarray of shape (m,)
        codes : ndarray of shape (m,), optional
            Classes from 0, -1 for none, which has the last column.
        n_classes : int

        Returns
        -------
        ndarray of shape (r, r), float64
        ndarray of shape (r, n_classes + 1), float64
        """
        gram = GramSum(self.n_components)
        by_class = self._add_up(X, rows, codes, n_classes, gram)
        return gram.total(), by_class

    def class_sums(
        self, X: np.ndarray, rows: np.ndarray, codes: np.ndarray, n_classes: int
    ) -> np.ndarray:
        """Return the second of `sums` alone."""
        return self._add_up(X, rows, codes, n_classes, None)

    def _add_up(
        self,
        X: np.ndarray,
        rows: np.ndarray,
        codes: np.ndarray | None,
        n_classes: int,
        gram: GramSum | None,
    ) -> np.ndarray:
        by_class = np.zeros((self.n_components, n_classes + 1))
        # given back on return: the total of the Gram matrices is twice as many pages
        buffer = self.block_buffer(len(rows))
        for block, points in self.points(X, rows):
            Z = self.transform(points, buffer[: points.shape[0]])
            if codes is not None:
                own = codes[block, None] == np.append(np.arange(n_classes), -1)
                by_class += Z.T @ own.astype(np.float32)
            if gram is not None:
                gram.add(Z)
            del points, Z
        return by_class

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
        n = X.shape[0] if rows is None else len(rows)
        scores = np.empty((n, coefficients.shape[1]), np.float32)
        buffer = self.block_buffer(n) if buffer is None else buffer
        all_rows = ((block, X[block]) for block in self.blocks(n))
        for block, points in all_rows if rows is None else self.points(X, rows):
            K = self.kernel_rows(points, buffer[: points.shape[0]])
            np.matmul(K, coefficients, out=scores[block])
        return scores

    @staticmethod
    def bytes(n_landmarks: int, n_features: int) -> int:
        """Bytes of landmarks, their norms, L, and what solves with it."""
        b, d = n_landmarks, n_features
        return 4 * b * (b + d + 2) + inverses_bytes(b)

    @staticmethod
    def building_bytes(
        n_landmarks: int,
        n_features: int,
        itemsize: int = 4,
        kernel: str | KernelFunction = "rbf",
    ) -> int:
        """Bytes held while `LandmarkFeatures` are made, the features and landmarks included."""
        b, d = n_landmarks, n_features
        rows = min(b, _tile_rows(d))
        reading = stream_bytes(b, 2 * d)
        tile = 8 * rows * (2 * d + rows) + kernel_bytes(kernel, rows, rows, d, at_origin=True)
        factoring = 8 * b * b + max(tile, blas_bytes(b, terms=_FACTORED_AT_ONCE))
        # L in float32 takes the place of what it was computed in, and then landmarks are picked
        picking = 4 * b * b + 4 * b * d
        inverting = LandmarkFeatures.bytes(b, d) + 2 * inverses_bytes(min(b, PANEL))
        # beside what points are moved by
        return 16 * d + max(4 * b * d + max(reading, factoring, picking), inverting)

    @staticmethod
    def block_bytes(
        n: int,
        n_landmarks: int,
        n_features: int,
        itemsize: int = 8,
        kernel: str | KernelFunction = "rbf",
        picked: bool = True,
        substituted: bool = True,
        sparse_row: int | None = None,
    ) -> int:
        """Bytes of a block of `LandmarkFeatures.blocks` at most; never falls as n or b grows.

        Parameters
        ----------
        n, n_landmarks, n_features : int
        itemsize : int, default 8
            Bytes of an element of X.
        kernel : str or KernelFunction, default "rbf"
        picked : bool, default True
            Whether rows are copied from X, or lie there one after another.
        substituted : bool, default True
            Whether features are made of kernel values.
        sparse_row : int, optional
            Bytes of a row of X where it is sparse.
        """
        # in float32, or moved
        copied = 4 if itemsize != 4 or is_shift_invariant(kernel) else 0
        row = 4 * n_landmarks + copied * n_features
        row += itemsize * n_features if picked else 0
        if sparse_row is not None:
            # rows as picked, in float32, their squares; products before they are where they belong
            row = 8 * n_landmarks + 3 * sparse_row
        row += substitution_bytes(1, n_landmarks) if substituted else 0
        # what rows are cut by; no part of a row, or bytes could fall where one row less fits
        most = max(BLOCK_BYTES / (4 * _columns(n_landmarks, n_features)), 16, n_landmarks // 2)
        held = int(min(n, most) * row)
        if kernel == "rbf":
            return held  # its copy of X is in the row
        if not isinstance(kernel, str):
            n = min(n, feature_block_rows(n_landmarks, n_features))
        return held + kernel_bytes(kernel, n, n_landmarks, n_features, 4, at_origin=True)


def _in_columns(landmarks: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return some rows in Fortran order, along which products with sparse points go."""
    found = np.empty((len(kept), landmarks.shape[1]), landmarks.dtype, order="F")
    # one by one: of several rows NumPy would make a copy first, which is in no plan
    for place, row in enumerate(kept):
        found[place] = landmarks[row]
    return found


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
    columns += _columns(n_landmarks, n_features)
    return max(n_landmarks // 2, block_rows(columns, 4))


def _columns(n_landmarks: int, n_features: int) -> int:
    return n_landmarks + min(n_landmarks, PANEL) + 3 * n_features


def _tile_rows(n_features: int) -> int:
    """Rows of the tiles in which the landmarks' kernel matrix is computed."""
    return min(256, block_rows(3 * n_features))
