"""Data of one's own, from a file to a study on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.tables import tell

if TYPE_CHECKING:
    from harness.datasets.adding import Added


def _columns(option: str, told: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(option, default=(), type=_Names(), metavar="A,B", help=told)


class _Names(click.ParamType[tuple[str, ...]]):
    """Names with commas between them, as a line of CSV: a quoted one may hold a comma."""

    name = "names"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """Return the names."""
        import csv

        if not isinstance(value, str):
            return tuple(value)
        return tuple(name for name in next(csv.reader([value], skipinitialspace=True), []) if name)


@click.command()
@click.argument("sources", metavar="FILE...", nargs=-1, required=True)
@click.option("--target", help="Name or number of its column; else the last, or one so called.")
@click.option("--name", help="What studies call it; by default as the file is called.")
@click.option("--task", type=click.Choice(["binary", "multiclass", "regression"]))
@_columns("--positive", "Labels of class 1 of two classes.")
@_columns("--nominal", "Columns of names that look like numbers.")
@_columns("--drop", "Columns to leave out.")
@_columns("--keep", "Columns to keep that would be left out, such as numbers of rows.")
@_columns("--text", "Columns of texts, whose words become features; guessed by default.")
@click.option(
    "--groups",
    help="Column of groups: no patient, user or site is in two parts. Or file:VALUES.txt with a "
    "value for each point, or path:PATTERN of the names of files.",
)
@click.option("--order", help="Column of times or dates, for test parts that come last; likewise.")
@click.option("--header/--no-header", default=None, help="Whether the first line has names.")
@click.option("--no-study", is_flag=True, help="Write no study to start from.")
@click.option("--dry-run", is_flag=True, help="Print the entry and write nothing.")
@click.option("--force", is_flag=True, help="Replace the entry of this name.")
def add(
    sources: Sequence[str],
    target: str | None,
    name: str | None,
    task: str | None,
    positive: Sequence[str],
    nominal: Sequence[str],
    drop: Sequence[str],
    keep: Sequence[str],
    text: Sequence[str],
    groups: str | None,
    order: str | None,
    header: bool | None,
    no_study: bool,
    dry_run: bool,
    force: bool,
) -> None:
    """Add a FILE as a data set to datasets.yaml, and write a study on it.

    FILE is CSV or TSV of any separator, JSON lines, Parquet, ARFF, SVMlight, npz, npy or MATLAB's;
    text may be packed with gzip, bzip2 or xz. Of several files the rows are joined; of MNIST's
    format images and labels are given in turn. Or a folder with a folder of texts, or of pictures,
    for each class; pictures may be in an archive. Or openml:61, a data set of OpenML, or
    openml-task:59, the data of a task of it: the study then takes the folds of the task.
    """
    from harness.datasets.adding import add as add_data

    added = add_data(
        list(sources),
        target,
        name=name,
        task=task,
        positive=positive,
        nominal=nominal,
        drop=drop,
        keep=keep,
        text=text or None,
        header=header,
        groups=groups,
        order=order,
        dry_run=dry_run,
        force=force,
    )
    click.echo(str(added))
    for sentence in added.told:
        tell(f"- {sentence}", hanging=2)
    if dry_run:
        click.echo("nothing was written (--dry-run)")
        return
    click.echo(f"wrote {added.name} to {added.catalog}, where all of it can be edited")
    if no_study:
        click.echo(f"try: harness new study first --dataset {added.name}")
    else:
        _write_study(added)


def _write_study(added: Added) -> None:
    from harness.cli.new_study import study_of, write_study
    from harness.datasets import load_catalog

    name = added.name
    path = Path("studies") / f"{name}.yaml"
    if path.exists():
        click.echo(f"{path} is there already and was kept; try: harness plan {study_of(path)}")
        return
    write_study(name, path.parent, [load_catalog()[name]], folds=added.folds)
    click.echo(f"wrote {path}; try: harness run {study_of(path)}")


COMMANDS = (add,)
