"""Asks the process that measures trials: one for all questions, started when it is first asked.

It takes seconds to import what a runner of a study imports. So it stays, forks for each question,
and ends with whoever asks, or when it was asked nothing for a minute.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from harness.planning.learned.model import LearningError
from harness.planning.learned.question import Question
from harness.planning.learned.runs import Run
from harness.threads import THREAD_VARIABLES

_MODULE = "harness.planning.learned.measuring"
_FRESH_S = 30.0
"""In which a process is asked again; it ends itself some time later."""


def measured(question: Question) -> Iterator[Run]:
    """Have trials measured by a process that is as a study's runner is.

    Yields
    ------
    Run
        As soon as it is measured.

    Raises
    ------
    LearningError
        If the process ends before it has measured enough.
    """
    yield from _Measuring.current().answer(question)


class _Measuring:
    """The process, and under which conditions it started."""

    _started: _Measuring | None = None

    def __init__(self) -> None:
        self.conditions = _conditions()
        self.used = time.monotonic()
        self.told: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115 (open as long as it runs)
        self.process: subprocess.Popen[str] = subprocess.Popen(
            [sys.executable, "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.told,
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, "1"),
            text=True,
        )

    @classmethod
    def current(cls) -> _Measuring:
        """Return the process that runs, or start one where it cannot be asked here and now."""
        started = cls._started
        if started is not None and not started.can_be_asked():
            started.end()
        if cls._started is None:
            cls._started = cls()
            atexit.register(cls._started.end)
        return cls._started

    def can_be_asked(self) -> bool:
        """Whether it was asked lately, and would be started under the same conditions."""
        fresh = time.monotonic() - self.used < _FRESH_S
        return fresh and self.process.poll() is None and self.conditions == _conditions()

    def answer(self, question: Question) -> Iterator[Run]:
        """Ask one question."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        before = self.told.seek(0, os.SEEK_END)
        code: int | None = None
        try:
            with contextlib.suppress(BrokenPipeError):
                print(json.dumps(dataclasses.asdict(question)), file=stdin, flush=True)
            for line in stdout:
                answer: dict[str, Any] = json.loads(line)
                if "exit" in answer:
                    code = answer["exit"]
                    break
                yield Run.of(answer)
            if code != 0:
                self.told.seek(before)
                lines = self.told.read().strip().splitlines()
                last = lines[-1] if lines else f"exit status {code or self.process.wait()}"
                raise LearningError(f"the process that measures its trials ended: {last}")
        finally:
            self.used = time.monotonic()
            if code is None:  # what it still says would be taken for the next answer
                self.end()

    def end(self) -> None:
        """End the process, unless another one than this started it."""
        atexit.unregister(self.end)
        type(self)._started = None
        if self.conditions[0] == os.getpid():
            self.process.kill()
            self.process.communicate()
        self.told.close()


def _conditions() -> tuple[int, Path, dict[str, str]]:
    """Return what a process inherits that decides what it measures."""
    return os.getpid(), Path.cwd(), dict(os.environ)
