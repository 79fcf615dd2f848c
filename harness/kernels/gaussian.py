"""The Gaussian kernel in blocks: one matrix product, then everything in place.

`k(x, z) = exp(-|x - z|^2 / (2 sigma^2))`. A kernel matrix is far larger than its inputs, so what
is counted here are passes over it and copies of it: one product, four passes, no copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import get_blas_funcs
from scipy.sparse import issparse

from harness.kernels.sparse import filled, products, sparse_squares
from harness.layers import Center, KernelValues, Layer, Linear

Most = Callable[[int, float, float], tuple[float, ...]]
"""(d, largest |feature|, width) -> the largest that numbers on the way to kernel values may be."""

BLOCK_BYTES = 1 << 20
"""Bytes of one block of a streamed matrix: it stays in the cache, and a 10 MB budget bears it."""

CENTER_SAMPLE = 256
"""Points whose median stands for that of all."""


_LARGEST = 1e37
"""What is computed on the way to a kernel value; four of them are a float32."""


def block_rows(width: int, itemsize: int = 8) -> int:
    """Rows of `width` elements that make a block of `BLOCK_BYTES`, 16 at the least.

    Parameters
    ----------
    width : int
        Elements of a row, of all arrays that are held for it together.
    itemsize : int, default 8
        Bytes of an element.
    """
    return max(16, BLOCK_BYTES // max(1, width * itemsize))


def row_blocks(n: int, width: int, itemsize: int = 8) -> Iterator[slice]:
    """Cut n rows into blocks of `block_rows(width, itemsize)` rows."""
    step = block_rows(width, itemsize)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def stream_bytes(n: int, width: int, itemsize: int = 8, held: int | None = None) -> int:
    """Bytes of a block of `row_blocks` at most; never falls as n or width grows.

    `held` are the bytes of a row that are there at one time, of a width whose arrays take turns.
    """
    row = width * itemsize
    part = 1 if held is None else held / row
    return int(part * min(n * row, max(BLOCK_BYTES, 16 * row)))


def squared_norms(X: np.ndarray) -> np.ndarray:
    """Return the squared Euclidean norm of each row, shape (n,), without a copy of a dense X."""
    return sparse_squares(X) if issparse(X) else np.einsum("ij,ij->i", X, X)


def gaussian_kernel(
    X: np.ndarray,
    Z: np.ndarray,
    sigma: float,
    out: np.ndarray | None = None,
    center: np.ndarray | None = None,
) -> np.ndarray:
    """Return the Gaussian kernel between the rows of X and the rows of Z.

    Holds, beside its inputs and `out`, a scaled copy of X and (n + m) numbers: give the smaller
    set as X; with a `center` also `center_rows(d)` rows of Z. In float32 the relative error is
    about 1e-7 |x|^2 / sigma^2, of points less the center.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, d)
        float32 or float64.
    Z : ndarray or csr_matrix of shape (m, d)
        Of the same type as X. Where one of the two is sparse there is no center.
    sigma : float
        Width, in the units of X.
    out : ndarray of shape (n, m), optional
        Where to write, C-contiguous.
    center : ndarray of shape (d,), optional
        What is subtracted from points, as of `column_medians`; nothing by default, for points
        that are near the origin already.

    Returns
    -------
    ndarray of shape (n, m)
    """
    scale = X.dtype.type(1 / sigma**2)
    if issparse(X) or issparse(Z):
        assert center is None, "zeros stay where they are"
        K = products(X, Z, out)
        K *= scale
        K -= (squared_norms(X) * (scale / 2))[:, None]
        K -= squared_norms(Z) * (scale / 2)
    elif center is None:
        scaled = X * scale
        K = np.matmul(scaled, Z.T, out=out)
        K -= (np.einsum("ij,ij->i", scaled, X) / 2)[:, None]
        K -= squared_norms(Z) * (scale / 2)
    else:
        K = np.empty((len(X), len(Z)), X.dtype) if out is None else out
        scaled = centered(X, center, X.dtype)
        half_norms = squared_norms(scaled)
        half_norms *= scale / 2
        scaled *= scale
        step, norms = center_rows(Z.shape[1], Z.itemsize), np.empty(len(Z), X.dtype)
        buffer = np.empty((min(step, len(Z)), Z.shape[1]), X.dtype)
        for start in range(0, len(Z), step):
            part = slice(start, min(start + step, len(Z)))
            near = _move(Z[part], center, buffer[: part.stop - start])
            np.matmul(scaled, near.T, out=K[:, part])
            norms[part] = squared_norms(near)
        norms *= scale / 2
        K -= half_norms[:, None]
        K -= norms
    # Rounding can put the squared distance of equal points below zero, and K above one.
    np.minimum(K, 0, out=K)
    return np.exp(K, out=K)


def center_rows(n_features: int, itemsize: int = 8) -> int:
    """Rows of Z that `gaussian_kernel` moves at a time: a quarter of a block, 16 at the least."""
    return max(16, BLOCK_BYTES // 4 // max(1, n_features * itemsize))


class GaussianAt:
    """`gaussian_kernel` of any X with one and the same Z, whose norms are computed once.

    Holds m numbers. BLAS scales the product and adds it to the norms: X is not copied, and a pass
    over the kernel values is saved, a tenth of the time where X has 784 columns.

    Parameters
    ----------
    Z : ndarray of shape (m, d)
        float32 or float64, C-contiguous.
    sigma : float
    """

    def __init__(self, Z: np.ndarray, sigma: float) -> None:
        self._Z = Z
        self._scale = Z.dtype.type(1 / sigma**2)
        self._half_norms = squared_norms(Z) * (self._scale / 2)

    def __call__(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return k between the rows of X and of Z, shape (n, m).

        Parameters
        ----------
        X : ndarray or csr_matrix of shape (n, d)
            Of the same type as Z; C-contiguous if dense.
        out : ndarray of shape (n, m), optional
            Where to write; through a copy unless it is C-contiguous and of the type of X.
        """
        if out is None or not (out.flags.c_contiguous and out.dtype == X.dtype):
            # BLAS would write to a copy
            K = self(X, np.empty((X.shape[0], len(self._Z)), X.dtype))
            if out is None:
                return K
            out[...] = K
            return out
        if not len(out):
            return out
        K = out
        half_norms = squared_norms(X)
        half_norms *= -self._scale / 2
        if issparse(X):
            products(X, self._Z, K)
            K *= self._scale
            K += half_norms[:, None]
        else:
            K[...] = half_norms[:, None]
            (gemm,) = get_blas_funcs(("gemm",), (X,))
            gemm(self._scale, self._Z.T, X.T, beta=1.0, c=K.T, trans_a=1, overwrite_c=1)
        # not before: of points that are near, less is lost of the smaller number
        K -= self._half_norms
        np.minimum(K, 0, out=K)
        return np.exp(K, out=K)


