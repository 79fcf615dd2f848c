"""The page: tables, charts and templates joined into one file that needs nothing else.

Templates and style live in `reports/` at the top of the repository. Names and reasons come from
outside and are escaped by Jinja2; the page's content security policy refuses every request.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
import pandas as pd
import vl_convert
from markupsafe import Markup

from harness.errors import HarnessError
from harness.files import write_whole
from harness.project import TEMPLATES
from harness.report import charts
from harness.report import published_layout as beside
from harness.report import theme as looks
from harness.report.answers import (
    NO_SCORE,
    Answer,
    answers_of,
    best_table,
    decimals,
    format_score,
    overall_sentences,
)
from harness.report.anytime import anytime_tables, checkpoint_table, make_anytime
from harness.report.csv_text import csv_text
from harness.report.decision import decide, decision_table, seconds
from harness.report.kept import comparison_tables
from harness.report.label_curves import make_label_curves
from harness.report.metric_bounds import within_range
from harness.report.overview import make_overview, sum_up
from harness.report.pairs import PairedScores, compare_with_best
from harness.report.pareto import NORMALISED, front_columns, over_data_sets
from harness.report.plan_calibration import measured_over_planned
from harness.report.profiles import make_profiles, profile_chart, profile_table
from harness.report.provenance import describe_provenance
from harness.report.published_comparison import Comparison, compare
from harness.report.ranking import critical_difference_diagram
from harness.report.results import STUDY, Results, read_results
from harness.report.rows import FILE as ROWS
from harness.report.rows import write_kept_rows
from harness.report.scores import Score, choose_scores
from harness.report.single_budget_charts import specifications
from harness.report.tables import HONEST, Tables, csv_tables, make_tables
from harness.report.timelines import make_timelines
from harness.report.times import of_usual_cpu, other_times, times_by_place
from harness.report.trade_offs import front_steps, least_bytes, switch_points
from harness.units import format_bytes

if TYPE_CHECKING:
    from harness.plugin.hookspecs import ReportSection

MOST_ROWS = 4000
"""Rows of one table on the page; the CSV file beside it always holds all of them."""
FEWER_ROWS = 500
"""The same where there are so many answers that cells are shown as they are chosen."""
MOST_PICKED = 8
"""Methods drawn in colour at first; more lines than this cannot be told apart at a glance.
Dots that stand in rows under their names can, so studies of one budget show all."""


def make_report(
    directory: Path, metric: str | None = None, sections: Iterable[ReportSection] = ()
) -> Path:
    """Write `report.html` and `tables/`; see `harness.report.write_report`."""
    results = read_results(directory)
    scores = choose_scores(results, metric)
    tables = make_tables(results, scores)
    paired = PairedScores(results, scores)
    compared = tables.cells.join(compare_with_best(paired, tables.cells))
    answers = answers_of(compared, scores)
    decisions = decide(compared, scores)
    best = best_table(answers, tables)
    comparisons = _comparisons(results)
    points = checkpoint_table(results)
    profiles = make_profiles(paired, tables.cells, scores)
    front = front_steps(paired, tables.cells, scores)
    least = least_bytes(tables.cells, scores)
    switches = switch_points(paired, tables.cells, scores, results.budgets)
    figures = _figures(results, scores, tables)
    for i, profile in enumerate(profiles):
        figures["specs"][f"profile-{i}"] = profile_chart(profile, figures["looks"])
    anytime = make_anytime(results, scores, points, figures["looks"])
    labels = make_label_curves(scores, tables, figures["looks"])
    for drawn in ("data", "specs"):
        figures[drawn] |= anytime[drawn] | labels[drawn]
    many = sum_up(answers, results.budgets)
    if many is not None:
        many["data"] = _chosen(results, answers, figures["problems"])
    page = _render(
        many=many,
        most_rows=MOST_ROWS if many is None else FEWER_ROWS,
        results=results,
        scores=scores,
        tables=tables,
        answers=answers,
        decisions=decisions,
        profiles=profiles,
        front=front,
        least=least,
        switches=switches,
        overview=make_overview(answers, tables, results.budgets),
        overall=overall_sentences(tables),
        printed=[{"made": made, **beside.layout(made)} for made in comparisons],
        verdicts=beside.legend(comparisons),
        notes=[*results.notes, *_undeclared(scores)],
        summary=_summary(results),
        figures=figures,
        anytime=anytime,
        labels=labels,
        timelines=make_timelines(results),
        calibration=_calibration(results),
        provenance=describe_provenance(results),
        sections=[_section(section, results.trials) for section in sections],
    )
    files = csv_tables(tables, best, results.calibration) | comparison_tables(comparisons)
    files |= {
        "decision": decision_table(decisions),
        "profiles": profile_table(profiles),
        "front": front.rename(columns={"problem": "dataset"}),
        "least_bytes": least.rename(columns={"problem": "dataset"}),
        "switch_points": switches.rename(columns={"problem": "dataset"}),
    }
    for name, table in (files | anytime_tables(points)).items():
        write_whole(csv_text(table), results.directory / "tables" / f"{name}.csv")
    write_kept_rows(results, results.directory / "tables" / ROWS)
    report = results.directory / "report.html"
    write_whole(page, report)
    return report


def _render(**content: Any) -> str:
    try:
        return _environment().get_template("report.html.j2").render(**content)
    except jinja2.TemplateNotFound as error:
        message = f"{TEMPLATES}: the template {error} is missing; install the harness again"
        raise HarnessError(message) from None


@functools.cache
def _environment() -> jinja2.Environment:
    """Templates are compiled once, in a process that writes several reports."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "bytes": functools.partial(_shown, format_bytes),
        "duration": functools.partial(_shown, seconds),
        "shortened": looks.shortened,
        "budget": lambda text: "no limit" if text == "none" else text,
    }
    environment.globals |= {
        "format_score": format_score,
        "ours_text": beside.ours_text,
        "difference_text": beside.difference_text,
        "verdict_marks": beside.MARKS,
        "leaders": beside.leaders,
        "not_had": beside.not_had,
        "decimals": decimals,
        "within_range": within_range,
        "even_columns": even_columns,
        "honest": HONEST,
        "inks": looks.INKS,
        "palettes": looks.PALETTES,
        "include_raw": lambda name: Markup((TEMPLATES / name).read_text(encoding="utf-8")),
        "vega": _vega,
    }
    return environment


