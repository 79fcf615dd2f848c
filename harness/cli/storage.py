"""What a method would hold, phase by phase, of points that nobody has drawn yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import as_json_option
from harness.cli.places import enter_environment
from harness.cli.tables import print_table, show_rows
from harness.units import format_bytes

if TYPE_CHECKING:
    from harness.plugin.method import Method

_COUNT = click.IntRange(min=0)


@click.command()
@click.argument("name")
@click.option("--n", type=click.IntRange(min=1), default=10_000, show_default=True, help="Points.")
@click.option("--labeled", type=_COUNT, default=100, show_default=True, help="Those with a label.")
@click.option("--d", type=click.IntRange(min=1), default=50, show_default=True, help="Columns.")
@click.option("--classes", type=_COUNT, default=2, show_default=True, help="0 for regression.")
@click.option("--test", type=_COUNT, default=0, show_default=True, help="Points fit never sees.")
@click.option("--float32", is_flag=True, help="Four bytes an element, not eight.")
@click.option("--size", type=click.IntRange(min=1), help="The size, such as landmarks.")
@click.option("--budget", help="Bytes, such as 20MB: the largest size that fits.")
@as_json_option
def storage(
    name: str,
    n: int,
    labeled: int,
    d: int,
    classes: int,
    test: int,
    float32: bool,
    size: int | None,
    budget: str | None,
    as_json: bool,
) -> None:
    """Print what the method NAME holds in each phase of fit and prediction.

    Nothing is run: these are the arrays of its storage model. The harness's own are in the plan
    of a budget, and not in the table.
    """
    from harness.planning.size import plan
    from harness.plugin.index import method_entry, read_index
    from harness.plugin.registry import Registry
    from harness.plugin.shape import Shape
    from harness.units import parse_bytes

    if labeled > n:
        raise click.BadParameter(
            f"{labeled} of {n} points: give at most {n}", param_hint="--labeled"
        )
    index = read_index([])
    enter_environment(method_entry(index, name)["plugin_requirements"])
    method, _ = Registry.load().get("methods", name)
    if method.learns_storage:
        method = _known_storage(index, method)
    shape = Shape(labeled, n - labeled, d, classes, test, 4 if float32 else 8)
    fixed = {} if size is None or method.size is None else {method.size: size}
    planned = plan(method, shape, parse_bytes(budget) if budget else None, fixed)
    if not planned.feasible:
        raise click.ClickException(planned.reason)
    seen = method.training_shape(shape, planned.size, planned.n_kept)
    held = method.held(seen, planned.size, method.params).phases()
    rows = [
        {
            "phase": phase,
            "bytes": int(arrays.bytes),
            "arrays": {k: int(v) for k, v in arrays.items()},
        }
        for phase, arrays in held.items()
    ]
    if as_json:
        show_rows(rows, [], as_json)
        return
    print_table([_told(row) for row in rows], ["phase", "bytes", "largest arrays"])
    of = f" with {method.size} = {planned.size}" if planned.size is not None else ""
    click.echo(
        f"{name}{of} is planned for {format_bytes(planned.planned_bytes)}, most in {planned.phase}"
    )


def _known_storage(index: Mapping[str, Any], method: Method) -> Method:
    from harness.planning.learned.general import with_known_storage
    from harness.planning.learned.model import LearnedStorage

    found = with_known_storage(index, method)
    if isinstance(found.storage, LearnedStorage) and not found.storage.runs:
        raise click.ClickException(
            f"{method.name} has no storage model, and nothing of it is measured yet: harness "
            f"measure {method.name}"
        )
    return found


def _told(row: dict[str, Any]) -> dict[str, Any]:
    largest = sorted(row["arrays"].items(), key=lambda array: array[1], reverse=True)[:3]
    told = ", ".join(f"{name.replace('_', ' ')} {format_bytes(n)}" for name, n in largest if n)
    return {**row, "bytes": format_bytes(row["bytes"]), "largest arrays": told}


COMMANDS = (storage,)
