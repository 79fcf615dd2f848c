"""The answers at a glance: a row a data set, a column a budget or a number of labeled points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.report.answers import Answer
    from harness.report.tables import Tables

LEAST_ANSWERS = 13
"""Fewer are read as fast in their own rows."""
MOST_COLUMNS = 12
MOST_ANSWERS = 200
"""More are not read one after the other: a page sums them up, and shows those that are chosen."""


@dataclass(frozen=True)
class Overview:
    """Answers arranged in rows and columns.

    Attributes
    ----------
    over : {"budget", "labeled points"}
        What the columns are.
    columns : list
        Budgets as the study writes them, or numbers of labeled points.
    rows : list of (str, list of Answer or None)
        Names of data sets, or of problems, and one place a column; None where nothing was run.
    """

    over: str
    columns: list[str | int]
    rows: list[tuple[str, list[Answer | None]]]


def make_overview(
    answers: Sequence[Answer], tables: Tables, budgets: Sequence[str]
) -> Overview | None:
    """Arrange the answers of a study.

    Parameters
    ----------
    answers : sequence of Answer
    tables : Tables
    budgets : sequence of str
        Of the study, in order.

    Returns
    -------
    Overview or None
        None if the answers are few, or do not fill the places of a table at least by half.
    """
    if len(answers) < LEAST_ANSWERS:
        return None
    if len(budgets) > 1:
        return _arranged("budget", [(a.problem, a.budget, a) for a in answers], budgets)
    facts = tables.cells.drop_duplicates("problem").set_index("problem")
    dataset, labeled = facts["dataset"].to_dict(), facts["n_labeled"].astype(int).to_dict()
    places = [(dataset[a.problem], labeled[a.problem], a) for a in answers]
    return _arranged("labeled points", places, sorted({labeled[a.problem] for a in answers}))


def _arranged(
    over: str,
    places: Sequence[tuple[str, str | int, Answer]],
    columns: Sequence[str | int],
) -> Overview | None:
    found = {(row, column): answer for row, column, answer in places}
    names = list(dict.fromkeys(row for row, _, _ in places))
    ambiguous = len(found) < len(places)
    sparse = 2 * len(found) < len(names) * len(columns)
    if ambiguous or sparse or not 1 < len(columns) <= MOST_COLUMNS:
        return None
    rows = [(name, [found.get((name, column)) for column in columns]) for name in names]
    return Overview(over, list(columns), rows)


@dataclass(frozen=True)
class Wins:
    """How often a method is best.

    Attributes
    ----------
    best : int
        Answers that it is.
    clearly : int
        Those of which the next best is really worse.
    """

    best: int = 0
    clearly: int = 0


def sum_up(answers: Sequence[Answer], budgets: Sequence[str]) -> dict[str, Any] | None:
    """Count how often each method is best, in all and at each budget.

    Parameters
    ----------
    answers : sequence of Answer
    budgets : sequence of str
        Of the study, in order.

    Returns
    -------
    dict or None
        `columns` (budgets; none if there are more than MOST_COLUMNS) and `rows`: by method, with
        `best`, `clearly` and `places`, a Wins a column. Most first; what no method has a score on
        comes last. None if the answers are few enough to be read.
    """
    if len(answers) <= MOST_ANSWERS:
        return None
    columns = list(budgets) if 1 < len(budgets) <= MOST_COLUMNS else []
    first = Counter((answer.method, answer.budget) for answer in answers)
    clear = Counter((a.method, a.budget) for a in answers if a.verdict == "yes")
    rows: list[dict[str, Any]] = []
    for method in dict.fromkeys(answer.method for answer in answers):
        places = [Wins(first[method, budget], clear[method, budget]) for budget in budgets]
        rows.append(
            {
                "method": method,
                "best": sum(wins.best for wins in places),
                "clearly": sum(wins.clearly for wins in places),
                "places": places if columns else [],
            }
        )
    rows.sort(key=lambda row: (row["method"] is None, -row["best"], -row["clearly"]))
    return {"columns": columns, "rows": rows}
