"""One entry of a catalog: everything that is known of a data set before any of it is loaded.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from harness.datasets.reading import File, Generated, Read, Strict
from harness.errors import HarnessError, shown
from harness.files import folder_sha256, is_file, is_folder
from harness.plugin.hookspecs import GeneratedDataset
from harness.plugin.shape import csr_bytes

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

MOST_POINTS = 10**11
MOST_FEATURES = 10**7
"""Beyond any array; their product in bytes is a figure that columns hold."""

SPARSE_ENDING = ".csr"
"""Of a folder of prepared data that are sparse: the workflow asks it for other files."""

PREPARATION = 1
"""Raised whenever the code turns the same source into other bytes; part of every digest."""

_TOLD_ONLY = {"name", "source", "citation", "notes", "stand_in_for"}
_TOLD_ONLY |= {"classes", "n", "d", "nnz", "raw_n", "raw_d"}
_LATER = {"other_classes", "logarithm", "sparse"}
"""Keys that came later: an entry that does not give them has the digest it always had."""

KEEPS_ZEROS = ("none", "unit", "maxabs")
"""Scalings after which a zero is still one: those of sparse data."""


class MissingByKind(Strict):
    """What becomes of missing features, for each kind of column.

    Parameters
    ----------
    numeric : {"error", "drop", "mean", "median"}, default "error"
        Rows dropped, or the column's mean or median put in.
    nominal : {"error", "drop", "own", "most_frequent"}, default "error"
        Rows dropped, a value of its own, or the value that occurs most often put in.
    """

    numeric: Literal["error", "drop", "mean", "median"] = "error"
    nominal: Literal["error", "drop", "own", "most_frequent"] = "error"


_BY_KIND = {
    "error": MissingByKind(),
    "drop": MissingByKind(numeric="drop", nominal="drop"),
    "mean": MissingByKind(numeric="mean"),
    "median": MissingByKind(numeric="median"),
    "value": MissingByKind(nominal="own"),
}
"""What the words of `missing` stand for."""


def _kind_of_missing(value: Any) -> str:
    return "by kind" if isinstance(value, dict | MissingByKind) else "by word"


_Missing = Annotated[
    Annotated[Literal["error", "drop", "mean", "median", "value"], Tag("by word")]
    | Annotated[MissingByKind, Tag("by kind")],
    Discriminator(_kind_of_missing),
]


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _texts(value: Any) -> Any:
    return [_text(item) for item in value] if isinstance(value, list) else [_text(value)]


def _class_counts(value: Any) -> Any:
    if not isinstance(value, list | dict):
        return value
    labels = [_text(label) for label in value]
    seen: set[str] = set()
    for label in labels:
        if not isinstance(label, str):
            raise ValueError(
                f"{shown(label)} is no label: write text or a number, quoted if need be"
            )
        if label in seen:
            raise ValueError(f"the label {shown(label)} is there twice")
        seen.add(label)
    counts = value.values() if isinstance(value, dict) else [None] * len(labels)
    return dict(zip(labels, counts, strict=True))


class Declared(Strict):
    """What a catalog says of a data set: where it comes from, and how it is read.

    Parameters
    ----------
    name : str
        What study files call it.
    task : {"binary", "multiclass", "regression"}
    n, d : int, optional
        Points and features after encoding. They are counted where they are not given, and
        preparation fails on anything else where they are.
    read : mapping
        `format` and the options of that format.
    files : list of File
        In the order in which their rows are joined.
    raw_n, raw_d : int, optional
        Points and attributes as published, where encoding or dropping changes them.
    n_train : int, optional
        How many of the first points are the official training part.
    classes : mapping of label to count, or list of labels
        All labels of the source, class 0 first. Empty for regression. Where they are not given,
        those that occur, in ascending order.
    positive : label or list of labels
        Class 1 of a binary task; every other label is class 0. Without `classes` it may be left
        out: the last of two.
    missing : {"error", "drop", "mean", "median", "value"} or MissingByKind, default "error"
        What becomes of missing features: rows dropped, the column's mean or median put in, or (for
        nominal attributes) a value of its own.
    other_classes : {"error", "drop"}, default "error"
        What becomes of points whose label is not among `classes` (two digits out of ten), and of
        those whose target is missing.
    logarithm : list of int, default none
        Columns of the source that become log(1 + x): amounts that are mostly 0 and sometimes huge.
    divide_by : float, default 1
        Applied to all features before scaling (255 for grey levels).
    scaling : {"none", "minmax", "standard", "whiten", "unit", "maxabs"}, default "none"
        See `harness.datasets.scaling`. Of sparse data: "none", "unit" or "maxabs".
    dtype : {"float64", "float32", "uint8"}, default "float64"
        Of what is prepared. Small integers stay what they are: `divide_by` is applied where a
        method takes numbers, or block by block.
    sparse : bool, default False
        Whether the features are kept and handed over as a sparse matrix in compressed rows (CSR).
    nnz : int, optional
        Nonzeros of a sparse matrix. They are counted where they are not given.
    source, citation, notes : str
    stand_in_for : str, optional
        The set whose shape this one only has: no printed figure is judged by it.
    """

    name: str = Field(pattern=f"^{NAME.pattern}$", max_length=100)
    task: Literal["binary", "multiclass", "regression"]
    n: int | None = Field(default=None, gt=0, le=MOST_POINTS)
    d: int | None = Field(default=None, gt=0, le=MOST_FEATURES)
    read: Read
    files: tuple[File, ...] = ()
    raw_n: int | None = Field(default=None, gt=0)
    raw_d: int | None = Field(default=None, gt=0)
    n_train: int | None = Field(default=None, gt=0)
    classes: Annotated[
        dict[str, Annotated[int, Field(ge=0)] | None], BeforeValidator(_class_counts)
    ] = Field(default_factory=dict)
    positive: Annotated[tuple[str, ...], BeforeValidator(_texts)] = ()
    missing: _Missing = "error"
    other_classes: Literal["error", "drop"] = "error"
    logarithm: tuple[Annotated[int, Field(ge=0)], ...] = ()
    divide_by: float = Field(default=1.0, ge=1e-30, le=1e30)
    scaling: Literal["none", "minmax", "standard", "whiten", "unit", "maxabs"] = "none"
    dtype: Literal["float64", "float32", "uint8"] = "float64"
    sparse: bool = False
    nnz: int | None = Field(default=None, ge=0)
    source: str = ""
    citation: str = ""
    notes: str = ""
    stand_in_for: str = ""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        labels = set(self.classes)
        counts = [count for count in self.classes.values() if count is not None]
        if self.task == "regression" and (labels or self.positive):
            raise ValueError("regression has no classes and no positive class")
        if self.task != "regression" and labels and len(labels) < 2:
            raise ValueError(f"{self.task} needs at least two classes, got {sorted(labels)}")
        if self.task == "multiclass" and self.positive:
            raise ValueError("only a binary task has a positive class")
        known, positive = list(self.classes), list(self.positive)
        if known and set(positive) - labels:
            raise ValueError(f"positive is {positive}, which is not among the classes {known}")
        if self.task == "binary" and known and not positive:
            raise ValueError(f"positive is missing: name some, not all, of the classes {known}")
        if self.task == "binary" and known and set(positive) == labels:
            raise ValueError(f"positive is {positive}: it must be some, not all, of the classes")
        if self.n is not None:
            if len(counts) == len(self.classes) and counts and sum(counts) != self.n:
                raise ValueError(f"class counts sum to {sum(counts)}, but n is {self.n}")
            if self.n_train is not None and not self.n_train < self.n:
                raise ValueError(f"n_train {self.n_train} must be below n {self.n}")
        by_kind = self.missing_by_kind
        dropping = "drop" in (by_kind.numeric, by_kind.nominal, self.other_classes)
        if self.n_train is not None and dropping:
            raise ValueError("n_train cannot be told once rows are dropped")
        fetched = self.format not in ("openml", "sklearn", "generated")
        if fetched != bool(self.files):
            raise ValueError(f"format {self.format} {'needs' if fetched else 'takes no'} files")
        self._refuse_filled_zeros()
        if self.small_integers and (self.sparse or self.scaling != "none" or self.logarithm):
            raise ValueError(
                "dtype uint8 is of dense features as they are: no `sparse`, `logarithm` or "
                "`scaling`; `divide_by` may be given"
            )
        return self

    def _refuse_filled_zeros(self) -> None:
        if self.sparse and self.scaling not in KEEPS_ZEROS:
            raise ValueError(
                f"scaling is {self.scaling}, which fills the zeros of a sparse matrix; with "
                f"`sparse: true` it is one of {', '.join(KEEPS_ZEROS)}"
            )
        if self.nnz is not None and not self.sparse:
            raise ValueError("nnz is a count of sparse data: add `sparse: true`, or leave it out")
        if self.nnz is not None and self.n and self.d and self.nnz > self.n * self.d:
            raise ValueError(f"nnz is {self.nnz}, but n x d are {self.n * self.d} elements")

    @property
    def format(self) -> str:
        """The format its source is read with."""
        return self.read.format

    @property
    def small_integers(self) -> bool:
        """Whether the features are prepared as integers of one byte."""
        return self.dtype == "uint8"

    @property
    def number_type(self) -> Literal["float64", "float32"]:
        """Of which type the numbers are that prepared features stand for."""
        return "float32" if self.dtype == "uint8" else self.dtype

    @property
    def missing_by_kind(self) -> MissingByKind:
        """What becomes of missing features, with its words written out."""
        given = self.missing
        return given if isinstance(given, MissingByKind) else _BY_KIND[given]

    @property
    def download_bytes(self) -> int:
        """Expected size of what has to be fetched where nothing is there yet."""
        return sum(file.bytes for file in self.files if file.path is None)

    @property
    def digest(self) -> str:
        """12 hexadecimal digits over everything that determines the prepared bytes.

        Local files without a checksum are read for it.
        """
        told = self.model_dump(mode="json", exclude=_TOLD_ONLY | {"files"})
        for key in _LATER & (told.keys() - self.model_fields_set):
            del told[key]
        later: frozenset[str] = getattr(self.read, "LATER", frozenset())
        for key in later & (told["read"].keys() - self.read.model_fields_set):
            del told["read"][key]
        told["labels"] = list(self.classes)
        told["files"] = [
            file.sha256 or file.packed_sha256 or _content(file) for file in self.files
        ]
        if self.format == "generated":
            told["generated"] = [self.name, self.n, self.d]
        if self.format == "svmlight":
            told["d"] = self.d
        text = json.dumps([PREPARATION, told], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class Entry(Declared):
    """A data set of which all is known that a plan needs: what must come out is said or counted.

    Parameters
    ----------
    n, d : int
    classes : mapping of label to count, or list of labels
        At least two, unless the task is regression.
    nnz : int
        Where the data are sparse.
    """

    n: int = Field(gt=0, le=MOST_POINTS)
    d: int = Field(gt=0, le=MOST_FEATURES)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.task != "regression" and len(self.classes) < 2:
            raise ValueError(f"{self.task} needs at least two classes, got {list(self.classes)}")
        if self.sparse and self.nnz is None:
            raise ValueError("sparse data need nnz, the number of nonzeros")
        return self

    @property
    def itemsize(self) -> int:
        """Bytes of one prepared feature."""
        return {"uint8": 1, "float32": 4, "float64": 8}[self.dtype]

    @property
    def n_classes(self) -> int:
        """Classes after the positive ones are joined; 0 for regression."""
        return {"binary": 2, "regression": 0}.get(self.task, len(self.classes))

    @property
    def class_names(self) -> tuple[str, ...]:
        """Name of each class number."""
        if self.task != "binary":
            return tuple(self.classes)
        negative = (label for label in self.classes if label not in self.positive)
        return "|".join(negative), "|".join(self.positive)

    @property
    def class_counts(self) -> tuple[int, ...] | None:
        """Expected points of each class number; None where the catalog does not say."""
        counts = {label: count for label, count in self.classes.items() if count is not None}
        if not counts or len(counts) < len(self.classes):
            return None
        if self.task != "binary":
            return tuple(counts.values())
        positive = sum(counts[label] for label in self.positive)
        return self.n - positive, positive

    @property
    def data_bytes(self) -> int:
        """Size of the prepared features."""
        if self.nnz is None:
            return self.n * self.d * self.itemsize
        return csr_bytes(self.n, self.nnz, self.itemsize)

    @property
    def row_nnz(self) -> float | None:
        """Nonzeros of a row, on average; None where the data are dense."""
        return None if self.nnz is None else self.nnz / self.n

    @property
    def density(self) -> float | None:
        """Part of the elements that is not zero; None where the data are dense."""
        return None if self.nnz is None else self.nnz / (self.n * self.d)

    @property
    def directory(self) -> str:
        """Name of the folder that holds the prepared data; its ending says where it is sparse."""
        return f"{self.name}-{self.digest}" + ("" if self.nnz is None else SPARSE_ENDING)


def generated_entry(dataset: GeneratedDataset, version: str = "") -> Entry:
    """Return the entry of a data set that a plugin generates; `version` is part of its digest."""
    n_classes = 2 if dataset.task == "binary" else dataset.n_classes
    told = {
        "name": dataset.name,
        "task": dataset.task,
        "n": dataset.n,
        "d": dataset.d,
        "classes": [str(label) for label in range(n_classes)],
        "positive": ["1"] if dataset.task == "binary" else [],
        "scaling": dataset.scaling,
        "dtype": dataset.dtype,
        "read": Generated(format="generated", dataset=dataset, version=version),
        "source": _source(dataset),
        "stand_in_for": dataset.stand_in_for,
    }
    if dataset.nnz is not None:
        told |= {"sparse": True, "nnz": dataset.nnz}
    return Entry.model_validate(told)


def _source(dataset: GeneratedDataset) -> str:
    what = f", a stand-in for {dataset.stand_in_for}" if dataset.stand_in_for else ""
    return f"generated by a plugin{what}"


def _content(file: File) -> str:
    if file.path is None:
        return file.name
    if is_folder(file.path):
        return folder_sha256(file.path)
    if not is_file(file.path):  # a pipe or a device would be read for ever
        raise HarnessError(f"files: {file.path} cannot be read: there is no such file")
    try:
        with file.path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise HarnessError(f"files: {file.path} cannot be read: {error.strerror}") from None
