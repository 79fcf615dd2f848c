"""What a study says of points that come as a stream, and what does not go with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from harness.datasets.strict_model import Strict
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.study.schema import Grid

STREAMED = "streamed"
"""The word of `data` for points that are read a part at a time."""

PREQUENTIAL = "prequential"


class Prequential(Strict):
    """Score each chunk of a stream before it is learned from (Dawid 1984; Gama et al. 2013)."""

    prequential: Literal[True]
    chunk: int = Field(default=1000, ge=1, le=10**6)
    """Points that are predicted, and then learned from, at once."""
    delay: int = Field(default=0, ge=0, le=10**6)
    """Chunks that are predicted before the labels of one are told."""
    order: Literal["drawn", "file"] = "drawn"
    points: int | None = Field(default=None, ge=2)
    """Length of the stream; all points of the data set by default."""


def refuse_unfit_stream(path: Path, grid: Grid) -> None:
    """Refuse what needs all points at once beside a stream.

    Raises
    ------
    HarnessError
        Naming the key and what is allowed.
    """
    if not grid.streams:
        return
    what = "evaluation prequential" if grid.is_prequential else "data: streamed"
    wrong = ""
    if grid.tuning is not None:
        wrong = "tuning: a search holds all labeled points, and {} one part: give tuning: none"
    elif grid.task == "clustering":
        wrong = "task: clusters are found in all points at once, and {} has one part: leave it out"
    elif grid.is_prequential and grid.data == "mapped":
        wrong = "data: {} reads a chunk at a time, so there is nothing to map: leave it out"
    elif grid.is_prequential and grid.checkpoints:
        wrong = "checkpoints: {} scores each chunk as it comes: leave them out"
    if wrong:
        raise HarnessError(f"{path}: {wrong.format(what)}")
