"""Names that a numpydoc docstring describes."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Described:
    """One name.

    Attributes
    ----------
    kind : str
        Its type and default, as they are written.
    meaning : str
    """

    kind: str
    meaning: str = ""


def described(item: Any) -> dict[str, Described]:
    """Return the parameters and attributes that a docstring describes, by name."""
    found: dict[str, Described] = {}
    names: list[str] = []
    for line in inspect.cleandoc(item.__doc__ or "").splitlines():
        if match := re.match(r"([\w, ]+) : (.*)", line):
            names = [name.strip() for name in match[1].split(",")]
            found |= dict.fromkeys(names, Described(match[2]))
        elif names and line.startswith("    "):
            for name in names:
                meaning = f"{found[name].meaning} {line.strip()}".strip()
                found[name] = Described(found[name].kind, meaning)
        else:
            names = []
    return found
