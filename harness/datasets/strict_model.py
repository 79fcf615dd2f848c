"""How mappings of a catalog and of a study are read: keys that are not known are refused."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
"""What all of them have in common."""


class Strict(BaseModel):
    """A model in which an unknown key is an error."""

    model_config = STRICT

    LATER: ClassVar[frozenset[str]] = frozenset()
    """Keys that came later: an entry that does not give them has the digest it always had."""
