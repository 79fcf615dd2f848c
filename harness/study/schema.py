"""What a study file may say, checked key by key.

Nothing heavy is imported here: Snakemake reads the study again in every job of a cluster.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from harness.datasets.openml_tasks import task_file
from harness.datasets.split_sources import SplitSource
from harness.datasets.strict_model import STRICT
from harness.errors import HarnessError, shown
from harness.plugin.shape import block_rows
from harness.study.budget import Budget, parse_budget
from harness.study.evaluation import (
    EVALUATION_WORDS,
    EVALUATIONS,
    Evaluation,
    FromFile,
    Inductive,
    OfTask,
    Shift,
    count_or_share,
    plain_if_default,
)
from harness.study.method_choice import MethodChoice, method_choice
from harness.study.streams import STREAMED, Prequential
from harness.units import parse_bytes, parse_duration

LARGEST_SEED = 2**63 - 1
"""What a column of whole numbers holds."""

_MOST_TOLD = 30
"""Mistakes of a file that are told at once."""

MOST_SEEDS = 10**6
"""A larger number was meant as a seed, not as a count of them."""


def _readable(parse: Any) -> BeforeValidator:
    def read(value: Any) -> Any:
        try:
            return parse(value)
        except HarnessError as error:
            raise PydanticCustomError("harness", "{message}", {"message": str(error)}) from None

    return BeforeValidator(read)


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _seed_list(value: Any) -> Any:
    if type(value) is int and 0 < value <= MOST_SEEDS:
        return list(range(value))
    if (
        isinstance(value, list)
        and value
        and all(type(seed) is int and 0 <= seed <= LARGEST_SEED for seed in value)
    ):
        return sorted(set(value))
    message = (
        "{value} is neither a count of seeds above zero, at most {most}, nor a list of seeds, "
        "each from 0 to {largest}"
    )
    parts = {"value": shown(value), "most": MOST_SEEDS, "largest": LARGEST_SEED}
    raise PydanticCustomError("harness", message, parts)


def _steps(value: Any) -> Any:
    if value == "none":
        return []
    steps = _as_list(value)
    whole = all(type(step) is int and step > 0 for step in steps)
    if whole and all(step < later for step, later in itertools.pairwise(steps)):
        return steps
    message = (
        "{value} is neither 'none' nor a list of steps: whole numbers above zero, "
        "each larger than the one before"
    )
    raise PydanticCustomError("harness", message, {"value": shown(value)})


def _said_or_auto(value: Any) -> Any:
    if value == "auto" or isinstance(value, bool):
        return value
    message = "{value} is neither true nor false nor 'auto'"
    raise PydanticCustomError("harness", message, {"value": shown(value)})


class _Strict(BaseModel):
    model_config = STRICT


class Tuning(_Strict):
    """Cross-validation on the labeled points."""

    search: str = "grid"
    folds: int = Field(default=5, ge=2, le=10**6)
    trials: int = Field(default=20, ge=1, le=10**6)
    standard_errors: float = Field(default=1.0, ge=0)
    """By how many a setting must beat the defaults to replace them."""
    labeled: int | None = Field(default=None, ge=2)
    """Labeled points to tune with, where a trial has fewer; the fit does not see the others."""
    validation: int = Field(default=0, ge=0)
    """Further labeled points that settings are scored on, instead of folds of a trial's own."""

    def shown(self, n_labeled: int) -> int:
        """Return how many unlabeled points the search of a trial is shown the targets of."""
        return self.validation or max(0, (self.labeled or 0) - n_labeled)


def _mapping(example: str, words: Mapping[str, Any] = {}) -> BeforeValidator:
    """Accept a mapping, or a word that stands for one or for None."""
    allowed = ", ".join(map(repr, words))

    def read(value: Any) -> Any:
        if isinstance(value, Mapping):
            return value
        if words and value is None:
            return None
        if isinstance(value, str) and value in words:
            return words[value]
        either = f"is neither {allowed} nor" if words else "is not"
        parts = {"value": shown(value), "either": either, "example": example}
        message = "{value} {either} a mapping such as {example}"
        raise PydanticCustomError("harness", message, parts)

    return BeforeValidator(read)


