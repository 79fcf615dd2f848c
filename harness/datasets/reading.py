"""What a catalog says about files and about how they are read: one model a format.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
)

from harness.datasets.charsets import Charset
from harness.datasets.matrix_reading import Bytes, Column, Encoding, Idx, Mat, Npy, Npz, Svmlight
from harness.datasets.picture_keys import Images, PictureColumn
from harness.datasets.strict_model import Strict

SPARSE_FORMATS = ("svmlight", "mat", "npz", "generated")
"""Formats of which a matrix may be sparse as it is read."""

FOLDER_FORMATS = ("images", "texts")
"""Formats of folders of files."""

TEXT_FORMATS = ("csv", "parquet", "jsonl", "texts")
"""Formats whose columns may be texts."""


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
    side_by_side : int, default 1
        So many files in turn have columns of the same rows.
    """

    LATER: ClassVar[frozenset[str]] = frozenset({"join", "side_by_side"})

    target: Column = -1
    target_strip: str = ""
    ignore: tuple[Column, ...] = ()
    encoding: Encoding = "onehot"
    join: Literal["names", "position"] = "names"
    side_by_side: int = Field(default=1, ge=1)


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
    quotes : bool, default True
        Whether values may stand in quotes ("); if not, a quote is a sign like any other.
    widths : list of int, default none
        Characters of each column, where these have a fixed width and nothing separates them.
    """

    LATER: ClassVar[frozenset[str]] = Tabular.LATER | {
        *("charset", "decimal", "skip_rows", "quotes", "widths")
    }

    format: Literal["csv"]
    charset: Charset = "utf-8"
    decimal: Literal[".", ","] = "."
    separator: str = Field(default=",", min_length=1, max_length=1)
    header: bool = False
    skip_rows: int = Field(default=0, ge=0)
    skip_lines_starting: str | None = Field(default=None, min_length=1, max_length=1)
    nominal: tuple[Column, ...] = ()
    missing_values: tuple[str, ...] = ("?", "")
    quotes: bool = True
    widths: tuple[Annotated[int, Field(ge=1)], ...] = ()


class Parquet(Tabular):
    """Apache Parquet; an index that pandas has written is no column.

    Parameters
    ----------
    nominal : list of int or str, default none
        Columns of numbers that stand for names; columns of texts are names anyway.
    pictures : mapping, optional
        The column of encoded pictures (`column`), and their `size` and `color`.
    """

    LATER: ClassVar[frozenset[str]] = Tabular.LATER | {"pictures"}

    format: Literal["parquet"]
    nominal: tuple[Column, ...] = ()
    pictures: PictureColumn | None = None


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
    | Parquet
    | JsonLines
    | Texts
    | Arff
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

FORMATS: dict[str, type[BaseModel]] = {
    get_args(model.model_fields["format"].annotation)[0]: model
    for model in get_args(get_args(Read)[0])
}
"""The model of each format, by the name that an entry gives it."""