def even_columns(number: int) -> dict[str, int]:
    """Return in how many columns so many charts stand, so that no place stays empty.

    Parameters
    ----------
    number : int

    Returns
    -------
    dict
        For places of at most two, three and four columns: `two`, `three`, `four`, and
        `last-of-two` and so on, how many columns the last chart spans.
    """
    found = {}
    for name, most in (("two", 2), ("three", 3), ("four", 4)):
        columns = -(-number // -(-number // most)) if number else 1
        found[name] = columns
        found[f"last-of-{name}"] = 1 + -number % columns
    return found


@functools.cache
def _vega() -> Markup:
    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg] # its stub wants a snippet
    return Markup(bundle.replace("</script", "<\\/script"))


def _shown(write: Any, value: float | None) -> str:
    return NO_SCORE if value is None or value != value else write(value)


def _comparisons(results: Results) -> list[Comparison]:
    asked = results.study.get("published") or []
    names = asked if isinstance(asked, list) else [asked]
    return compare(results, names, f"{results.directory / STUDY}: published")


def _summary(results: Results) -> dict[str, Any]:
    cells = results.cells
    return {
        "trials": len(cells),
        "ok": int((cells["outcome"] == "ok").sum()),
        "outcomes": cells["outcome"].value_counts().to_dict(),
        "datasets": cells["dataset"].nunique(),
        "methods": cells.loc[~cells["control"], "method"].nunique(),
        "shortened": _most_shortened(cells),
        "controls": sorted(cells.loc[cells["control"], "method"].unique()),
        "budgets": results.budgets,
        "seeds": cells["seed"].nunique(),
        "enforced": sorted(cells["enforced_by"].dropna().unique()),
        "measured": sorted(cells["measured_by"].dropna().unique()),
        "isolated": sorted(cells["isolation"].dropna().unique()),
    }


def _most_shortened(cells: pd.DataFrame) -> tuple[str, str] | None:
    """Return a method's name on the page and its label, an example for all."""
    both = cells[["method", "label"]].drop_duplicates()
    saved = both["label"].str.len() - both["method"].str.len()
    return tuple(both.loc[saved.idxmax()]) if saved.max() > 0 else None


def _undeclared(scores: Mapping[str, Score]) -> list[str]:
    names = sorted({score.name for score in scores.values() if not score.declared})
    return [f"{name} is read as higher is better: nothing states its direction." for name in names]


