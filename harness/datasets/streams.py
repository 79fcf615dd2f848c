"""The order in which points of a stream come, and whose labels are told.

A full random order has each row read by itself. So neighbors in the file stay together in runs,
of which a part has many: the file is read in stretches, and each part is of all of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.datasets.sizes import split_sizes
from harness.datasets.splits import Split

PLACES = 64
"""Places of a file that a part of a stream is from, at the least."""

MOST_STRETCHES = 100
"""Points of the curve of a stream at most."""


@dataclass(frozen=True)
class Stream:
    """Points that come a chunk at a time, to be predicted and then learned from.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Their numbers, in the order in which they come.
    chunk : int
        Points that come at once; the last chunk may have fewer.
    delay : int
        Chunks that are predicted before the labels of one are told.
    """

    rows: np.ndarray
    chunk: int
    delay: int

    @property
    def n_chunks(self) -> int:
        """How many chunks there are."""
        return -(-len(self.rows) // self.chunk)

    @property
    def first_scored(self) -> int:
        """The first chunk that is predicted: before it nothing was learned."""
        return 1 + self.delay

    @property
    def scored(self) -> np.ndarray:
        """Numbers of the points that are predicted, in their order."""
        return self.rows[self.first_scored * self.chunk :]

    def of_chunk(self, number: int) -> slice:
        """Return where a chunk is among the points."""
        return slice(number * self.chunk, min(len(self.rows), (number + 1) * self.chunk))

    def ends_stretch(self, number: int) -> bool:
        """Return whether a point of the curve is due after a chunk: some chunks share one."""
        scored = number - self.first_scored + 1
        of_each = -(-(self.n_chunks - self.first_scored) // MOST_STRETCHES)
        return scored > 0 and (scored % of_each == 0 or number == self.n_chunks - 1)


def in_runs(n: int, part: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random order of n rows in which runs of neighbors stay in one part.

    Parameters
    ----------
    n : int
    part : int
        Rows that are read at a time. Runs have a 64th of it, so that one of fewer than 128 rows
        is of single rows.
    rng : Generator

    Returns
    -------
    ndarray of int, shape (n,)
    """
    run = max(1, part // PLACES)
    starts = rng.permutation(-(-n // run)) * run
    order = (starts[:, None] + np.arange(run)).ravel()
    order = order[order < n]
    for start in range(0, n, part):
        rng.shuffle(order[start : start + part])
    return order


def draw_stream(
    n: int,
    n_labeled: int | float,
    rules: Mapping[str, Any],
    rng: np.random.Generator,
    dataset: str = "",
) -> tuple[Stream, np.ndarray]:
    """Put points in order and choose those whose label is told.

    Parameters
    ----------
    n : int
        Points of the data set.
    n_labeled : int or float
        Points whose label is told: a count, or a share of the stream; 0 for all.
    rules : mapping
        "chunk", "delay", "order" and "points", as a study says them.
    rng : Generator
    dataset : str, default ""
        Its name, for messages.

    Returns
    -------
    stream : Stream
    told : ndarray of bool, shape (n,)
        Of each point of the stream. Every chunk has its share of the labels up to rounding, and
        the first one has some.

    Raises
    ------
    HarnessError
        If the points are too few.
    """
    sizes = split_sizes(n, 0, n_labeled, rules, dataset)
    points = sizes.n_labeled + sizes.n_unlabeled
    rows = np.arange(n)
    if rules["order"] == "drawn":
        rows = in_runs(n, rules["chunk"], rng)
    stream = Stream(rows[:points], rules["chunk"], rules["delay"])
    told = np.zeros(points, dtype=bool)
    for number in range(stream.n_chunks):
        place = stream.of_chunk(number)
        # up to each chunk its share, rounded up
        first, last = (-(-sizes.n_labeled * end // points) for end in (place.start, place.stop))
        chosen = rng.permutation(place.stop - place.start)[: last - first]
        told[place.start + chosen] = True
    return stream, told


def as_split(stream: Stream, told: np.ndarray) -> Split:
    """Return the points that are scored as the test part, and those before by their labels.

    A study keeps it beside its results: predictions are of the points of its test part.
    """
    before = len(stream.rows) - len(stream.scored)
    rows, known = stream.rows[:before], told[:before]
    return Split(np.sort(rows[known]), np.sort(rows[~known]), np.sort(stream.scored))
