"""What the scores of new points are made of, layer by layer: all that a model's file needs to say.

An estimator whose `layers()` returns such a list can be written in a format that other programs
read, as ONNX is. A layer takes a matrix with a row a point and returns one; the first takes
prepared rows, the last gives the columns of `decision_function`, or one column of values, or a
column a cluster of which the largest names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike


@dataclass(frozen=True)
class Center:
    """x - point, in another type.

    Attributes
    ----------
    point : ndarray of shape (d,) or None
        None leaves x where it is.
    dtype : dtype or None
        That of x less the point by default.
    """

    point: np.ndarray | None
    dtype: DTypeLike | None = None


@dataclass(frozen=True)
class KernelValues:
    """k(x, z) for each z of some points, in their type.

    Attributes
    ----------
    points : ndarray of shape (m, d)
    width : float
        As `harness.kernels.KERNELS` take it.
    kernel : str or KernelFunction, default "rbf"
        A name or an object of `harness.kernels.KERNELS`; one of a plugin can be written nowhere.
    """

    points: np.ndarray
    width: float
    kernel: Any = "rbf"


@dataclass(frozen=True)
class Linear:
    """x @ coef + intercept.

    Attributes
    ----------
    coef : ndarray of shape (k, m)
    intercept : ndarray of shape (m,) or None
    """

    coef: np.ndarray
    intercept: np.ndarray | None = None


@dataclass(frozen=True)
class Add:
    """x + values.

    Attributes
    ----------
    values : ndarray of shape (m,) or ()
    """

    values: np.ndarray


@dataclass(frozen=True)
class Waves:
    """Random Fourier features: sqrt(2 / m) cos(x @ frequencies + phases), or pairs without phases.

    Attributes
    ----------
    frequencies : ndarray of shape (d, m)
    phases : ndarray of shape (m,) or None
        None gives cosines and then sines, 2 m columns divided by sqrt(m).
    """

    frequencies: np.ndarray
    phases: np.ndarray | None = None


@dataclass(frozen=True)
class Normalize:
    """x / |x|, and 0 where x is nothing but zeros and rounding."""


@dataclass(frozen=True)
class Signs:
    """1 where x is above 0, else -1."""


@dataclass(frozen=True)
class Sum:
    """The sum of what several lists of layers make of the same x.

    Attributes
    ----------
    branches : sequence of sequences of layers
    """

    branches: Sequence[Sequence[Layer]]


@dataclass(frozen=True)
class Nearest:
    """The row of a table whose number is that of the largest column of x.

    Attributes
    ----------
    table : ndarray of shape (m, k)
    """

    table: np.ndarray


@dataclass(frozen=True)
class OneVsOne:
    """Scores of classes from those of each pair, as scikit-learn's "ovr" decisions of an SVC.

    Attributes
    ----------
    n_classes : int
        x has a column for each pair (i, j) with i < j, above 0 where it is class i.
    """

    n_classes: int


@dataclass(frozen=True)
class Expand:
    """Columns for classes that no labeled point had, below all others.

    Attributes
    ----------
    present : ndarray of int
        Classes that had one. A single column tells two of them apart.
    n_classes : int
    columns : int
        Of x: those of absent classes mean nothing, if there are any.
    """

    present: np.ndarray
    n_classes: int
    columns: int


Layer = (
    Center | KernelValues | Linear | Add | Waves | Normalize | Signs | Sum | Nearest | OneVsOne
) | Expand


def columns(layers: Sequence[Layer]) -> int:
    """Return how many columns come out of layers.

    Raises
    ------
    ValueError
        If none of them says it.
    """
    for layer in reversed(layers):
        if isinstance(layer, Linear):
            return layer.coef.shape[1]
        if isinstance(layer, KernelValues):
            return len(layer.points)
        if isinstance(layer, Nearest):
            return layer.table.shape[1]
        if isinstance(layer, OneVsOne | Expand):
            return layer.n_classes
        if isinstance(layer, Waves):
            m = layer.frequencies.shape[1]
            return 2 * m if layer.phases is None else m
        if isinstance(layer, Sum):
            return columns(layer.branches[0])
    raise ValueError("layers must end in one that has a number of columns")
