"""Which line of a plugin held most, for whoever has to write its storage model.

Python tells what it has allocated at most (`tracemalloc`, which NumPy reports to). It is asked
before each line of the plugin that runs: the line before the last rise of that mark is the one.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import tracemalloc
from pathlib import Path
from types import FrameType
from typing import Any

from harness.sandbox import Monitor
from harness.trial.assignment import Assignment
from harness.trial.run import run_trial


class PeakLine:
    """Watches lines of some files while a block runs.

    Parameters
    ----------
    source : Path
        A module, or a package's folder.

    Attributes
    ----------
    file : str
        Of the line; empty where no line of theirs has run.
    line : int
    """

    def __init__(self, source: Path) -> None:
        self._source = str(source)
        self._highest, self._at = 0, ("", 0)
        self.file, self.line = "", 0

    def __enter__(self) -> PeakLine:
        tracemalloc.start()
        sys.settrace(self._called)
        return self

    def __exit__(self, *raised: object) -> None:
        sys.settrace(None)
        self._look()
        tracemalloc.stop()

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename.startswith(self._source):
            self._look()
            self._at = frame.f_code.co_filename, frame.f_lineno
            return self._ran
        return None

    def _ran(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._look()
        self._at = frame.f_code.co_filename, frame.f_lineno
        if event == "return" and frame.f_back is not None:
            # what the caller's line goes on to allocate is the caller's
            self._at = frame.f_back.f_code.co_filename, frame.f_back.f_lineno
        return self._ran

    def _look(self) -> None:
        highest = tracemalloc.get_traced_memory()[1]
        if highest > self._highest:
            self._highest = highest
            if self._at[0].startswith(self._source):
                self.file, self.line = self._at


def traced(assignment: Assignment, monitor: Monitor) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a trial, and answer with the line of its plugin that held most."""
    with PeakLine(source_of(assignment.method.estimator)) as found:
        run_trial(assignment, monitor)
    return {"file": found.file, "line": found.line}, {}


def source_of(estimator: type) -> Path:
    """Return the module that a class is from, or the folder of its package."""
    path = Path(inspect.getsourcefile(estimator) or "")
    return path.parent if (path.parent / "__init__.py").is_file() else path


def line_words(file: str, line: int) -> str:
    """Name a line of a file, with what stands there; nothing for no file."""
    if not file:
        return ""
    return f"{Path(file).name}, line {line}: {linecache.getline(file, line).strip()}"
