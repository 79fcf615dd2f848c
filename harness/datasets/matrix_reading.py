"""What a catalog says of how matrices are read: one model a format.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from harness.datasets.strict_model import Strict, as_tuple

Column = int | str
Encoding = Literal["onehot", "onehot-drop-binary", "integer"]


def how_many(value: Any) -> str:
    """Tell one name from several, as pydantic is told which form was taken."""
    return "several names" if isinstance(value, list | tuple) else "one name"


Names = Annotated[
    Annotated[str, Tag("one name")]
    | Annotated[tuple[str, ...], Field(min_length=1), Tag("several names")],
    Discriminator(how_many),
]
"""The name of a matrix, or of several whose rows are joined."""


class Matrix(Strict):
    """Numbered columns without names, some of which may hold codes that stand for names.

    Parameters
    ----------
    nominal : list of int, default none
        Columns of codes, counted from 0 and without the target.
    encoding : {"onehot", "onehot-drop-binary", "integer"}, default "onehot"
        What becomes of them.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"nominal", "encoding"})

    nominal: tuple[Annotated[int, Field(ge=0)], ...] = ()
    encoding: Encoding = "onehot"


class Svmlight(Matrix):
    """The sparse text of SVMlight and LIBSVM; the first word of a line is the target.

    Parameters
    ----------
    zero_based : bool, default False
        Whether the first column has the number 0.
    several_labels : bool, default False
        Whether a point has any number of labels; class 1 are those with the positive one.
    """

    LATER: ClassVar[frozenset[str]] = Matrix.LATER | {"several_labels"}

    format: Literal["svmlight"]
    zero_based: bool = False
    several_labels: bool = False


class Idx(Matrix):
    """The format of MNIST: files of images and of labels in turn.

    Parameters
    ----------
    target : int, optional
        The column with the target, where files of labels have several, as those of QMNIST.
    """

    LATER: ClassVar[frozenset[str]] = Matrix.LATER | {"target"}

    format: Literal["idx"]
    target: int | None = Field(default=None, ge=0)


class Stored(Matrix):
    """Matrices as a program has stored them.

    Parameters
    ----------
    transpose : bool, default False
        Whether samples are in columns: on the last axis of what is stored.
    """

    LATER: ClassVar[frozenset[str]] = Matrix.LATER | {"transpose"}

    transpose: bool = False


def _pairs(X: str | tuple[str, ...], y: str | tuple[str, ...]) -> list[tuple[str, str | None]]:
    features, targets = ((names,) if isinstance(names, str) else names for names in (X, y))
    if len(features) < len(targets):
        raise ValueError(
            f"X names {len(features)} matrices and y {len(targets)}: targets are of a matrix"
        )
    return list(zip_longest(features, targets))


class Mat(Stored):
    """Matrices in a MATLAB file, sparse or not: features and target in one, or in two.

    Parameters
    ----------
    X : str or list of str, default "X"
        The matrix of features, or several whose rows are joined.
    y : str or list of str, optional
        Its targets, or those of each.
    target : int, optional
        The column of X that is the target, where there is no y.
    columns : int, optional
        The first so many columns are features.
    """

    format: Literal["mat"]
    X: Names = "X"
    y: Names | None = None
    target: int | None = None
    columns: int | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_target(self) -> Mat:
        if (self.y is None) == (self.target is None):
            raise ValueError("name the target's matrix (y) or its column of X (target)")
        assert self.pairs
        return self

    @property
    def pairs(self) -> list[tuple[str, str | None]]:
        """Names of features and of their targets; of these None where they are a column."""
        if self.y is not None:
            return _pairs(self.X, self.y)
        return [(name, None) for name in ([self.X] if isinstance(self.X, str) else self.X)]


class Npz(Stored):
    """NumPy arrays, or what `scipy.sparse.save_npz` writes with `y` beside it; none is pickled.

    Parameters
    ----------
    X : str or list of str, default "X"
        The matrix of features, or several whose rows are joined.
    y : str or list of str, default "y"
        Its targets, or those of each.
    """

    format: Literal["npz"]
    X: Names = "X"
    y: Names = "y"

    @model_validator(mode="after")
    def _paired(self) -> Npz:
        assert self.pairs
        return self

    @property
    def pairs(self) -> list[tuple[str, str | None]]:
        """Names of features and of their targets; None of points without a label."""
        return _pairs(self.X, self.y)


class Npy(Stored):
    """Matrices of NumPy, with the target among their columns; pickled objects are refused.

    Parameters
    ----------
    target : int, default -1
        The number of its column.
    ignore : list of int, default none
        Columns that are left out.
    side_by_side : int, default 1
        So many files in turn have columns of the same rows, such as features and targets.
    """

    LATER: ClassVar[frozenset[str]] = Stored.LATER | {"side_by_side"}

    format: Literal["npy"]
    target: int = -1
    ignore: tuple[int, ...] = ()
    side_by_side: int = Field(default=1, ge=1)


class Bytes(Matrix):
    """Numbers without any header, row after row, as the binary files of CIFAR have them.

    Parameters
    ----------
    row : int or list of int
        Numbers in a row. Of several, so many files in turn have columns of the same rows.
    type : {"uint8", "int16", "int32", "float32", "float64"}, default "uint8"
        The lowest byte comes first.
    skip_bytes : int, default 0
        Bytes above the first row, of each file.
    target : int, default -1
        The number of its column.
    ignore : list of int, default none
        Columns that are left out.
    """

    format: Literal["bytes"]
    row: Annotated[
        tuple[Annotated[int, Field(gt=0)], ...], Field(min_length=1), BeforeValidator(as_tuple)
    ]
    type: Literal["uint8", "int16", "int32", "float32", "float64"] = "uint8"
    skip_bytes: int = Field(default=0, ge=0)
    target: int = -1
    ignore: tuple[int, ...] = ()
