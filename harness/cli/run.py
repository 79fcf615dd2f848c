"""What a study will do, running it, and running some of it again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import as_json_option, cores_option, study_argument
from harness.cli.places import enter_environment, results_of
from harness.cli.tables import print_table, tell
from harness.errors import HarnessError, unknown_name
from harness.units import format_bytes, format_duration

if TYPE_CHECKING:
    from harness.onnx_export.check import Agreement
    from harness.planning.study_plan import CellPlan
    from harness.planning.workload import Workload


@click.command()
@study_argument
@cores_option("For the estimate.")
@as_json_option
def plan(study: str, cores: int, as_json: bool) -> None:
    """Tell what a study will run, what cannot fit, and what it will take."""
    from harness.planning.kept_predictions import MOST_UNASKED
    from harness.planning.learned.model import EXTRAPOLATED, LEARNED
    from harness.planning.study_plan import plan_study
    from harness.planning.workload import load_workload

    workload = load_workload(study)
    made = plan_study(workload, cores)
    if as_json:
        click.echo(json.dumps(made.as_dict(), indent=1))
        return
    rows = [cell.in_words() for cell in made.cells]
    columns = [name for name in rows[0] if name != "peak in"]
    expendable = ["unlabeled", "done"]
    # where there are several, rows would be the same without it
    expendable.append("trials" if len({row["labeled"] for row in rows}) > 1 else "labeled")
    if not any(row["infeasible because"] for row in rows):
        expendable = ["infeasible because", *expendable]
    print_table(rows, columns, expendable=expendable, footnotes=["infeasible because"])
    for pair in made.left_out:
        tell(f"left out: {pair.method} on {pair.dataset}: {pair.reason}")
    if made.unbounded:
        names = _some(made.unbounded)
        tell(f"not bounded by budgets of landmarks, since they have none: {names}")
    if made.unanswered:
        names = _some(made.unanswered)
        tell(f"printed tables with no data set and method of the study: {names}")
    learned = [cell for cell in made.cells if cell.storage_model == LEARNED]
    if learned:
        tell(f"planned by measured trials: {_some(_names(learned))}")
    beyond = [cell for cell in learned if EXTRAPOLATED in cell.planned_phase]
    if beyond:
        pairs = list(dict.fromkeys(f"{cell.method} on {cell.dataset}" for cell in beyond))
        tell(f"planned beyond what was measured: {_some(pairs)}")
    for problem in made.unobtainable:
        tell(problem)
    todo = made.trials - made.done
    jobs = f"{made.jobs} job{'' if made.jobs == 1 else 's'}"
    tell(
        f"{made.trials} trials in {jobs}, {made.done} done, {todo} to run; "
        f"{format_bytes(made.fetch_bytes)} to fetch, {format_bytes(made.disk_bytes)} of disk"
    )
    if not made.keeps_predictions and workload.study.settings.predictions == "auto":
        taken, most = format_bytes(made.predictions_bytes), format_bytes(MOST_UNASKED)
        tell(
            f"predictions are not kept: they may take {taken}, and more than {most} is kept only "
            "where the study says 'predictions: true'"
        )
    for reason, count in made.stale.items():
        were = f"{count} row{' is' if count == 1 else 's are'}"
        tell(f"{were} stale and will be made again: {reason}")
    if made.seconds > made.starts_seconds:
        about = "at least" if made.untimed else "about"
        tell(f"{about} {format_duration(made.seconds)} on {cores} cores by earlier trials")
    elif todo:
        starts = format_duration(made.starts_seconds)
        tell(f"{starts} on {cores} cores for workers to start, and the time of the trials")
    if made.untimed:
        tell(f"time not known, for want of an earlier trial: {_some(made.untimed)}")


def _names(cells: Iterable[CellPlan]) -> list[str]:
    return list(dict.fromkeys(cell.method for cell in cells))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


@click.command(context_settings={"ignore_unknown_options": True})
@study_argument
@click.option(
    "--cores",
    type=click.IntRange(min=1),
    help="Trials side by side: all cores by default, and with a profile what it says.",
)
@click.option("--profile", metavar="NAME|DIR", help="Settings of a cluster: slurm, or your own.")
@click.argument("snakemake_options", nargs=-1)
def run(
    study: str, cores: int | None, profile: str | None, snakemake_options: Sequence[str]
) -> None:
    """Run a study with a progress bar; further options go to Snakemake."""
    from harness.cli.progress import run_with_progress
    from harness.planning.workload import load_workload

    if cores is None and profile is None:
        cores = os.cpu_count()
    run_with_progress(load_workload(study), cores, snakemake_options, profile)


@click.command()
@click.argument("study")
@click.argument("row")
def reproduce(study: str, row: str) -> None:
    """Run one ROW (number or fingerprint) of a study again and compare its scores bit for bit."""
    from harness.jobs.reproduce import reproduce as run_row
    from harness.planning.workload import load_workload

    workload = load_workload(study)
    results_of(workload.study)
    _enter_environment(workload, row)
    compared = run_row(workload, row)
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


@click.command()
@click.argument("study")
@click.argument("row")
@click.option(
    "-o",
    "--output",
    default="model.joblib",
    show_default=True,
    type=click.Path(path_type=Path),
    help="The file to write; one that ends in .onnx is ONNX.",
)
@click.option("--all", "all_labels", is_flag=True, help="Fit to all points and their labels.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@as_json_option
def fit(study: str, row: str, output: Path, all_labels: bool, force: bool, as_json: bool) -> None:
    """Fit the method of one ROW (number or fingerprint) again and write the model to a file.

    At the size, settings and seed of the row, to its training points. Its scores are those of the
    row, or nothing is written.
    """
    from harness.jobs.fitting import fit as fit_row
    from harness.planning.workload import load_workload

    workload = load_workload(study)
    results_of(workload.study)
    _enter_environment(workload, row)
    made = fit_row(workload, row, output, all_labels, force)
    if as_json:
        told = {"path": str(made.path), "file_bytes": made.file_bytes}
        told |= {"model_bytes": made.model_bytes, "scores": made.scores, "row": made.row}
        if made.agreement is not None:
            told["agreement"] = asdict(made.agreement)
        click.echo(json.dumps(told | {"prepared_only": made.prepared_only}, indent=1))
        return
    click.echo(f"wrote {made.path}: {made.row['method']} on {made.row['dataset']}")
    sizes = f"{format_bytes(made.file_bytes)} in the file"
    if made.model_bytes is not None and not all_labels and made.agreement is None:
        sizes += f", {format_bytes(made.model_bytes)} of it the estimator"
    click.echo(sizes)
    if made.scores:
        scores = ", ".join(f"{name} {value:.4g}" for name, value in made.scores.items())
        click.echo(f"equal to row {row} bit for bit: {scores}")
    if made.prepared_only:
        click.echo(f"it takes rows as they are prepared only: {made.prepared_only}")
    if made.agreement is not None:
        _tell_agreement(made.agreement)
        return
    load = f"harness.load_model({str(made.path)!r})"
    click.echo(f'try: python -c "import harness; print({load}.columns)"')


def _enter_environment(workload: Workload, row: str) -> None:
    """Go on where the plugin of a row's method can be imported."""
    from harness.jobs.recorded import find_row

    enter_environment(workload.requirements(find_row(workload, row).block))


