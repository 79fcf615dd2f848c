"""The tables that papers print, as `reports/published/*.csv` holds them, to stand beside ours.

A table is named `paper/table`: the name of its file and its entry in the column `table`. Nothing
heavy is imported here, since Snakemake checks a study again in every job.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, unknown_name
from harness.metrics.names import METRICS
from harness.project import PUBLISHED
from harness.study.budget import Budget, parse_budget

SECONDS = {"seconds": "cpu_s", "train_seconds": "fit_s", "test_seconds": "predict_s"}
"""Metrics that papers print and no trial is scored by, and what of a trial stands beside them."""

REDUCTIONS = ("error_reduction", "std_reduction")
"""What a paper sums up over data sets: by how much one method's mean error, and its standard
deviation over draws, is below that of the better of those it is held `against`."""

ALL_DATASETS = "*"
"""The data set of a figure that sums up over all of them."""

SHARED = ("kernel",)
"""Parameters that all methods in a row of a table share."""
OWN = ("selector",)
"""Parameters that tell apart methods in a row."""

REQUIRED = ("table", "dataset", "method", "labeled", "budget", "metric", "value")
OPTIONAL = (
    "unlabeled",
    "test",
    *SHARED,
    *OWN,
    "against",
    "unit",
    "std",
    "runs",
    "rank",
    "note",
    "doubt",
)


@dataclass(frozen=True)
class Setting:
    """What the methods in one row of a printed table have in common; None is left open.

    Attributes
    ----------
    dataset : str
    labeled : int, float or None
        A count, or a share of all points.
    unlabeled, test : int or None
    budget : Budget or None
    params : tuple of (str, str)
        Parameters that the methods share, such as ("kernel", "rbf").
    """

    dataset: str
    labeled: int | float | None
    unlabeled: int | None
    test: int | None
    budget: Budget | None
    params: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Printed:
    """One figure of a printed table.

    Attributes
    ----------
    setting : Setting
    method, metric : str
    params : tuple of (str, str)
        The method's own parameters, such as ("selector", "dbh").
    against : tuple of str
        The methods that a reduction is measured by.
    value : decimal.Decimal
        With the digits that the paper gives.
    unit : str
        "%" where a share is printed in percent, else empty.
    std, rank : float or None
        As printed, if they are.
    runs : int or None
        How many the value is the mean of, as the paper says.
    note : str
    doubt : str
        Why the figure cannot be a target; empty if it can.
    """

    setting: Setting
    method: str
    metric: str
    value: Decimal
    params: tuple[tuple[str, str], ...] = ()
    against: tuple[str, ...] = ()
    unit: str = ""
    std: float | None = None
    runs: int | None = None
    rank: float | None = None
    note: str = ""
    doubt: str = ""

    @property
    def label(self) -> str:
        """The method as a study labels it by default: `budget-svm[selector=dbh]`."""
        if self.against:
            return f"{self.method} against {' / '.join(self.against)}"
        own = ",".join(f"{name}={value}" for name, value in self.params)
        return f"{self.method}[{own}]" if own else self.method

    @property
    def half_unit(self) -> float:
        """Half a unit of the last digit: how far rounding may have moved the value."""
        return 0.5 * 10.0 ** int(self.value.as_tuple().exponent)


def table_names() -> list[str]:
    """List the printed tables that there are, as a study names them."""
    return [name for path in _papers().values() for name in _tables_of(path)]


def own_papers() -> dict[str, Path]:
    """Return the files of the current folder's `printed/` by their names, without the ending."""
    return {path.stem: path for path in sorted(Path("printed").glob("*.csv"))}


def _papers() -> dict[str, Path]:
    """Return all files; those of the current folder stand in place of ours of the same name."""
    return {path.stem: path for path in sorted(PUBLISHED.glob("*.csv"))} | own_papers()


def read_printed(name: str, where: str = "") -> list[Printed]:
    """Read one printed table, in the order of its file.

    Parameters
    ----------
    name : str
        `paper/table`.
    where : str, default ""
        File and key that hold the name, for the message.

    Raises
    ------
    HarnessError
        If there is no such table, or an entry is not what its column asks for.
    """
    known = table_names()
    if name not in known:
        raise unknown_name("printed table", name, known, where)
    paper, table = name.split("/", 1)
    path = _papers()[paper]
    return [
        _printed(row, f"{path}: line {number}")
        for number, row in _rows(path)
        if row["table"] == table
    ]


def _tables_of(path: Path) -> list[str]:
    return list(dict.fromkeys(f"{path.stem}/{row['table']}" for _, row in _rows(path)))


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        columns = reader.fieldnames or ()
        for column in columns:
            if column not in (*REQUIRED, *OPTIONAL):
                raise unknown_name("column", column, (*REQUIRED, *OPTIONAL), str(path))
        lacking = [column for column in REQUIRED if column not in columns]
        if lacking:
            raise HarnessError(f"{path}: columns {', '.join(lacking)} are missing")
        rows = []
        for row in reader:
            if None in row or None in row.values():
                message = f"{path}: line {reader.line_num}: has not {len(columns)} entries"
                raise HarnessError(message)
            rows.append((reader.line_num, row))
        return rows


def _printed(row: Mapping[str, str], where: str) -> Printed:
    def read(column: str, parse: Callable[[str], Any], what: str) -> Any:
        text = row.get(column, "").strip()
        try:
            return parse(text) if text else None
        except (ValueError, InvalidOperation):
            raise HarnessError(f"{where}: {column} {text!r} is not {what}") from None
        except HarnessError as error:
            raise HarnessError(f"{where}: {column}: {error}") from None

    def named(parameters: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        return tuple((name, row[name]) for name in parameters if row.get(name))

    allowed = (*METRICS, *SECONDS, *REDUCTIONS)
    if row["metric"] not in allowed:
        raise unknown_name("metric", row["metric"], allowed, where)
    against = tuple(row.get("against", "").split())
    reduces = row["metric"] in REDUCTIONS
    if reduces != bool(against) or reduces != (row["dataset"] == ALL_DATASETS):
        message = "a reduction, and nothing else, names methods in against and '*' as its data set"
        raise HarnessError(f"{where}: {message}")
    if row.get("unit", "") not in ("", "%"):
        raise HarnessError(f"{where}: unit {row['unit']!r} is neither empty nor '%'")
    value = read("value", Decimal, "a number")
    if value is None or not value.is_finite():
        raise HarnessError(f"{where}: value {row['value']!r} is not a number")
    setting = Setting(
        dataset=row["dataset"],
        labeled=read("labeled", _count_or_share, "a count or a share between 0 and 1"),
        unlabeled=read("unlabeled", int, "a count"),
        test=read("test", int, "a count"),
        budget=read("budget", parse_budget, "a budget"),
        params=named(SHARED),
    )
    return Printed(
        setting=setting,
        method=row["method"],
        metric=row["metric"],
        value=value,
        params=named(OWN),
        against=against,
        unit=row.get("unit", ""),
        std=read("std", _spread, "a number from 0 on"),
        runs=read("runs", _runs, "a count from 1 on"),
        rank=read("rank", float, "a number"),
        note=row.get("note", ""),
        doubt=row.get("doubt", ""),
    )


def _spread(text: str) -> float:
    if not 0 <= float(text) < math.inf:
        raise ValueError
    return float(text)


def _runs(text: str) -> int:
    if int(text) < 1:
        raise ValueError
    return int(text)


def _count_or_share(text: str) -> int | float:
    number = float(text)
    if 0 < number < 1:
        return number
    return int(text)