def _figures(results: Results, scores: Mapping[str, Score], tables: Tables) -> dict[str, Any]:
    """Everything that the page's script draws, and the legend and notes beside it."""
    cells = tables.cells
    by_rank = cells[~cells["control"]].groupby("method")["rank"].mean().sort_values(kind="stable")
    styles = looks.styles(list(by_rank.index))
    single = bool(cells.groupby("problem")["budget"].nunique().max() == 1)
    problems: list[dict[str, Any]] = []
    data: dict[str, Any] = {}
    specs: dict[str, Any] = {}
    times: dict[str, Any] = {}
    others = times_by_place(results, tables.times)
    numbers: dict[charts.Axes, int] = {}
    for i, (problem, mine) in enumerate(cells.groupby("problem", sort=False)):
        budgets = [text for text in results.budgets if text in set(mine["budget"])]
        axes = charts.axes_of(scores[problem], mine, budgets)
        if axes not in numbers:
            numbers[axes] = len(numbers)
            built = specifications(axes, tuple(styles), single)
            specs |= {f"{kind}-{numbers[axes]}": spec for kind, spec in built.items()}
        shown = of_usual_cpu(mine)
        data[str(i)] = charts.chart_data(shown, budgets, list(styles))
        data[str(i)] |= front_columns(shown, scores[problem])
        if others:
            times[str(i)] = other_times(others, mine)
        problems.append(
            {
                "id": str(i),
                "name": problem,
                "task": mine["task"].iloc[0],
                "score": scores[problem],
                "lacking": _lacking(mine, budgets),
                "one_seed": bool((mine["n_scored"].max() or 0) <= 1),
                "scored": bool(mine.loc[~mine["control"], "n_scored"].sum()),
                "axes": numbers[axes],
                "methods": sorted(mine.loc[~mine["control"], "method"].unique()),
            }
        )
    over = []
    for family, mine in over_data_sets(tables, scores).items():
        key = f"over-{family}"
        budgets = [text for text in results.budgets if text in set(mine["budget"])]
        built = specifications(charts.axes_of(NORMALISED, mine, budgets), tuple(styles), single)
        specs |= {f"{kind}-{key}": built[kind] for kind in ("score_peak", "score_time")}
        data[key] = charts.chart_data(mine, budgets, list(styles))
        data[key] |= front_columns(mine, NORMALISED)
        over.append({"family": family, "key": key})
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
        "looks": styles,
        "picked": list(styles)[:MOST_PICKED] if crowded else list(styles),
        "specs": specs,
        "themes": {scheme: looks.theme(scheme) for scheme in looks.PALETTES},
    }


def _chosen(
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
        ],
    }


def _lacking(cells: pd.DataFrame, budgets: list[str]) -> list[str]:
    """Say what a chart cannot draw: per budget, which methods have no score and why."""
    causes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    without = cells[(cells["n_scored"] == 0) & ~cells["control"]]
    for cell in without.itertuples():
        causes[cell.budget][cell.status or "no score"].append(cell.method)
    words = []
    for budget in budgets:
        here = "; ".join(f"{_some(names)} ({status})" for status, names in causes[budget].items())
        if here:
            words.append(f"{'no limit' if budget == 'none' else budget}: {here}")
    return words


def _some(names: list[str], most: int = 5) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _calibration(results: Results) -> dict[str, Any]:
    keys = ("kind", "backend", "allocated_bytes", "measured_bytes", "error_bytes", "within")
    rows = [{key: row.get(key) for key in keys} for row in results.calibration]
    errors = [abs(row["error_bytes"]) for row in rows if row["error_bytes"] is not None]
    return {
        "rows": rows,
        "passed": sum(row["within"] is True for row in rows),
        "worst": max(errors, default=np.nan),
    }


def _section(section: ReportSection, trials: pd.DataFrame) -> dict[str, Any]:
    """Render a plugin's section; what it raises is its own failure and nobody else's."""
    try:
        content = section.render(trials.copy())
        if not isinstance(content, str):
            raise TypeError(f"render returned {type(content).__name__}, not HTML as str")
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        return {"title": str(section.title), "html": None, "reason": reason}
    # A frame of its own: an unclosed tag or a style rule cannot reach the rest of the page.
    return {"title": str(section.title), "html": content, "reason": ""}
