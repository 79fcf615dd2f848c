"""What can be named in a study: methods, data sets, plugins, kernels."""

from __future__ import annotations

from typing import Any

import click

from harness.cli.options import as_json_option
from harness.cli.tables import show_rows
from harness.units import format_bytes


@click.command()
@click.argument("name", required=False)
@click.option("--study", help="Also search the plugin folders of this study.")
@as_json_option
def methods(name: str | None, study: str | None, as_json: bool) -> None:
    """List the methods that plugins provide, or the parameters of the method NAME."""
    index = _index(study)
    if name:
        from harness.plugin.index import method_entry

        entry = method_entry(index, name)
        rows = [
            {"parameter": parameter, **told, "tuned over": entry["space"].get(parameter)}
            for parameter, told in entry["values"].items()
        ]
        show_rows(rows, ["parameter", "default", "allowed", "tuned over"], as_json)
        return
    found = sorted(index["methods"], key=lambda method: method["name"])
    show_rows(
        found,
        ["name", "tasks", "size", "uses_unlabeled", "space", "plugin", "reference"],
        as_json,
        expendable=["space", "uses_unlabeled", "plugin"],
    )


@click.command()
@click.option("--study", help="Also read the catalogs and plugins of this study.")
@as_json_option
def datasets(study: str | None, as_json: bool) -> None:
    """List the data sets of the catalogs and of plugins."""
    from harness.planning.workload import read_catalog
    from harness.study.study import load_study

    catalog = read_catalog(load_study(study) if study else None, _index(study))
    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "task": entry.task,
            "n": entry.n,
            "d": entry.d,
            "classes": entry.n_classes or None,
            "memory": entry.n * entry.d * entry.itemsize,
            "fetch": entry.download_bytes,
            "source": entry.source,
        }
        for entry in catalog.values()
    ]
    if not as_json:
        for row in rows:
            row |= {key: format_bytes(row[key]) for key in ("memory", "fetch")}
    columns = ["name", "task", "n", "d", "classes", "memory", "fetch", "source"]
    show_rows(rows, columns, as_json, expendable=["fetch", "classes", "source"])


@click.command()
@click.option("--study", help="Also search the plugin folders of this study.")
@as_json_option
def plugins(study: str | None, as_json: bool) -> None:
    """List plugins, with the reason where one could not be loaded."""
    show_rows(_index(study)["plugins"], ["name", "path", "hooks", "failure"], as_json)


@click.command()
@click.option("--study", help="Also search the plugin folders of this study.")
@as_json_option
def kernels(study: str | None, as_json: bool) -> None:
    """List kernels and landmark selectors, as parameters of methods name them."""
    from harness.plugin.registry import NAMED

    index = _index(study)
    found = [item | {"parameter": name} for name, kind in NAMED.items() for item in index[kind]]
    show_rows(found, ["parameter", "name", "plugin", "plugin_path"], as_json)


def _index(study: str | None) -> dict[str, Any]:
    from harness.plugin.index import read_index
    from harness.study.study import load_study

    return read_index(load_study(study).plugin_folders if study else [])


COMMANDS = (methods, datasets, plugins, kernels)
