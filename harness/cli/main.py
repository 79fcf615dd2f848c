"""The command line: what can be run, what will be run, what was run."""

from __future__ import annotations

import sys
from typing import Any

import click

from harness.cli import (
    add,
    advise,
    author,
    catalogue,
    efficiency,
    environments,
    execute,
    figures,
    measure,
    merge,
    new,
    publish,
    rescore,
    results,
    run,
    show,
    site,
    storage,
)
from harness.errors import HarnessError
from harness.threads import one_thread


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


@click.group(cls=_Group)
@click.version_option(package_name="memory-budget-harness")
@click.pass_context
def main(context: click.Context) -> None:
    """Benchmark learning methods under a memory budget."""
    # trials are run again, and scored, as jobs do it; a user's own program keeps its threads
    if context.invoked_subcommand != execute.execute.name:
        one_thread()


for _module in (
    add,
    advise,
    catalogue,
    environments,
    storage,
    measure,
    run,
    efficiency,
    execute,
    show,
    results,
    figures,
    rescore,
    merge,
    new,
    publish,
    author,
    site,
):
    for _command in _module.COMMANDS:
        main.add_command(_command)
