"""Mappings of a catalog and of a study, in which an unknown key is an error."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
"""How mappings of a catalog and of a study are read: keys that are not known are refused."""


class Strict(BaseModel):
    """A model in which an unknown key is an error."""

    model_config = STRICT

    LATER: ClassVar[frozenset[str]] = frozenset()
    """Keys that came later: an entry that does not give them has the digest it always had."""


def as_tuple(value: Any) -> Any:
    """Return what may be given alone or as a list as the latter."""
    return value if isinstance(value, list | tuple) else [value]
