"""The command line: what can be run, what will be run, what was run."""

from __future__ import annotations

import itertools
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.errors import HarnessError, unknown_name
from harness.terminal import print_table, show_rows
from harness.units import format_bytes, format_duration

if TYPE_CHECKING:
    from harness.study import Study


class _Group(click.Group):
    """Turns our errors into one message and exit status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except HarnessError as error:
            raise click.ClickException(str(error)) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                # whoever read the output has seen enough
                sys.stdout = None
                sys.exit(0)
            told = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            raise click.ClickException(told) from None


_FINDING_WIDTHS = {"method": 16, "check": 32, "result": 14}
"""Rows that are printed one by one stand in line as far as these go."""

_as_json = click.option("--json", "as_json", is_flag=True, help="Print objects as JSON.")
_study = click.argument("study", default="studies/quickstart.yaml")


def _cores(told: str) -> Callable:
    kind, count = click.IntRange(min=1), os.cpu_count()
    return click.option("--cores", type=kind, default=count, show_default=True, help=told)


@click.group(cls=_Group)
@click.version_option(package_name="memory-budget-harness")
def main() -> None:
    """Benchmark learning methods under a memory budget."""


@main.command()
@click.argument("name", required=False)
@click.option("--study", help="Also search the plugin folders of this study.")
@_as_json
def methods(name: str | None, study: str | None, as_json: bool) -> None:
    """List the methods that plugins provide, or the parameters of the method NAME."""
    index = _index(study)
    if name:
        from harness.index import method_entry

        entry = method_entry(index, name)
        rows = [
            {"parameter": parameter, **told, "tuned over": entry["space"].get(parameter)}
            for parameter, told in entry["values"].items()
        ]
        show_rows(rows, ["parameter", "default", "allowed", "tuned over"], as_json)
        return
    found = sorted(index["methods"], key=lambda method: method["name"])
    show_rows(
        found,
        ["name", "tasks", "size", "uses_unlabeled", "space", "plugin", "reference"],
        as_json,
    )


@main.command()
@click.option("--study", help="Also read the catalogs and plugins of this study.")
@_as_json
def datasets(study: str | None, as_json: bool) -> None:
    """List the data sets of the catalogs and of plugins."""
    from harness.study import load_study
    from harness.workload import read_catalog

    catalog = read_catalog(load_study(study) if study else None, _index(study))
    rows = [
        {
            "name": entry.name,
            "task": entry.task,
            "n": entry.n,
            "d": entry.d,
            "classes": entry.n_classes or None,
            "memory": entry.n * entry.d * entry.itemsize,
            "fetch": entry.download_bytes,
            "source": entry.source,
        }
        for entry in catalog.values()
    ]
    if not as_json:
        for row in rows:
            row |= {key: format_bytes(row[key]) for key in ("memory", "fetch")}
    show_rows(rows, ["name", "task", "n", "d", "classes", "memory", "fetch", "source"], as_json)


@main.command()
@click.option("--study", help="Also search the plugin folders of this study.")
@_as_json
def plugins(study: str | None, as_json: bool) -> None:
    """List plugins, with the reason where one could not be loaded."""
    show_rows(_index(study)["plugins"], ["name", "path", "hooks", "failure"], as_json)


@main.command()
@click.option("--study", help="Also search the plugin folders of this study.")
@_as_json
def kernels(study: str | None, as_json: bool) -> None:
    """List kernels and landmark selectors, as parameters of methods name them."""
    from harness.registry import NAMED

    index = _index(study)
    found = [item | {"parameter": name} for name, kind in NAMED.items() for item in index[kind]]
    show_rows(found, ["parameter", "name", "plugin", "plugin_path"], as_json)


@main.command()
@_study
@_cores("For the estimate.")
@_as_json
def plan(study: str, cores: int, as_json: bool) -> None:
    """Tell what a study will run, what cannot fit, and what it will take."""
    from harness.planning import plan_study
    from harness.workload import load_workload

    made = plan_study(load_workload(study), cores)
    if as_json:
        click.echo(json.dumps(made.as_dict(), indent=1))
        return
    rows = [
        {
            "data set": cell.dataset,
            "method": cell.method,
            "labeled": cell.labeled,
            "budget": cell.budget,
            "size": "-" if cell.size is None else f"{cell.size} {cell.size_name}",
            "unlabeled": cell.unlabeled,
            "planned": format_bytes(cell.planned_bytes),
            "trials": cell.trials,
            "done": cell.done,
            "infeasible because": cell.reason,
        }
        for cell in made.cells
    ]
    print_table(rows, list(rows[0]))
    for pair in made.left_out:
        click.echo(f"left out: {pair.method} on {pair.dataset}: {pair.reason}")
    if made.unbounded:
        names = _some(made.unbounded)
        click.echo(f"not bounded by budgets of landmarks, since they have none: {names}")
    if made.unanswered:
        names = _some(made.unanswered)
        click.echo(f"printed tables with no data set and method of the study: {names}")
    for problem in made.unobtainable:
        click.echo(problem)
    todo = made.trials - made.done
    blocks = f"{made.blocks} block{'' if made.blocks == 1 else 's'}"
    click.echo(
        f"{made.trials} trials in {blocks}, {made.done} done, {todo} to run; "
        f"{format_bytes(made.fetch_bytes)} to fetch, {format_bytes(made.disk_bytes)} of disk"
    )
    for reason, count in made.stale.items():
        rows = f"{count} row{' is' if count == 1 else 's are'}"
        click.echo(f"{rows} stale and will be made again: {reason}")
    if made.seconds > made.starts_seconds:
        about = "at least" if made.untimed else "about"
        click.echo(f"{about} {format_duration(made.seconds)} on {cores} cores by earlier trials")
    elif todo:
        starts = format_duration(made.starts_seconds)
        click.echo(f"{starts} on {cores} cores for workers to start, and the time of the trials")
    if made.untimed:
        click.echo(f"time not known, for want of an earlier trial: {_some(made.untimed)}")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


@main.command(context_settings={"ignore_unknown_options": True})
@_study
@_cores("Trials side by side.")
@click.argument("snakemake_options", nargs=-1)
def run(study: str, cores: int, snakemake_options: Sequence[str]) -> None:
    """Run a study with a progress bar; further options go to Snakemake."""
    from harness.progress import run_with_progress
    from harness.workload import load_workload

    workload = load_workload(study)
    sys.exit(run_with_progress(workload, cores, snakemake_options))


@main.command()
@_study
@_as_json
def show(study: str, as_json: bool) -> None:
    """Show the rows of a study's table: their number, what was asked and how it ended."""
    from harness.records import read_table
    from harness.study import load_study

    table = read_table(_results_of(load_study(study)) / "trials.parquet")
    rows = json.loads(table.to_json(orient="records"))
    for number, row in enumerate(rows):
        row["row"] = number
    columns = ["row", "dataset", "method", "n_labeled", "budget", "seed", "outcome", "size"]
    scores = ["auc", "accuracy", "nmse", "adjusted_rand"]
    columns += [name for name in scores if any(row[name] is not None for row in rows)]
    show_rows(rows, [*columns, "peak_bytes", "wall_s", "reason"], as_json)


