"""What a method holds, measured: peaks, the formula above them, and a storage model to paste."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import as_json_option
from harness.cli.places import enter_environment, enter_environment_of
from harness.cli.tables import print_table, show_rows
from harness.errors import HarnessError
from harness.files import is_file, is_folder
from harness.units import format_bytes, format_duration, parse_duration

if TYPE_CHECKING:
    from harness.planning.learned.model import LearnedStorage
    from harness.plugin.method import Method
    from harness.plugin.registry import Source

_COLUMNS = ["task", "n", "labeled", "d", "classes", "type", "size", "fit", "predict", "time"]


@click.command()
@click.argument("what", metavar="FILE_OR_NAME")
@click.option("--method", "names", multiple=True, help="Only these methods of the file.")
@click.option("--n", type=click.IntRange(min=20), default=2_000, show_default=True, help="Points.")
@click.option("--labeled", type=click.IntRange(min=2), help="Those with a label; a fifth of them.")
@click.option("--d", type=click.IntRange(min=1), default=20, show_default=True, help="Columns.")
@click.option("--classes", type=click.IntRange(min=3), default=4, show_default=True)
@click.option("--time", "seconds", default="60s", show_default=True, help="Of one trial.")
@as_json_option
def measure(
    what: str,
    names: tuple[str, ...],
    n: int,
    labeled: int | None,
    d: int,
    classes: int,
    seconds: str,
    as_json: bool,
) -> None:
    """Measure what methods hold, on generated points, and propose their storage models.

    FILE_OR_NAME is a plugin's file, or the name of a method that is found without one. Trials of
    at most --n points are run, those that were run before excepted. Studies measure for
    themselves, near their own shapes and budgets.
    """
    from harness.planning.learned.general import measure_shapes
    from harness.planning.learned.model import LearningError
    from harness.plugin.index import method_entry, read_index
    from harness.plugin.shape import Shape

    path = Path(what)
    folders = [path.resolve()] if is_file(path) or is_folder(path) else []
    if folders:
        enter_environment_of(folders[0])
    index = read_index(folders)
    if not folders:
        enter_environment(method_entry(index, what)["plugin_requirements"])
    few = min(n - 1, labeled or max(2, n // 5))
    shape = Shape(few, n - few, d, classes)
    for method in _methods(index, what, folders, names):
        try:
            model = measure_shapes(index, method, folders, shape, parse_duration(seconds))
            told = _told(method, model)
        except LearningError as error:
            raise HarnessError(
                f"{method.name}: its storage could not be learned: {error}"
            ) from None
        if as_json:
            show_rows([told], [], as_json)
        else:
            _print(method, told)


def _methods(
    index: Mapping[str, Any], what: str, folders: list[Path], names: tuple[str, ...]
) -> list[Method]:
    """Load the methods of a file or folder, or the one of a name."""
    from harness.errors import unknown_name
    from harness.plugin.index import method_entry
    from harness.plugin.registry import Registry

    if not folders:
        place = method_entry(index, what)["plugin_path"]
        registry = Registry.load([], lambda source: source.location == place)
        return [registry.get("methods", what)[0]]
    registry = Registry.load(folders, lambda source: _is_in(source, folders[0]))
    for plugin in registry.plugins:
        if plugin.failure:
            raise HarnessError(f"{plugin.source.location}: {plugin.failure}")
    found = [method for method, _ in registry.items("methods")]
    known = [method.name for method in found]
    if not known:
        raise HarnessError(f"{what} provides no method")
    for name in names:
        if name not in known:
            raise unknown_name("method", name, known, what)
    return [method for method in found if not names or method.name in names]


def _is_in(source: Source, place: Path) -> bool:
    from harness.plugin.registry import FileSource

    return isinstance(source, FileSource) and place in (source.path, source.path.parent)


def _told(method: Method, model: LearnedStorage) -> dict[str, Any]:
    """Return what was measured and fitted, as plain data."""
    fitted = model.overall()
    rows = [
        {
            "n": run.shape.n,
            "labeled": run.shape.n_labeled,
            "d": run.shape.n_features,
            "classes": run.shape.n_classes,
            "type": "float32" if run.shape.itemsize == 4 else "float64",
            "size": run.size,
            "outcome": run.outcome,
            "fit": run.fit,
            "predict": run.predict,
            "seconds": run.seconds,
        }
        for run in fitted.runs
    ]
    terms = {
        stage: {term.name: factor for term, factor in envelope.terms}
        for stage, envelope in fitted.by_stage().items()
    }
    return {
        "method": method.name,
        "measured": rows,
        "terms": terms,
        "spread": fitted.spread,
        "excess": fitted.excess()[0],
        "excess_of_large": fitted.excess()[1],
        "storage": fitted.source(),
    }


def _print(method: Method, told: dict[str, Any]) -> None:
    from harness.planning.learned.model import UNSURE

    rows = [
        row
        | {name: format_bytes(row[name]) for name in ("fit", "predict")}
        | {"time": format_duration(row["seconds"])}
        for row in told["measured"]
    ]
    click.echo(f"{method.name}: {len(rows)} trials")
    print_table(rows, [name for name in _COLUMNS if name in rows[0]])
    for stage, terms in told["terms"].items():
        formula = " + ".join(
            format_bytes(factor) if name == "1" else f"{factor:.3g} x 8 {name}"
            for name, factor in terms.items()
        )
        click.echo(f"{stage}: {'X + ' if stage == 'fit' else ''}{formula or '0 B'}")
    those = "peaks of 1 MB and more" if told["excess_of_large"] else "peaks, all below 1 MB,"
    click.echo(f"above {those} by {told['excess']:.1%} in the mean")
    if told["spread"] > UNSURE:
        click.echo(
            f"unsure: peaks of one shape differ by {told['spread']:.0%}, by the data's values"
        )
    click.echo("\nA storage model to paste and to make sure of:\n")
    click.echo(told["storage"])


COMMANDS = (measure,)
