"""What a study may say of its evaluation: which points are labeled, unlabeled and scored.

Nothing heavy is imported here: Snakemake reads the study again in every job of a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
)
from pydantic_core import PydanticCustomError

from harness.datasets.reading import Strict
from harness.datasets.sizes import OFFICIAL
from harness.errors import shown

# no keys of a study: errors are told without them
_INDUCTIVE, _TRANSDUCTIVE = "kind: inductive", "kind: transductive"
_FROM_FILE = "kind: from file"


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


class Inductive(Strict):
    """Score on held-out points that training never saw."""

    test: Annotated[float | Literal["official"], count_or_share("test", OFFICIAL)] = 0.2
    """"official" is the test part that a data set comes with."""
    unlabeled_per_labeled: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    stratified: bool = True


class Transductive(Strict):
    """Score the unlabeled points, and say how the labeled ones are drawn."""

    transductive: Literal[True]
    stratified: bool = True


class FromFile(Strict):
    """Take the splits of a file, which seeds number."""

    splits: str = Field(min_length=1)
    """Its path beside the study; `{dataset}` stands for the name of a data set."""
    transductive: bool = False
    """Score the unlabeled points; the file has no test points then."""


def _kind_of_evaluation(value: Any) -> str:
    if isinstance(value, FromFile) or (isinstance(value, Mapping) and "splits" in value):
        return _FROM_FILE
    said = isinstance(value, Transductive) or (
        isinstance(value, Mapping) and "transductive" in value
    )
    return _TRANSDUCTIVE if said else _INDUCTIVE


Evaluation = Annotated[
    Annotated[Inductive, Tag(_INDUCTIVE)]
    | Annotated[Transductive, Tag(_TRANSDUCTIVE)]
    | Annotated[FromFile, Tag(_FROM_FILE)],
    Discriminator(_kind_of_evaluation),
]


def plain_if_default(value: Evaluation | None) -> Evaluation | None:
    """Return None for the transductive evaluation that says nothing more."""
    return None if value == Transductive(transductive=True) else value


EVALUATIONS: dict[str, type[Strict]] = {
    _INDUCTIVE: Inductive,
    _TRANSDUCTIVE: Transductive,
    _FROM_FILE: FromFile,
}
"""Each kind of evaluation, by what stands for it where a mistake was made."""