class TrialLimits(_Strict):
    """Limits of one trial besides its budget."""

    time: Annotated[float, _readable(parse_duration)] = 7200.0
    threads: int = Field(default=1, ge=1, le=10**4)
    memory: Annotated[int, _readable(parse_bytes)] = 4 * 10**9
    """What the scheduler reserves for a trial without a budget in bytes; not enforced."""


AS_PREPARED = "as prepared"
"""The type of numbers that an entry says."""


class Grid(_Strict):
    """A full product of data sets, methods, labeled counts, budgets and seeds."""

    datasets: Annotated[list[str], BeforeValidator(_as_list)] = []
    methods: Annotated[
        list[Annotated[MethodChoice, BeforeValidator(method_choice)]], BeforeValidator(_as_list)
    ] = []
    labeled: Annotated[
        list[Annotated[int | float, count_or_share("labeled")]], BeforeValidator(_as_list)
    ] = []
    budgets: Annotated[
        list[Annotated[Budget, _readable(parse_budget)]], BeforeValidator(_as_list)
    ] = [Budget("none")]
    seeds: Annotated[list[int], BeforeValidator(_seed_list)] = [0]
    evaluation: Annotated[
        Evaluation | None,
        _mapping("{test: 0.2}", EVALUATION_WORDS),
        AfterValidator(plain_if_default),
    ] = None
    """None is transductive, stratified: the unlabeled points are scored."""
    task: Literal["auto", "clustering"] = "auto"
    tuning: Annotated[Tuning | None, _mapping("{search: grid, trials: 20}", {"none": None})] = None
    limits: Annotated[TrialLimits, _mapping("{time: 2h, threads: 1}")] = TrialLimits()
    data: Literal["counted", "mapped", "streamed"] = "counted"
    dtype: Literal["as prepared", "float64", "float32"] = "as prepared"
    checkpoints: Annotated[list[int], BeforeValidator(_steps)] = []
    """Steps after which a fit that has steps is paused and scored."""

    def task_of(self, own: str) -> str:
        """Return what is done with a data set whose own task is `own`."""
        return own if self.task == "auto" else self.task

    @property
    def transductive(self) -> bool:
        """Whether the unlabeled points are scored, instead of test points."""
        if isinstance(self.evaluation, FromFile):
            return self.evaluation.transductive
        return not isinstance(self.evaluation, Inductive | OfTask | Prequential)

    @property
    def is_prequential(self) -> bool:
        """Whether each chunk of a stream is scored before it is learned from."""
        return isinstance(self.evaluation, Prequential)

    @property
    def streams(self) -> bool:
        """Whether a method is given its points a part at a time."""
        return self.data == STREAMED or self.is_prequential

    def part_rows(self, row_bytes: int) -> int | None:
        """Return how many rows of so many bytes are given at a time; None for all at once."""
        if isinstance(self.evaluation, Prequential):
            return self.evaluation.chunk
        return block_rows(row_bytes) if self.data == STREAMED else None

    @property
    def split_files(self) -> list[str]:
        """The files of splits beside the study, as they are written."""
        return [*self.evaluation.splits.values()] if isinstance(self.evaluation, FromFile) else []

    def split_source(self, folder: Path, dataset: str, n_train: int | None) -> SplitSource | None:
        """Return the files of a data set's splits; None if they are drawn.

        Parameters
        ----------
        folder : Path
            That of the study.
        dataset : str
        n_train : int or None
            Points of its official training part.

        Raises
        ------
        HarnessError
            If the study names tasks of OpenML, and none of this data set; or its official test
            part, and it has none.
        """
        if isinstance(self.evaluation, OfTask):
            if (number := self.task_number(dataset)) is None:
                raise HarnessError(f"evaluation.openml: names no task of {dataset!r}; give one")
            return SplitSource.of(task_file(number))
        if not isinstance(self.evaluation, FromFile):
            return None
        return self.evaluation.source(folder, dataset, n_train)

    def task_number(self, dataset: str) -> int | None:
        """Return the task of OpenML whose folds are a data set's splits; None if there is none."""
        return self.evaluation.task(dataset) if isinstance(self.evaluation, OfTask) else None

    @property
    def split_rules(self) -> str | dict[str, Any]:
        """The evaluation as `harness.datasets.split` takes it."""
        return self.evaluation.model_dump() if self.evaluation else "transductive"

    def deciding_settings(self) -> dict[str, Any]:
        """Return what it says besides its product that decides the outcome of trials, as JSON."""
        settings = self.model_dump(
            mode="json",
            include={"evaluation", "task", "tuning", "limits", "data", "dtype", "checkpoints"},
        )
        # what splits of a file are is told by their digest, wherever they lie
        for key in ("splits", "openml"):
            if settings["evaluation"] and key in settings["evaluation"]:
                settings["evaluation"][key] = "file"
        # what the scheduler reserves does not change what a trial computes
        del settings["limits"]["memory"]
        if not self.checkpoints:  # rows of studies that ask for none stay what they are
            del settings["checkpoints"]
        if self.dtype == AS_PREPARED:
            del settings["dtype"]
        if self.tuning:
            for key in ("labeled", "validation"):
                if not settings["tuning"][key]:
                    del settings["tuning"][key]
        return settings


