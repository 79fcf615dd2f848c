"""What a catalog says about files and about how they are read: one model a format.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from harness.datasets.charsets import Charset
from harness.datasets.picture_keys import Images, PictureColumn
from harness.datasets.strict_model import Strict

SPARSE_FORMATS = ("svmlight", "mat", "npz", "generated")
"""Formats of which a matrix may be sparse as it is read."""

FORMATS_WITH_FACTS = ("csv", "parquet", "jsonl", "arff", "openml", "npz")
"""Formats that may say of each point which group it is of, or when it was."""

FOLDER_FORMATS = ("images", "texts")
"""Formats of folders of files."""
TEXT_FORMATS = ("csv", "parquet", "jsonl", "texts")
"""Formats whose columns may be texts."""
Column = int | str
Encoding = Literal["onehot", "onehot-drop-binary", "integer"]


def _how_many(value: Any) -> str:
    return "several names" if isinstance(value, list | tuple) else "one name"


Names = Annotated[
    Annotated[str, Tag("one name")]
    | Annotated[tuple[str, ...], Field(min_length=1), Tag("several names")],
    Discriminator(_how_many),
]
"""The name of a matrix, or of several whose rows are joined."""


class PointColumn(Strict):
    """A column that says something of each point, such as its group; no feature of a learner.

    Parameters
    ----------
    column : int or str
        Its number or name in a table; in npz the name of an array.
    feature : bool, default False
        Whether it is a feature besides. An array of npz is none.
    """

    column: Column
    feature: bool = False


def _point_column(value: Any) -> Any:
    plain = isinstance(value, int | str) and not isinstance(value, bool)
    return {"column": value} if plain else value


PointColumns = Annotated[PointColumn | None, BeforeValidator(_point_column)]


def _as_tuple(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


class Tabular(Strict):
    """Columns of numbers and of names; one of them is the target."""

    LATER: ClassVar[frozenset[str]] = frozenset({"join", "side_by_side"})

    target: Column = -1
    target_strip: str = ""
    ignore: tuple[Column, ...] = ()
    encoding: Encoding = "onehot"
    join: Literal["names", "position"] = "names"
    """How columns of several files go together."""
    side_by_side: int = Field(default=1, ge=1)
    """So many files in turn have columns of the same rows."""


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
    """The sparse text of SVMlight and LIBSVM; the first word of a line is the target."""

    LATER: ClassVar[frozenset[str]] = Matrix.LATER | {"several_labels"}

    format: Literal["svmlight"]
    zero_based: bool = False
    several_labels: bool = False
    """Whether a point has any number of labels; class 1 are those with the positive one."""


class Csv(Tabular):
    """Separated values; columns are numbered from 0, or named if there is a header."""

    LATER: ClassVar[frozenset[str]] = Tabular.LATER | {"charset", "decimal", "skip_rows", "quotes"}

    format: Literal["csv"]
    charset: Charset = "utf-8"
    decimal: Literal[".", ","] = "."
    separator: str = Field(default=",", min_length=1, max_length=1)
    header: bool = False
    skip_rows: int = Field(default=0, ge=0)
    """Lines above the table, of each file."""
    skip_lines_starting: str | None = Field(default=None, min_length=1, max_length=1)
    nominal: tuple[Column, ...] = ()
    missing_values: tuple[str, ...] = ("?", "")
    quotes: bool = True
    """Whether values may stand in quotes ("); if not, a quote is a sign like any other."""


class Parquet(Tabular):
    """Apache Parquet; an index that pandas has written is no column."""

    LATER: ClassVar[frozenset[str]] = Tabular.LATER | {"pictures"}

    format: Literal["parquet"]
    nominal: tuple[Column, ...] = ()
    pictures: PictureColumn | None = None


class JsonLines(Tabular):
    """JSON lines: an object a line, whose keys are the columns."""

    format: Literal["jsonl"]
    charset: Charset = "utf-8"
    nominal: tuple[Column, ...] = ()


class Texts(Strict):
    """Folders with a file a text, `FOLDER/LABEL/FILE`; its one column is called text."""

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
    """NumPy arrays, or what `scipy.sparse.save_npz` writes with `y` beside it; none is pickled."""

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
    """Matrices of NumPy, with the target among their columns; pickled objects are refused."""

    LATER: ClassVar[frozenset[str]] = Stored.LATER | {"side_by_side"}

    format: Literal["npy"]
    target: int = -1
    ignore: tuple[int, ...] = ()
    side_by_side: int = Field(default=1, ge=1)
    """So many files in turn have columns of the same rows, such as features and targets."""


class Bytes(Matrix):
    """Numbers without any header, row after row, as the binary files of CIFAR have them.

    Parameters
    ----------
    row : int or list of int
        Numbers in a row. Of several, so many files in turn have columns of the same rows.
    type : {"uint8", "int16", "int32", "float32", "float64"}, default "uint8"
        The lowest byte comes first.
    skip_bytes : int, default 0, of each file
    """

    format: Literal["bytes"]
    row: Annotated[
        tuple[Annotated[int, Field(gt=0)], ...], Field(min_length=1), BeforeValidator(_as_tuple)
    ]
    type: Literal["uint8", "int16", "int32", "float32", "float64"] = "uint8"
    skip_bytes: int = Field(default=0, ge=0)
    target: int = -1
    ignore: tuple[int, ...] = ()


class OpenML(Tabular):
    """A data set that scikit-learn fetches from OpenML by its number."""

    format: Literal["openml"]
    id: int = Field(gt=0)


class Bundled(Strict):
    """A data set that ships inside scikit-learn: `sklearn.datasets.load_<loader>`."""

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
    | Bytes
    | OpenML
    | Bundled
    | Generated,
    Field(discriminator="format"),
]


class Text(Strict):
    """Columns that are texts, and how their words become features.

    Parameters
    ----------
    column : str, int, or list of them
        Of several columns the texts are joined with a blank between them. A missing text is an
        empty one.
    by : {"hashing", "tf-idf"}, default "hashing"
        scikit-learn's `HashingVectorizer`, which counts words under numbers that a hash gives
        them, or its `TfidfVectorizer`, which weights the counts of known words.
    features : int, default 65536
        Columns of the hash, or at most so many words: those that occur most often.
    ngrams : (int, int), default (1, 1)
        Fewest and most words (or characters) that make one feature together.
    analyzer : {"word", "char", "char_wb"}, default "word"
        Whether features are of words, of characters, or of characters within words.
    """

    column: Annotated[
        tuple[Column, ...], Field(min_length=1, max_length=100), BeforeValidator(_as_tuple)
    ]
    by: Literal["hashing", "tf-idf"] = "hashing"
    features: int = Field(default=65536, ge=1, le=10_000_000)
    ngrams: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(le=10)]] = (1, 1)
    analyzer: Literal["word", "char", "char_wb"] = "word"

    @field_validator("ngrams")
    @classmethod
    def _ascending(cls, ngrams: tuple[int, int]) -> tuple[int, int]:
        if ngrams[0] > ngrams[1]:
            raise ValueError("the fewest words come first, such as [1, 2]")
        return ngrams
