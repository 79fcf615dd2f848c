"""Results of one study that two sites made, in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "output",
    required=True,
    type=click.Path(path_type=Path),
    help="A new folder, or one of FOLDERS, which gets the rows of the others.",
)
def merge(folders: Sequence[Path], output: Path) -> None:
    """Join the rows of one study from several FOLDERS (results/NAME of each site).

    Refuses rows that other data, other code or other versions of what computes have made. Of a
    trial that two folders have, the row of the first is kept. A run of the study then makes table
    and report, and runs what no site has run.
    """
    from harness.jobs.merge import merge as join

    made = join(folders, output)
    for folder, count in made.taken.items():
        click.echo(f"{folder}: {count:,} row{'s' * (count != 1)}")
    if made.twice:
        click.echo(f"in several folders, where the row of the first was kept: {made.twice:,}")
    if made.other_scores:
        click.echo(f"of these with another outcome or score elsewhere: {made.other_scores:,}")
    if made.old:
        click.echo(f"of earlier versions, and left out: {made.old:,}")
    if made.marks:
        click.echo(f"the folders differ in: {', '.join(made.marks)}; every row says its own")
    total = sum(made.taken.values())
    click.echo(f"{output}: {total:,} rows of {made.study}; now run it: harness run {made.study}")
    if output.name != made.study:
        click.echo(f"a run looks for them in results/{made.study}: move the folder there first")


COMMANDS = (merge,)
