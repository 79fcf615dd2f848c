"""A budget as a study writes it: bytes (`200MB`), a size (`640 landmarks`), or none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.errors import HarnessError, shown
from harness.units import parse_bytes

_SIZE = re.compile(r"\s*0*([1-9]\d{0,17})\s+(landmarks|features|points|rank)\s*", re.ASCII)
_NEARLY_SIZE = re.compile(r"([1-9][\d,]*)\s*(landmark|feature|point|rank)s?", re.IGNORECASE)
_NO_COUNT = re.compile(r"(\S+)\s*(landmark|feature|point|rank)s?", re.IGNORECASE)
_ALLOWED = "bytes (200MB, 64MiB), a bound on the size (640 landmarks; also features, points, rank)"
_LONGEST = 40
# Fewer bytes than any method needs: what was meant has a unit, or was cut at a comma.
_LEAST_BARE = 1000

JOB_BYTES = 800_000_000
"""What a job of trials needs beside its budget: two Snakemakes, a worker and its runner."""


@dataclass(frozen=True)
class Budget:
    """What a trial may use.

    Attributes
    ----------
    text : str
        As written, without blanks at the ends; what records show.
    bytes : int or None
        Bytes that a trial may add to an idle worker; None for no limit on bytes.
    size : int or None
        A bound on the method's size; None for no bound.
    """

    text: str
    bytes: int | None = None
    size: int | None = None


def parse_budget(text: str | int | None) -> Budget:
    """Read one budget.

    Raises
    ------
    HarnessError
        If it is none of the three forms.
    """
    written = "none" if text is None else " ".join(str(text).split())
    if len(written) > _LONGEST:
        raise HarnessError(f"{shown(written)} is not a budget: write {_ALLOWED} or none")
    if written == "none":
        return Budget("none")
    if match := _SIZE.fullmatch(written):
        return Budget(" ".join(match.groups()), size=int(match[1]))
    if match := _NEARLY_SIZE.fullmatch(written):
        meant = f"{match[1].replace(',', '')} {_plural(match[2])}"
        raise HarnessError(
            f"{shown(written)} is not a budget: write {_ALLOWED} or none; did you mean {meant!r}?"
        )
    if match := _NO_COUNT.fullmatch(written):
        raise HarnessError(
            f"{shown(written)} is not a budget: before {_plural(match[2])!r} stands a whole "
            f"number above zero, not {match[1]}"
        )
    try:
        count = parse_bytes(written)
    except HarnessError as error:
        raise HarnessError(f"{error}; a budget is {_ALLOWED} or none") from None
    if count < _LEAST_BARE and written[-1].isdigit():
        raise HarnessError(
            f"{shown(written)} is not a budget: bytes have a unit ({written}MB, {written}B), a "
            f"size says of what ({written} landmarks, and 1280 landmarks without a comma)"
        )
    return Budget(written, bytes=count)


def _plural(noun: str) -> str:
    return noun.lower() + ("" if noun.lower() == "rank" else "s")
