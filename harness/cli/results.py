"""What a study gave, and how it compares."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import as_json_option, study_argument
from harness.cli.places import results_of
from harness.cli.tables import print_table
from harness.errors import HarnessError
from harness.units import format_bytes, parse_bytes, parse_latency

if TYPE_CHECKING:
    from harness.report.within_limits import Choice


@click.command()
@study_argument
@click.option("--metric", help="Judge by this metric; by default as the report does.")
@click.option("--fits", help="The most that training may hold, such as 3MB.")
@click.option("--model-fits", help="The largest file of the model, such as 1MB.")
@click.option("--predict-fits", help="The most that predicting one row may hold: 256kB.")
@click.option("--max-predict", help="The longest that one row may take: 5ms.")
@as_json_option
def best(
    study: str,
    metric: str | None,
    fits: str | None,
    model_fits: str | None,
    predict_fits: str | None,
    max_predict: str | None,
    as_json: bool,
) -> None:
    """Name what to take on each data set at each budget: the cheapest of those that are level.

    Level are all that finished every seed and cannot be told apart from the highest mean, which
    stands beside it. Bytes within a tenth of the cheapest's count as equal, and the highest mean
    of those is taken. With limits, the cheapest within all of them is named, at whichever budget
    it was trained.
    """
    from harness.report.answers import best_table, make_answers
    from harness.report.columns import READ_WHEN_ASKED
    from harness.report.results import read_results
    from harness.report.scores import choose_scores
    from harness.report.tables import make_tables
    from harness.report.within_limits import choose
    from harness.study.study import load_study

    results = read_results(results_of(load_study(study)), without=READ_WHEN_ASKED)
    scores = choose_scores(results, metric)
    tables = make_tables(results, scores)
    given = {"training": fits, "model": model_fits, "predicting": predict_fits}
    limits: dict[str, float] = {
        name: parse_bytes(text) for name, text in given.items() if text is not None
    }
    if max_predict is not None:
        limits["latency"] = parse_latency(max_predict)
    if limits:
        _show_choices(choose(results.whole, scores, tables, limits), study, as_json)
        if len(results.cpus) > 1:
            told = f"trials ran on {len(results.cpus)} kinds of CPU: a time per row is of"
            click.echo(f"{told} {results.cpus[0]} where a method has trials on it", err=True)
        return
    answers = make_answers(results, scores, tables)
    if as_json:
        click.echo(best_table(answers, tables).to_json(orient="records", indent=1))
        return
    rows = [
        {
            "data set": answer.problem,
            "budget": answer.budget,
            "take": answer.cheapest,
            "score": f"{scores[answer.problem].label} {answer.cheapest_score}",
            "peak": _known_bytes(answer.cheapest_peak_bytes),
            "highest mean": answer.method,
            "its score": answer.score,
            "its peak in prediction": _known_bytes(answer.predict_peak_bytes),
            "its model": _known_bytes(answer.model_bytes),
            "next to it": answer.comparison,
        }
        for answer in answers
    ]
    print_table(rows, list(rows[0]), expendable=list(rows[0])[5:])


@click.command()
@study_argument
@click.argument("tables", nargs=-1)
@click.option("--all", "all_settings", is_flag=True, help="Also settings that STUDY has not.")
@click.option(
    "--with",
    "kept",
    type=click.Path(path_type=Path),
    help="Kept rows of another run (rows.parquet), compared seed by seed instead.",
)
@as_json_option
def compare(
    study: str, tables: Sequence[str], all_settings: bool, kept: Path | None, as_json: bool
) -> None:
    """Put printed TABLES (such as hou2017/table3) beside a study's results.

    By default those that the study names under 'published'. With --with, put the trials of another
    run of the same study beside it, seed by seed.
    """
    if kept is not None:
        if tables or all_settings:
            raise HarnessError("--with compares trials: give neither TABLES nor --all")
        _compare_with_kept(study, kept, as_json)
        return
    from harness.report.kept import comparison_tables
    from harness.report.published_comparison import compare as put_beside
    from harness.report.published_layout import (
        COLOURS,
        headline,
        lines,
        margin_words,
        not_had,
        seeds_words,
    )
    from harness.report.results import read_results
    from harness.study.study import load_study

    loaded = load_study(study)
    names = tables or loaded.settings.published
    if not names:
        raise HarnessError(f"{loaded.path}: published: names no table; or give one after STUDY")
    where = "" if tables else f"{loaded.path}: published"
    comparisons = put_beside(read_results(results_of(loaded)), names, where)
    if as_json:
        click.echo(comparison_tables(comparisons)["published"].to_json(orient="records", indent=1))
        return
    for made in comparisons:
        rows = lines(made, all_settings)
        click.echo(headline(made))
        if rows:
            print_table(rows, list(rows[0]), COLOURS)
        if not all_settings and not_had(made):
            click.echo(f"{not_had(made)}; --all prints them")
        said = filter(None, (made.counts, margin_words(made), seeds_words(made)))
        click.echo(
            f"{'; '.join(said)}; ranks: printed / ours / ours with methods not in the paper"
        )


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--write", is_flag=True, help="Replace what is kept by what is judged.")
def judge(folders: Sequence[Path], write: bool) -> None:
    """Judge kept comparisons anew: published.csv of FOLDERS (such as docs/results/NAME).

    By the rule and the printed figures of today; nothing is run. Prints how many cells have which
    verdict, and how many have another than the file says. Files change with --write alone.
    """
    from harness.report.kept import count_words, judge_kept, write_kept

    for folder in folders:
        judged = judge_kept(folder)
        for line in count_words(judged):
            click.echo(f"{folder.name}: {line}")
        changed = int(judged["changed"].sum())
        if write:
            write_kept(folder, judged)
        elif changed:
            click.echo(
                f"{folder.name}: {changed} of them are not what published.csv says; "
                "--write replaces it"
            )


def _compare_with_kept(study: str, kept: Path, as_json: bool) -> None:
    from harness.metrics.names import METRICS
    from harness.report.columns import READ_WHEN_ASKED
    from harness.report.paired import compare_rows, paired_lines
    from harness.report.results import read_results
    from harness.report.rows import COMPARED, kept_rows, read_rows
    from harness.report.scores import choose_scores
    from harness.study.study import load_study

    results = read_results(results_of(load_study(study)), without=READ_WHEN_ASKED)
    scores = choose_scores(results)
    problems = results.cells.drop_duplicates("problem")[["problem", "dataset", "task"]]
    metrics = {(p.dataset, p.task): scores[p.problem].name for p in problems.itertuples()}
    asked = [name for name in COMPARED if name not in METRICS or name in metrics.values()]
    theirs = read_rows(kept, asked)
    table = compare_rows(kept_rows(results, columns=asked), theirs, metrics, str(kept))
    if as_json:
        click.echo(table.to_json(orient="records", indent=1))
        return
    rows = paired_lines(table, {score.name: score for score in scores.values()})
    print_table(rows, list(rows[0]))


@click.command()
@click.argument("before", type=click.Path(exists=True, path_type=Path))
@click.argument("after", type=click.Path(exists=True, path_type=Path))
@click.option("--fail", is_flag=True, help="End with status 1 if a score is worse.")
@as_json_option
def diff(before: Path, after: Path, fail: bool, as_json: bool) -> None:
    """Say which cells moved beyond noise from BEFORE to AFTER: score, CPU time, peak.

    Each is a folder of results (results/NAME) or a file of kept rows: of two versions, two
    machines, or two libraries. Trials are paired by data set, points, budget, method and seed.
    """
    from harness.report.moved import compare_runs, moved_lines, read_run

    found = compare_runs(read_run(before), read_run(after))
    moved = found.table[found.table["moved"]]
    lines = moved_lines(moved)
    if as_json:
        click.echo(found.table.to_json(orient="records", indent=1))
    else:
        if lines:
            print_table(lines, list(lines[0]), expendable=["pairs", "labeled"])
        told = ", ".join(f"{count:,} {name}" for name, count in found.counts().items())
        click.echo(f"{len(found.table):,} comparisons: {told}")
        if found.cpu is None:
            click.echo("times are not compared: no CPU ran trials of both")
        elif found.cpu:
            click.echo(f"times are of trials on {found.cpu}")
    if fail and any(line["it is"] == "worse" for line in lines):
        sys.exit(1)


def _show_choices(choices: list[Choice], study: str, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([choice.as_dict() for choice in choices], indent=1))
        return
    from harness.report.within_limits import choice_line

    rows = [choice_line(choice) for choice in choices]
    print_table(rows, list(rows[0]), footnotes=["why"])
    taken = next((choice.taken for choice in choices if choice.taken), None)
    if taken is not None:
        click.echo(f"to take one home: harness fit {study} {taken.rows[0]} -o model.joblib")


def _known_bytes(count: float) -> str | None:
    return None if math.isnan(count) else format_bytes(count)


COMMANDS = (best, compare, diff, judge)
