"""Kernels by name, and what binds one to its data: the width that it gets there.

A kernel is `function(X, Z, width)`, with the width that is natural on some data (`unit`, a median
distance of the kernel's own kind) and the values k(x, x) (`diagonal`). Methods take a kernel as a
name of `KERNELS` or as any object with these three attributes, and bind it once a fit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import issparse

from harness.estimator import Estimator, OneOf, PositiveFloat
from harness.kernels.elementwise_kernels import (
    cellwise_bytes,
    chi2_kernel,
    chi2_most,
    chi2_unit,
    laplacian_kernel,
    laplacian_most,
    laplacian_unit,
)
from harness.kernels.gaussian import (
    GaussianAt,
    Most,
    block_rows,
    center_rows,
    centered,
    column_medians,
    gaussian_kernel,
    gaussian_most,
    refuse_overflow,
    squared_norms,
)
from harness.kernels.sparse import products
from harness.kernels.width import (
    MEDIAN_SAMPLE,
    median_distance,
    natural_width,
    width_bytes,
    width_sample,
)

_CELLWISE = ("chi2", "laplacian")


@runtime_checkable
class KernelFunction(Protocol):
    """What a kernel consists of.

    Two more attributes may be left out. `storage`, a callable (n, m, n_features, itemsize) -> int,
    is what `kernel_bytes` then is. `shift_invariant` says whether values depend on x - z alone:
    points are then moved near the origin before they are rounded to float32.
    """

    @property
    def function(self) -> Callable[..., np.ndarray]:
        """(X, Z, width) -> ndarray of shape (len(X), len(Z)).

        May take a further keyword `out`, the array to write to.
        """

    @property
    def unit(self) -> Callable[[np.ndarray], float] | None:
        """X -> float, the kernel's natural width on X; None for a kernel without a width."""

    @property
    def diagonal(self) -> Callable[[np.ndarray, float], np.ndarray] | None:
        """(X, width) -> k(x, x) of each row, shape (n,); None if that is 1 for every x."""


@dataclass(frozen=True)
class BuiltInKernel:
    """A kernel that comes with the harness; see `KernelFunction`.

    Attributes
    ----------
    most : callable (d, largest, width) -> tuple of float
        See `gaussian.Most`: what decides whether points are refused.
    """

    function: Callable[..., np.ndarray]
    most: Most
    unit: Callable[[np.ndarray], float] | None = None
    diagonal: Callable[[np.ndarray, float], np.ndarray] | None = None
    shift_invariant: bool = False


