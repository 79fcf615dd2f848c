"""A budget as a study writes it: bytes (`200MB`), a size (`640 landmarks`), or none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.errors import HarnessError
from harness.units import parse_bytes

_SIZE = re.compile(r"\s*(\d+)\s+(landmarks|features|points|rank)\s*")


@dataclass(frozen=True)
class Budget:
    """What a trial may use.

    Attributes
    ----------
    text : str
        As written, without blanks at the ends; what records and file names show.
    bytes : int or None
        Bytes that a trial may add to an idle worker; None for no limit on bytes.
    size : int or None
        A bound on the method's size; None for no bound.
    """

    text: str
    bytes: int | None = None
    size: int | None = None

    @property
    def slug(self) -> str:
        """The budget as a part of a file name."""
        return self.text.replace(" ", "")


def parse_budget(text: str | int | None) -> Budget:
    """Read one budget.

    Raises
    ------
    HarnessError
        If it is none of the three forms.
    """
    written = "none" if text is None else str(text).strip()
    if written == "none":
        return Budget("none")
    if match := _SIZE.fullmatch(written):
        if int(match[1]) == 0:
            raise HarnessError(f"{written!r} is not a budget: it must be above zero")
        return Budget(" ".join(match.groups()), size=int(match[1]))
    try:
        return Budget(written, bytes=parse_bytes(written))
    except HarnessError as error:
        hint = "or 'none', or a size such as '640 landmarks'"
        raise HarnessError(f"{error}; {hint}") from None