def gaussian_most(d: int, largest: float, width: float) -> tuple[float, ...]:
    """Return `Most` of the Gaussian kernel: squared norms, plain and in squared widths."""
    longest = max(largest, width, largest / width, 1 / width)
    return (d * longest * longest, width)


def centered(
    X: np.ndarray, center: np.ndarray | None, dtype: DTypeLike = np.float32
) -> np.ndarray:
    """Return X less a point such as `column_medians`, subtracted in its own type, in another.

    Without a point it is X itself where X is of that type.
    """
    if center is None:
        return X.astype(dtype, copy=False)
    return _move(X, center, np.empty(X.shape, dtype))


def centered_rows(
    X: np.ndarray,
    rows: np.ndarray | None = None,
    center: np.ndarray | None = None,
    dtype: DTypeLike = np.float32,
) -> np.ndarray:
    """Return `centered` of some rows of X, which are picked block by block.

    Holds `stream_bytes(m, 2 d)` beside what it returns; picked at once they would be all of it.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    rows : ndarray of int, shape (m,), optional
        All by default.
    center : ndarray of shape (d,), optional
    dtype : type, default numpy.float32
        Of what is returned.
    """
    m, d = X.shape[0] if rows is None else len(rows), X.shape[1]
    near = np.empty((m, d), dtype)
    for block in row_blocks(m, 2 * d):
        near[block] = filled(centered(X[block if rows is None else rows[block]], center, dtype))
    return near


def _move(X: np.ndarray, center: np.ndarray, out: np.ndarray) -> np.ndarray:
    # in one type, or NumPy would convert by way of buffers
    return np.subtract(X, center.astype(X.dtype), out=out, casting="same_kind")


