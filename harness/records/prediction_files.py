"""What trials predicted, kept beside their rows: a file a job, appended to as trials end.

A trial is a line of JSON that describes it, then bytes. Its predictions are on disk before its
row is, so whatever ends a job, a row has its predictions. What has no row is dropped when the job
goes on. Trials are known by their fingerprints, as rows are.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from harness.errors import DamagedFileError, HarnessError, shown
from harness.files import is_file, signature, whole_file, write_whole

FOLDER = "predictions"
"""Of a study's results."""

ENDING = ".scores"

KINDS = ("probabilities", "scores", "values", "labels")
"""What may be kept of a trial; labels alone where there is nothing else."""

PARTS = ("unlabeled", "test", "all")
"""Of which points predictions are."""

LABEL_TYPES = ("|i1", "<i2", "<i4", "<i8")
"""Types of labels, the smallest first."""

MOST_VALUES = 256
"""Values of scores that are kept as a list."""

_LARGEST = 1 << 32
"""Scores of a trial."""

_SCALE = 3
"""Numbers of a scale."""

_LONGEST = 1 << 20
"""Bytes of a line that describes a trial: of 1,000 classes it has 60,000."""


@dataclass(frozen=True)
class Kept:
    """What is said of a trial's predictions.

    Attributes
    ----------
    trial : str
        Its fingerprint.
    kind : str
        One of `KINDS`.
    n : int
        Points.
    columns : int
        Of scores; 0 for one score a point.
    scales : list of [center, scale, step]
        One a column.
    exact : bool
        Whether order and ties of the scores are kept.
    labels : int
        How many labels are listed, -1 if all are. The others follow from the scores.
    label_type : str
        Of those, as NumPy writes it.
    split : str
        The file in `splits/`, without its ending; "" where all points are predicted.
    part : str
        One of `PARTS`.
    points : int
        CRC-32 of the points' numbers.
    size : int
        Of the bytes that follow.
    values : int
        How many different scores are listed among the bytes; then there are no scales.
    """

    trial: str
    kind: str
    n: int
    columns: int
    scales: list[list[float]]
    exact: bool
    labels: int
    label_type: str
    split: str
    part: str
    points: int
    size: int
    values: int = 0

    def __post_init__(self) -> None:
        texts = (self.trial, self.kind, self.label_type, self.split, self.part)
        counts = (self.n, self.columns, self.points, self.size)
        numbers = [number for scale in self.scales for number in scale]
        listed = self.kind == "labels" or self.values
        if not (
            all(isinstance(text, str) for text in texts)
            and all(type(count) is int and 0 <= count < _LARGEST for count in counts)
            and type(self.labels) is int
            and -1 <= self.labels <= self.n
            and self.kind in KINDS
            and self.part in PARTS
            and self.label_type in LABEL_TYPES
            and type(self.values) is int
            and 0 <= self.values <= (0 if self.kind == "labels" else MOST_VALUES)
            and len(self.scales) == (0 if listed else max(1, self.columns))
            and all(len(scale) == _SCALE for scale in self.scales)
            and all(type(number) is float and math.isfinite(number) for number in numbers)
            and self.n * max(1, self.columns) < _LARGEST
        ):
            raise ValueError("it does not describe predictions")


class PredictionsFile:
    """The predictions of one job, which holds the lock of its journal.

    Parameters
    ----------
    path : Path
    rows : collection of str
        Fingerprints of trials that have rows; predictions of others are dropped.

    Raises
    ------
    HarnessError
        If it cannot be read or written.
    """

    def __init__(self, path: Path, rows: Collection[str]) -> None:
        self.path = path
        keep_trials(path, rows)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
        except OSError as error:
            raise _unusable(path, error) from None
        self._note()

    def __enter__(self) -> PredictionsFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()
        with suppress(OSError):
            if not self.path.stat().st_size:
                self.path.unlink()

    def append(self, kept: Kept, packed: bytes) -> None:
        """Add the predictions of a trial; they are on disk when it returns."""
        self._file.write(_line(kept) + packed)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._note()

    def altered(self) -> bool:
        """Tell whether someone else has written to the file since, or replaced it."""
        return self._state is None or self._state != signature(self._file, self.path)

    def drop(self) -> None:
        """Write the file anew, with nothing in it: what was altered tells nothing of any trial."""
        self._file.close()
        with whole_file(self.path):
            pass
        self._file = self.path.open("ab")
        self._note()

    def _note(self) -> None:
        self._state = signature(self._file, self.path)


