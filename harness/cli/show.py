"""The rows of a study's table in a terminal, as CSV or as JSON: some of them, or all."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import as_json_option, study_argument
from harness.cli.places import results_of
from harness.cli.tables import print_table
from harness.errors import HarnessError, unknown_name
from harness.records.columns import OUTCOMES

if TYPE_CHECKING:
    import pyarrow

    from harness.records.table import KeptTable

MOST = 1000
"""Rows that are printed where nothing is said of how many."""

_SCORES = ("auc", "accuracy", "nmse", "adjusted_rand")
_ASKED = ("dataset", "method", "n_labeled", "budget", "seed", "outcome", "size")
_SHOWN = (*_ASKED, *_SCORES, "peak_bytes", "wall_s", "reason")

Wanted = dict[str, tuple[str, ...]]
"""By column, what a row may say in it."""


@click.command()
@study_argument
@click.option("--dataset", multiple=True, help="Only rows of this one; may be given again.")
@click.option("--method", multiple=True, help="Likewise, as the study calls it.")
@click.option("--budget", multiple=True, help="Likewise, as the study writes it: 3MB, none.")
@click.option("--outcome", multiple=True, type=click.Choice(OUTCOMES), help="Likewise.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help=f"Print at most so many rows; {MOST} by default, and all with --csv or --json.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print all columns as CSV.")
@as_json_option
def show(
    study: str,
    dataset: tuple[str, ...],
    method: tuple[str, ...],
    budget: tuple[str, ...],
    outcome: tuple[str, ...],
    limit: int | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Show the rows of a study's table: their number, what was asked and how it ended."""
    from harness.records.table import KeptTable
    from harness.study.study import load_study

    if as_csv and as_json:
        raise HarnessError("--csv and --json are two forms of the same rows: give one")
    table = KeptTable(results_of(load_study(study)) / "trials.parquet")
    given = {"dataset": dataset, "method": method, "budget": budget, "outcome": outcome}
    wanted = {name: values for name, values in given.items() if values}
    if as_csv:
        _print_csv(table, wanted, limit)
    elif as_json:
        _print_json(table, wanted, limit)
    else:
        _print_rows(table, wanted, limit or MOST)


def _print_rows(table: KeptTable, wanted: Wanted, limit: int) -> None:
    rows: list[dict[str, Any]] = []
    found = 0
    for group, first, places in _chosen(table, wanted):
        found += len(places)
        if len(rows) < limit:
            rows += _rows(table, _SHOWN, group, first, places[: limit - len(rows)])
    columns = ["row", *(n for n in _SHOWN if n not in _SCORES or _is_said(rows, n))]
    expendable = ["wall_s", *_SCORES[:0:-1], "size", "n_labeled"]
    if not any(row["reason"] for row in rows):
        expendable = ["reason", *expendable]
    expendable = [name for name in expendable if name in columns]
    print_table(rows, columns, expendable=expendable, footnotes=["reason"])
    if found > len(rows):
        told = f"{len(rows):,} of {found:,} rows; --limit {found} prints all of them, --csv every"
        click.echo(f"{told} column; --dataset, --method, --budget and --outcome choose", err=True)


def _is_said(rows: Sequence[dict[str, Any]], name: str) -> bool:
    return any(row[name] is not None for row in rows)


def _print_json(table: KeptTable, wanted: Wanted, limit: int | None) -> None:
    click.echo("[", nl=False)
    between = "\n"
    for group, first, places in _up_to(limit, _chosen(table, wanted)):
        for row in _rows(table, table.columns, group, first, places):
            number = row.pop("row")
            text = json.dumps(row | {"row": number}, indent=1)
            click.echo(between + " " + text.replace("\n", "\n "), nl=False)
            between = ",\n"
    click.echo("\n]")


def _print_csv(table: KeptTable, wanted: Wanted, limit: int | None) -> None:
    from harness.records.table import as_frame
    from harness.report.csv_text import csv_text

    header = True
    for group, first, places in _up_to(limit, _chosen(table, wanted)):
        frame = as_frame(_part(table, table.columns, group, places))
        frame.insert(0, "row", [first + place for place in places])
        click.echo(csv_text(frame, header), nl=False)
        header = False


Chosen = tuple[int, int, Sequence[int]]
"""A part of the table, the number of its first row, and which of its rows are wanted."""


def _chosen(table: KeptTable, wanted: Wanted) -> Iterator[Chosen]:
    """Find the rows that say what is wanted.

    Raises
    ------
    HarnessError
        If there is none, with the nearest name.
    """
    import pyarrow
    import pyarrow.compute as pc

    first, found = 0, False
    said: dict[str, set[str]] = {name: set() for name in wanted}
    for group in table.groups:
        rows = table.group_rows(group)
        places: Sequence[int] = range(rows)
        if wanted:
            asked = table.read(wanted, [group])
            keep = []
            for name, values in wanted.items():
                said[name] |= set(asked[name].unique().to_pylist())
                keep.append(pc.is_in(asked[name], pyarrow.array(values, pyarrow.string())))
            all_of = functools.reduce(pc.and_, keep)
            places = pc.indices_nonzero(all_of).to_pylist()
        if places:
            found = True
            yield group, first, places
        first += rows
    if not found:
        raise _nothing(table, wanted, said)


def _up_to(limit: int | None, chosen: Iterator[Chosen]) -> Iterator[Chosen]:
    left = limit
    for group, first, places in chosen:
        yield group, first, places if left is None else places[:left]
        if left is not None:
            left -= len(places)
            if left <= 0:
                return


def _rows(
    table: KeptTable, columns: Sequence[str], group: int, first: int, places: Sequence[int]
) -> list[dict[str, Any]]:
    rows = _part(table, columns, group, places).to_pylist()
    return [{"row": first + place} | row for place, row in zip(places, rows, strict=True)]


def _part(
    table: KeptTable, columns: Sequence[str], group: int, places: Sequence[int]
) -> pyarrow.Table:
    part = table.read(columns, [group])
    return part if len(places) == len(part) else part.take(list(places))


def _nothing(table: KeptTable, wanted: Wanted, said: dict[str, set[str]]) -> HarnessError:
    for name, values in wanted.items():
        for value in values:
            if value not in said[name] and name != "outcome":
                known = [one for one in said[name] if one]
                return unknown_name(name, value, known, str(table.path))
    asked = ", ".join(f"{name} {' or '.join(values)}" for name, values in wanted.items())
    return HarnessError(f"{table.path}: no row has {asked}")


COMMANDS = (show,)
