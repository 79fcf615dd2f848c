"""What a catalog says about files and about how they are read: one model a format.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

import codecs
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from harness.datasets.strict_model import Strict

SPARSE_FORMATS = ("svmlight", "mat", "npz", "generated")
"""Formats of which a matrix may be sparse as it is read."""

FOLDER_FORMATS = ("images", "texts")
"""Formats of folders of files."""

TEXT_FORMATS = ("csv", "parquet", "jsonl", "texts")
"""Formats whose columns may be texts."""

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


def _known_charset(charset: str) -> str:
    try:
        codecs.lookup(charset)
    except (LookupError, ValueError):
        raise ValueError("no charset that Python knows, such as utf-8 or latin-1") from None
    return charset


Charset = Annotated[str, AfterValidator(_known_charset)]


class Tabular(Strict):
    """Columns of numbers and of names; one of them is the target.

    Parameters
    ----------
    target : int or str, default -1
        The column to predict: its number, or its name where columns have names.
    target_strip : str, default ""
        Characters that are taken off both ends of a label.
    ignore : list of int or str, default none
        Columns that are left out, such as numbers of rows.
    encoding : {"onehot", "onehot-drop-binary", "integer"}, default "onehot"
        What becomes of columns of names.
    join : {"names", "position"}, default "names"
        How columns of several files go together.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"join"})

    target: Column = -1
    target_strip: str = ""
    ignore: tuple[Column, ...] = ()
    encoding: Encoding = "onehot"
    join: Literal["names", "position"] = "names"


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
    """

    format: Literal["svmlight"]
    zero_based: bool = False


class Csv(Tabular):
    """Separated values; columns are numbered from 0, or named if there is a header.

    Parameters
    ----------
    charset : str, default "utf-8"
        How characters are stored.
    decimal : {".", ","}, default "."
        The decimal sign.
    separator : str, default ","
        One character; blanks of any number if it is a blank.
    header : bool, default False
        Whether the first line names the columns.
    skip_rows : int, default 0
        Lines above the table, of each file.
    skip_lines_starting : str, optional
        Lines that start with this character are comments.
    nominal : list of int or str, default none
        Columns of names, or of codes that stand for names.
    missing_values : list of str, default ["?", ""]
        Texts that mean that a value is missing.
    """

    LATER: ClassVar[frozenset[str]] = Tabular.LATER | {"charset", "decimal", "skip_rows"}

    format: Literal["csv"]
    charset: Charset = "utf-8"
    decimal: Literal[".", ","] = "."
    separator: str = Field(default=",", min_length=1, max_length=1)
    header: bool = False
    skip_rows: int = Field(default=0, ge=0)
    skip_lines_starting: str | None = Field(default=None, min_length=1, max_length=1)
    nominal: tuple[Column, ...] = ()
    missing_values: tuple[str, ...] = ("?", "")


class Parquet(Tabular):
    """Apache Parquet; an index that pandas has written is no column.

    Parameters
    ----------
    nominal : list of int or str, default none
        Columns of numbers that stand for names; columns of texts are names anyway.
    """

    format: Literal["parquet"]
    nominal: tuple[Column, ...] = ()


class JsonLines(Tabular):
    """JSON lines: an object a line, whose keys are the columns.

    Parameters
    ----------
    charset : str, default "utf-8"
        How characters are stored.
    nominal : list of int or str, default none
        Columns of numbers that stand for names; columns of texts are names anyway.
    """

    format: Literal["jsonl"]
    charset: Charset = "utf-8"
    nominal: tuple[Column, ...] = ()


class Texts(Strict):
    """Folders with a file a text, `FOLDER/LABEL/FILE`; its one column is called text.

    Parameters
    ----------
    charset : str, default "utf-8"
        How characters are stored.
    pattern : str, default "*"
        Which files are texts, such as "*.txt".
    """

    format: Literal["texts"]
    charset: Charset = "utf-8"
    pattern: str = Field(default="*", min_length=1, max_length=200)


class Arff(Tabular):
    """Weka's format; it says itself which attributes are nominal."""

    format: Literal["arff"]


class Idx(Matrix):
    """The format of MNIST: files of images and of labels in turn."""

    format: Literal["idx"]


class Stored(Matrix):
    """Matrices as a program has stored them.

    Parameters
    ----------
    transpose : bool, default False
        Whether samples are in columns: on the last axis of what is stored.
    """

    LATER: ClassVar[frozenset[str]] = Matrix.LATER | {"transpose"}

    transpose: bool = False


def _pairs(X: str | tuple[str, ...], y: str | tuple[str, ...]) -> list[tuple[str, str]]:
    features, targets = ((names,) if isinstance(names, str) else names for names in (X, y))
    if len(features) != len(targets):
        raise ValueError(
            f"X names {len(features)} matrices and y {len(targets)}: each has its targets"
        )
    return list(zip(features, targets, strict=True))


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
            return [*_pairs(self.X, self.y)]
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
    def pairs(self) -> list[tuple[str, str]]:
        """Names of features and of their targets."""
        return _pairs(self.X, self.y)


class Npy(Stored):
    """One matrix of NumPy, with the target among its columns; pickled objects are refused.

    Parameters
    ----------
    target : int, default -1
        The number of its column.
    ignore : list of int, default none
        Columns that are left out.
    """

    format: Literal["npy"]
    target: int = -1
    ignore: tuple[int, ...] = ()


class Images(Strict):
    """Pictures in folders that are called as their class, or in an archive of such folders.

    Parameters
    ----------
    size : [int, int], optional
        Height and width that all are brought to. By default all are of one size already.
    color : {"gray", "rgb"}, default "gray"
    """

    format: Literal["images"]
    size: tuple[Annotated[int, Field(gt=0)], Annotated[int, Field(gt=0)]] | None = None
    color: Literal["gray", "rgb"] = "gray"


class OpenML(Tabular):
    """A data set that scikit-learn fetches from OpenML by its number.

    Parameters
    ----------
    id : int
        The number of the data set, not of a task.
    """

    format: Literal["openml"]
    id: int = Field(gt=0)


class Bundled(Strict):
    """A data set that ships inside scikit-learn: `sklearn.datasets.load_<loader>`.

    Parameters
    ----------
    loader : {"breast_cancer", "diabetes", "digits", "iris", "wine"}
        Which one.
    """

    format: Literal["sklearn"]
    loader: Literal["breast_cancer", "diabetes", "digits", "iris", "wine"]


class Generated(BaseModel):
    """A data set that a plugin computes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    format: Literal["generated"]
    # a GeneratedDataset; pydantic would need NumPy to resolve its annotations
    dataset: Any = Field(exclude=True)
    version: str = ""


Read = Annotated[
    Svmlight
    | Csv
    | Arff
    | Parquet
    | JsonLines
    | Texts
    | Idx
    | Images
    | Mat
    | Npz
    | Npy
    | OpenML
    | Bundled
    | Generated,
    Field(discriminator="format"),
]
