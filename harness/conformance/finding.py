"""What one check found, ready to be printed."""

from __future__ import annotations

from dataclasses import dataclass

PASSES, FAILS, DOES_NOT_APPLY = "passes", "fails", "does not apply"


@dataclass(frozen=True)
class Finding:
    """The result of one check of one method.

    Attributes
    ----------
    method : str
        Name of the method; of the plugin where it is the whole file that was checked.
    check : str
        What was checked, with the task where the method declares several.
    advice : str
        One sentence: what is wrong and what to change. Why not where the check does not apply;
        what was measured, if anything, where it passes.
    result : str
        "passes", "fails" or "does not apply".
    """

    method: str
    check: str
    advice: str = ""
    result: str = PASSES


class NotApplicableError(Exception):
    """Raised by a check that says nothing about this method; its message says why."""


def broken(method: str, check: str, advice: str) -> Finding:
    """Return the finding that a check fails."""
    return Finding(method, check, one_line(advice), FAILS)


def skipped(method: str, check: str, why: str) -> Finding:
    """Return the finding that a check does not apply."""
    return Finding(method, check, one_line(why), DOES_NOT_APPLY)


def one_line(text: str, longest: int = 400) -> str:
    """Join lines and cut what is too long for a table."""
    joined = " ".join(text.split())
    return joined if len(joined) <= longest else joined[: longest - 4] + " ..."
