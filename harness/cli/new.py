"""Running examples to start from: methods and other plugins, and studies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click


@click.group()
def new() -> None:
    """Write a running example to start from."""


def _folder(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    kind: click.Path = click.Path(path_type=Path)
    return click.option("--folder", default=default, show_default=True, type=kind)


@new.command("method")
@click.argument("name")
@_folder("plugins")
@click.option(
    "--from", "source", metavar="CLASS", help="Such as sklearn.svm.SVC: a class to wrap."
)
def new_method(name: str, folder: Path, source: str | None) -> None:
    """Write a plugin with one method called NAME, an example or around a CLASS."""
    from harness.cli.new_method import write_method

    path = write_method(name, folder, source)
    click.echo(f"wrote {path}; try: harness check {path}")


@new.command("dataset")
@click.argument("name")
@_folder("plugins")
def new_dataset(name: str, folder: Path) -> None:
    """Write a plugin that generates a data set called NAME; `harness add` is for files."""
    _write_plugin("dataset", name, folder)


@new.command("metric")
@click.argument("name")
@_folder("plugins")
def new_metric(name: str, folder: Path) -> None:
    """Write a plugin with a metric called NAME."""
    _write_plugin("metric", name, folder)


@new.command("kernel")
@click.argument("name")
@_folder("plugins")
def new_kernel(name: str, folder: Path) -> None:
    """Write a plugin with a kernel called NAME."""
    _write_plugin("kernel", name, folder)


@new.command("search")
@click.argument("name")
@_folder("plugins")
def new_search(name: str, folder: Path) -> None:
    """Write a plugin with a search over parameters called NAME."""
    _write_plugin("search", name, folder)


def _write_plugin(kind: str, name: str, folder: Path) -> None:
    from harness.cli.new_plugin import write_plugin

    path = write_plugin(kind, name, folder)
    study = f"first-{name.replace('_', '-')}"
    click.echo(f"wrote {path}")
    click.echo(f"try: harness new study {study} --{kind} {name} && harness run {study}")


@new.command("study")
@click.argument("name")
@_folder("studies")
@click.option("--dataset", "datasets", multiple=True, help="May be given several times.")
@click.option("--method", "methods", multiple=True, help="Likewise; suited ones by default.")
@click.option("--metric", "metrics", multiple=True, help="Likewise; the first decides.")
@click.option("--kernel", help="Of methods that have one.")
@click.option("--search", help="Over parameters; by default they are not tuned.")
def new_study(
    name: str,
    folder: Path,
    datasets: Sequence[str],
    methods: Sequence[str],
    metrics: Sequence[str],
    kernel: str | None,
    search: str | None,
) -> None:
    """Write a study called NAME, on the first data set of this folder if none is named."""
    from harness.cli.new_study import study_of, write_study
    from harness.planning.workload import read_catalog
    from harness.plugin.index import read_index
    from harness.project import own

    catalog = read_catalog(None, read_index())
    mine = [
        known for known, origin in catalog.origins.items() if origin == str(own("datasets.yaml"))
    ]
    names = datasets or mine[:1] or ["wine"]
    entries = [catalog.entry(known, "--dataset") for known in names]
    path = write_study(name, folder, entries, methods, metrics, kernel, search)
    click.echo(f"wrote {path}; try: harness run {study_of(path)}")


COMMANDS = (new,)
