"""A paper's printed table beside ours: cell by cell with a verdict, then rank by rank.

Verdicts are those of `harness.report.verdicts`. Seconds of another machine, figures that cannot be
right, and sums over other data sets than ours stand beside ours without one. Ranks compare the
methods that both have, and then the study's further methods with them: what a paper left out may
well be the best.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from harness.datasets.sizes import Sizes, count_of
from harness.report.display_names import telling_params
from harness.report.error_reductions import reduction
from harness.report.results import CELL
from harness.report.scores import Score, score_of
from harness.report.statistics import Interval, mean_interval, ranks
from harness.report.verdicts import VERDICTS, Judgement, judge
from harness.study.budget import Budget, parse_budget
from harness.study.published_tables import REDUCTIONS, SECONDS, Printed, Setting, read_printed

if TYPE_CHECKING:
    from harness.report.results import Results

WHY_FEWER = "fewer_seeds"
"""The key of a study that says why it has fewer seeds than the paper had runs."""

RANKS = ("printed_rank", "rank", "rank_of_all")
"""The paper's and ours among the methods that both have; ours with the study's further methods."""

Params = tuple[tuple[str, str], ...]

_ROUNDING = 1e-12
_LABELS = {
    "seconds": "CPU seconds",
    "train_seconds": "seconds of training",
    "test_seconds": "seconds of prediction",
    "error_reduction": "mean reduction of the error",
    "std_reduction": "mean reduction of its standard deviation",
}


@dataclass(frozen=True)
class Comparison:
    """One metric of one printed table beside ours.

    Attributes
    ----------
    name : str
        `paper/table`.
    score : Score
        Which way is better, and what the metric is called.
    unit : str
        "%" or empty: of the printed values and of ours here.
    cells : pandas.DataFrame
        A row a printed figure, and a row a setting and further method of the study: `row` (number
        of the setting), `setting` (Setting), `dataset`, `kernel`, `labeled`, `budget`, `method`
        (the paper's name, or the study's label without what the setting says), `further` (whether
        only the study has the method), `printed`, `printed_text` (with its digits), `printed_std`,
        `runs` (behind the printed one), `given_rank`, `ours` (label, if there is one), `place`
        (problem and budget of ours; none of a reduction), `n_scored`
        and `n` (seeds; data sets of a reduction), `mean`, `ci_low`, `ci_high`, `std`, those of
        `Judgement` with `difference_half` for `half`, `note`, `doubt`, RANKS.
    totals : pandas.DataFrame
        Indexed by method: sums of RANKS over the settings that were run.
    n_settings : int
        How many of them there are.
    left_out : list of str
        Methods that were not run, or are not printed, in all of them, and so not ranked.
    why_fewer : str
        What the study says of having fewer seeds than the paper had runs, if anything.
    """

    name: str
    score: Score
    unit: str
    cells: pd.DataFrame
    totals: pd.DataFrame
    n_settings: int
    left_out: list[str]
    why_fewer: str = ""

    @property
    def counts(self) -> str:
        """How many cells have which verdict: "18 reproduced, 30 exceeded, 8 not reached"."""
        found = self.cells["verdict"].value_counts()
        return ", ".join(f"{found[v]} {v}" for v in VERDICTS if v in found)


@dataclass(frozen=True, eq=False)
class _Trials:
    """The trials of one cell of the study."""

    place: tuple[str, str]
    dataset: str
    sizes: Sizes
    budget: Budget
    label: str
    telling: Mapping[str, str] | None
    plugin_method: str
    control: bool
    rows: pd.DataFrame
    results: Results

    @functools.cached_property
    def params(self) -> Mapping[str, Any]:
        return next(filter(None, self.results.params_of(self.rows["row"])), {})

    def has(self, params: Params) -> bool:
        return all(str(self.params.get(name)) == value for name, value in params)

    def answer(self, setting: Setting, score: Score, unit: str) -> _Answer:
        ok, note = self.rows[self.rows["outcome"] == "ok"], ""
        if score.name in SECONDS and len(self.results.cpus) > 1 and len(ok):
            ok = ok[ok["cpu_place"] == ok["cpu_place"].min()]
            note = f"ours on {ok['cpu'].iloc[0]}"
        scores = ok[SECONDS.get(score.name, score.name)] * (100 if unit == "%" else 1)
        interval = mean_interval(scores)
        return _Answer(
            self.label, self.column(setting), interval, len(self.rows), note, self.place
        )

    def column(self, setting: Setting) -> str:
        """Return the label with what tells it apart, but for what the setting says of all."""
        if self.telling is None:
            return self.label
        said = dict(setting.params)
        own = [
            f"{name}={value}" for name, value in self.telling.items() if said.get(name) != value
        ]
        return f"{self.plugin_method}[{','.join(own)}]" if own else self.plugin_method


class _Answer(NamedTuple):
    """What stands in one cell of ours."""

    label: str
    column: str
    interval: Interval
    n: int
    note: str = ""
    place: tuple[str, str] | None = None


def compare(results: Results, names: Iterable[str], where: str = "") -> list[Comparison]:
    """Put printed tables beside a study's results, a comparison a table and metric.

    Parameters
    ----------
    results : Results
    names : iterable of str
        Printed tables, `paper/table`.
    where : str, default ""
        File and key that hold the names, for messages.

    Raises
    ------
    HarnessError
        If there is no such table or it cannot be read.
    """
    comparisons = []
    stand_ins = results.stand_ins
    for name in dict.fromkeys(names):
        printed = [_unless_stand_in(figure, stand_ins) for figure in read_printed(name, where)]
        trials = _trials(results, {figure.setting.dataset for figure in printed})
        for metric, unit in dict.fromkeys((figure.metric, figure.unit) for figure in printed):
            mine = [p for p in printed if (p.metric, p.unit) == (metric, unit)]
            comparisons.append(_compare(name, mine, trials, results))
    return comparisons


def _unless_stand_in(figure: Printed, stand_ins: Mapping[str, str]) -> Printed:
    """Put a figure in doubt that would be held against data which only have the set's shape."""
    real = stand_ins.get(figure.setting.dataset)
    if real is None:
        return figure
    doubt = f"ours are generated data of the shape of {real}, not the data of the paper"
    return replace(figure, doubt="; ".join(filter(None, (figure.doubt, doubt))))


