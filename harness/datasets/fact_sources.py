"""Where an entry says of each point which group it is of, and when it was.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from harness.datasets.file import File
from harness.datasets.matrix_reading import Column, how_many
from harness.datasets.strict_model import Strict

QUERY = "qid"
"""What lines of SVMlight call the group of a point."""

_TABLES = ("csv", "parquet", "jsonl", "arff", "openml")
_BY_NAME = ("npz", "mat")
_BY_NUMBER = ("npz", "mat", "npy")
_OF_FILES = ("openml", "sklearn")
"""Formats without files of a catalog, whose names could say something."""

Columns = Annotated[
    Annotated[Column, Tag("one name")]
    | Annotated[tuple[str, ...], Field(min_length=1), Tag("several names")],
    Discriminator(how_many),
]


class FactSource(Strict):
    """Where something is said of each point, such as its group; no feature of a learner.

    Parameters
    ----------
    column : int, str or list of str, optional
        Of a table the name or number of a column. Of npz and mat the name of an array, or of one
        for each matrix of features; a number is a column of the matrix, as it is of npy. Of
        svmlight "qid". With `files`, a column of these.
    path : str, optional
        A regular expression. What its one group finds in the name of a point's file is said of
        the point; without a group, all that it finds. Of pictures and texts the name is the path
        below their folder.
    files : list of File, optional
        A value for each point, in the order of rows: text with a value a line, `.npy` or idx.
    feature : bool, default False
        Whether the column is a feature besides.
    missing : {"error", "drop"}, default "error"
        What becomes of points of which nothing is said: an error that names one, or they are left
        out.
    """

    column: Columns | None = None
    path: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    files: tuple[File, ...] = ()
    feature: bool = False
    missing: Literal["error", "drop"] = "error"

    @field_validator("path")
    @classmethod
    def _a_pattern(cls, path: str | None) -> str | None:
        try:
            found = re.compile(path or "")
        except re.error as error:
            raise ValueError(f"no regular expression: {error}") from None
        if found.groups > 1:
            raise ValueError(
                f"it has {found.groups} groups in parentheses: write (?:...) for all but the one "
                "whose text is meant"
            )
        return path

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.column is None and not self.files):
            raise ValueError("name one of column, path and files (column may be one of the files)")
        if self.files and isinstance(self.column, tuple):
            raise ValueError("of files one column is named")
        return self

    @property
    def in_source(self) -> bool:
        """Whether it is in what the features are read from."""
        return self.column is not None and not self.files

    @property
    def said(self) -> dict[str, Any]:
        """What determines its values, but for the bytes of its files."""
        # without it an entry of before keeps its digest
        said: dict[str, Any] = {} if self.missing == "error" else {"missing": self.missing}
        if self.files:
            return said if self.column is None else said | {"column": self.column}
        if self.path is not None:
            return said | {"path": self.path}
        return said | {"column": self.column, "feature": self.feature}

    def why_not(self, key: str, format: str) -> str:
        """Say why it cannot be read of a format; empty if it can.

        Parameters
        ----------
        key : {"groups", "order"}
        format : str
            Of the entry's data.
        """
        if format == "generated":
            own = self.column == key and not self.feature
            return "" if own else f"generate returns {key} itself: write `{key}: {key}`"
        if self.feature and not (
            self.in_source
            and (format in _TABLES or (format in _BY_NUMBER and isinstance(self.column, int)))
        ):
            return "feature: true is of a column that is among the features"
        if self.path is not None and format in _OF_FILES:
            return f"format {format} has no files with names; allowed are {_allowed(format)}"
        if not self.in_source:
            return ""
        fits = {
            **dict.fromkeys(_TABLES, not isinstance(self.column, tuple)),
            **dict.fromkeys(_BY_NAME, True),
            "npy": isinstance(self.column, int),
            "svmlight": self.column == QUERY,
        }
        if fits.get(format, False):
            return ""
        given = list(self.column) if isinstance(self.column, tuple) else self.column
        return f"format {format} has no column {given!r}; allowed are {_allowed(format)}"


def _allowed(format: str) -> str:
    columns = {
        **dict.fromkeys(_TABLES, "the name or number of a column"),
        **dict.fromkeys(_BY_NAME, "the name of an array or the number of a column"),
        "npy": "the number of a column",
        "svmlight": QUERY,
    }
    ways = [columns[format]] if format in columns else []
    ways += [] if format in _OF_FILES else ["{path: PATTERN} of the names of files"]
    return ", ".join([*ways, "{files: [...]} with a value for each point"])


def _mapping(value: Any) -> Any:
    plain = isinstance(value, int | str | list | tuple) and not isinstance(value, bool)
    return {"column": value} if plain else value


FactSources = Annotated[FactSource | None, BeforeValidator(_mapping)]
