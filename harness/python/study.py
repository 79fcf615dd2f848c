"""A study that is given as a dict, written as the files that every command reads.

`studies/NAME.yaml` is the study. What it cannot say stands beside it in `studies/NAME/`: a plugin
for each method that was given as an object, and a catalog of the data sets. So the same workflow
runs it, and `harness best NAME` answers too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from harness.errors import HarnessError, shown
from harness.files import below, holds, is_file, why_no_path, write_whole
from harness.jobs.only_run import only_run
from harness.planning.workload import RESULTS
from harness.plugin.method import Method
from harness.python.data import Data, given_datasets, write_data
from harness.python.methods import given_methods, plugin_files
from harness.strict_yaml import read_yaml
from harness.study.schema import StudyFile, validate

FOLDER = Path("studies")

_HEAD = "# Written by harness.run; the next run under this name writes it anew.\n"
_PATHS = ("plugins", "catalogs")
"""Keys that name files: relative to the study's file there, to the current folder in a dict."""


@contextmanager
def written(study: Mapping[str, Any], name: str) -> Iterator[Path]:
    """Write a study, and keep other runs of its name away meanwhile.

    Parameters
    ----------
    study : mapping
        The keys of a study file.
    name : str

    Yields
    ------
    Path
        The study's file.

    Raises
    ------
    HarnessError
        If it says what a study cannot, is of a name that someone else's file has or a run holds,
        or cannot be written.
    """
    reason = "it names one file" if "/" in name else why_no_path(name)
    if reason:
        raise HarnessError(f"name = {shown(name)}: names no study: {reason}")
    path = below(FOLDER, f"{name}.yaml")
    if is_file(path) and not path.read_text(encoding="utf-8", errors="replace").startswith(_HEAD):
        raise HarnessError(
            f"{path}: is there, and harness.run did not write it: give this study another name, "
            f"or run that one: harness.run({name!r})"
        )
    content = {str(key): value for key, value in study.items()}
    if isinstance(content.get("cases"), list | tuple):
        content["cases"] = [dict(c) if isinstance(c, Mapping) else c for c in content["cases"]]
    cases = [case for case in _listed(content.get("cases", [])) if isinstance(case, dict)]
    found = [_given(place) for place in (content, *cases)]
    plugins = plugin_files([method for methods, _ in found for method in methods])
    data = {label: one for _, sets in found for label, one in sets.items()}
    for key in _PATHS:
        if key in content:
            content[key] = [_from_studies(named) for named in _listed(content[key])]
    beside = FOLDER / name
    if plugins:
        content["plugins"] = [*content.get("plugins", []), f"{name}/plugins"]
    if data:
        content["catalogs"] = [*content.get("catalogs", []), f"{name}/datasets.yaml"]
    content = _plain(content, "study")
    validate(StudyFile, content, "the study")
    with only_run(below(RESULTS, name)):
        _write_catalog(beside / "datasets.yaml", data)
        _write_plugins(beside / "plugins", plugins)
        _write(path, content)
        yield path


def _given(place: dict[str, Any]) -> tuple[list[Method], dict[str, Data]]:
    """Take objects out of a study, or of one of its cases, and leave their names."""
    methods: list[Method] = []
    data: dict[str, Data] = {}
    if "methods" in place:
        place["methods"], methods = given_methods(place["methods"])
    if "datasets" in place:
        place["datasets"], data = given_datasets(place["datasets"])
    return methods, data


def _plain(value: Any, where: str) -> Any:
    """Return what a YAML file can say: numbers of NumPy, tuples and paths as it knows them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple | range | set | frozenset):
        return [_plain(item, where) for item in value]
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return _plain(value.tolist(), where)
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise HarnessError(f"{where}: {shown(value)} is nothing that a study can say")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _from_studies(named: str | Path) -> str:
    return os.path.relpath(named, FOLDER)


def _write_catalog(path: Path, data: Mapping[str, Data]) -> None:
    """Describe data sets in a catalog; say what was guessed of them if that is new."""
    described = {name: write_data(name, one, path.parent) for name, one in data.items()}
    entries = {name: _plain(entry, name) for name, (entry, _) in described.items()}
    if entries and _write(path, entries):
        for _, told in described.values():
            print(*told, sep="\n")


def _write(path: Path, content: Any) -> bool:
    """Write a file unless it holds that already; tell whether it was written."""
    text = _HEAD + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=96)
    assert read_yaml(text) == content, "a study reads as it was written"
    if holds(path, text):  # a newer file has its table made again
        return False
    write_whole(text, path)
    return True


def _write_plugins(folder: Path, files: Mapping[str, str]) -> None:
    for path in folder.glob("*.py"):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        if not holds(folder / name, text):
            write_whole(text, folder / name)
