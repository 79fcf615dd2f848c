"""Rows in a terminal: tables that fit its width, or lines that a program may read."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

_TEXT = 28
"""Characters that a column of sentences needs at least; what is not longer is not folded."""

_GAP = 2


def show_rows(
    rows: Sequence[dict[str, Any]],
    columns: Sequence[str],
    as_json: bool,
    expendable: Sequence[str] = (),
) -> None:
    """Print rows as JSON, all that they hold, or as a table of some columns."""
    if as_json:
        click.echo(json.dumps(rows, indent=1, default=str))
    else:
        print_table(rows, columns, expendable=expendable)


def print_table(
    rows: Iterable[dict[str, Any]],
    columns: Sequence[str],
    colours: Mapping[str, str] = {},
    widths: Mapping[str, int] = {},
    header: bool = True,
    expendable: Sequence[str] = (),
    footnotes: Sequence[str] = (),
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
    expendable : sequence of str, default ()
        Columns that are left out where a terminal is too narrow, the first of these first. Which
        ones is said below the table.
    footnotes : sequence of str, default ()
        Columns whose sentences stand below the table, numbered, where a terminal is too narrow
        even so. Then fewer columns are left out.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    cells = [{column: _cell(row.get(column)) for column in columns} for row in rows]
    if not console.is_terminal:
        _print_lines(cells, columns, widths, header)
        return
    least = {column: _least_width(column, cells) for column in columns}
    kept = _that_fit(least, expendable, console.width)
    notes: dict[str, int] = {}
    if console.is_terminal and _width(kept, least) > console.width:
        for column in footnotes:
            for row in cells:
                if row[column] not in ("", "-"):
                    row[column] = f"[{notes.setdefault(row[column], len(notes) + 1)}]"
        least = {column: _least_width(column, cells) for column in columns}
        kept = _that_fit(least, expendable, console.width)
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=header)
    for column in kept:
        # identifiers and numbers are not folded, titles of two words may be
        fits = least[column] < _TEXT
        table.add_column(
            _header(column),
            overflow="fold",
            width=max(least[column], widths.get(column, 0)) if fits else None,
            min_width=widths.get(column),
        )
    for row in cells:
        table.add_row(*(Text(row[column], colours.get(row[column], "")) for column in kept))
    console.print(table)
    for sentence, number in notes.items():
        tell(f"[{number}] {sentence}", hanging=4)
    left_out = [_header(column) for column in columns if column not in kept]
    if left_out:
        tell(f"left out for want of width: {', '.join(left_out)} (all: --json, or a pipe)")


def tell(sentence: str, hanging: int = 0) -> None:
    """Print a sentence; in a terminal its lines break between words.

    Parameters
    ----------
    sentence : str
    hanging : int, default 0
        Blanks before every line but the first.
    """
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        sentence = textwrap.fill(
            sentence,
            console.width,
            subsequent_indent=" " * hanging,
            break_on_hyphens=False,
            break_long_words=False,
        )
    click.echo(sentence)


def _print_lines(
    cells: Sequence[Mapping[str, str]],
    columns: Sequence[str],
    widths: Mapping[str, int],
    header: bool,
) -> None:
    """Print whole lines: a pipe or a file has no width, and a program may read it."""
    from rich.cells import cell_len

    rows = [{column: _header(column) for column in columns}] * header + list(cells)
    wide = {
        column: max([widths.get(column, 0), *(cell_len(row[column]) for row in rows)])
        for column in columns
    }
    for row in rows:
        padded = (row[name] + " " * (wide[name] - cell_len(row[name])) for name in columns)
        click.echo((" " * _GAP).join(padded))


def _that_fit(least: Mapping[str, int], expendable: Sequence[str], width: int) -> list[str]:
    kept = list(least)
    for column in expendable:
        if _width(kept, least) <= width:
            break
        kept.remove(column)
    return kept


def _width(columns: Iterable[str], least: Mapping[str, int]) -> int:
    return sum(least[column] + _GAP for column in columns)


def _least_width(column: str, cells: Sequence[Mapping[str, str]]) -> int:
    title = max(map(len, _header(column).split()), default=0)
    return max(title, min(_TEXT, max((len(row[column]) for row in cells), default=0)))


def _header(column: str) -> str:
    return column.replace("_", " ")


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
