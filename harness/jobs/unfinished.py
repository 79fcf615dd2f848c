"""Trials that began and have no row, remembered beside the journal in case they end the worker.

A trial that takes the worker or the runner down leaves no row by itself, and would be begun again
at every run. It is begun twice, and then has a row that says so. Whoever ends a study in order
(Ctrl-C, SIGTERM, SIGHUP) is not held against the trial that was running.
"""

from __future__ import annotations

import json
from pathlib import Path

from harness.files import write_whole

MOST = 2
"""How often a trial is begun before it is blamed for never having ended."""


class Unfinished:
    """How often each trial of a block has been begun without coming to an end.

    Parameters
    ----------
    journal : Path
        Of the block.
    """

    def __init__(self, journal: Path) -> None:
        self._path = journal.with_suffix(".running")

    def count(self, fingerprint: str) -> int:
        """Return how often a trial was begun since it last came to an end."""
        return self.counts().get(fingerprint, 0)

    def begin(self, fingerprint: str) -> None:
        """Note that a trial begins."""
        counts = self.counts()
        self._write({**counts, fingerprint: counts.get(fingerprint, 0) + 1})

    def end(self, fingerprint: str) -> None:
        """Forget a trial: it has a row, or was not what ended the worker."""
        counts = self.counts()
        if counts.pop(fingerprint, None) is not None:
            self._write(counts)

    def forgive(self) -> None:
        """Take back the last beginning of every trial: the study was ended in order."""
        counts = {name: count - 1 for name, count in self.counts().items() if count > 1}
        self._write(counts)

    def counts(self) -> dict[str, int]:
        """Return this of every trial of the block that was begun without coming to an end."""
        try:
            counts = json.loads(self._path.read_text(encoding="utf-8"))
            return {str(name): int(count) for name, count in counts.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    def _write(self, counts: dict[str, int]) -> None:
        if counts:
            write_whole(json.dumps(counts), self._path)
        else:
            self._path.unlink(missing_ok=True)
