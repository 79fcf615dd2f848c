"""What a study may say of its evaluation: which points are labeled, unlabeled and scored.

Nothing heavy is imported here: Snakemake reads the study again in every job of a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from harness.datasets.sizes import OFFICIAL
from harness.datasets.split_sources import SplitSource
from harness.datasets.strict_model import Strict
from harness.errors import HarnessError, shown
from harness.study.streams import PREQUENTIAL, Prequential

# no keys of a study: errors are told without them
_INDUCTIVE, _TRANSDUCTIVE = "kind: inductive", "kind: transductive"
_FROM_FILE, _OF_TASK, _STREAM = "kind: from file", "kind: of task", "kind: prequential"


def count_or_share(points: str, word: str | None = None) -> BeforeValidator:
    """Accept a count of points, a share of them, or one word."""

    def read(value: Any) -> int | float | str:
        count = isinstance(value, int) and not isinstance(value, bool) and value > 0
        if count or (isinstance(value, float) and 0 < value < 1):
            return value
        if word is not None and value == word:
            return word
        message = "{value} is neither a count of {points} points nor a share between 0 and 1{or}"
        told = {"value": shown(value), "points": points, "or": f" nor {word!r}" if word else ""}
        raise PydanticCustomError("harness", message, told)

    return BeforeValidator(read)


class _Evaluation(Strict):
    """An evaluation; what came later changes no fingerprint of a study that does not say it."""

    later: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(
        self, serialize: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        fields = type(self).model_fields
        left_out = {key for key in self.later if getattr(self, key) == fields[key].default}
        return {key: value for key, value in serialize(self).items() if key not in left_out}


class Shift(Strict):
    """Which share of the unlabeled points is not of the labeled and the test points' kind."""

    other_classes: float | None = Field(default=None, ge=0, le=1)
    """Of points without a label, or with one that is not among the classes of the entry."""
    beyond: float | None = Field(default=None, ge=0, le=1)
    """Of points whose feature `column` is beyond its `quantile`; no other is, labeled or test."""
    column: int | None = Field(default=None, ge=0)
    """A prepared feature, from 0."""
    quantile: float = Field(default=0.5, gt=0, lt=1)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.other_classes is None) == (self.beyond is None):
            raise _mistake(
                "give a share as either other_classes or beyond, such as {other_classes: 0.5} or "
                "{beyond: 0.5, column: 3, quantile: 0.7}"
            )
        if (self.beyond is None) != (self.column is None):
            raise _mistake("beyond and column stand together: beyond is of a feature's quantile")
        if self.beyond is None and "quantile" in self.model_fields_set:
            raise _mistake("quantile is that of a feature; it stands beside beyond and column")
        return self


def _mistake(message: str) -> PydanticCustomError:
    return PydanticCustomError("harness", "{message}", {"message": message})


class Inductive(_Evaluation):
    """Score on held-out points that training never saw."""

    test: Annotated[float | Literal["official"], count_or_share("test", OFFICIAL)] = 0.2
    """"official" is the test part that a data set comes with."""
    unlabeled_per_labeled: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    stratified: bool = True
    groups: Literal["test", "all"] | None = None
    """Whole groups are held out, or kept apart in all parts."""
    temporal: Literal["test", "all"] | None = None
    """The last points are held out, and the earliest are labeled besides."""
    unlabeled: Shift | None = None

    later: ClassVar[frozenset[str]] = frozenset({"groups", "temporal", "unlabeled"})

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.groups and self.temporal:
            raise _mistake("groups and temporal do not go together; give one of them")
        if self.test == OFFICIAL and self.temporal == "test":
            raise _mistake("temporal: test and test: official both say what is held out")
        if self.unlabeled and self.groups:
            raise _mistake("unlabeled and groups do not go together; give one of them")
        beyond = self.unlabeled and self.unlabeled.beyond is not None
        if beyond and (self.test == OFFICIAL or self.temporal):
            raise _mistake(
                "unlabeled.beyond needs test points that are drawn: give test as a count or a "
                "share, and leave temporal out"
            )
        return self


class Transductive(_Evaluation):
    """Score the unlabeled points, and say how the labeled ones are drawn."""

    transductive: Literal[True]
    stratified: bool = True
    groups: Literal["all"] | None = None
    """No group has labeled and unlabeled points."""
    temporal: Literal["all"] | None = None
    """The earliest points are labeled."""

    later: ClassVar[frozenset[str]] = frozenset({"groups", "temporal"})

    @model_validator(mode="after")
    def _one_order(self) -> Self:
        if self.groups and self.temporal:
            raise _mistake("groups and temporal do not go together; give one of them")
        return self


Part = Literal["labeled", "unlabeled", "test", "train"]


def _by_part(value: Any) -> Any:
    return {"": value} if isinstance(value, str) else value


