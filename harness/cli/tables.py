"""Rows in a terminal: tables that fit its width, or lines that a program may read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click


def show_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str], as_json: bool) -> None:
    """Print rows as JSON, all that they hold, or as a table of some columns."""
    if as_json:
        click.echo(json.dumps(rows, indent=1, default=str))
    else:
        print_table(rows, columns)


def print_table(
    rows: Iterable[dict[str, Any]],
    columns: Sequence[str],
    colours: Mapping[str, str] = {},
    widths: Mapping[str, int] = {},
    header: bool = True,
) -> None:
    """Print some columns of rows below each other.

    Parameters
    ----------
    rows : iterable of dict
    columns : sequence of str
        Keys of the rows; what a row has not is a dash.
    colours : mapping of str to str, default {}
        Of cells that read so.
    widths : mapping of str to int, default {}
        The least width of a column, so that tables that follow each other stand in line.
    header : bool, default True
        Whether the columns are named.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", show_header=header)
    for column in columns:
        table.add_column(column.replace("_", " "), overflow="fold", min_width=widths.get(column))
    for row in rows:
        cells = (_cell(row.get(column)) for column in columns)
        table.add_row(*(Text(cell, colours.get(cell, "")) for cell in cells))
    console = Console()
    if not console.is_terminal:
        # a pipe or a file has no width: never fold what a program may read
        console = Console(width=1_000_000)
    console.print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple, dict)):
        return ", ".join(map(str, value)) or "-"
    return " ".join(str(value).split("\n"))
