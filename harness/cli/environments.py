"""Environments of plugins whose requirements the harness's own Python does not meet."""

from __future__ import annotations

import click

from harness.cli.options import as_json_option
from harness.cli.tables import show_rows


@click.command()
@click.option("--study", help="Also search the plugin folders of this study.")
@click.option("--make", is_flag=True, help="Make those that are missing: this downloads packages.")
@as_json_option
def environments(study: str | None, make: bool, as_json: bool) -> None:
    """List plugins with requirements of their own, and the environments that they run in."""
    from harness.plugin.environments import Environment
    from harness.plugin.index import read_index
    from harness.study.study import load_study

    folders = load_study(study).plugin_folders if study else []
    rows = []
    for plugin in read_index(folders)["plugins"]:
        if not plugin["requirements"]:
            continue
        told = {"plugin": plugin["path"], "requirements": ", ".join(plugin["requirements"])}
        if not plugin["environment"]:
            rows.append(told | {"runs in": "the Python of the harness", "made": True})
            continue
        environment = Environment(tuple(plugin["requirements"]))
        if make and not environment.is_made:
            click.echo(f"making {environment.folder}: {told['requirements']}", err=True)
            environment.make()
        place = str(environment.folder)
        rows.append(told | {"runs in": place, "made": environment.is_made})
    show_rows(rows, ["plugin", "requirements", "runs in", "made"], as_json)


COMMANDS = (environments,)
