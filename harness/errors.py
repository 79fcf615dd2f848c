"""Errors that a user can act on, and the help that goes with a misspelt name."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable
from pathlib import Path


class HarnessError(Exception):
    """A mistake of the user's input or surroundings, told in one message without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows: the message, since the calls are ours and not the user's."""
        return [f"{type(self).__name__}: {self}"]


class OverBudget(HarnessError):  # noqa: N818 - read as an outcome, as in a row
    """A block of code or a callable took more memory than its budget."""

    def _render_traceback_(self) -> list[str]:
        return traceback.format_exception(self)  # which of the user's lines it was


class DamagedFileError(HarnessError):
    """A file that a run of the study makes is there and cannot be used.

    Parameters
    ----------
    path : Path
        The file to be made anew, which is put aside by whoever runs the study.
    message : str
        What is wrong, with the file that it is found in.
    """

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{message}; 'harness run' puts it aside and makes it anew")
        self.path, self.message = path, message


MOST_SHOWN = 120
"""Characters of a value that a message repeats."""


def shown(value: object, most: int = MOST_SHOWN) -> str:
    """Write a value as messages repeat it: as Python does, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits have no decimal form
        text = f"<{type(value).__name__}>"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= most else f"{text[: most - 3]}..."


_MANY, _MOST_CLOSE = 40, 5
"""Names beyond which only those that come close are told, and how many of these."""


def unknown_name(kind: str, name: str, known: Iterable[str], where: str = "") -> HarnessError:
    """Build the error for a name that nothing provides.

    Parameters
    ----------
    kind : str
        What was looked up, in the singular ("method").
    name : str
        The name as given.
    known : iterable of str
        All names that would have been accepted.
    where : str, default ""
        File and key that hold the name, put in front of the message.

    Returns
    -------
    HarnessError
        To be raised by the caller.
    """
    names = sorted(known)
    close = difflib.get_close_matches(name[:MOST_SHOWN], names, n=_MOST_CLOSE)
    hint = f"did you mean {close[0]!r}? " if close else ""
    allowed = ", ".join(names) if names else "(none)"
    if close and len(names) > _MANY:
        allowed = f"{', '.join(close)} and {len(names) - len(close)} others"
    prefix = f"{where}: " if where else ""
    return HarnessError(f"{prefix}unknown {kind} {shown(name)}; {hint}known: {allowed}")
