"""The cheapest method that keeps within the limits of a device, of those as good as the best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.errors import HarnessError
from harness.report.answers import SIGNIFICANCE, at_budget, format_score
from harness.report.cheapest import take_of
from harness.report.scores import Score
from harness.report.statistics import MIN_PAIRS, compare_with, mean_interval
from harness.units import format_bytes, format_latency

if TYPE_CHECKING:
    from harness.report.results import Results
    from harness.report.tables import Tables


@dataclass(frozen=True)
class Figure:
    """What of a method is limited.

    Attributes
    ----------
    column : str
        Of a row.
    over_seeds : str
        How the rows of a cell become one figure: "max" or "median".
    words : str
    write : callable float -> str
    """

    column: str
    over_seeds: str
    words: str
    write: Callable[[float], str]


FIGURES = {
    "training": Figure("peak_bytes", "max", "in training", format_bytes),
    "model": Figure("model_bytes", "max", "in a file", format_bytes),
    "predicting": Figure("predict_row_peak_bytes", "max", "for one row", format_bytes),
    "latency": Figure("predict_row_p99_s", "median", "per row", format_latency),
}
"""By name. The largest over seeds; of the 99th percentile of the latency the median, since one
interrupted call in a busy seed says nothing of the method."""


_ROW = ("seed", "row", "cpu_place", *(figure.column for figure in FIGURES.values()))


@dataclass(frozen=True)
class Candidate:
    """A method at one budget of a study.

    Attributes
    ----------
    method, budget : str
    size : float
        NaN for a method without one.
    scores : Series
        By seed.
    figures : dict of str to float
        Of FIGURES, NaN where a figure is not known.
    share : float
        The largest part of a limit that it takes.
    rows : list of int
        Numbers in the study's table.
    """

    method: str
    budget: str
    size: float
    scores: pd.Series
    figures: dict[str, float]
    share: float
    rows: list[int]

    @property
    def name(self) -> str:
        """Method and budget, in words."""
        return f"{self.method} {at_budget(self.budget)}"


@dataclass(frozen=True)
class Choice:
    """What to take of one problem.

    Attributes
    ----------
    problem : str
    score : Score
    taken : Candidate or None
        None where nothing keeps within the limits.
    best : Candidate or None
        The best of what does.
    level : list of Candidate
        Others that cannot be told apart from the best, the cheapest first.
    comparison : str
    """

    problem: str
    score: Score
    taken: Candidate | None
    best: Candidate | None
    level: list[Candidate]
    comparison: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can say it."""
        taken = self.taken
        found: dict[str, Any] = {"dataset": self.problem, "metric": self.score.name}
        found |= dict.fromkeys(("method", "budget", "size", "mean", "ci_low", "ci_high"))
        found |= dict.fromkeys(figure.column for figure in FIGURES.values())
        if taken is not None:
            interval = mean_interval(taken.scores)
            found |= {"method": taken.method, "budget": taken.budget, "size": _known(taken.size)}
            found |= {"mean": interval.mean, "ci_low": _known(interval.low)}
            found |= {"ci_high": _known(interval.high)}
            found |= {FIGURES[n].column: _known(value) for n, value in taken.figures.items()}
        found["rows"] = taken.rows if taken else []
        found["best"] = self.best.name if self.best else None
        found["level"] = [other.name for other in self.level]
        return found | {"comparison": self.comparison}


def choose(
    results: Results, scores: Mapping[str, Score], tables: Tables, limits: Mapping[str, float]
) -> list[Choice]:
    """Choose for each problem, over all budgets of the study.

    Of what keeps within all limits the best by its mean is compared with the others, paired over
    seeds and corrected by Holm. Taken is the cheapest of those that are not told apart from it,
    by the rule of `take_of`: its cost is its largest share of a limit. With fewer than 5 seeds
    nothing can be told, and the best itself is taken.

    Parameters
    ----------
    results : Results
    scores : mapping of str to Score
    tables : Tables
    limits : mapping of str to float
        Of FIGURES by name, in bytes or seconds.

    Raises
    ------
    HarnessError
        If a limited figure is in no row.
    """
    ok = results.cells[results.cells["outcome"] == "ok"]
    for name in limits:
        column = FIGURES[name].column
        if not ok[column].notna().any():
            raise HarnessError(
                f"{results.directory}: no row says its {column}: an earlier version of the "
                "harness made them; run the study again"
            )
    rows = dict(list(ok[["cell", *_ROW, *results.metrics]].groupby("cell")))
    choices = []
    for problem, cells in tables.cells.groupby("problem", sort=False):
        ranked = cells[~cells["control"] & (cells["n_scored"] == cells["n"])]
        candidates = [
            _candidate(cell, rows[cell.cell], scores[problem], limits)
            for cell in ranked.itertuples(index=False)
        ]
        choices.append(_choose(problem, scores[problem], candidates, limits))
    return choices


