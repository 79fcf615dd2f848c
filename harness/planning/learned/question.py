"""What the process that measures trials is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

ROOM = 1.5
"""Times the largest budget that a measured trial may take: one that takes more tells little."""

UNBOUNDED = 2_000_000_000
"""Bytes that it may take where a study has no budget."""

USUAL_RUNS = 20
"""Trials that are measured for one shape and a few budgets, about."""


def most_bytes(budgets: Iterable[int | None]) -> int:
    """Return how many bytes a trial may take that is measured for some budgets; None is none."""
    return int(max(UNBOUNDED if many is None else ROOM * many for many in budgets))


@dataclass(frozen=True)
class Question:
    """What is to be learned, as plain data.

    Attributes
    ----------
    method : str
        Its name.
    plugins : list of str
        Locations of the plugins that provide it and what its parameters name.
    folders : list of str
        Plugin folders besides those that are searched anyway.
    params : dict
        Fixed by the study.
    task : str
    shape : dict
        All points of a trial, as fields of `Shape`.
    budgets : list of (int or None, int or None)
        Bytes, and a bound on the size.
    data : str
        As in `Run`.
    prepared : dict or None
        "folder" of the data set, and "labeled", "rules", "dataset" and "n_train" as `split` takes
        them; None for generated points.
    withheld : list of str
        Files that trials must not reach.
    enforcement : str
    threads : int
    seconds : float or None
        Limit of one trial.
    settings : list of str
    tuned : bool
        As in `Design`.
    runs : list of dict
        What was measured before.
    """

    method: str
    plugins: list[str]
    folders: list[str]
    params: dict[str, Any]
    task: str
    shape: dict[str, Any]
    budgets: list[tuple[int | None, int | None]]
    data: str
    prepared: dict[str, Any] | None
    withheld: list[str]
    enforcement: str
    threads: int
    seconds: float | None
    settings: list[str]
    tuned: bool
    runs: list[dict[str, Any]]
