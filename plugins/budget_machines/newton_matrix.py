"""The matrix of Newton's method on a loss that is flat or straight but for a few active rows.

From one step to the next few rows become active or cease to be. Their products are added to a
matrix that is kept, or taken off it, where making it anew would cost those of all active rows.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import ssyr, ssyrk

from .feature_cache import FeatureCache

# Columns of features that are in float64 at a time.
_PART = 256
# Sums are made anew after so many changes, or where the rows have become so many times fewer:
# the rounding errors of rows that have gone stay.
_MOST_CHANGES, _SHRUNK = 30, 4
_TILE = 128


class ActiveRows:
    """Centred second moments of some rows of a cache, float32, kept in the upper triangle.

    Holds one matrix of order r, whose lower triangle is for a factorisation, once there are rows;
    in its place, where there are few, what `room_for_products` returns: `newton_bytes`.

    Parameters
    ----------
    cache : FeatureCache
        Its rows may not change.
    n_components : int
        r.
    """

    def __init__(self, cache: FeatureCache, n_components: int) -> None:
        self._cache = cache
        self._among = np.zeros(len(cache), bool)
        self._room = np.empty(0)
        self._moments: np.ndarray | None = None
        self._diagonal = np.zeros(n_components, np.float32)
        self._origin = np.zeros(n_components, np.float32)
        self._total = np.zeros(n_components)
        self._most, self.n_changes = 0, 0

    def move_to(self, rows: np.ndarray) -> None:
        """Go on to other rows of the cache: ascending positions."""
        among = np.zeros(len(self._among), bool)
        among[rows] = True
        come, gone = among & ~self._among, self._among & ~among
        changed = int(come.sum() + gone.sum())
        worn = self.n_changes == _MOST_CHANGES or _SHRUNK * len(rows) < self._most
        if self._moments is None or worn or changed >= len(rows):
            self.make_anew(rows)
            return
        np.fill_diagonal(self._moments, self._diagonal)
        self._add(np.flatnonzero(come), 1)
        self._add(np.flatnonzero(gone), -1)
        self._among, self._most = among, max(self._most, len(rows))
        self.n_changes += 1

    def make_anew(self, rows: np.ndarray | None = None) -> None:
        """Sum up all rows, about their mean; by default those that it has."""
        if rows is not None:
            self._among[:] = False
            self._among[rows] = True
        positions = np.flatnonzero(self._among)
        mean = self._cache.sums(self._among[:, None])[:, 0] / len(positions)
        if self._moments is None:
            single = self._room_of(-(-(len(mean) ** 2) // 2)).view(np.float32)
            self._moments = single[: len(mean) ** 2].reshape(len(mean), -1, order="F")
        self._origin[:] = mean
        self._total[:], self._moments[:] = 0, 0
        self._add(positions, 1)
        self._most, self.n_changes = len(positions), 0

    def room_for_products(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Return arrays in place of the matrix, which is made anew when it is asked for.

        Parameters
        ----------
        m : int
            Rows, r / 2 at most.

        Returns
        -------
        ndarray of shape (m, m), float64, Fortran-contiguous
            For products of the rows.
        ndarray of shape (m * columns,), float64
            For some of the columns of their features, 256 at most.
        """
        self._moments = None
        most = min(len(self._among), len(self._total) // 2)
        room = self._room_of(most * (most + min(_PART, len(self._total))))
        products = room[: m * m].reshape(m, m, order="F")
        return products, room[m * m : m * (m + min(_PART, len(self._total)))]

    def _room_of(self, size: int) -> np.ndarray:
        if len(self._room) < size:
            self._moments, self._room = None, np.empty(0)
            self._room = np.empty(size)
        return self._room

    def _add(self, positions: np.ndarray, sign: int) -> None:
        for Z in self._cache.taken(positions):
            Z -= self._origin
            ssyrk(sign, Z.T, beta=1.0, c=self._moments, overwrite_c=1)
            self._total += sign * (np.ones(len(Z), np.float32) @ Z)
            del Z
        assert self._moments is not None, "`make_anew` has been called"
        self._diagonal[:] = self._moments.diagonal()

    def mean(self) -> np.ndarray:
        """Return the mean of the rows, float64 of shape (r,)."""
        return self._origin + self._total / np.count_nonzero(self._among)

    def centred(self) -> np.ndarray:
        """Return the matrix, Fortran-contiguous, with the moments in its lower triangle.

        What happens to that and to the diagonal is forgotten at the next call.
        """
        assert self._moments is not None, "`make_anew` has been called"
        A, r = self._moments, len(self._moments)
        for start in range(0, r, _TILE):
            rows = slice(start, start + _TILE)
            tile = np.triu(A[rows, rows], 1)
            A[rows, rows] = tile + tile.T
            A[start + _TILE :, rows] = A[rows, start + _TILE :].T
        np.fill_diagonal(A, self._diagonal)
        n = np.count_nonzero(self._among)
        offset = (self._total / np.sqrt(n)).astype(np.float32)
        return ssyr(-1.0, offset, lower=1, a=A, overwrite_a=1)


def newton_bytes(n: int, n_components: int) -> int:
    """Bytes that `ActiveRows` hold for n rows."""
    r = n_components
    few = min(n, r // 2)
    return max(4 * r * r if 2 * n > r else 0, 8 * few * (few + min(_PART, r))) + 16 * r
