"""What a user says of a file that he adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.datasets.adding.profiles import Name


@dataclass(frozen=True)
class Wishes:
    """What a user says instead of having it guessed.

    Parameters
    ----------
    target : str or int, optional
        Name or number of the column; by default one called "target", "class", "label" or "y", else
        the last.
    task : {"binary", "multiclass", "regression"}, optional
    positive : sequence of str, default ()
        Labels of class 1.
    nominal, drop, keep : sequence of str or int, default ()
        Columns that are names, that are left out, and that are not left out.
    header : bool, optional
        Whether the first line of a CSV file names the columns.
    text : sequence of str or int, optional
        Columns of texts; guessed by default.
    groups, order : str or int, optional
        Columns that say which group a point is of, and when it was; they are no features. Or what
        begins with "path:" or "file:".
    """

    target: str | int | None = None
    task: str | None = None
    positive: Sequence[str] = ()
    nominal: Sequence[Name] = ()
    drop: Sequence[Name] = ()
    keep: Sequence[Name] = ()
    header: bool | None = None
    text: Sequence[Name] | None = None
    groups: Name | None = None
    order: Name | None = None