class FromFile(_Evaluation):
    """Take the splits of a file, which seeds number."""

    splits: Annotated[
        dict[Part | Literal[""], Annotated[str, Field(min_length=1)]],
        Field(min_length=1),
        BeforeValidator(_by_part),
    ]
    """Its path beside the study, or one for each part; of one of all parts, the part is "".
    `{dataset}` stands for the name of a data
    set, `{seed}` for the number of a split."""
    names: dict[Part, str] | None = None
    """What the arrays of parts are called in the file."""
    first_row: Literal[0, 1] | None = None
    """The number of the first row; by default 1 in files of MATLAB, 0 in others."""
    transpose: bool | None = None
    """Whether a split is a column of the file's matrices, or a row; by default a row, and a matrix
    whose columns may be splits as well is refused."""
    test: Literal["official"] | None = None
    """The test part that the data set comes with, which the file does not name then."""
    transductive: bool = False
    """Score the unlabeled points; the file has no test points then."""
    unlabeled_per_labeled: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Where labeled points are drawn among the training points of the file."""
    stratified: bool = True
    """Likewise."""

    later: ClassVar[frozenset[str]] = frozenset(
        {"unlabeled_per_labeled", "stratified", "names", "first_row", "transpose", "test"}
    )

    @model_validator(mode="after")
    def _one_scored(self) -> Self:
        if self.test and self.transductive:
            raise _mistake("transductive and test: official both say what is scored")
        return self

    def source(self, folder: Path, dataset: str, n_train: int | None) -> SplitSource:
        """Return the files of a data set's splits.

        Raises
        ------
        HarnessError
            If its official test part is asked for, and it has none.
        """
        if self.test and n_train is None:
            raise HarnessError(
                f"data set {dataset!r}: evaluation.test 'official' asks for its own test part, "
                "and its entry tells of none (n_train)"
            )
        paths = {
            part: (folder / path.replace("{dataset}", dataset)).resolve()
            for part, path in self.splits.items()
        }
        names = tuple(sorted((self.names or {}).items()))
        official = n_train if self.test else None
        return SplitSource(tuple(paths.items()), names, self.first_row, official, self.transpose)


def _task_numbers(value: Any) -> Any:
    numbers = value.values() if isinstance(value, Mapping) else [value]
    if numbers and all(type(number) is int and number > 0 for number in numbers):
        return value
    message = (
        "{value} is neither the number of a task of OpenML nor a mapping such as "
        "{example} of data sets to their tasks"
    )
    told = {"value": shown(value), "example": "{spambase: 43}"}
    raise PydanticCustomError("harness", message, told)


class OfTask(_Evaluation):
    """Take the folds of a task of OpenML, which seeds number; labeled points are drawn in each."""

    openml: Annotated[Any, BeforeValidator(_task_numbers)]
    """The task's number, or one for each data set."""
    unlabeled_per_labeled: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    stratified: bool = True

    def task(self, dataset: str) -> int | None:
        """Return the task of a data set; None if none is said."""
        found: int | None = (
            self.openml.get(dataset) if isinstance(self.openml, dict) else self.openml
        )
        return found


def _kind_of_evaluation(value: Any) -> str:
    if isinstance(value, FromFile) or (isinstance(value, Mapping) and "splits" in value):
        return _FROM_FILE
    if isinstance(value, OfTask) or (isinstance(value, Mapping) and "openml" in value):
        return _OF_TASK
    if isinstance(value, Prequential) or (isinstance(value, Mapping) and PREQUENTIAL in value):
        return _STREAM
    said = isinstance(value, Transductive) or (
        isinstance(value, Mapping) and "transductive" in value
    )
    return _TRANSDUCTIVE if said else _INDUCTIVE


Evaluation = Annotated[
    Annotated[Inductive, Tag(_INDUCTIVE)]
    | Annotated[Transductive, Tag(_TRANSDUCTIVE)]
    | Annotated[FromFile, Tag(_FROM_FILE)]
    | Annotated[OfTask, Tag(_OF_TASK)]
    | Annotated[Prequential, Tag(_STREAM)],
    Discriminator(_kind_of_evaluation),
]


def plain_if_default(value: Evaluation | None) -> Evaluation | None:
    """Return None for the transductive evaluation that says nothing more."""
    return None if value == Transductive(transductive=True) else value


EVALUATION_WORDS: Mapping[str, Any] = {
    "transductive": None,
    OFFICIAL: {"test": OFFICIAL},
    PREQUENTIAL: {PREQUENTIAL: True},
}
"""What one word says."""

EVALUATIONS: dict[str, type[BaseModel]] = {
    _INDUCTIVE: Inductive,
    _TRANSDUCTIVE: Transductive,
    _FROM_FILE: FromFile,
    _OF_TASK: OfTask,
    _STREAM: Prequential,
}
"""Each kind of evaluation, by what stands for it where a mistake was made."""