@main.command()
@_study
@click.option("--metric", help="Judge by this metric; by default as the report does.")
@_as_json
def best(study: str, metric: str | None, as_json: bool) -> None:
    """Name the best method of each data set at each budget, and whether the next is worse."""
    from harness.report.answers import best_table, make_answers
    from harness.report.results import read_results
    from harness.report.scores import choose_scores
    from harness.report.tables import make_tables
    from harness.study import load_study

    results = read_results(_results_of(load_study(study)))
    scores = choose_scores(results, metric)
    tables = make_tables(results, scores)
    answers = make_answers(results, scores, tables)
    if as_json:
        click.echo(best_table(answers, tables).to_json(orient="records", indent=1))
        return
    rows = [
        {
            "data set": answer.problem,
            "budget": answer.budget,
            "best method": answer.method,
            "score": f"{scores[answer.problem].label} {answer.score}",
            "holds while predicting": _known_bytes(answer.predict_peak_bytes),
            "next best": answer.comparison,
        }
        for answer in answers
    ]
    print_table(rows, list(rows[0]))


@main.command()
@_study
@click.argument("tables", nargs=-1)
@click.option("--all", "all_settings", is_flag=True, help="Also settings that STUDY has not.")
@click.option(
    "--with",
    "kept",
    type=click.Path(path_type=Path),
    help="Kept rows of another run (rows.parquet), compared seed by seed instead.",
)
@_as_json
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
    from harness.report.beside import COLOURS, headline, lines, margin_words, not_had, seeds_words
    from harness.report.comparison import compare as put_beside
    from harness.report.kept import comparison_tables
    from harness.report.results import read_results
    from harness.study import load_study

    loaded = load_study(study)
    names = tables or loaded.settings.published
    if not names:
        raise HarnessError(f"{loaded.path}: published: names no table; or give one after STUDY")
    where = "" if tables else f"{loaded.path}: published"
    comparisons = put_beside(read_results(_results_of(loaded)), names, where)
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


@main.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
def judge(folders: Sequence[Path]) -> None:
    """Judge kept comparisons anew: published.csv of FOLDERS (such as docs/results/NAME).

    By the rule and the printed figures of today; nothing is run. Prints how many cells have which
    verdict.
    """
    from harness.report.kept import count_words, judge_kept

    for folder in folders:
        for line in count_words(judge_kept(folder)):
            click.echo(f"{folder.name}: {line}")


