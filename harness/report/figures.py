"""Everything that the page's script draws, with the legend and the notes beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.report import charts
from harness.report import theme as looks
from harness.report.metric_bounds import within_range
from harness.report.pareto import NORMALISED, front_columns, over_data_sets, with_fronts
from harness.report.plan_calibration import measured_over_planned
from harness.report.ranking import critical_difference_diagram
from harness.report.scores import Score, declared_metrics, score_of
from harness.report.single_budget_charts import specifications
from harness.report.tables import charted
from harness.report.times import of_usual_cpu, other_times, times_by_place

if TYPE_CHECKING:
    from harness.report.answers import Answer
    from harness.report.results import Results
    from harness.report.tables import Tables

MOST_DRAWN = 400
"""Data sets whose charts are in the page, about 40 kB each; tables and CSV files have all."""
MOST_PICKED = 8
"""Methods drawn in colour at first; more lines than this cannot be told apart at a glance.
Dots that stand in rows under their names can, so studies of one budget show all."""
_OF_A_METRIC = ("score", "score_peak", "score_time")
"""Charts that another metric has too."""


def make_figures(
    results: Results, scores: dict[str, Score], tables: Tables, every_metric: bool
) -> dict[str, Any]:
    """Make the specifications and data of all charts.

    Parameters
    ----------
    results : Results
    scores : dict of str to Score
        The primary metric of each problem.
    tables : Tables
    every_metric : bool
        Whether charts of the score can be switched to the study's other metrics.
    """
    cells = tables.cells
    by_rank = cells[~cells["control"]].groupby("method")["rank"].mean().sort_values(kind="stable")
    styles = looks.styles(list(by_rank.index))
    single = bool(cells.groupby("problem")["budget"].nunique().max() == 1)
    problems: list[dict[str, Any]] = []
    data: dict[str, Any] = {}
    specs: dict[str, Any] = {}
    times: dict[str, Any] = {}
    metrics: dict[str, Any] = {}
    others = times_by_place(results, tables.times)
    numbers: dict[charts.Axes, int] = {}

    def number_of_axes(axes: charts.Axes, kinds: Sequence[str] = ()) -> int:
        if axes not in numbers:
            numbers[axes] = len(numbers)
        built = specifications(axes, tuple(styles), single)
        for kind, spec in built.items():
            if not kinds or kind in kinds:
                specs[f"{kind}-{numbers[axes]}"] = spec
        return numbers[axes]

    several = cells["problem"].drop_duplicates()
    some = charted(cells[cells["problem"].isin(several[:MOST_DRAWN])])
    whole = with_fronts(of_usual_cpu(some), scores)
    for i, (problem, mine) in enumerate(whole.groupby("problem", sort=False)):
        there = set(mine["budget"])
        budgets = [text for text in results.budgets if text in there]
        data[str(i)] = charts.chart_data(mine, budgets, list(styles)) | front_columns(mine)
        if others:
            times[str(i)] = other_times(others, mine)
        methods = sorted(mine.loc[~mine["control"], "method"].unique())
        problems.append(
            {
                "id": str(i),
                "name": problem,
                "task": mine["task"].iloc[0],
                "score": scores[problem],
                "lacking": _lacking(mine, budgets),
                "one_seed": bool((mine["n_scored"].max() or 0) <= 1),
                "scored": bool(mine.loc[~mine["control"], "n_scored"].sum()),
                "axes": number_of_axes(charts.axes_of(scores[problem], mine, budgets)),
                "methods": methods,
            }
        )
        if every_metric and len(methods) > 1:
            found = {}
            for score, table in _other_metrics(results, tables, mine, scores[problem]):
                at = number_of_axes(charts.axes_of(score, table, budgets), _OF_A_METRIC)
                table = with_fronts(table, {problem: score})
                drawn_by = charts.chart_data(table, budgets, list(styles)) | front_columns(table)
                differ = {name: v for name, v in drawn_by.items() if v != data[str(i)][name]}
                found[score.name] = {"axes": at, "cells": differ}
            metrics[str(i)] = found
    over = _over_data_sets(results, scores, tables, styles, single, specs, data)
    if tables.honesty["n"].any():
        specs["planned"] = measured_over_planned(tables.honesty)
    rankings: list[dict[str, Any]] = []
    for (family, budget), part in tables.ranks.groupby(["family", "budget"], sort=False):
        if len(part) > 1:
            name = f"rank-{len(rankings)}"
            specs[name] = critical_difference_diagram(part, styles)
            tested = bool(part["p_holm"].notna().any())
            rankings.append({"family": family, "budget": budget, "spec": name, "tested": tested})
    crowded = not single and len(styles) > MOST_PICKED + 2
    # a chart of one method compares nothing, unless the study has no other
    drawn = [problem for problem in problems if len(problem["methods"]) > 1] or problems
    left_out = [problem for problem in problems if problem not in drawn]
    return {
        "drawn": drawn,
        "not_drawn": max(0, len(several) - MOST_DRAWN),
        "left_out": _some([f"{p['name']} ({', '.join(p['methods'])})" for p in left_out]),
        "single": single,
        "uneven": any(any(marks["few"]) for marks in data.values()),
        "kinds": len(set(charts.budget_kinds(results.budgets).values())),
        "over_budget": tables.honesty.loc[tables.honesty["over_budget"] > 0].to_dict("records"),
        "in_bytes": bool(cells["budget_bytes"].notna().any()),
        "rankings": rankings,
        "over": over,
        "problems": problems,
        "data": data,
        "times": times,
        "metrics": metrics,
        "switchable": list(dict.fromkeys(name for of in metrics.values() for name in of)),
        "looks": styles,
        "picked": list(styles)[:MOST_PICKED] if crowded else list(styles),
        "specs": specs,
        "themes": {scheme: looks.theme(scheme) for scheme in looks.PALETTES},
    }


def _other_metrics(
    results: Results, tables: Tables, mine: pd.DataFrame, primary: Score
) -> Iterator[tuple[Score, pd.DataFrame]]:
    """Yield the cells of one problem by each further metric that it has scores in."""
    declared = declared_metrics(results)
    known = tables.means[tables.means["cell"].isin(mine["cell"])]
    for name, table in known.groupby("metric", sort=False):
        if name == primary.name or not table["n_scored"].any():
            continue
        by_cell = table.set_index("cell").reindex(mine["cell"]).set_axis(mine.index)
        given = {column: by_cell[column] for column in ("mean", "n_scored")}
        given |= {end: within_range(name, by_cell[end]) for end in ("ci_low", "ci_high")}
        yield score_of(name, declared), mine.assign(**given)


def _over_data_sets(
    results: Results,
    scores: dict[str, Score],
    tables: Tables,
    styles: dict[str, dict[str, Any]],
    single: bool,
    specs: dict[str, Any],
    data: dict[str, Any],
) -> list[dict[str, str]]:
    """Add the fronts over the data sets of each family to `specs` and `data`."""
    over = []
    for family, mine in over_data_sets(tables, scores).items():
        key = f"over-{family}"
        budgets = [text for text in results.budgets if text in set(mine["budget"])]
        built = specifications(charts.axes_of(NORMALISED, mine, budgets), tuple(styles), single)
        specs |= {f"{kind}-{key}": built[kind] for kind in ("score_peak", "score_time")}
        mine = with_fronts(mine, {family: NORMALISED})
        data[key] = charts.chart_data(mine, budgets, list(styles)) | front_columns(mine)
        over.append({"family": family, "key": key})
    return over


def chosen_answers(
    results: Results, answers: list[Answer], problems: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what the script shows of the answers that are chosen."""
    places = {problem["name"]: place for place, problem in enumerate(problems)}
    budgets = {text: place for place, text in enumerate(results.budgets)}
    datasets = results.cells.drop_duplicates("problem").set_index("problem")["dataset"]
    shown = ("name", "axes", "scored", "lacking")
    return {
        "budgets": results.budgets,
        "problems": [
            {name: problem[name] for name in shown} | {"dataset": datasets[problem["name"]]}
            for problem in problems
        ],
        "answers": [
            [
                *(places[answer.problem], budgets[answer.budget], answer.cheapest, answer.method),
                *(answer.score, answer.verdict, answer.comparison, answer.warning),
            ]
            for answer in answers
            if answer.problem in places
        ],
    }


def _lacking(cells: pd.DataFrame, budgets: list[str]) -> list[str]:
    """Say what a chart cannot draw: per budget, which methods have no score and why."""
    causes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    without = cells[(cells["n_scored"] == 0) & ~cells["control"]]
    for budget, status, method in zip(
        *(without[name] for name in ("budget", "status", "method")), strict=True
    ):
        causes[budget][status or "no score"].append(method)
    words = []
    for budget in budgets:
        here = "; ".join(f"{_some(names)} ({status})" for status, names in causes[budget].items())
        if here:
            words.append(f"{'no limit' if budget == 'none' else budget}: {here}")
    return words


def _some(names: list[str], most: int = 5) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