def _candidate(
    cell: Any, rows: pd.DataFrame, score: Score, limits: Mapping[str, float]
) -> Candidate:
    # a median over two kinds of CPU would be the latency of neither
    timed = rows[rows["cpu_place"] == rows["cpu_place"].min()]
    figures = {
        name: float(getattr((timed if name == "latency" else rows)[figure.column], over)())
        for name, figure in FIGURES.items()
        for over in (figure.over_seeds,)
    }
    share = max((figures[name] / limit for name, limit in limits.items()), key=_unknown_last)
    by_seed = rows.set_index("seed")[score.name].astype(float)
    numbers = [int(number) for number in rows["row"]]
    size = float("nan") if pd.isna(cell.size) else float(cell.size)
    return Candidate(cell.method, cell.budget, size, by_seed, figures, share, numbers)


def _unknown_last(share: float) -> float:
    return math.inf if math.isnan(share) else share


def _choose(
    problem: str, score: Score, candidates: list[Candidate], limits: Mapping[str, float]
) -> Choice:
    within = [candidate for candidate in candidates if candidate.share <= 1]
    if not within:
        return Choice(problem, score, None, None, [], _nothing(candidates, limits))
    sign = -1 if score.greater_is_better else 1

    def worth(candidate: Candidate) -> tuple[float, float]:
        return sign * float(candidate.scores.mean()), candidate.share

    best = min(within, key=worth)
    others = [candidate for candidate in within if candidate is not best]
    if not others:
        return Choice(problem, score, best, best, [], "Nothing else keeps within these limits.")
    table = compare_with(pd.DataFrame({one.name: one.scores for one in within}), best.name)
    level = [other for other in others if table.loc[other.name, "p_holm"] >= SIGNIFICANCE]
    level.sort(key=lambda candidate: (candidate.share, worth(candidate)))
    pairs = int(table["n"].max())
    if pairs < MIN_PAIRS:
        seeds = "one seed is" if pairs == 1 else f"{pairs} seeds are"
        told = f"The best by its mean; {seeds} too few to tell whether a cheaper one is as good."
        return Choice(problem, score, best, best, [], told)
    taken = take_of([best, *level], lambda one: one.share, lambda one: worth(one)[0])
    if taken is not best:
        part = taken.share / best.share
        told = (
            f"Not told apart from the best, {best.name} ({format_score(best.scores.mean())}), and "
            f"takes {part:.2g} of what that takes."
        )
        return Choice(problem, score, taken, best, level, told)
    return Choice(problem, score, best, best, level, _alone(best, level, len(others)))


def _alone(best: Candidate, level: list[Candidate], others: int) -> str:
    if not level:
        worse = "the other one is" if others == 1 else f"all {others} others are"
        return f"The best: {worse} worse within these limits."
    n = len(level)
    told = "the other one that" if n == 1 else f"the {n} others that"
    if level[0].share < best.share:
        saved = "does not save" if n == 1 else "do not save"
        return f"The best: {told} cannot be told apart from it {saved} more than a tenth."
    return f"The best, and cheaper than {told} cannot be told apart from it."


def _nothing(candidates: list[Candidate], limits: Mapping[str, float]) -> str:
    known = [candidate for candidate in candidates if not math.isnan(candidate.share)]
    if not known:
        return "No method finished every seed with all of these figures."
    nearest = min(known, key=lambda candidate: candidate.share)
    over = [
        f"{FIGURES[name].write(nearest.figures[name])} {FIGURES[name].words} "
        f"(limit {FIGURES[name].write(limit)})"
        for name, limit in limits.items()
        if nearest.figures[name] > limit
    ]
    return f"The nearest is {nearest.name}: {', '.join(over)}."


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def choice_line(choice: Choice) -> dict[str, Any]:
    """Return a choice as a row of a table in a terminal."""
    taken = choice.taken
    line: dict[str, Any] = {"data set": choice.problem, "take": None, "at": None, "score": None}
    line |= dict.fromkeys(figure.words for figure in FIGURES.values())
    if taken is not None:
        interval = mean_interval(taken.scores)
        score = format_score(interval.mean, interval.low, interval.high)
        line |= {
            "take": taken.method,
            "at": taken.budget,
            "score": f"{choice.score.label} {score}",
        }
        line |= {
            FIGURES[name].words: None if math.isnan(value) else FIGURES[name].write(value)
            for name, value in taken.figures.items()
        }
    line["row"] = taken.rows[0] if taken else None
    return line | {"why": choice.comparison}
