"""The charts of a report as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli.options import study_argument
from harness.cli.places import results_of


@click.command()
@study_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["pdf", "svg", "png"]),
    default="pdf",
    show_default=True,
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the files; by default `figures` beside the report.",
)
@click.option(
    "--chart",
    "kinds",
    multiple=True,
    help="score, score_peak, score_time, train, predict, peak, rank, profile or planned; may be "
    "given again. By default all.",
)
@click.option("--dataset", "datasets", multiple=True, help="Charts of this data set alone.")
@click.option("--metric", help="Judge by this metric; by default as the report does.")
def figures(
    study: str,
    form: str,
    output: Path | None,
    kinds: Sequence[str],
    datasets: Sequence[str],
    metric: str | None,
) -> None:
    """Write the charts of a study's report as files, for a paper or slides."""
    from harness.report.chart_files import write_charts
    from harness.study.study import load_study

    results = results_of(load_study(study))
    folder = output or results / "figures"
    for path in write_charts(results, folder, form, metric, kinds, datasets):
        click.echo(path)


COMMANDS = (figures,)
