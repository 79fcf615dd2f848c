"""The page: tables, charts and templates joined into one file that needs nothing else.

Templates and style live in `reports/` at the top of the repository. Names and reasons come from
outside and are escaped by Jinja2; the page's content security policy refuses every request.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
import pandas as pd
import vl_convert
from markupsafe import Markup

from harness.errors import HarnessError
from harness.files import read_sealed, write_sealed, write_whole
from harness.project import TEMPLATES, cache_directory
from harness.report import published_layout as beside
from harness.report import theme as looks
from harness.report.answers import (
    NO_SCORE,
    answers_of,
    best_table,
    decimals,
    equal_decimals,
    format_score,
    overall_sentences,
)
from harness.report.anytime import anytime_tables, checkpoint_table, make_anytime
from harness.report.columns import READ_WHEN_ASKED
from harness.report.csv_tables import csv_tables, means_in_parts
from harness.report.csv_text import write_csv
from harness.report.decision import decide, decision_table, seconds
from harness.report.figures import chosen_answers, make_figures
from harness.report.kept import comparison_tables
from harness.report.label_curves import make_label_curves
from harness.report.metric_bounds import within_range
from harness.report.overview import make_overview, sum_up
from harness.report.page_rows import logs_of_blocks, methods_and_papers, pack_rows
from harness.report.pairs import PairedScores, compare_with_best
from harness.report.profiles import make_profiles, profile_chart, profile_table
from harness.report.provenance import describe_provenance
from harness.report.published_comparison import Comparison, compare
from harness.report.results import STUDY, Results, read_results
from harness.report.rows import FILE as ROWS
from harness.report.rows import write_kept_rows
from harness.report.scores import Score, choose_scores, declared_metrics, score_of
from harness.report.tables import HONEST, make_tables
from harness.report.timelines import make_timelines
from harness.report.trade_offs import front_steps, least_bytes, switch_points
from harness.report.versions import several_versions
from harness.units import format_bytes

if TYPE_CHECKING:
    from harness.plugin.hookspecs import ReportSection
    from harness.report.tables import Tables

MOST_ROWS = 4000
"""Rows of one table on the page; the CSV file beside it always holds all of them."""
FEWER_ROWS = 500
"""The same where there are so many answers that cells are shown as they are chosen."""
LARGE_CELLS = 400
"""Of a page with more, a browser lays out and draws what comes near its window, and no more."""


def make_report(
    directory: Path, metric: str | None = None, sections: Iterable[ReportSection] = ()
) -> Path:
    """Write `report.html` and `tables/`; see `harness.report.write_report`."""
    results = read_results(directory, without=READ_WHEN_ASKED)
    scores = choose_scores(results, metric)
    tables = make_tables(results, scores)
    told = _tell(results, scores, tables)
    answers = told["answers"]
    comparisons = _comparisons(results)
    points = checkpoint_table(results)
    many = sum_up(answers, results.budgets)
    figures = make_figures(results, scores, tables, every_metric=many is None)
    for i, profile in enumerate(told["profiles"]):
        figures["specs"][f"profile-{i}"] = profile_chart(profile, figures["looks"])
    anytime = make_anytime(results, scores, points, figures["looks"])
    drawn = tables.cells["problem"].isin([problem["name"] for problem in figures["problems"]])
    some = replace(tables, cells=tables.cells[drawn])
    labels = make_label_curves(scores, some, figures["looks"])
    for drawn in ("data", "specs"):
        figures[drawn] |= anytime[drawn] | labels[drawn]
    if many is not None:
        many["data"] = chosen_answers(results, answers, figures["problems"])
    page = _render(
        many=many,
        large=len(tables.cells) > LARGE_CELLS,
        most_rows=MOST_ROWS if many is None else FEWER_ROWS,
        results=results,
        scores=scores,
        tables=tables,
        **told,
        overview=make_overview(answers, tables, results.budgets),
        overall=overall_sentences(tables),
        printed=[{"made": made, **beside.layout(made)} for made in comparisons],
        verdicts=beside.legend(comparisons),
        notes=[*results.notes, *several_versions(results.versions), *_undeclared(scores)],
        summary=_summary(results),
        figures=figures,
        drill=_drill(results),
        digits=equal_decimals(tables.cells, scores),
        cell_ids=dict(zip(_names(tables.cells), tables.cells["cell"].tolist(), strict=True)),
        anytime=anytime,
        labels=labels,
        timelines=make_timelines(results),
        calibration=_calibration(results),
        provenance=describe_provenance(results),
        sections=[_section(section, results.trials) for section in sections],
    )
    files = csv_tables(tables, best_table(answers, tables), results.calibration)
    files |= comparison_tables(comparisons)
    files |= {
        "decision": decision_table(told["decisions"]),
        "profiles": profile_table(told["profiles"]),
        "front": told["front"].rename(columns={"problem": "dataset"}),
        "least_bytes": told["least"].rename(columns={"problem": "dataset"}),
        "switch_points": told["switches"].rename(columns={"problem": "dataset"}),
    }
    for name, table in (files | anytime_tables(points)).items():
        write_csv([table], results.directory / "tables" / f"{name}.csv")
    write_csv(means_in_parts(tables), results.directory / "tables" / "means.csv")
    write_kept_rows(results, results.directory / "tables" / ROWS)
    report = results.directory / "report.html"
    write_whole(page, report)
    return report


def _tell(results: Results, scores: dict[str, Score], tables: Tables) -> dict[str, Any]:
    """Find what is told of scores that are set side by side, seed by seed."""
    paired, cells = PairedScores(results, scores), tables.cells
    compared = cells.join(compare_with_best(paired, cells))
    return {
        "answers": answers_of(compared, scores),
        "decisions": decide(compared, scores),
        "profiles": make_profiles(paired, cells, scores),
        "front": front_steps(paired, cells, scores),
        "least": least_bytes(cells, scores),
        "switches": switch_points(paired, cells, scores, results.budgets),
    }


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
        "fixed": fixed,
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


def fixed(values: Iterable[float]) -> str:
    """Return a format for a column of differences: equal places, two digits of the middle one."""
    known = sorted(abs(value) for value in values if value == value and value)
    middle = known[len(known) // 2] if known else 1.0
    return f"{{:.{min(5, max(0, 1 - math.floor(math.log10(middle))))}f}}"


@functools.cache
def _vega() -> Markup:
    kept = cache_directory() / f"vega-{version('vl-convert-python')}.js"
    bundle = read_sealed(kept)
    if bundle is None:
        bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg] # its stub wants a snippet
        write_sealed(bundle, kept)
    return Markup(bundle.replace("</script", "<\\/script"))


def _shown(write: Any, value: float | None) -> str:
    return NO_SCORE if value is None or value != value else write(value)


def _comparisons(results: Results) -> list[Comparison]:
    asked = results.study.get("published") or []
    names = asked if isinstance(asked, list) else [asked]
    where = f"{results.directory / STUDY}: published"
    return compare(results.whole, names, where) if names else []


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
        "enforced": sorted(results.column("enforced_by").dropna().unique()),
        "measured": sorted(results.column("measured_by").dropna().unique()),
        "isolated": sorted(results.column("isolation").dropna().unique()),
    }


def _names(cells: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    return zip(cells["problem"], cells["budget"], cells["method"], strict=True)


def _drill(results: Results) -> dict[str, Any]:
    """Return what leads from the page to trials, logs, sources and papers."""
    rows = pack_rows(results)
    blocks = {cell[4] for cell in rows["cells"]} if rows else set()
    logs = logs_of_blocks(results.directory) if rows else {}
    declared = declared_metrics(results)
    return {
        "study": str(results.provenance.get("study") or results.directory.name),
        "rows": rows,
        "logs": {block: paths for block, paths in logs.items() if block in blocks},
        "methods": methods_and_papers(results),
        "labels": {name: score_of(name, declared).label for name in results.metrics},
    }


def _most_shortened(cells: pd.DataFrame) -> tuple[str, str] | None:
    """Return a method's name on the page and its label, an example for all."""
    both = cells[["method", "label"]].drop_duplicates()
    saved = both["label"].str.len() - both["method"].str.len()
    return tuple(both.loc[saved.idxmax()]) if saved.max() > 0 else None


def _undeclared(scores: Mapping[str, Score]) -> list[str]:
    names = sorted({score.name for score in scores.values() if not score.declared})
    return [f"{name} is read as higher is better: nothing states its direction." for name in names]


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