def _compare_with_kept(study: str, kept: Path, as_json: bool) -> None:
    from harness.report.paired import compare_rows, paired_lines
    from harness.report.results import read_results
    from harness.report.rows import kept_rows, read_rows
    from harness.report.scores import choose_scores
    from harness.study import load_study

    theirs = read_rows(kept)
    results = read_results(_results_of(load_study(study)))
    scores = choose_scores(results)
    problems = results.cells.drop_duplicates("problem")[["problem", "dataset", "task"]]
    metrics = {(p.dataset, p.task): scores[p.problem].name for p in problems.itertuples()}
    table = compare_rows(kept_rows(results), theirs, metrics, str(kept))
    if as_json:
        click.echo(table.to_json(orient="records", indent=1))
        return
    rows = paired_lines(table, {score.name: score for score in scores.values()})
    print_table(rows, list(rows[0]))


@main.command()
@click.argument("study")
@click.argument("row")
def reproduce(study: str, row: str) -> None:
    """Run one ROW (number or fingerprint) of a study again and compare its scores bit for bit."""
    from harness.reproduce import reproduce as run_again
    from harness.workload import load_workload

    workload = load_workload(study)
    _results_of(workload.study)
    compared = run_again(workload, row)
    print_table(
        [
            {
                "column": c.column,
                "recorded": repr(c.recorded),
                "reproduced": repr(c.reproduced),
                "equal": "yes" if c.equal else "NO",
            }
            for c in compared
        ],
        ["column", "recorded", "reproduced", "equal"],
    )
    if not all(c.equal for c in compared):
        raise HarnessError(f"row {row} was not reproduced")
    click.echo(f"row {row} is reproduced bit for bit")


@main.command()
@_study
@click.option("--outcome", "outcomes", multiple=True, required=True, help="Rows that end so.")
@click.option("--method", "methods", multiple=True, help="Only rows of this label in the study.")
def retry(study: str, outcomes: Sequence[str], methods: Sequence[str]) -> None:
    """Remove the rows of an outcome, so that the next run takes their trials again."""
    from harness.records import OUTCOMES
    from harness.retry import retry as remove
    from harness.workload import load_workload

    for outcome in outcomes:
        if outcome not in OUTCOMES:
            raise unknown_name("outcome", outcome, OUTCOMES)
    count = len(remove(load_workload(study), outcomes, methods))
    click.echo(f"{count} trial{'' if count == 1 else 's'} to run again: harness run {study}")


@main.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--method", "names", multiple=True, help="Only these methods of the file.")
@_as_json
def check(file: Path, names: Sequence[str], as_json: bool) -> None:
    """Check the methods of a plugin FILE against what the harness expects of a method."""
    from harness.threads import one_thread

    one_thread()
    from harness.conformance import check_file

    rows, columns = [], ["method", "check", "result", "advice"]
    findings = (vars(finding) for finding in check_file(file, names))
    for _, alike in itertools.groupby(findings, _same_advice):
        found = list(alike)
        rows += found
        if not as_json:  # at once: a check may take minutes
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            row = found[0] | {"check": found[0]["check"] + more}
            print_table([row], columns, widths=_FINDING_WIDTHS, header=len(rows) == len(found))
    if as_json:
        show_rows(rows, columns, as_json)
    if any(row["result"] == "fails" for row in rows):
        sys.exit(1)


def _same_advice(finding: dict[str, str]) -> tuple[str, str]:
    return finding["method"], finding["advice"] or finding["check"]


@main.group()
def new() -> None:
    """Write a running example to start from."""


@new.command("method")
@click.argument("name")
@click.option("--folder", default="plugins", show_default=True, type=click.Path(path_type=Path))
def new_method(name: str, folder: Path) -> None:
    """Write a plugin with one method called NAME."""
    from harness.scaffold import write_method

    path = write_method(name, folder)
    click.echo(f"wrote {path}; try: harness check {path}")


@main.command()
@_as_json
def doctor(as_json: bool) -> None:
    """Explain how this machine can enforce and measure budgets and confine trials."""
    from harness.sandbox import backends, doctor_text, isolations

    if as_json:
        reports = [*backends(), *isolations()]
        click.echo(json.dumps([vars(report) for report in reports], indent=1))
    else:
        click.echo(doctor_text())


def _index(study: str | None) -> dict[str, Any]:
    from harness.index import read_index
    from harness.study import load_study

    return read_index(load_study(study).plugin_folders if study else [])


def _results_of(study: Study) -> Path:
    """Return the folder of a study's results; say so where they are those of another text."""
    from harness.files import below, holds
    from harness.workload import RESULTS

    folder = below(RESULTS, study.name)
    kept = folder / "study.yaml"
    if kept.is_file() and not holds(kept, study.text):
        click.echo(
            f"{folder} holds the results of {kept}, not of {study.path} as it is now: "
            "it was edited since, or another study of its name was run here",
            err=True,
        )
    return folder


def _known_bytes(count: float) -> str | None:
    return None if math.isnan(count) else format_bytes(count)


if __name__ == "__main__":
    main()