def _trials(results: Results, datasets: set[str]) -> list[_Trials]:
    cells = results.cells
    wanted = cells[cells["dataset"].isin(datasets)]
    telling, found = telling_params(cells), []
    for _, rows in wanted.groupby("cell", sort=False):
        first = rows.iloc[0]
        problem, budget, _ = first[CELL]
        found.append(
            _Trials(
                place=(problem, budget),
                dataset=first["dataset"],
                sizes=Sizes(*(first[part] for part in Sizes._fields)),
                budget=parse_budget(budget),
                label=first["label"],
                telling=telling.get(first["label"]),
                plugin_method=first["plugin_method"],
                control=first["control"],
                rows=rows,
                results=results,
            )
        )
    return found


def _compare(
    name: str, printed: list[Printed], trials: list[_Trials], results: Results
) -> Comparison:
    """Compare figures of one metric and unit."""
    metric, unit = printed[0].metric, printed[0].unit
    score = (
        Score(metric, metric in REDUCTIONS, frozenset(), _LABELS[metric])
        if metric in _LABELS
        else score_of(metric, {})
    )
    rows = []
    for number, setting in enumerate(dict.fromkeys(figure.setting for figure in printed)):
        mine = [figure for figure in printed if figure.setting == setting]
        pairs: list[tuple[Printed | None, _Answer | None]]
        if metric in REDUCTIONS:
            pairs = [(figure, _reduced(results, figure)) for figure in mine]
        else:
            pairs = [
                (figure, run.answer(setting, score, unit) if run else None)
                for figure, run in _pairs(setting, mine, trials)
            ]
        rows += [{"row": number} | _cell(setting, *pair, score) for pair in pairs]
    cells = _with_ranks(pd.DataFrame(rows), score.greater_is_better)
    ran = _ran(cells)
    unranked = ran.loc[ran["rank_of_all"].isna(), "method"]
    totals = cells.groupby("method", sort=False)[list(RANKS)].sum(min_count=1)
    return Comparison(
        name=name,
        score=score,
        unit=unit,
        cells=cells,
        totals=totals.dropna(how="all"),
        n_settings=ran["row"].nunique(),
        left_out=list(unranked.drop_duplicates()),
        why_fewer=str(results.study.get(WHY_FEWER) or ""),
    )


def _pairs(
    setting: Setting, printed: list[Printed], trials: list[_Trials]
) -> list[tuple[Printed | None, _Trials | None]]:
    """Pair each figure with the trials that answer it, then bring those that none asks for.

    Of several problems and budgets that fit, the one that answers most figures is taken, and the
    first of equals.
    """
    places: dict[tuple[str, str], list[_Trials]] = {}
    for run in trials:
        if _fits(setting, run):
            places.setdefault(run.place, []).append(run)
    answers = [
        [(figure, _match(figure, fitting)) for figure in printed] for fitting in places.values()
    ]
    if not answers:
        return [(figure, None) for figure in printed]
    pairs = max(answers, key=lambda pairs: sum(run is not None for _, run in pairs))
    fitting = list(places.values())[answers.index(pairs)]
    taken = [run for _, run in pairs]
    names = {name for figure in printed for name in (figure.method, figure.label)}
    return pairs + [
        (None, run)
        for run in fitting
        if run not in taken
        and run.column(setting) not in names
        and run.has(setting.params)
        and not run.control
    ]


