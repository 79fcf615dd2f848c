"""Groups and the order of points, as a user names them for data that are added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness.datasets.adding.profiles import Name
from harness.datasets.adding.tables import Table
from harness.datasets.adding.wishes import Wishes
from harness.datasets.adding.written_files import written_file
from harness.datasets.fact_sources import QUERY
from harness.datasets.point_facts import lacking
from harness.errors import HarnessError
from harness.files import is_file

_PATH, _FILE = "path:", "file:"


def as_written(wishes: Wishes, folder: Path) -> dict[str, Any]:
    """Return what is said of groups and of an order as an entry has it.

    Parameters
    ----------
    wishes : Wishes
        Of either, "path:PATTERN" is of the names of files, and "file:A,B" names files with a value
        for each point; anything else is a column.
    folder : Path
        Of the catalog.

    Returns
    -------
    dict
        "groups" and "order", each where it is said: a name or a mapping.

    Raises
    ------
    HarnessError
        If a file is not there.
    """
    said: dict[str, Any] = {}
    for key, given in (("groups", wishes.groups), ("order", wishes.order)):
        if given is None:
            continue
        text = str(given)
        said[key] = given
        if text.startswith(_PATH):
            said[key] = {"path": text.removeprefix(_PATH)}
        elif text.startswith(_FILE):
            paths = [Path(part.strip()) for part in text.removeprefix(_FILE).split(",")]
            for path in paths:
                if not is_file(path):
                    raise HarnessError(f"--{key}: {path}: there is no such file")
            said[key] = {"files": [written_file(path, folder) for path in paths]}
    return said


def refuse_name(facts: Mapping[str, Any], format: str, where: Path) -> None:
    """Refuse the name of a column where a format has none.

    Raises
    ------
    HarnessError
        Saying what can be given instead.
    """
    known = (QUERY,) if format == "svmlight" else ()
    for key, said in facts.items():
        if not isinstance(said, dict) and said not in known:
            ways = ", ".join([*known, f"{_FILE}VALUES.txt", f"{_PATH}PATTERN"])
            raise HarnessError(
                f"{where}: --{key}: format {format} has no column {said!r}; allowed are {ways} "
                "(a value for each point in a file, or found in the names of files)"
            )


def where_known(
    table: Table, target: Name, facts: Mapping[str, Name]
) -> tuple[Table, dict[str, int]]:
    """Pass over a table for rows of which a group or a time is not known.

    Parameters
    ----------
    table : Table
    target : str or int
    facts : mapping of {"groups", "order"} to str or int
        The columns with them.

    Returns
    -------
    table : Table
        Without those rows.
    lacking : dict of str to int
        Of how many rows each is not known, where there are any.
    """
    counts = dict.fromkeys(facts, 0)
    for part in table.parts(target) if facts else ():
        for key, name in facts.items():
            counts[key] += int(lacking(part[name]).sum())
    found = {key: count for key, count in counts.items() if count}
    if not found:
        return table, {}

    def parts(target: Name) -> Iterator[pd.DataFrame]:
        for part in table.parts(target):
            gaps = np.any([lacking(part[facts[key]]) for key in found], axis=0)
            yield part[~gaps]

    return replace(table, parts=parts), found
