"""Harmonic functions on complete Gaussian graphs, solved directly and in packed form.

The unlabeled points are eliminated by one Cholesky factorisation. What is left is a Laplacian of
the labeled points alone, on which any of them can lose their labels at little cost: one
factorisation serves all folds of a cross-validation. `graph` has the formulas.
"""

from __future__ import annotations

import numpy as np

from harness.kernels.gaussian import center_rows, column_medians, gaussian_kernel, row_blocks
from harness.kernels.neighbors import without_edges_one
from harness.kernels.packed_cholesky import TILE, PackedSymmetric

from .graph import TIE, keep_pairs

SOLVE_COLUMNS = 64
"""Right-hand sides that are solved for together."""


class GroundedLaplacian:
    """The part of a complete graph's Laplacian that belongs to the free points, factored.

    Weights are as in `CompleteGraph`, in the type of X, sums in float64. Holds
    `packed_bytes(n_free)`, and tiles and degrees.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Kept, not copied.
    width : float
        sigma, in the units of X.
    free, known : ndarray of int
        Numbers of the points whose values are sought and given, in this order below.
    """

    def __init__(self, X: np.ndarray, width: float, free: np.ndarray, known: np.ndarray) -> None:
        self._X, self._width, self._free, self._known = X, width, free, known
        self._center = column_medians(X)
        degrees = np.zeros(len(free))
        self._system = PackedSymmetric(len(free))

        def tile(rows: slice, columns: slice) -> np.ndarray:
            W = self._weights(free[rows], free[columns])
            if rows == columns:
                keep_pairs(W)
            degrees[rows] += W.sum(axis=1, dtype=np.float64)
            degrees[columns] += W.sum(axis=0, dtype=np.float64)
            return np.negative(W, out=W)

        self._system.fill(tile)
        degrees += self._pull(np.ones((len(known), 1)))[:, 0]
        self._degrees = without_edges_one(degrees, np.float64)
        # A unit diagonal: degrees may be as small as numbers are, their products would vanish.
        self._scale = self._degrees**-0.5
        self._system.scale(self._scale)
        self._system.add_to_diagonal(1 + TIE)

    def _weights(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return weights, of which so many are computed at a time that few points are copied."""
        weights = np.empty((len(rows), len(columns)), self._X.dtype)
        step = min(TILE, center_rows(self._X.shape[1], self._X.itemsize))
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            near = self._X[rows[part]]
            for second in range(0, len(columns), step):
                others = slice(second, second + step)
                gaussian_kernel(
                    near,
                    self._X[columns[others]],
                    self._width,
                    out=weights[part, others],
                    center=self._center,
                )
        return weights

    def _pull(self, values: np.ndarray) -> np.ndarray:
        """Return W[free][:, known] @ values."""
        pull = np.zeros((len(self._free), values.shape[1]))
        for block in _tiles(len(self._free)):
            for given in _tiles(len(self._known)):
                pull[block] += self._weights(self._free[block], self._known[given]) @ values[given]
        return pull

    def _solve(self, b: np.ndarray) -> np.ndarray:
        b *= self._scale[:, None]
        # LAPACK refuses a system of order 0.
        b = self._system.solve(b) if len(b) else b
        b *= self._scale[:, None]
        return b

    def extend(self, values: np.ndarray) -> np.ndarray:
        """Return the harmonic function at the free points.

        Parameters
        ----------
        values : ndarray of shape (n_known, k)
            Values at the known points.

        Returns
        -------
        ndarray of shape (n_free, k)
        """
        return self._solve(self._pull(values))

    def reduce(self) -> ReducedLaplacian:
        """Eliminate the free points; costs two more solves for every known point.

        Holds `packed_bytes(n_known)` and, for `TILE` known points at a time, their influence on
        the free ones.
        """
        ties = self._solve((TIE * self._degrees)[:, None])
        n_known = len(self._known)
        reduced, mass, excess = PackedSymmetric(n_known), np.zeros(n_known), np.zeros(n_known)
        influence = np.empty((0, 0))

        def tile(rows: slice, columns: slice) -> np.ndarray:
            nonlocal influence
            if columns.start == 0:
                del influence
                influence = self._influence(self._known[rows])
                mass[rows] = influence.sum(axis=0)
            W = self._weights(self._known[rows], self._known[columns]).astype(np.float64)
            if rows == columns:
                keep_pairs(W)
            excess[rows] += TIE * W.sum(axis=1)
            excess[columns] += TIE * W.sum(axis=0)
            for block in row_blocks(len(self._free), TILE):
                cross = self._weights(self._free[block], self._known[columns])
                W += influence[block].T @ cross
                if rows == columns:
                    excess[rows] += (TIE + ties[block, 0]) @ cross
                del cross  # or it would stand beside the next one
            if rows == columns:
                keep_pairs(W)
            return np.negative(W, out=W)

        reduced.fill(tile)
        # The diagonal is the sum of what leaves a point, never a difference: where a point is all
        # but cut off, it keeps its digits and the matrix stays positive definite.
        reduced.add_to_diagonal(excess - reduced.multiply(np.ones((n_known, 1)))[:, 0])
        return ReducedLaplacian(reduced, mass)

    def _influence(self, known: np.ndarray) -> np.ndarray:
        """Return A_uu^-1 W_ul: what a value of 1 at one known point makes of each free one."""
        influence = np.empty((len(self._free), len(known)))
        for first in range(0, len(known), SOLVE_COLUMNS):
            part = slice(first, first + SOLVE_COLUMNS)
            pull = influence[:, part]
            for block in row_blocks(len(pull), TILE):
                pull[block] = self._weights(self._free[block], known[part])
            np.maximum(self._solve(pull), 0, out=pull)
        return influence


def tile_copies_bytes(n: int, n_features: int, itemsize: int = 8) -> int:
    """Bytes of what is copied of points for weights of them: both sides, picked and moved."""
    rows = min(n, TILE, center_rows(n_features, itemsize))
    return (4 * n_features * rows + 4 * rows) * itemsize


def _tiles(n: int) -> list[slice]:
    return [slice(start, min(start + TILE, n)) for start in range(0, n, TILE)]


class ReducedLaplacian:
    """A Laplacian of the known points alone: the Schur complement of all others.

    Which of its points keep their value can be chosen anew each time, at a cost that does not
    depend on the number of points that were eliminated.

    Parameters
    ----------
    laplacian : PackedSymmetric
        Of order n_known.
    mass : ndarray of shape (n_known,)
        Sum of the harmonic function over the eliminated points for a value of 1 at one point.
    """

    def __init__(self, laplacian: PackedSymmetric, mass: np.ndarray) -> None:
        diagonal = laplacian.diagonal()
        kept = without_edges_one(diagonal, np.float64)
        laplacian.add_to_diagonal(kept - diagonal)
        self._laplacian, self._scale = laplacian, kept**-0.5
        self._mass = mass

    def extend(self, kept: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Give some of the points values, and extend them to the others.

        Parameters
        ----------
        kept : ndarray of shape (m,)
            Positions among the points.
        values : ndarray of shape (m, k)

        Returns
        -------
        values : ndarray of shape (n_known, k)
        total : ndarray of shape (k,)
            Sum over all points without a given value, the eliminated ones among them.
        """
        extended = np.zeros((len(self._mass), values.shape[1]))
        extended[kept] = values
        held = np.setdiff1d(np.arange(len(extended)), kept)
        if held.size:
            scale = self._scale[held]
            pull = -self._laplacian.multiply(extended)[held] * scale[:, None]
            system = PackedSymmetric(len(held))
            system.fill(lambda rows, columns: self._laplacian.take(held[rows], held[columns]))
            system.scale(scale)
            extended[held] = system.solve(pull) * scale[:, None]
        return extended, self._mass @ extended + extended[held].sum(axis=0)
