"""What a study file may say, checked key by key.

Nothing heavy is imported here: Snakemake reads the study again in every job of a cluster.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    ValidationError,
    model_serializer,
)
from pydantic_core import PydanticCustomError

from harness.datasets.sizes import OFFICIAL
from harness.errors import HarnessError, shown
from harness.plugin.search_space import Distribution, read_range
from harness.study.budget import Budget, parse_budget
from harness.units import parse_bytes, parse_duration

LARGEST_SEED = 2**63 - 1
"""What a column of whole numbers holds."""

_MOST_TOLD = 30
"""Mistakes of a file that are told at once."""

_LONGEST_LABEL = 1000

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


def _count_or_share(points: str, word: str | None = None) -> BeforeValidator:
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
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class MethodChoice(_Strict):
    """One method of a study: its name, parameters held fixed, and the label in tables."""

    name: str
    params: dict[str, Any] = {}
    label: str
    space: dict[str, Any] = {}
    """Ranges of tuned parameters as they are written, besides or instead of the method's own."""

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(
        self, serialize: SerializerFunctionWrapHandler
    ) -> dict[str, Any]:
        # fingerprints of studies that set no space stay what they are
        return {k: v for k, v in serialize(self).items() if k != "space" or v}

    @property
    def ranges(self) -> dict[str, Distribution]:
        """`space` as a search takes it."""
        return {name: read_range(written) for name, written in self.space.items()}


def _space(name: str, params: dict[str, Any], space: Any) -> dict[str, Any]:
    """Check the form of a method's space; what its estimator allows is checked elsewhere."""
    if not isinstance(space, dict) or not all(isinstance(key, str) for key in space):
        message = "space of {name}: {space} is not a mapping of parameters to values"
        raise PydanticCustomError("harness", message, {"name": name, "space": shown(space)})
    for parameter, written in space.items():
        try:
            if parameter in params:
                raise HarnessError(
                    f"is fixed at {params[parameter]!r} and searched too; give one of them"
                )
            read_range(written)
        except HarnessError as error:
            message = "space of {name}: {parameter}: {error}"
            parts = {"name": name, "parameter": parameter, "error": str(error)}
            raise PydanticCustomError("harness", message, parts) from None
    return space


def _method_choice(value: Any) -> MethodChoice:
    if isinstance(value, str):
        return MethodChoice(name=value, label=value)
    hint = ""
    if isinstance(value, dict):
        named = {key: item for key, item in value.items() if key not in ("as", "space")}
        if len(named) == 1:
            ((name, params),) = named.items()
            params = {} if params is None else params
            if isinstance(name, str) and isinstance(params, dict):
                fixed = ",".join(f"{key}={item}" for key, item in params.items())
                label = str(value.get("as", f"{name}[{fixed}]" if fixed else name))
                if label.strip() and len(label) <= _LONGEST_LABEL:
                    space = _space(name, params, value.get("space", {}))
                    return MethodChoice(name=name, params=params, label=label, space=space)
                hint = f"; its label has 1 to {_LONGEST_LABEL} characters: write 'as: label'"
        elif any(item is None for item in named.values()):
            hint = "; parameters are indented under the name"
    message = "{value} is not a method: write a name, or a name with a mapping of parameters{hint}"
    raise PydanticCustomError("harness", message, {"value": shown(value), "hint": hint})


# no keys of a study: errors are told without them
_INDUCTIVE, _TRANSDUCTIVE = "kind: inductive", "kind: transductive"
_FROM_FILE = "kind: from file"


class Inductive(_Strict):
    """Score on held-out points that training never saw."""

    test: Annotated[float | Literal["official"], _count_or_share("test", OFFICIAL)] = 0.2
    """"official" is the test part that a data set comes with."""
    unlabeled_per_labeled: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    stratified: bool = True


class Transductive(_Strict):
    """Score the unlabeled points, and say how the labeled ones are drawn."""

    transductive: Literal[True]
    stratified: bool = True


class FromFile(_Strict):
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


def _plain_if_default(value: Evaluation | None) -> Evaluation | None:
    return None if isinstance(value, Transductive) and value.stratified else value


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
        list[Annotated[MethodChoice, BeforeValidator(_method_choice)]], BeforeValidator(_as_list)
    ] = []
    labeled: Annotated[
        list[Annotated[int | float, _count_or_share("labeled")]], BeforeValidator(_as_list)
    ] = []
    budgets: Annotated[
        list[Annotated[Budget, _readable(parse_budget)]], BeforeValidator(_as_list)
    ] = [Budget("none")]
    seeds: Annotated[list[int], BeforeValidator(_seed_list)] = [0]
    evaluation: Annotated[
        Evaluation | None,
        _mapping("{test: 0.2}", {"transductive": None, OFFICIAL: {"test": OFFICIAL}}),
        AfterValidator(_plain_if_default),
    ] = None
    """None is transductive, stratified: the unlabeled points are scored."""
    task: Literal["auto", "clustering"] = "auto"
    tuning: Annotated[Tuning | None, _mapping("{search: grid, trials: 20}", {"none": None})] = None
    limits: Annotated[TrialLimits, _mapping("{time: 2h, threads: 1}")] = TrialLimits()
    data: Literal["counted", "mapped"] = "counted"
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
        return not isinstance(self.evaluation, Inductive)

    @property
    def splits(self) -> str | None:
        """The file of splits beside the study, with `{dataset}` in it; None if they are drawn."""
        return self.evaluation.splits if isinstance(self.evaluation, FromFile) else None

    @property
    def split_rules(self) -> str | dict[str, Any]:
        """The evaluation as `harness.datasets.split` takes it."""
        return self.evaluation.model_dump() if self.evaluation else "transductive"


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


_EVALUATIONS: dict[str, type[_Strict]] = {
    _INDUCTIVE: Inductive,
    _TRANSDUCTIVE: Transductive,
    _FROM_FILE: FromFile,
}


def validate(model: type[_Strict], content: Mapping[str, Any], where: str) -> Any:
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


def _explain(model: type[_Strict], item: Mapping[str, Any]) -> str:
    location = ".".join(
        str(part)
        for part in item["loc"]
        if part not in _EVALUATIONS and not str(part).startswith(("function-", "constrained"))
    )
    if item["type"] == "extra_forbidden":
        known = _fields_at(model, item["loc"][:-1])
        close = difflib.get_close_matches(str(item["loc"][-1]), known, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return f"unknown key {location!r}; {hint}known: {', '.join(sorted(known))}"
    given = "" if item["type"] == "harness" else f" (given: {shown(item['input'])})"
    return f"{location}: {item['msg']}{given}"


def _fields_at(model: type[_Strict], location: tuple[Any, ...]) -> list[str]:
    nested: dict[str, type[_Strict]] = {"limits": TrialLimits, "tuning": Tuning, **_EVALUATIONS}
    # of an evaluation, which of its kinds it is comes second
    names = [str(part) for part in location if str(part) in nested]
    holder = nested[names[0]] if names else model
    return list(holder.model_fields)
