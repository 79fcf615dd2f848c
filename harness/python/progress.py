"""How far a run is, shown where it was started: a bar in a terminal, a line in a notebook."""

from __future__ import annotations

import html
import importlib
import sys
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


@contextmanager
def shown(total: int, console: Console | None = None) -> Iterator[Told]:
    """Show the outcomes so far while a study runs.

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
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console or Console(stderr=True)) as progress:
        bar = progress.add_task("", total=total)

        def update(counts: Counter[str]) -> None:
            progress.update(bar, completed=counts.total(), description=_words(counts))

        yield update


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
