"""The reference that is generated from the code: commands, hooks, columns of a row, entries."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from harness.plugin import hookspecs
from harness.records import columns
from harness.site.entry_keys import entry_page
from harness.site.numpydoc import described
from harness.site.pages import Page, table_page


def reference_pages(main: click.Group) -> Iterator[Page]:
    """Yield the pages.

    Parameters
    ----------
    main : click.Group
        The command line.
    """
    yield _commands(main)
    yield _hooks()
    yield entry_page()
    rows = [[name, kind, _comments().get(name, "")] for name, kind in columns.COLUMNS.items()]
    told = ["A row a trial, in trials.parquet and harness show --json."]
    table = {"columns": ["column", "type", "meaning"], "rows": rows}
    yield table_page("reference/columns.html", "Columns of a row", told, [table])


def _commands(main: click.Group) -> Page:
    tables = []
    for name, command in _all_commands(main, "harness"):
        rows, context = [], click.Context(command, info_name=name)
        for parameter in command.params:
            option = isinstance(parameter, click.Option)
            called = ", ".join(parameter.opts) if option else parameter.make_metavar(context)
            rows.append([called, _meaning(parameter), _default(parameter)])
        first = inspect.cleandoc(command.help or "").split("\n\n")[0]
        table = {"title": name, "told": " ".join(first.split())}
        tables.append(table | {"columns": ["argument", "meaning", "default"], "rows": rows})
    return table_page("reference/commands.html", "Commands", [], tables)


def _meaning(parameter: click.Parameter) -> str:
    """Return what an option is for, with what it may be where that is a list."""
    told = (parameter.help or "") if isinstance(parameter, click.Option) else ""
    if isinstance(parameter.type, click.Choice):
        told = f"{told} One of {', '.join(map(str, parameter.type.choices))}.".strip()
    return told


def _default(parameter: click.Parameter) -> str:
    """Return the default as a reader types it; nothing where there is none."""
    default = parameter.default
    return str(default) if isinstance(default, str | int | float) and default is not False else ""


def _all_commands(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from _all_commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def _hooks() -> Page:
    tables = []
    for name, hook in vars(hookspecs).items():
        if not (name.startswith("harness_") and inspect.isfunction(hook)):
            continue
        text = inspect.cleandoc(hook.__doc__ or "")
        told = " ".join(text.split("\n\n")[0].split())
        meanings = described(hook)
        rows = [
            [argument, meanings[argument].meaning if argument in meanings else ""]
            for argument in inspect.signature(hook).parameters
        ]
        tables.append(
            {"title": name, "told": told, "columns": ["argument", "meaning"], "rows": rows}
        )
    sentences = ["What a plugin may provide, each a function marked @hookimpl."]
    return table_page("reference/hooks.html", "Hooks", sentences, tables)


def _comments() -> dict[str, str]:
    """Return what stands beside the columns in the code."""
    text = inspect.getsource(columns)
    return dict(re.findall(r'(?m)^    "(\w+)": "\w+",  # (.+)$', text))