def _tell_agreement(found: Agreement) -> None:
    """Print how an ONNX file compares with its model, and how it is asked."""
    parts = []
    if found.difference is not None:
        what = "values" if "value" in found.outputs else "scores"
        parts.append(f"{what} differ by {found.difference:.1g} of their range at most")
    if found.other_labels is not None:
        count = found.other_labels
        parts.append(f"{count} labels are others" if count else "no label is another")
    click.echo(f"checked by onnxruntime on {found.rows} rows: {', '.join(parts)}")
    for told, values in (("in", found.inputs), ("out", found.outputs)):
        listed = "; ".join(f"{name} {shape}" for name, shape in values.items())
        click.echo(f"{told}: {listed}")


@click.command()
@study_argument
@click.option("--outcome", "outcomes", multiple=True, required=True, help="Rows that end so.")
@click.option("--method", "methods", multiple=True, help="Only rows of this label in the study.")
def retry(study: str, outcomes: Sequence[str], methods: Sequence[str]) -> None:
    """Remove the rows of an outcome, so that the next run takes their trials again."""
    from harness.jobs.retry import retry as remove
    from harness.planning.workload import load_workload
    from harness.records.columns import OUTCOMES

    for outcome in outcomes:
        if outcome not in OUTCOMES:
            raise unknown_name("outcome", outcome, OUTCOMES)
    count = len(remove(load_workload(study), outcomes, methods))
    click.echo(f"{count} trial{'' if count == 1 else 's'} to run again: harness run {study}")


COMMANDS = (plan, run, reproduce, fit, retry)