def _fits(setting: Setting, run: _Trials) -> bool:
    """Tell whether trials are of a printed setting; what the paper leaves open fits all."""
    asked, sizes, budget = setting.labeled, run.sizes, setting.budget
    return (
        setting.dataset == run.dataset
        and (asked is None or count_of(sum(sizes), asked) == sizes.n_labeled)
        and setting.unlabeled in (None, sizes.n_unlabeled)
        and setting.test in (None, sizes.n_test)
        and (budget is None or (budget.bytes, budget.size) == (run.budget.bytes, run.budget.size))
    )


def _match(figure: Printed, fitting: list[_Trials]) -> _Trials | None:
    """Find the method by its label, else the first by its name in the plugin."""
    setting = figure.setting
    able = [run for run in fitting if run.has(setting.params + figure.params)]
    by_label = (run for run in able if figure.label in (run.label, run.column(setting)))
    by_name = (run for run in able if run.plugin_method == figure.method)
    return next(itertools.chain(by_label, by_name), None)


def _reduced(results: Results, figure: Printed) -> _Answer:
    found = reduction(results, figure)
    note = f"ours over {', '.join(found.datasets)}" if found.datasets else ""
    return _Answer(figure.label, figure.label, found.interval, found.n, note)


def _cell(
    setting: Setting, figure: Printed | None, ours: _Answer | None, score: Score
) -> dict[str, Any]:
    interval = ours.interval if ours else mean_interval(())
    judged = judge(figure, interval, score.greater_is_better) if figure else Judgement("")
    notes = [figure.note if figure else "", ours.note if ours else ""]
    return {
        "setting": setting,
        "dataset": setting.dataset,
        "kernel": dict(setting.params).get("kernel"),
        "labeled": setting.labeled,
        "budget": setting.budget.text if setting.budget else None,
        "method": figure.label if figure else ours.column if ours else None,
        "further": figure is None,
        "printed": float(figure.value) if figure else float("nan"),
        "printed_text": str(figure.value) if figure else "",
        "printed_std": figure.std if figure else None,
        "runs": figure.runs if figure and figure.runs else float("nan"),
        "given_rank": figure.rank if figure else None,
        "ours": ours.label if ours else None,
        "place": ours.place if ours else None,
        "n_scored": interval.n,
        "n": ours.n if ours else 0,
        "mean": interval.mean,
        "ci_low": interval.low,
        "ci_high": interval.high,
        "std": interval.std,
        "difference": judged.difference,
        "difference_half": judged.half,
        "margin": judged.margin,
        "verdict": judged.verdict,
        "note": "; ".join(filter(None, notes)),
        "doubt": figure.doubt if figure else "",
    }


def _with_ranks(cells: pd.DataFrame, greater_is_better: bool) -> pd.DataFrame:
    """Rank the methods that every setting has in which there is an order at all."""
    cells = cells.assign(**dict.fromkeys(RANKS, float("nan")))
    ran = _ran(cells)
    everywhere = ran.groupby("method").filter(lambda mine: len(mine) == ran["row"].nunique())
    both = everywhere.groupby("method").filter(lambda mine: ~mine["further"].any())
    if both["method"].nunique() < 2:
        return cells
    further = everywhere.groupby("method").filter(lambda mine: mine["further"].all())
    sign = -1 if greater_is_better else 1
    for _, mine in both.groupby("row"):
        given = mine["given_rank"]
        losses = sign * mine["printed"] if given.isna().any() else given
        cells.loc[mine.index, "printed_rank"] = _ranks([(loss,) for loss in losses])
        cells.loc[mine.index, "rank"] = _our_ranks(mine, sign)
    for _, mine in pd.concat([both, further]).groupby("row"):
        cells.loc[mine.index, "rank_of_all"] = _our_ranks(mine, sign)
    return cells


def _ran(cells: pd.DataFrame) -> pd.DataFrame:
    """Take what was run, of the settings with an order: two printed methods run, none in doubt."""
    run = cells[cells["n"] > 0]
    both = run.loc[~run["further"], "row"].value_counts()
    doubted = cells.loc[cells["doubt"] != "", "row"]
    return run[run["row"].isin(both.index[both > 1].difference(doubted))]


def _our_ranks(cells: pd.DataFrame, sign: int) -> np.ndarray:
    """Rank as the rest of the report does: failed seeds last, and those without a score behind."""
    return _ranks(
        [
            (cell.n_scored < cell.n, sign * cell.mean) if cell.n_scored else (True, math.inf)
            for cell in cells.itertuples()
        ]
    )


def _ranks(keys: list[tuple[Any, ...]]) -> np.ndarray:
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return ranks([places[key] for key in keys], greater_is_better=False)[0]
