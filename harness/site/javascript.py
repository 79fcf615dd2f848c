"""Storage models as JavaScript: the functions that they call, translated one by one.

A storage model is arithmetic on counts: calls of plain functions, conditions, and named arrays.
That part of Python is translated, with the objects of modules and their constants resolved first.
What is beyond it is refused with its line, never guessed. `python.js` has what it calls.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from harness.site.function_body import Body, UntranslatedError


class Translator:
    """Translates functions and all that they call; each once."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._texts: dict[str, str] = {}

    @property
    def text(self) -> str:
        """All functions and classes that were translated."""
        return "\n".join(self._texts.values())

    def function(self, function: Callable[..., Any]) -> str:
        """Translate a function, and return its name in JavaScript.

        Raises
        ------
        UntranslatedError
            If it, or what it calls, uses what has no translation.
        """
        bound = function.__self__ if inspect.ismethod(function) else None
        plain = inspect.unwrap(function.__func__ if inspect.ismethod(function) else function)
        if not isinstance(plain, types.FunctionType) or plain.__closure__:
            raise UntranslatedError(f"{function!r} is no plain function")
        key = (plain.__code__, bound)
        if key not in self._names:
            name = self._names[key] = f"f{len(self._names)}_{plain.__name__.strip('_<>')}"
            try:
                text = Body(self, plain, bound).text
            except UntranslatedError:
                del self._names[key]
                raise
            self._texts[name] = f"function {name}{text}"
        return self._names[key]

    def shape_class(self, kind: type) -> str:
        """Translate a frozen dataclass with its properties and methods."""
        fields = dataclasses.fields(kind)
        names = ", ".join(
            field.name
            + ("" if field.default is dataclasses.MISSING else f" = {self.literal(field.default)}")
            for field in fields
        )
        lines = [f"class {kind.__name__} {{", f"constructor({names}) {{"]
        lines += [f"this.{field.name} = {field.name};" for field in fields]
        lines.append("}")
        for name, member in vars(kind).items():
            if isinstance(member, property) and isinstance(member.fget, types.FunctionType):
                lines.append(f"get {name}{Body(self, member.fget, None, method=True).text}")
            elif isinstance(member, types.FunctionType) and not name.startswith("__"):
                lines.append(f"{name}{Body(self, member, None, method=True).text}")
        self._texts[kind.__name__] = "\n".join([*lines, "}"])
        return kind.__name__

    def literal(self, value: Any) -> str:
        """Write a constant of Python."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return json.dumps(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else str(value).replace("inf", "Infinity")
        if isinstance(value, tuple | list | frozenset):
            return f"[{', '.join(map(self.literal, value))}]"
        if isinstance(value, Mapping):
            pairs = (f"[{self.literal(k)}, {self.literal(v)}]" for k, v in value.items())
            return f"new Map([{', '.join(pairs)}])"
        if isinstance(value, types.FunctionType):
            return self.function(value)
        if isinstance(value, np.dtype):
            return f"dtype({json.dumps(value.name)})"
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            told = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            kept = {k: v for k, v in told.items() if v is None or isinstance(v, bool | int | str)}
            return json.dumps(kept)
        raise UntranslatedError(f"{value!r} is no constant")
