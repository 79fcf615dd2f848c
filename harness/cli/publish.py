"""A study as one folder for others, and the check of such a folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import as_json_option, study_argument
from harness.cli.tables import tell

if TYPE_CHECKING:
    from harness.publishing.verifying import Checked, Verified


@click.command()
@study_argument
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path),
    help="A new folder; by default published/NAME.",
)
@click.option("--predictions", is_flag=True, help="Take kept predictions along.")
@click.option("--incomplete", is_flag=True, help="Publish a study of which trials are missing.")
@click.option("--name-hosts", is_flag=True, help="Keep the names of machines.")
@click.option(
    "--creator", "creators", multiple=True, metavar="'FAMILY, GIVEN'", help="Who made it."
)
@click.option("--licence", default="CC-BY-4.0", show_default=True, help="Of the results (SPDX).")
def publish(
    study: str,
    output: Path | None,
    predictions: bool,
    incomplete: bool,
    name_hosts: bool,
    creators: Sequence[str],
    licence: str,
) -> None:
    """Write a STUDY's rows, splits, page, environment and sources as one folder.

    It is a Workflow Run RO-Crate, ready for Zenodo, with the checksum of every file. Data files
    are never part of it; machines are numbered, and paths are taken out. harness verify checks it.
    """
    from harness.planning.workload import load_workload
    from harness.publishing.folder import Wishes
    from harness.publishing.folder import publish as write

    workload = load_workload(study)
    wishes = Wishes(predictions, incomplete, name_hosts, creators, licence)
    made = write(workload, output or Path("published") / workload.study.name, wishes)
    for sentence in made.told:
        tell(f"- {sentence}", hanging=2)
    click.echo(f"{made.folder}: {made.rows:,} rows in {made.files} files")
    click.echo(f"try: harness verify {made.folder} --sample 5")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--sample", type=click.IntRange(min=0), default=20, show_default=True, help="Rows.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of rows.")
@as_json_option
def verify(folder: Path, sample: int, seed: int, as_json: bool) -> None:
    """Compare the checksums of FOLDER, and run some of its rows again bit for bit.

    FOLDER is what harness publish wrote, whose study, plugins and splits are taken, or
    results/NAME of a study of this project. Ends with status 1 if a file was altered or a row is
    not equal.
    """
    from harness.publishing.verifying import verify as check

    def seen(row: Checked) -> None:
        if not as_json:
            tell(_told_of(row), hanging=2)

    found = check(folder, sample, seed, seen)
    if as_json:
        click.echo(json.dumps(asdict(found) | {"holds": found.holds}, indent=1, default=str))
    else:
        _tell_verified(folder, found)
    if not found.holds:
        sys.exit(1)


def _told_of(row: Checked) -> str:
    place = ", ".join(str(part) for part in row.place.values())
    if row.failure:
        return f"row {row.row} ({place}): could not be run: {row.failure}"
    if not row.differ:
        return f"row {row.row} ({place}): equal"
    told = "; ".join(f"{c.column} is {c.reproduced}, was {c.recorded}" for c in row.differ)
    return f"row {row.row} ({place}): NOT equal: {told}"


def _tell_verified(folder: Path, found: Verified) -> None:
    for sentence in [*found.altered, *found.told]:
        tell(sentence)
    if found.files is None:
        click.echo(f"{folder} was not published: there are no checksums to compare")
    elif not found.altered:
        click.echo(f"{found.files} files have their checksums")
    if found.altered:
        click.echo("no row was run again: files are not what was published")
        return
    if found.versions:
        tell(f"other versions than then: {'; '.join(found.versions)}")
    others = sum(not row.exact for row in found.rows if not row.failure)
    if others:
        tell(
            f"what decided {others} of the rows has changed since (code, data or versions): "
            "equality bit for bit is not to be expected of them"
        )
    equal = sum(not (row.differ or row.failure) for row in found.rows)
    if found.rows:
        click.echo(f"{equal} of {len(found.rows)} rows are equal bit for bit")


COMMANDS = (publish, verify)
