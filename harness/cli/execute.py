"""`harness exec`: any command under a memory budget."""

from __future__ import annotations

import dataclasses
import json
import sys

import click

from harness.errors import HarnessError
from harness.units import format_bytes, format_duration

_MISTAKE = 125


class _Command(click.Command):
    """Wants `--` before the command, so that none of its options is taken for one of ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" not in args and "--help" not in args:
            raise click.UsageError(
                "write -- before the command: harness exec --budget 200MB -- python train.py"
            )
        return super().parse_args(ctx, args)


@click.command(name="exec", cls=_Command)
@click.option("--budget", help="Memory of the command and its children: 200MB, 64MiB.")
@click.option("--time", "time_limit", help="Wall clock: 90s, 1h.")
@click.option("--backend", default="auto", show_default=True, help="See `harness doctor`.")
@click.option("--json", "as_json", is_flag=True, help="Print an object; its output to stderr.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def execute(
    budget: str | None, time_limit: str | None, backend: str, as_json: bool, command: tuple[str]
) -> None:
    """Run a command under a memory budget and tell its outcome, peak and seconds.

    The exit code is the command's own. It is 123 above the budget, 124 out of time, 125 for a
    mistake in these options, 126 and 127 where the command cannot be run or is not found, and 128
    and the signal's number where one ended it.
    """
    from harness.measuring.command import CommandError, run_command

    try:
        result = run_command(command, budget, time_limit, backend, stdout_to_stderr=as_json)
    except HarnessError as error:
        click.ClickException(str(error)).show()
        code = error.code if isinstance(error, CommandError) else _MISTAKE
        raise click.exceptions.Exit(code) from None
    if as_json:
        click.echo(json.dumps({**dataclasses.asdict(result), "status": result.status}))
    else:
        peak = "unknown" if result.peak_bytes is None else format_bytes(result.peak_bytes)
        click.echo(
            f"harness: {result.outcome}, peak {peak} ({result.measured_by}), "
            f"{format_duration(result.seconds)}, limited by {result.means}",
            err=True,
        )
        if result.reason:
            click.echo(f"harness: {result.reason}", err=True)
    sys.exit(result.status)


COMMANDS = (execute,)
