"""One method of a study: its name, parameters held fixed, ranges that are searched, its label."""

from __future__ import annotations

from typing import Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import PydanticCustomError

from harness.datasets.strict_model import Strict
from harness.errors import HarnessError, shown
from harness.plugin.search_space import Distribution, read_range

_LONGEST_LABEL = 1000


class MethodChoice(Strict):
    """One method of a study: its name, parameters held fixed, and the label in tables."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)
    label: str
    space: dict[str, Any] = Field(default_factory=dict)
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


def method_choice(value: Any) -> MethodChoice:
    """Read a method as a study writes it: a name, or a name with its parameters.

    Raises
    ------
    PydanticCustomError
        If it is neither.
    """
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
