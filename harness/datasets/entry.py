"""One entry of a catalog: everything that is known of a data set before any of it is loaded.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from harness.datasets.entry_checks import REFUSALS
from harness.datasets.entry_values import (
    BY_KIND,
    UNKNOWN,
    Missing,
    MissingByKind,
    label_counts,
    label_texts,
)
from harness.datasets.fact_sources import FactSource, FactSources
from harness.datasets.file import File
from harness.datasets.reading import Generated, OpenML, Read
from harness.datasets.strict_model import Strict
from harness.datasets.text_columns import Text
from harness.errors import HarnessError
from harness.files import folder_sha256, is_file, is_folder
from harness.plugin.hookspecs import GeneratedDataset
from harness.plugin.shape import csr_bytes

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

MOST_POINTS = 10**11
MOST_FEATURES = 10**7
"""Beyond any array; their product in bytes is a figure that columns hold."""

SPARSE_ENDING = ".csr"
"""Of a folder of prepared data that are sparse: the workflow asks it for other files."""

FACTS_ENDING = ".facts"
"""Of one with groups, or the order, of its points; it stands before the other."""

PREPARATION = 2
"""Raised whenever the code turns the same source into other bytes; part of every digest."""

_TOLD_ONLY = {"name", "source", "citation", "notes", "stand_in_for", "licence"}
_TOLD_ONLY |= {"classes", "n", "d", "nnz", "raw_n", "raw_d"}
_TOLD_ONLY |= {"n_unlabeled", "largest_group", "openml"}
_LATER = {"other_classes", "logarithm", "sparse", "groups", "order", "text"}
"""Keys that came later: an entry that does not give them has the digest it always had."""


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
    other_classes : {"error", "drop", "unlabeled"}, default "error"
        What becomes of points whose label is not among `classes` (two digits out of ten), and of
        those whose target is missing. "unlabeled" keeps them as points that have no label.
    n_unlabeled : int, optional
        How many these are, where they are kept. They are counted where it is not given.
    groups : int, str, list or mapping, optional
        Which group a point is of: a patient, a user, a site. A column, or as
        `FactSource` has it.
    order : int, str, list or mapping, optional
        By what points are earlier and later: numbers, or dates. Without it they are in the order
        of their rows.
    largest_group : int, optional
        Points with a label of the largest group. They are counted where it is not given.
    openml : int, optional
        The number of the data set of OpenML that has the same rows in the same order.
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
    text : Text, optional
        Columns of texts. Features made of them are sparse, unless `sparse: false` is said.
    licence : str, default "unknown"
        Of the data: an SPDX identifier or a sentence.
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
        dict[str, Annotated[int, Field(ge=0)] | None], BeforeValidator(label_counts)
    ] = Field(default_factory=dict)
    positive: Annotated[tuple[str, ...], BeforeValidator(label_texts)] = ()
    missing: Missing = "error"
    other_classes: Literal["error", "drop", "unlabeled"] = "error"
    n_unlabeled: int = Field(default=0, ge=0)
    groups: FactSources = None
    order: FactSources = None
    largest_group: int | None = Field(default=None, gt=0)
    openml: int | None = Field(default=None, gt=0)
    logarithm: tuple[Annotated[int, Field(ge=0)], ...] = ()
    divide_by: float = Field(default=1.0, ge=1e-30, le=1e30)
    scaling: Literal["none", "minmax", "standard", "whiten", "unit", "maxabs"] = "none"
    dtype: Literal["float64", "float32", "uint8"] = "float64"
    sparse: bool = False
    nnz: int | None = Field(default=None, ge=0)
    text: Text | None = None
    licence: str = Field(default=UNKNOWN, min_length=1)
    source: str = ""
    citation: str = ""
    notes: str = ""
    stand_in_for: str = ""

    @model_validator(mode="before")
    @classmethod
    def _texts_are_sparse(cls, told: Any) -> Any:
        if isinstance(told, dict) and told.get("text") is not None:
            return {"sparse": True} | told
        return told

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
            n_known = self.n - self.n_unlabeled
            counted = self.other_classes != "unlabeled" or "n_unlabeled" in self.model_fields_set
            whole = counted and len(counts) == len(self.classes)
            if whole and counts and sum(counts) != n_known:
                less = f" less {self.n_unlabeled} without a label" * bool(self.n_unlabeled)
                raise ValueError(f"class counts sum to {sum(counts)}, but n is {self.n}{less}")
            if self.n_train is not None and not self.n_train < self.n:
                raise ValueError(f"n_train {self.n_train} must be below n {self.n}")
        fetched = self.format not in ("openml", "sklearn", "generated")
        if fetched != bool(self.files):
            raise ValueError(f"format {self.format} {'needs' if fetched else 'takes no'} files")
        for refuse in REFUSALS:
            refuse(self)
        return self

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
        return given if isinstance(given, MissingByKind) else BY_KIND[given]

    @property
    def openml_id(self) -> int | None:
        """The number of the data set of OpenML with the same rows; None if it is not known."""
        return self.read.id if isinstance(self.read, OpenML) else self.openml

    @property
    def fact_sources(self) -> dict[str, FactSource]:
        """What is kept beside the targets: "groups" and "order", where the entry has them."""
        facts = {"groups": self.groups, "order": self.order}
        return {name: fact for name, fact in facts.items() if fact is not None}

    @property
    def every_file(self) -> tuple[File, ...]:
        """The files that it is read from, those with groups and with an order last."""
        return self.files + tuple(f for fact in self.fact_sources.values() for f in fact.files)

    @property
    def download_bytes(self) -> int:
        """Expected size of what has to be fetched where nothing is there yet."""
        return sum(file.bytes for file in self.every_file if file.path is None)

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
        told["files"] = [_identity(file) for file in self.files]
        for key, fact in self.fact_sources.items():
            told[key] = fact.said
            if fact.files:
                told[key]["files"] = [_identity(file) for file in fact.files]
        if any(fact.path for fact in self.fact_sources.values()):
            told["names"] = [file.name for file in self.files]
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
        if self.groups is not None and self.largest_group is None:
            raise ValueError("groups need largest_group, the points of the largest one")
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
        return self.n - self.n_unlabeled - positive, positive

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
        """Name of the folder that holds the prepared data; its ending says which files it has."""
        facts, sparse = bool(self.fact_sources), self.nnz is not None
        return f"{self.name}-{self.digest}" + FACTS_ENDING * facts + SPARSE_ENDING * sparse


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
        "licence": "none: generated by a plugin",
        "source": _source(dataset),
        "stand_in_for": dataset.stand_in_for,
    }
    if dataset.nnz is not None:
        told |= {"sparse": True, "nnz": dataset.nnz}
    if dataset.largest_group is not None:
        told |= {"groups": "groups", "largest_group": dataset.largest_group}
    if dataset.has_order:
        told["order"] = "order"
    return Entry.model_validate(told)


def _source(dataset: GeneratedDataset) -> str:
    what = f", a stand-in for {dataset.stand_in_for}" if dataset.stand_in_for else ""
    return f"generated by a plugin{what}"


def _identity(file: File) -> str:
    """Return what tells the bytes of a file from all others."""
    if file.sha256:
        return file.sha256
    whole = file.packed_sha256 or _content(file)
    return whole if file.member is None else f"{whole}/{file.member}"


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
