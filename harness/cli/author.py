"""For who writes a plugin or sets up a machine."""

from __future__ import annotations

import itertools
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli.options import as_json_option
from harness.cli.places import enter_environment_of
from harness.cli.tables import print_table, show_rows, tell

_FINDING_WIDTHS = {"method": 12, "check": 24, "result": 14}
"""Rows that are printed one by one stand in line as far as these go."""


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--method", "names", multiple=True, help="Only these methods of the file.")
@as_json_option
def check(file: Path, names: Sequence[str], as_json: bool) -> None:
    """Check the methods of a plugin FILE against what the harness expects of a method."""
    enter_environment_of(file)
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


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Write a project to start from into DIR: a study, a method, a catalog, a CI file."""
    from harness.cli.new_project import write_project

    for path in write_project(folder):
        click.echo(f"wrote {path}")
    click.echo(f"try: cd {shlex.quote(str(folder))} && harness run first")


@click.command()
@as_json_option
def doctor(as_json: bool) -> None:
    """Explain how this machine can enforce and measure budgets and confine trials."""
    from harness.sandbox import backends, doctor_text, isolations

    if as_json:
        reports = [*backends(), *isolations()]
        click.echo(json.dumps([vars(report) for report in reports], indent=1))
    else:
        for line in doctor_text().splitlines():
            tell(line, hanging=16)


COMMANDS = (init, check, doctor)
