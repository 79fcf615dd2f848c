"""At most so many support vectors, in one array, and the inverse of their kernel matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from harness import Arrays
from harness.kernels import BoundKernel, cholesky_blas_bytes, mirror, row_blocks, stream_bytes

RIDGE = 1e-6
"""Part of k(x, x) that is added to it: float32 knows a kernel matrix no better."""


# Of a point whose k(x, x) is 0, as the origin's is with a kernel of products.
_LEAST = 1e-12
# Norms are known to so many digits.
_TIED, _TIED_DIGITS = 1e-6, 6
_ARRAYS = ("points", "coef", "diagonal", "_numbers")


class SupportSet:
    """Support vectors with a coefficient for each machine.

    Parameters
    ----------
    capacity : int
        How many there may be.
    n_features, n_machines : int

    Attributes
    ----------
    points : ndarray of shape (capacity, n_features), float32
        As moved near the origin; the first `size` count.
    coef : ndarray of shape (capacity, n_machines)
    diagonal : ndarray of shape (capacity,)
        k(x, x).
    size : int
    """

    def __init__(self, capacity: int, n_features: int, n_machines: int) -> None:
        self.capacity, self.size, self._came = capacity, 0, 0
        self._make(n_features, n_machines)

    def _make(self, n_features: int, n_machines: int) -> None:
        self.points = np.empty((self.capacity, n_features), np.float32)
        self.coef = np.empty((self.capacity, n_machines))
        self.diagonal = np.empty(self.capacity)
        self._numbers = np.empty(self.capacity, np.int64)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out room that no support vector takes, so that a file has none of it."""
        state = dict(vars(self))
        for name in _ARRAYS:
            state[name] = state[name][: self.size]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make that room again."""
        vars(self).update(state)
        self._make(state["points"].shape[1], state["coef"].shape[1])
        for name in _ARRAYS:
            getattr(self, name)[: self.size] = state[name]

    @staticmethod
    def bytes(capacity: int, n_features: int, n_machines: int) -> int:
        """Bytes of all arrays."""
        return capacity * (4 * n_features + 8 * n_machines + 16)

    def put(self, slot: int, point: np.ndarray, coef: np.ndarray, diagonal: float) -> None:
        """Set what is at a place: the latest of all."""
        self.points[slot], self.coef[slot], self.diagonal[slot] = point, coef, diagonal
        self._came += 1
        self._numbers[slot] = self._came

    def insert(self, point: np.ndarray, coef: np.ndarray, diagonal: float) -> None:
        """Add a support vector at the end."""
        self.size += 1
        self.put(self.size - 1, point, coef, diagonal)

    def remove(self, slot: int) -> None:
        """Put the last support vector in the place of one."""
        self.size -= 1
        for name in _ARRAYS:
            array = getattr(self, name)
            array[slot] = array[self.size]

    def squared_norms(self) -> np.ndarray:
        """Return |alpha_j|^2 k(x_j, x_j), shape (size,)."""
        alpha = self.coef[: self.size]
        return np.einsum("ij,ij->i", alpha, alpha) * self.diagonal[: self.size]

    def lightest(self, most: int) -> np.ndarray:
        """Return the places with the least `squared_norms`, of equals the oldest.

        Where every coefficient is 1 that is a choice by age: it must not depend on places.
        """
        norms = self.squared_norms()
        if most == 1:
            tied = np.flatnonzero(norms <= norms.min() * (1 + _TIED))
            return tied[[self._numbers[tied].argmin()]]
        largest = norms.max()
        if largest > 0:
            norms /= largest
        order = np.lexsort((self._numbers[: self.size], norms.round(_TIED_DIGITS)))
        return order[:most]


class InverseGram:
    """(K + ridge)^-1 of a support set, by updates of rank one: O(B^2) each.

    Holds 8 capacity^2 bytes, and a block more during an update.
    """

    def __init__(self, support: SupportSet, kernel: BoundKernel) -> None:
        self._support, self._kernel = support, kernel.at_origin
        self._inverse = np.zeros((support.capacity, support.capacity))
        self._removed = 0
        self.renew()

    def renew(self) -> None:
        """Invert from scratch, by Cholesky; holds one more matrix of the order of the set."""
        n = self._support.size
        points = self._support.points[:n]
        ridge, failed = RIDGE, n > 0
        while failed:
            K = np.empty((n, n))
            for rows in row_blocks(n, n):
                K[rows] = self._kernel(points[rows], points)
            K[np.diag_indices(n)] = self._support.diagonal[:n] * (1 + ridge) + _LEAST
            factor, failed = dpotrf(K.T, lower=1, overwrite_a=1)
            # rounding of many equal points may be more than the ridge
            ridge *= 10
            if not failed:
                inverse, failed = dpotri(factor, lower=1, overwrite_c=1)
                mirror(inverse)
                self._inverse[:n, :n] = inverse
        self._removed = 0

    def project(self, k: np.ndarray, diagonal: float) -> tuple[np.ndarray, float]:
        """Return the coefficients d of the nearest combination of the set, and the distance^2.

        Parameters
        ----------
        k : ndarray of shape (size,)
            Kernel values at a point.
        diagonal : float
            k(x, x) of that point.
        """
        n = len(k)
        d = self._inverse[:n, :n] @ k
        return d, max(diagonal - float(k @ d), 0.0)

    def insert(self, d: np.ndarray, distance: float, diagonal: float) -> None:
        """Follow the support set, which has one more: as `project` found it."""
        n, pivot = len(d), max(distance + RIDGE * diagonal, _LEAST)
        self._add_outer(d, 1 / pivot)
        self._inverse[n, :n] = self._inverse[:n, n] = -d / pivot
        self._inverse[n, n] = 1 / pivot

    def distances(self) -> np.ndarray:
        """Return the squared distance of each support vector to the span of the others."""
        return 1 / self._inverse.diagonal()[: self._support.size]

    def without(self, slot: int) -> np.ndarray:
        """Return the combination of all that is nearest to one, itself left out (0 there)."""
        n = self._support.size
        d = -self._inverse[:n, slot] / self._inverse[slot, slot]
        d[slot] = 0
        return d

    def remove(self, slot: int) -> None:
        """Follow the support set, which is about to lose one: the last gets its place."""
        last = self._support.size - 1
        column = self._inverse[: last + 1, slot].copy()
        self._add_outer(column, -1 / column[slot])
        self._inverse[slot, : last + 1] = self._inverse[last, : last + 1]
        self._inverse[: last + 1, slot] = self._inverse[: last + 1, last]
        self._inverse[slot, slot] = self._inverse[last, last]
        self._removed += 1

    @property
    def is_worn(self) -> bool:
        """Whether so many were taken out that rounding may show."""
        return self._removed >= self._support.capacity

    @staticmethod
    def arrays(capacity: int, renewed: bool = False) -> Arrays:
        """Return the bytes that it holds, and those of an update or of a renewal."""
        update = stream_bytes(capacity, capacity) + 8 * 4 * capacity
        if renewed:
            again = 8 * capacity**2 + stream_bytes(capacity, capacity)
            update = max(update, again + cholesky_blas_bytes(capacity))
        return Arrays(inverse=8 * capacity**2, of_inverse=update)

    def _add_outer(self, d: np.ndarray, factor: float) -> None:
        n = len(d)
        for rows in row_blocks(n, n):
            self._inverse[rows, :n] += np.outer(factor * d[rows], d)