def column_medians(X: np.ndarray) -> np.ndarray:
    """Return the median of each column over at most `CENTER_SAMPLE` rows, float64 of shape (d,).

    Points are moved there before kernels of them are computed in float32. A mean would follow one
    outlier so far that rounding takes all others. Values are those that float32 has: the same
    point is subtracted in either type.
    """
    sample = X[:: -(-len(X) // CENTER_SAMPLE)]
    found = np.empty(X.shape[1])
    for columns in column_blocks(*sample.shape):
        found[columns] = np.median(sample[:, columns], axis=0).astype(np.float32)
    return found


def column_blocks(n: int, d: int) -> list[slice]:
    """Cut d columns of n rows into blocks of a quarter of a block, 16 columns at the least."""
    step = block_columns(n)
    return [slice(start, min(start + step, d)) for start in range(0, d, step)]


def block_columns(n: int) -> int:
    """Return how many columns of n rows are taken at a time."""
    return max(16, BLOCK_BYTES // 4 // (8 * max(1, n)))


def normalize_rows(F: np.ndarray) -> np.ndarray:
    """Scale rows to norm one, in place; rows of nothing but zeros and rounding become zeros.

    Kernel values of a far point may be too small for their squares, which is no reason not to know
    its direction.
    """
    # in two steps: one over a number that is hardly above zero would be no number
    largest = np.maximum(F.max(axis=1, initial=0), -F.min(axis=1, initial=0))
    known = largest > np.finfo(F.dtype).tiny / np.finfo(F.dtype).eps
    F *= np.divide(1, largest, out=np.zeros_like(largest), where=known)[:, None]
    norms = np.sqrt(squared_norms(F))
    F *= np.divide(1, norms, out=norms, where=known)[:, None]
    return F


def gaussian_rows(
    X: np.ndarray,
    Z: np.ndarray,
    sigma: float,
    blocks: Iterable[slice],
    center: np.ndarray | None = None,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows and their kernel values at Z, each in the same array.

    A new one for each block would cost a page fault for each of its pages.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    Z : ndarray of shape (m, d)
        Of the same type as X.
    sigma : float
        Width.
    blocks : iterable of slice
        Of the rows of X; none has more rows than the first.
    center : ndarray of shape (d,), optional
        As for `gaussian_kernel`.
    """
    values = None
    for block in blocks:
        rows = X[block]
        if values is None:
            values = np.empty((len(rows), len(Z)), X.dtype)
        yield block, gaussian_kernel(rows, Z, sigma, values[: len(rows)], center)


@dataclass(frozen=True)
class GaussianExpansion:
    """The function sum_j coef_j k(x, points_j) + intercept.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        The kernel is computed in their type.
    sigma : float
        Width.
    coef : ndarray of shape (m, Q)
    intercept : ndarray of shape (Q,)
    center : ndarray of shape (d,) or None
        What was subtracted from the points, and is to be from x.
    """

    points: np.ndarray
    sigma: float
    coef: np.ndarray
    intercept: np.ndarray
    center: np.ndarray | None = None

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return its values at every row of X, float64 of shape (n, Q), in blocks of rows.

        Holds `expansion_bytes` beside what it returns.
        """
        points = self.points
        values = np.empty((len(X), len(self.intercept)))
        m, d = points.shape
        width = _expansion_width(m, d, points.itemsize)
        K = np.empty((min(len(X), block_rows(width, 1)), len(points)), points.dtype)
        for block in row_blocks(len(X), width, 1):
            rows = centered(X[block], self.center, points.dtype)
            gaussian_kernel(rows, points, self.sigma, out=K[: len(rows)])
            np.matmul(K[: len(rows)], self.coef, out=values[block])
            values[block] += self.intercept
        return values

    def layers(self) -> list[Layer]:
        """Return what values are made of."""
        kernel = KernelValues(self.points, self.sigma)
        near = Center(self.center, self.points.dtype)
        return [near, kernel, Linear(self.coef, self.intercept)]


def expansion_bytes(n: int, m: int, n_features: int, itemsize: int = 8) -> int:
    """Bytes that `GaussianExpansion.values` holds for n rows, with m points of an item size."""
    return stream_bytes(n, _expansion_width(m, n_features, itemsize), 1)


def _expansion_width(m: int, n_features: int, itemsize: int) -> int:
    """Bytes held for a row: moved, scaled, its kernel values, and these in float64."""
    return itemsize * (m + 2 * n_features) + (0 if itemsize == 8 else 8 * m)


def refuse_overflow(
    X: np.ndarray, width: float, kernel: str = "gaussian", most: Most = gaussian_most
) -> None:
    """Refuse points of which a kernel's sums and squares leave float32.

    Kernel values would be NaN, or 1 of points that are apart. Holds nothing.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    width : float
    kernel : str, default "gaussian"
        Its name, for the message.
    most : callable, default `gaussian_most`
        Of the kernel.

    Raises
    ------
    ValueError
        With the kernel, the largest feature and the width.
    """
    largest = max(-float(X.min()), float(X.max()))
    # a width that is no number is refused too
    if not all(value <= _LARGEST for value in most(X.shape[1], largest, width)):
        message = (
            f"X holds features of {largest:.2g} and the {kernel} kernel is {width:.2g} wide: what "
            "it is computed from, such as squares of these or of one in parts of the other, "
            "overflows in float32; scale the features"
        )
        raise ValueError(message)
