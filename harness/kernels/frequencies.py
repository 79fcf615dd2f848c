"""Frequencies of random Fourier features: independent, orthogonal, or of Hadamard matrices.

All three stand for the Gaussian kernel. Independent ones are those of Rahimi & Recht (2007).
Orthogonal ones err less, and structured ones take three bytes each instead of d numbers
(Yu, Suresh, Choromanski, Holtmann-Rice & Kumar 2016).
"""

from __future__ import annotations

import math
from typing import Literal, Protocol

import numpy as np
from scipy.linalg import get_lapack_funcs, hadamard

FrequencyName = Literal["gaussian", "orthogonal", "hadamard"]

# Rotations of fewer dimensions are no random ones: a point in one dimension has one frequency.
_FEWEST_DIMENSIONS = 64
# Of a power of two up to this a product with one matrix is faster than with two small ones.
_ONE_PRODUCT = 128
_BUFFER_BYTES = 131_072
_FEWEST_ROWS = 8
# Columns that LAPACK reflects at a time.
_REFLECTED = 32


class Frequencies(Protocol):
    """Random frequencies W, of which features are cosines and sines."""

    def phases(self, X: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write X W, shape (n, m), to `out`; X is in the type of the frequencies."""

    def matrix(self) -> np.ndarray:
        """Return W, of shape (d, m)."""


class DenseFrequencies:
    """Frequencies in a matrix: independent ones, or orthogonal ones for each d of them.

    Orthogonal ones are S Q / sigma: uniform directions that stand upright on each other, with the
    norms that independent ones have (section 3 of the paper). Estimates of the kernel stay
    unbiased. Holds d m numbers, and `orthogonal_workspace` meanwhile.

    Parameters
    ----------
    d, m : int
        Features of a point, and frequencies.
    sigma : float
        Width of the kernel.
    rng : numpy.random.Generator
    dtype : dtype
    orthogonal : bool
    """

    def __init__(
        self,
        d: int,
        m: int,
        sigma: float,
        rng: np.random.Generator,
        dtype: np.dtype,
        orthogonal: bool,
    ) -> None:
        if orthogonal:
            self._matrix = np.empty((d, m), dtype, order="F")
            for start in range(0, m, d):
                place = self._matrix[:, start : start + d]
                first = self._matrix[:, : place.shape[1]]
                # LAPACK's wrapper copies what does not begin at 16 bytes, as blocks of odd d do:
                # all are made in the place of the first, which steps aside meanwhile
                place[...] = first
                _orthogonal_columns(first, rng)
                if start:
                    _swap_columns(first, place)
        else:
            self._matrix = rng.standard_normal((d, m), dtype=dtype)
        self._matrix /= dtype.type(sigma)

    def phases(self, X: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write X W, shape (n, m), to `out`; X is in the type of the frequencies."""
        return np.matmul(X, self._matrix, out=out)

    def matrix(self) -> np.ndarray:
        """Return W, of shape (d, m)."""
        return self._matrix


def _orthogonal_columns(out: np.ndarray, rng: np.random.Generator) -> None:
    """Fill k columns in Fortran order with orthogonal ones whose norms are those of Gaussian ones.

    Reflections of a Gaussian matrix, with a positive diagonal of its other factor, are uniform.
    """
    (d, k), dtype = out.shape, out.dtype
    # the same memory in rows, or NumPy would draw into a copy
    rng.standard_normal(out=out.T, dtype=dtype)
    factor, reflect = get_lapack_funcs(("geqrf", "orgqr"), dtype=dtype)
    reflections, scales, _, _ = factor(out, lwork=_REFLECTED * k, overwrite_a=1)
    signs = np.sign(reflections.diagonal())
    columns, _, _ = reflect(reflections, scales, lwork=_REFLECTED * k, overwrite_a=1)
    columns *= signs * np.sqrt(rng.chisquare(d, k)).astype(dtype)
    if columns is not out:
        out[...] = columns


def _swap_columns(A: np.ndarray, B: np.ndarray) -> None:
    for one, other in zip(A.T, B.T, strict=True):
        kept = one.copy()
        one[:], other[:] = other, kept


class HadamardFrequencies:
    """sqrt(p) / sigma H D1 H D2 H D3, in blocks of p: products with signs and Hadamard matrices.

    Orthogonal frequencies without a matrix (SORF, section 4 of the paper). p is the least power
    of two that is at least d, and at least 64: of one dimension a rotation would have a single
    frequency. The bias of an estimate falls with p. Holds 3 bytes a frequency, and up to 256 kB
    while phases are computed.

    Parameters
    ----------
    d, m : int
        Features of a point, and frequencies.
    sigma : float
        Width of the kernel.
    rng : numpy.random.Generator
    dtype : dtype
    """

    def __init__(
        self, d: int, m: int, sigma: float, rng: np.random.Generator, dtype: np.dtype
    ) -> None:
        self._d, self._m, self._sigma, self._dtype = d, m, sigma, dtype
        p = block_dimensions(d)
        drawn = rng.integers(2, size=(-(-m // p), 3, p), dtype=np.int8)
        drawn *= 2
        drawn -= 1
        self._signs = drawn

    def phases(self, X: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write X W, shape (n, m), to `out`; X is in the type of the frequencies."""
        p = self._signs.shape[2]
        transform, step = _HadamardTransform(p, self._dtype), _buffer_rows(p, self._dtype.itemsize)
        scale = self._dtype.type(1 / (p * self._sigma))
        points, other = np.empty((2, min(step, len(X)), p), self._dtype)
        for start in range(0, len(X), step):
            rows = X[start : start + step]
            Z, Y = points[: len(rows)], other[: len(rows)]
            for block, (first, second, third) in enumerate(self._signs):
                np.multiply(rows, third[: self._d], out=Z[:, : self._d])
                Z[:, self._d :] = 0
                transform(Z, Y)
                Z *= second
                transform(Z, Y)
                Z *= first
                transform(Z, Y)
                part = out[start : start + step, block * p : (block + 1) * p]
                np.multiply(Z[:, : part.shape[1]], scale, out=part)
        return out

    def matrix(self) -> np.ndarray:
        """Return W, of shape (d, m)."""
        found = np.empty((self._d, self._m), self._dtype)
        return self.phases(np.eye(self._d, dtype=self._dtype), found)


class _HadamardTransform:
    """Products with a Hadamard matrix of order p, in place, as two products with small ones."""

    def __init__(self, p: int, dtype: np.dtype) -> None:
        self._inner = _inner_order(p)
        self._outer = p // self._inner
        self._of_inner = hadamard(self._inner, dtype)
        self._of_outer = hadamard(self._outer, dtype)

    def __call__(self, Z: np.ndarray, other: np.ndarray) -> None:
        """Replace the rows of Z; `other` is of its shape and is written to."""
        flat = (Z.size // self._inner, self._inner)
        np.matmul(Z.reshape(flat), self._of_inner, out=other.reshape(flat))
        if self._outer == 1:
            Z[...] = other
            return
        parts = (len(Z), self._outer, self._inner)
        np.matmul(self._of_outer, other.reshape(parts), out=Z.reshape(parts))


def block_dimensions(d: int) -> int:
    """Return the order of the Hadamard matrices for points of d features."""
    return max(_FEWEST_DIMENSIONS, 2 ** math.ceil(math.log2(d)))


def _inner_order(p: int) -> int:
    """Return the order of the larger one of the two matrices of which one of order p is."""
    return p if p <= _ONE_PRODUCT else 2 ** math.ceil(math.log2(p) / 2)


def _buffer_rows(p: int, itemsize: int) -> int:
    return max(_FEWEST_ROWS, _BUFFER_BYTES // (p * itemsize))


def draw_frequencies(
    name: FrequencyName, d: int, m: int, sigma: float, rng: np.random.Generator, dtype: np.dtype
) -> Frequencies:
    """Draw m frequencies for points of d features.

    Parameters
    ----------
    name : {"gaussian", "orthogonal", "hadamard"}
    d, m : int
    sigma : float
        Width of the kernel.
    rng : numpy.random.Generator
    dtype : dtype
        Of the frequencies.
    """
    if name == "hadamard":
        return HadamardFrequencies(d, m, sigma, rng, dtype)
    return DenseFrequencies(d, m, sigma, rng, dtype, name == "orthogonal")


def frequency_bytes(name: str, d: int, m: int, itemsize: int) -> int:
    """Bytes of m frequencies for points of d features, and of what drawing them works in."""
    if name == "hadamard":
        p = block_dimensions(d)
        return 3 * p * -(-m // p)
    work = 0
    if name == "orthogonal":
        columns = min(d, m)
        work = itemsize * (_REFLECTED + 3) * columns + 8 * columns
    return d * m * itemsize + work


def phase_bytes(name: str, rows: int, d: int, itemsize: int) -> int:
    """Bytes held while phases of so many rows are computed, beside these and the rows."""
    if name != "hadamard":
        return 0
    p = block_dimensions(d)
    small = _inner_order(p)
    matrices = itemsize * (small**2 + (p // small) ** 2)
    return 2 * min(rows, _buffer_rows(p, itemsize)) * p * itemsize + matrices
