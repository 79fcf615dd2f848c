"""Trials that began and have no row, remembered beside the journal in case they end the job.

A trial that takes the worker or the runner down leaves no row by itself, and would be begun again
at every run. The keeper outlives its worker: a trial during which that alone died is begun twice,
and then has a row that says so. Where the keeper is gone too, the job died as a whole. A node that
fails, or a scheduler that wants it for others, does that; so it must happen many times before a
trial is blamed. Whoever ends a study in order (Ctrl-C, SIGTERM, SIGHUP) and a worker that ends by
itself (the disk is full) are not held against the trial that was running.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.files import write_whole

MOST = 2
"""How often a trial's worker or runner dies alone before the trial is blamed."""

MOST_WHOLE = 10
"""How often the whole job dies while a trial runs before the trial is blamed."""


@dataclass(frozen=True)
class _Note:
    """What is known of a trial without a row: which worker runs it, and how often some died."""

    running: str = ""
    alone: int = 0
    whole: int = 0


class Unfinished:
    """What became of the trials of a job that were begun without coming to an end.

    Made before the job's keeper forks its first worker, it tells workers of that keeper from those
    of another.

    Parameters
    ----------
    journal : Path
        Of the job.
    """

    def __init__(self, journal: Path) -> None:
        self._path = journal.with_suffix(".running")
        self._job, self._worker = secrets.token_hex(8), 0

    def next_worker(self) -> None:
        """Tell the keeper's next worker from those before; called before it is forked."""
        self._worker += 1

    def settle(self) -> None:
        """Count the deaths of workers before this one, which must hold the journal's lock."""
        notes = self._notes()
        for name, note in notes.items():
            if note.running.startswith(f"{self._job}-"):
                notes[name] = replace(note, running="", alone=note.alone + 1)
            elif note.running:
                notes[name] = replace(note, running="", whole=note.whole + 1)
        self._write(notes)

    def alone(self, fingerprint: str) -> int:
        """Return how often a worker died alone while it ran a trial."""
        return self._notes().get(fingerprint, _Note()).alone

    def blame(self, fingerprint: str) -> str:
        """Say why a trial should not be begun again; empty if it should."""
        note = self._notes().get(fingerprint, _Note())
        if note.alone >= MOST:
            return f"its worker was ended {_times(note.alone)} while it ran"
        if note.whole >= MOST_WHOLE:
            return (
                f"all processes of its job were ended {_times(note.whole)} while it ran, by it or "
                "by failures of nodes"
            )
        return ""

    def begin(self, fingerprint: str) -> None:
        """Note that this worker begins a trial."""
        notes = self._notes()
        note = notes.get(fingerprint, _Note())
        self._write({**notes, fingerprint: replace(note, running=self._this())})

    def end(self, fingerprint: str) -> None:
        """Forget a trial: it has a row, or was not what ended the worker."""
        notes = self._notes()
        if notes.pop(fingerprint, None) is not None:
            self._write(notes)

    def interrupted(self) -> bool:
        """Tell whether the keeper's last worker left a trial that it had begun."""
        return any(note.running == self._this() for note in self._notes().values())

    def forgive(self) -> None:
        """Take back what the keeper's last worker has begun: no trial ended it."""
        notes = self._notes()
        left = {
            name: replace(note, running="") if note.running == self._this() else note
            for name, note in notes.items()
        }
        if left != notes:
            self._write(left)

    def _this(self) -> str:
        return f"{self._job}-{self._worker}"

    def _notes(self) -> dict[str, _Note]:
        try:
            told = json.loads(self._path.read_text(encoding="utf-8"))
            notes = {str(name): _Note(**note) for name, note in told.items()}
            return {
                name: _Note(str(note.running), int(note.alone), int(note.whole))
                for name, note in notes.items()
            }
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    def _write(self, notes: dict[str, _Note]) -> None:
        kept = {name: asdict(note) for name, note in notes.items() if note != _Note()}
        if kept:
            write_whole(json.dumps(kept), self._path)
        else:
            self._path.unlink(missing_ok=True)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