def read_kept(path: Path, wanted: Container[str]) -> Iterator[tuple[Kept, bytes]]:
    """Read the predictions of some trials from a file, in the order in which they were written.

    One that a kill cut short ends the file.

    Raises
    ------
    DamagedFileError
        Where something else stands in it, once all before that was read.
    HarnessError
        If it cannot be read.
    """
    if not is_file(path):
        return
    try:
        with path.open("rb") as file:
            for kept, _, stop in _spans(path, file):
                if kept.trial in wanted:
                    file.seek(stop - kept.size)
                    yield kept, file.read(kept.size)
    except OSError as error:
        raise _unusable(path, error) from None


def keep_trials(path: Path, trials: Collection[str]) -> None:
    """Leave the predictions of some trials in a file, the last of each, and nothing else.

    Raises
    ------
    HarnessError
        If it cannot be read or written.
    """
    _rewrite(path, lambda trial: trial in trials)


def remove_trials(path: Path, trials: Collection[str]) -> None:
    """Remove the predictions of some trials from a file, if it has any of them.

    Raises
    ------
    HarnessError
        If it cannot be read or written.
    """
    with suppress(DamagedFileError):
        for _ in read_kept(path, trials):
            _rewrite(path, lambda trial: trial not in trials)
            return


def _rewrite(path: Path, keep: Callable[[str], bool]) -> None:
    if not is_file(path):
        return
    spans: dict[str, tuple[int, int]] = {}
    try:
        with path.open("rb") as file:
            with suppress(DamagedFileError):
                for kept, start, stop in _spans(path, file):
                    if keep(kept.trial):
                        spans[kept.trial] = (start, stop)
            if sum(stop - start for start, stop in spans.values()) == path.stat().st_size:
                return
            with whole_file(path) as anew:
                for start, stop in sorted(spans.values()):
                    file.seek(start)
                    anew.write(file.read(stop - start))
    except OSError as error:
        raise _unusable(path, error) from None


def copy_kept(source: Path, target: Path, trials: Collection[str]) -> None:
    """Add the predictions of some trials in one file to those in another.

    What of the source cannot be read is not copied.

    Raises
    ------
    HarnessError
        If one cannot be read or written.
    """
    found: dict[str, bytes] = {}
    with suppress(DamagedFileError):
        for kept, packed in read_kept(source, trials):
            found[kept.trial] = _line(kept) + packed
    if not found:
        return
    before = target.read_bytes() if is_file(target) else b""
    write_whole(b"".join([before, *found.values()]), target)


def _spans(path: Path, file: BinaryIO) -> Iterator[tuple[Kept, int, int]]:
    """Yield what is said of each trial, and where that begins and its bytes end."""
    size = path.stat().st_size
    stop = 0
    while stop < size:
        start = stop
        file.seek(start)
        line = file.readline(_LONGEST)
        try:
            if not line.endswith(b"\n"):
                if len(line) < _LONGEST:
                    return
                raise ValueError("its line is too long")
            kept = Kept(**json.loads(line))
        except (ValueError, TypeError, RecursionError) as error:
            where = f"{path}: byte {start}"
            raise DamagedFileError(
                path, f"{where} begins no predictions: {shown(str(error))}"
            ) from None
        stop = start + len(line) + kept.size
        if stop <= size:
            yield kept, start, stop


def _line(kept: Kept) -> bytes:
    return json.dumps(vars(kept), separators=(",", ":")).encode() + b"\n"


def _unusable(path: Path, error: OSError) -> HarnessError:
    return HarnessError(f"{path}: cannot be read or written: {error.strerror}")