@dataclass(frozen=True)
class BoundKernel:
    """A kernel whose width is decided: `bound(X, Z)` is a matrix.

    Attributes
    ----------
    kernel : KernelFunction
    width : float
        In the units of X; 1 for a kernel without a width.
    center : ndarray of shape (d,), float64, or None
        What may be subtracted from all points, since values depend on differences alone; None of
        another kernel.
    """

    kernel: KernelFunction
    width: float
    center: np.ndarray | None = None

    def near(self, X: np.ndarray, dtype: DTypeLike = np.float32) -> np.ndarray:
        """Return X less the center, which is subtracted before X is rounded to another type.

        `at_origin` is the kernel of such points. Without a center it is X itself where X is of
        that type.
        """
        return centered(X, self.center, dtype)

    @property
    def at_origin(self) -> BoundKernel:
        """The same kernel of points that are `near` the origin already."""
        return replace(self, center=None)

    def __call__(self, X: np.ndarray, Z: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return k between the rows of X and of Z, shape (n, m), in `out` if that is given.

        Holds `kernel_bytes` besides: with the Gaussian kernel a copy of X, so give the smaller
        set as X.

        Raises
        ------
        ValueError
            If a kernel of one's own gives another shape, NaN or infinity.
        """
        if self.center is not None:
            if self.kernel.function is gaussian_kernel:
                return gaussian_kernel(X, Z, self.width, out, self.center)
            return self._moved_parts(X, Z, out)
        given = {} if out is None or not self._takes_out else {"out": out}
        K = self.kernel.function(X, Z, self.width, **given)
        if not isinstance(self.kernel, BuiltInKernel):
            self._refuse_no_matrix(K, X.shape[0], Z.shape[0])
        if out is None or K is out:
            return K
        out[...] = K
        return out

    def _moved_parts(self, X: np.ndarray, Z: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        """Return values of moved points, of which a block each is held."""
        K = np.empty((len(X), len(Z)), X.dtype) if out is None else out
        local, step = self.at_origin, _moved_rows(X.shape[1], X.itemsize)
        for first in range(0, len(Z), step):
            columns = slice(first, first + step)
            near = self.near(Z[columns], Z.dtype)
            for start in range(0, len(X), step):
                rows = slice(start, start + step)
                # its own kernels write into parts of a matrix; others may not
                part = K[rows, columns]
                out = part if isinstance(self.kernel, BuiltInKernel) else None
                values = local(self.near(X[rows], X.dtype), near, out=out)
                if values is not part:
                    part[...] = values
                del values
        return K

    def at(self, Z: np.ndarray) -> Callable[..., np.ndarray]:
        """Return the kernel as a function of X, and of `out`, for one and the same Z.

        Both are taken to be `near` the origin. Holds m numbers of the type of Z, and then nothing
        besides with the Gaussian kernel.

        Parameters
        ----------
        Z : ndarray of shape (m, d)
            C-contiguous, as any X has to be.
        """
        if self.kernel.function is gaussian_kernel:
            return GaussianAt(Z, self.width)
        return partial(self.at_origin, Z=Z)

    def _refuse_no_matrix(self, K: np.ndarray, n: int, m: int) -> None:
        name = getattr(self.kernel, "name", type(self.kernel).__name__)
        if np.shape(K) != (n, m):
            message = f"kernel {name}: a matrix of shape ({n}, {m}) is wanted, not {np.shape(K)}"
            raise ValueError(message)
        if K.size and not np.isfinite([K.min(), K.max()]).all():
            message = f"kernel {name} gives values that are not finite"
            raise ValueError(message)

    @cached_property
    def _takes_out(self) -> bool:
        return "out" in inspect.signature(self.kernel.function).parameters

    def diagonal(self, X: np.ndarray) -> np.ndarray:
        """Return k(x, x) of each row, shape (n,)."""
        if self.kernel.diagonal is None:
            return np.ones(X.shape[0], X.dtype)
        return self.kernel.diagonal(X, self.width)


OF_SCALED_INTEGERS = frozenset({"rbf", "laplacian"})
"""Kernels that take small integers: points are moved, so that blocks are made anyway."""


def has_width(kernel: str | KernelFunction) -> bool:
    """Whether `sigma` means anything to a kernel; so it may, of one that is not known here."""
    known = KERNELS.get(kernel) if isinstance(kernel, str) else kernel
    return known is None or getattr(known, "unit", True) is not None


def bind_kernel(
    kernel: str | KernelFunction,
    X: np.ndarray,
    sigma: float = 1.0,
    sigma_unit: str = "median",
) -> BoundKernel:
    """Give a kernel its width.

    Parameters
    ----------
    kernel : str or KernelFunction
        A name of `KERNELS`, or an object with `function`, `unit` and `diagonal`.
    X : ndarray or csr_matrix of shape (n, d)
        Decides what the natural width is; a sample of at most 300 rows is read.
    sigma : float, default 1.0
        Width, in units of `sigma_unit`; ignored by kernels without a width.
    sigma_unit : {"median", "absolute"}, default "median"
        "median": the kernel's natural width on X, the median distance between rows, of its own
        kind of distance; of "poly2" the root of the mean of |x|^2.

    Returns
    -------
    BoundKernel

    Raises
    ------
    ValueError
        If there is no kernel of that name, X is not what the kernel is defined for, or one of the
        harness would overflow.
    """
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            message = f"kernel={kernel!r} is not one of {', '.join(KERNELS)}"
            raise ValueError(message)
        kernel = KERNELS[kernel]
    width = 1.0
    if kernel.unit is not None:
        # a width that is no number is refused below
        with np.errstate(over="ignore", invalid="ignore"):
            width = natural_width(kernel.unit(X), sigma, sigma_unit)
    if isinstance(kernel, BuiltInKernel):
        refuse_overflow(X, width, kernel.function.__name__.removesuffix("_kernel"), kernel.most)
    # a center would fill the zeros of a sparse matrix
    moved = is_shift_invariant(kernel) and not issparse(X)
    center = column_medians(X) if moved else None
    return BoundKernel(kernel, width, center)


def kernel_bytes(
    kernel: str | KernelFunction,
    n: int,
    m: int,
    n_features: int,
    itemsize: int = 8,
    at_origin: bool = False,
) -> int:
    """Bytes that a bound kernel holds for n x m values, beside its inputs and its result.

    Parameters
    ----------
    kernel : str or KernelFunction
        Of one that is not among `KERNELS` what its `storage` says; without one two matrices of
        doubles, and X and Z in doubles.
    n, m : int
        Rows of X and of Z. Whoever takes blocks may give all rows where the kernel is one of
        `KERNELS`, which hold blocks themselves: so bytes never fall as blocks get shorter.
    n_features : int
    itemsize : int, default 8
        Bytes of an element of X.
    at_origin : bool, default False
        Whether the points are near the origin already, and no copies of them are moved.
    """
    moving = 0
    if kernel == "rbf":
        part = 0 if at_origin else min(m, center_rows(n_features, itemsize))
        return ((n + part) * n_features + n + 2 * m) * itemsize
    if is_shift_invariant(kernel) and not at_origin:
        n, m = (min(count, _moved_rows(n_features, itemsize)) for count in (n, m))
        values = 0 if isinstance(kernel, str) else n * m
        moving = ((n + m) * n_features + values) * itemsize
    if isinstance(kernel, str):
        return moving + (cellwise_bytes(n, m, n_features, itemsize) if kernel in _CELLWISE else 0)
    storage = getattr(kernel, "storage", None)
    if storage is not None:
        return moving + int(storage(n, m, n_features, itemsize))
    return moving + 8 * (2 * n * m + (n + m) * n_features)


def is_shift_invariant(kernel: str | KernelFunction) -> bool:
    """Whether the values of a kernel depend on differences of points alone."""
    known = KERNELS.get(kernel) if isinstance(kernel, str) else kernel
    return bool(getattr(known, "shift_invariant", False))


def _moved_rows(n_features: int, itemsize: int) -> int:
    """Rows of the blocks in which points of kernels other than the Gaussian are moved."""
    return min(1024, block_rows(n_features, itemsize))


def binding_bytes(kernel: str | KernelFunction, n: int, n_features: int, itemsize: int = 8) -> int:
    """Bytes that `bind_kernel` holds for n rows of X beside them."""
    held, sample = width_bytes(n, n_features, itemsize), min(n, MEDIAN_SAMPLE)
    if kernel != "rbf":
        # its own kind of distance is taken of all columns of the sample at once
        copies = (itemsize if n > sample else 0) + (8 if itemsize != 8 else 0)
        held = max(held, 4 * sample**2 + copies * sample * n_features)
    if kernel == "chi2":
        # distances as a matrix, beside the pairs above its diagonal
        held += 8 * sample**2 + cellwise_bytes(sample, sample, n_features)
    return held


def linear_kernel(
    X: np.ndarray, Z: np.ndarray, width: float = 1.0, out: np.ndarray | None = None
) -> np.ndarray:
    """Return x'z, shape (n, m); there is no width. Holds nothing beside its inputs and result."""
    return products(X, Z, out)


def poly2_kernel(
    X: np.ndarray, Z: np.ndarray, width: float = 1.0, out: np.ndarray | None = None
) -> np.ndarray:
    """Return (x'z / width^2 + 1)^2, shape (n, m). Holds what `linear_kernel` holds."""
    K = products(X, Z, out)
    K *= 1 / width**2
    K += 1
    return np.square(K, out=K)


def root_mean_square_norm(X: np.ndarray) -> float:
    """Return the root of the mean of |x|^2 over a sample of X, 1 where it is 0."""
    sample = width_sample(X).astype(np.float64, copy=False)
    return float(np.sqrt(squared_norms(sample).mean())) or 1.0


def _linear_diagonal(X: np.ndarray, width: float) -> np.ndarray:
    return squared_norms(X)


def _poly2_diagonal(X: np.ndarray, width: float) -> np.ndarray:
    return np.square(squared_norms(X) / width**2 + 1)


def _linear_most(d: int, largest: float, width: float) -> tuple[float, ...]:
    return (d * largest * largest,)


def _poly2_most(d: int, largest: float, width: float) -> tuple[float, ...]:
    share = d * largest / width * largest / width
    return d * largest * largest, share * share, width * width, 1 / width / width


KERNELS: dict[str, KernelFunction] = {
    "rbf": BuiltInKernel(gaussian_kernel, gaussian_most, median_distance, shift_invariant=True),
    "linear": BuiltInKernel(linear_kernel, _linear_most, diagonal=_linear_diagonal),
    "poly2": BuiltInKernel(poly2_kernel, _poly2_most, root_mean_square_norm, _poly2_diagonal),
    "chi2": BuiltInKernel(chi2_kernel, chi2_most, chi2_unit),
    "laplacian": BuiltInKernel(
        laplacian_kernel, laplacian_most, laplacian_unit, shift_invariant=True
    ),
}
"""The kernels that come with the harness, by name."""

OF_SPARSE = ("rbf", "linear", "poly2")
"""Kernels of which X and Z may be sparse."""

KernelName = Annotated[str, OneOf(KERNELS)]


class AnyKernel(Estimator):
    """A kernel by its name, or one of a plugin."""

    _: KW_ONLY
    kernel: KernelName | KernelFunction = "rbf"
    """A name of `harness.kernels.KERNELS`, or an object like `harness.Kernel`."""
    sigma: PositiveFloat = 1.0
    """Width of the kernel, if it has one."""
    sigma_unit: Literal["median", "absolute"] = "median"
    """What `sigma` counts: median distances between the points, or units of the features."""

    def _kernel_on(self, X: np.ndarray) -> BoundKernel:
        """Return the kernel with its width on X."""
        return bind_kernel(self.kernel, X, self.sigma, self.sigma_unit)