class StudyFile(Grid):
    """Everything that a study file may say."""

    title: str = ""
    metrics: Annotated[list[str], BeforeValidator(_as_list)] = []
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)
    seeds_per_job: Literal["auto"] | Annotated[int, Field(ge=1, le=MOST_SEEDS)] = "auto"
    predictions: Annotated[bool | Literal["auto"], BeforeValidator(_said_or_auto)] = "auto"
    """Whether what trials predict is kept; by default if that takes little."""
    enforcement: Literal["auto", "cgroup-v2", "cgroup-v1", "rlimit-data", "watch"] = "auto"
    plugins: Annotated[list[str], BeforeValidator(_as_list)] = []
    catalogs: Annotated[list[str], BeforeValidator(_as_list)] = []
    published: Annotated[list[str], BeforeValidator(_as_list)] = []
    """Printed tables, `paper/table`, that the report puts beside the results."""
    fewer_seeds: str = ""
    """Why there are fewer seeds than the paper has runs; stands with the printed tables."""
    cases: list[dict[str, Any]] = []


def validate(model: type[BaseModel], content: Mapping[str, Any], where: str) -> Any:
    """Read a mapping as one of the models here.

    Raises
    ------
    HarnessError
        With a line for every mistake: `where`, the key, what was given and what is allowed.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        lines = [_explain(model, item) for item in error.errors()[:_MOST_TOLD]]
        if error.error_count() > _MOST_TOLD:
            lines.append(f"and {error.error_count() - _MOST_TOLD} more mistakes")
        raise HarnessError("\n".join(f"{where}: {line}" for line in lines)) from None


def _explain(model: type[BaseModel], item: Mapping[str, Any]) -> str:
    location = ".".join(
        str(part)
        for part in item["loc"]
        if part not in EVALUATIONS and not str(part).startswith(("function-", "constrained"))
    )
    if item["type"] == "extra_forbidden":
        known = _fields_at(model, item["loc"][:-1])
        close = difflib.get_close_matches(str(item["loc"][-1]), known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return f"unknown key {location!r}; {hint}known: {', '.join(sorted(known))}"
    given = "" if item["type"] == "harness" else f" (given: {shown(item['input'])})"
    return f"{location}: {item['msg']}{given}"


def _fields_at(model: type[BaseModel], location: tuple[Any, ...]) -> list[str]:
    nested: dict[str, type[BaseModel]] = {"limits": TrialLimits, "tuning": Tuning, **EVALUATIONS}
    nested["unlabeled"] = Shift
    # of an evaluation, which of its kinds it is comes second
    names = [str(part) for part in location if str(part) in nested]
    holder = nested[names[-1]] if names else model
    return list(holder.model_fields)
