"""How far a run is: a bar in a terminal, a line in a notebook, a line a minute in a log."""

from __future__ import annotations

import html
import importlib
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from harness.jobs.workflow import Told
from harness.records.columns import OUTCOMES

LOG_S = 60.0
"""Seconds from one line of a log to the next, at least."""


@contextmanager
def shown(total: int, console: Console | None = None) -> Iterator[Told]:
    """Show the outcomes so far while a study runs.

    Where they do not go to a terminal there is a line a minute, if anything has changed, and one
    at the end.

    Parameters
    ----------
    total : int
        Trials of the study.
    console : Console, optional
        Of the bar; by default one on stderr.

    Yields
    ------
    callable (Counter) -> None
        To be told the outcomes.
    """
    if _in_notebook():
        yield _Line(total)
        return
    console = console or Console(stderr=True)
    if not console.is_terminal:
        log = _Log(total, console)
        try:
            yield log
        finally:
            log.end()
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=total)

        def update(counts: Counter[str]) -> None:
            progress.update(bar, completed=counts.total(), description=_words(counts))

        yield update


class _Log:
    """Lines of a file or a pipe, in which a bar cannot be drawn anew."""

    def __init__(self, total: int, console: Console) -> None:
        self._total, self._console = total, console
        self._counts: Counter[str] = Counter()
        self._written: Counter[str] | None = None
        self._next = time.monotonic() + LOG_S

    def __call__(self, counts: Counter[str]) -> None:
        self._counts = Counter(counts)
        if time.monotonic() >= self._next and self._counts != self._written:
            self._write()

    def end(self) -> None:
        """Write how it ended, if that was not written."""
        if self._counts != self._written:
            self._write()

    def _write(self) -> None:
        self._written, self._next = self._counts, time.monotonic() + LOG_S
        now = time.strftime("%H:%M:%S")
        done = f"{self._counts.total()}/{self._total} {_words(self._counts)}".rstrip()
        self._console.print(f"{now} {done}", highlight=False, soft_wrap=True)


class _Line:
    """One line of a notebook's cell, written anew as trials end."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._handle: Any = None
        self._said = ""

    def __call__(self, counts: Counter[str]) -> None:
        done = counts.total()
        text = f"{done} of {self._total} trials: {_words(counts) or 'starting'}"
        if text == self._said:
            return
        self._said = text
        bar = f'<progress value="{done}" max="{self._total}"></progress> {html.escape(text)}'
        made = {"text/plain": text, "text/html": bar}
        if self._handle is None:
            display: Any = importlib.import_module("IPython.display").display
            self._handle = display(made, raw=True, display_id=True)
        else:
            self._handle.update(made, raw=True)


def _in_notebook() -> bool:
    """Tell whether this runs in a kernel, whose output is no terminal."""
    loaded = sys.modules.get("IPython")
    shell = loaded.get_ipython() if loaded else None
    return getattr(shell, "kernel", None) is not None


def _words(counts: Counter[str]) -> str:
    return " ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
