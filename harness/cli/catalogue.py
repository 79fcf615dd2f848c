"""What can be named in a study: methods, data sets, plugins, kernels."""

from __future__ import annotations

import json
from typing import Any

import click

from harness.cli.options import as_json_option
from harness.cli.tables import show_rows
from harness.datasets.entry import Declared, Entry
from harness.errors import HarnessError
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
        expendable=["space", "uses_unlabeled", "plugin", "reference"],
    )


@click.command()
@click.option("--study", help="Also read the catalogs and plugins of this study.")
@as_json_option
def datasets(study: str | None, as_json: bool) -> None:
    """List the data sets of the catalogs and of plugins."""
    from harness.planning.workload import read_catalog
    from harness.study.study import load_study

    catalog = read_catalog(load_study(study) if study else None, _index(study))
    rows, mistakes = [], []
    for declared in catalog.declared():
        counted, mistake = _counted(declared)
        rows.append(counted | {"licence": declared.licence, "source": declared.source})
        if mistake:
            mistakes.append(f"{catalog.origins[declared.name]}: {declared.name}: {mistake}")
    if not as_json:
        for row in rows:
            row |= {
                key: format_bytes(row[key]) for key in ("memory", "fetch") if row[key] is not None
            }
            if row["density"] is not None:
                row["density"] = f"{100 * row['density']:.2g} %"
    columns = ["name", "task", "n", "official_test", "d", "density", "classes", "memory", "fetch"]
    columns += ["licence", "source"]
    expendable = ["official_test", "fetch", "licence", "classes", "density", "source"]
    show_rows(rows, columns, as_json, expendable=expendable)
    if mistakes:
        raise HarnessError("\n".join(mistakes))


def _counted(declared: Declared) -> tuple[dict[str, Any], str]:
    """Return the row of a data set, and what is wrong with it; local files are counted."""
    from harness.datasets.counting import completed, contradiction

    row: dict[str, Any] = {"name": declared.name, "task": declared.task, "n": declared.n}
    row |= {
        "official_test": None,
        "d": declared.d,
        "density": None,
        "classes": len(declared.classes) or None,
        "memory": None,
    }
    row["fetch"] = declared.download_bytes
    fetched = any(file.path is None for file in declared.every_file) or not declared.files
    entry = declared if isinstance(declared, Entry) or fetched else None
    try:
        entry = entry or completed(declared)
        if not isinstance(entry, Entry):
            return row, ""
        row |= {"n": entry.n, "d": entry.d, "classes": entry.n_classes or None}
        row["official_test"] = entry.n - entry.n_train if entry.n_train else None
        row["memory"], row["density"] = entry.data_bytes, entry.density
        return row, contradiction(entry)
    except HarnessError as error:
        return row, str(error)


@click.command()
@click.argument("name")
@click.option("--study", help="Also read the catalogs and plugins of this study.")
def card(name: str, study: str | None) -> None:
    """Print the card of the data set NAME for other programs: Croissant 1.0, as JSON-LD.

    It has source, licence, citation, files with checksums, classes and the official split.
    """
    from harness.datasets.card import croissant
    from harness.planning.workload import read_catalog
    from harness.study.study import load_study

    catalog = read_catalog(load_study(study) if study else None, _index(study))
    click.echo(json.dumps(croissant(catalog.entry(name)), indent=1, ensure_ascii=False))


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


COMMANDS = (methods, datasets, card, plugins, kernels)
