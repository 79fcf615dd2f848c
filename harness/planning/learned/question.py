"""What the process that measures trials is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
        "folder" of the data set, and "labeled", "rules" and "dataset" as `split` takes them;
        None for generated points.
    withheld : list of str
        Files that trials must not reach.
    enforcement : str
    threads : int
    seconds : float or None
        Limit of one trial.
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
    runs: list[dict[str, Any]]
