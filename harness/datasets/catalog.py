"""The catalog: every data set that a study may name, read from YAML files and from plugins.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from harness.datasets import matrix_reading, reading
from harness.datasets.counting import completed
from harness.datasets.entry import Declared, Entry, generated_entry
from harness.datasets.entry_values import MissingByKind
from harness.datasets.fact_sources import FactSource
from harness.datasets.file import File
from harness.datasets.foreign_files import INSTEAD
from harness.datasets.text_columns import Text
from harness.errors import MOST_SHOWN, HarnessError, shown, unknown_name
from harness.plugin.hookspecs import GeneratedDataset
from harness.project import CATALOG, own
from harness.strict_yaml import read_document

_PLUGINS = "a plugin"

_MOST_TOLD = 30
"""Mistakes that are told at once."""


class Catalog(Mapping[str, Entry]):
    """All known data sets by name.

    Parameters
    ----------
    entries : mapping of str to Declared
        What an entry leaves unsaid is counted when it is first asked for.
    origins : mapping of str to str
        The file (or the plugins) that each name is from.
    """

    def __init__(self, entries: Mapping[str, Declared], origins: Mapping[str, str]) -> None:
        self._entries = dict(entries)
        self.origins = dict(origins)

    def __getitem__(self, name: str) -> Entry:
        entry = self._entries[name]
        if not isinstance(entry, Entry):
            try:
                entry = completed(entry)
            except HarnessError as error:
                raise HarnessError(f"{self.origins[name]}: {error}") from None
            self._entries[name] = entry
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def declared(self) -> list[Declared]:
        """List the entries as they are written, without a look at any file."""
        return list(self._entries.values())

    def entry(self, name: str, where: str = "") -> Entry:
        """Return the entry of a name.

        Raises
        ------
        HarnessError
            If there is none; `where` (file and key) goes in front of the message.
        """
        if name not in self._entries:
            raise unknown_name("data set", name, self._entries, where)
        return self[name]


def load_catalog(
    paths: Sequence[Path] = (),
    generated: Mapping[str, GeneratedDataset] | None = None,
    versions: Mapping[str, str] | None = None,
) -> Catalog:
    """Read the catalogs of the current folder and of the harness, and what plugins generate.

    An entry of `datasets.yaml` in the current folder stands in place of one of its name that came
    with the harness.

    Parameters
    ----------
    paths : sequence of Path
        Further catalogs, such as those that a study names.
    generated : mapping of str to GeneratedDataset, optional
        What plugins provide. `generate` is called where the set is prepared, not here.
    versions : mapping of str to str, optional
        For each generated set, what changes when its plugin does (the plugin's sha256): part of
        the entry's digest, so that an edited generator is run again.

    Raises
    ------
    HarnessError
        If a file cannot be read, an entry is wrong (all of them are told at once), or a name is
        defined twice.
    """
    known: dict[str, Declared] = {}
    origins: dict[str, str] = {}
    mine = own("datasets.yaml")
    if mine:
        known |= _read(mine)
        origins |= dict.fromkeys(known, str(mine))
    for name, entry in _read(CATALOG).items():
        if name not in known:
            known[name], origins[name] = entry, str(CATALOG)
    for path in paths:
        if mine and path.resolve() == mine.resolve():
            continue
        for name, entry in _read(Path(path)).items():
            _add(name, entry, str(path), known, origins)
    for name, dataset in (generated or {}).items():
        try:
            entry = generated_entry(dataset, (versions or {}).get(name, ""))
        except ValidationError as error:
            problems = "\n".join(_problems(error, f"{_PLUGINS}: {name}"))
            raise HarnessError(problems) from None
        _add(name, entry, _PLUGINS, known, origins)
    return Catalog(known, origins)


def _add(
    name: str, entry: Declared, origin: str, known: dict[str, Declared], origins: dict[str, str]
) -> None:
    if name in known:
        raise HarnessError(
            f"data set {name!r} is defined twice: in {origins[name]} and in {origin}; rename one"
        )
    known[name] = entry
    origins[name] = origin


def _read(path: Path) -> dict[str, Declared]:
    _, raw = read_document(path, "the catalog ")
    if not isinstance(raw, dict):
        raise HarnessError(f"{path}: a catalog is a mapping of data set names to entries")
    known: dict[str, Declared] = {}
    problems: list[str] = []
    context = {"folder": path.resolve().parent}
    for name, body in ((str(key), body) for key, body in raw.items()):
        where = f"{path}: {name[:MOST_SHOWN]}"
        if not isinstance(body, dict):
            problems.append(f"{where}: an entry is a mapping of keys to values")
        elif "name" in body:
            problems.append(f"{where}: name: an entry's name is the key that it stands under")
        else:
            try:
                model = Entry if _says_all(body) else Declared
                known[name] = model.model_validate({"name": name} | body, context=context)
            except ValidationError as error:
                problems += _problems(error, where)
    if problems:
        more = len(problems) - _MOST_TOLD
        told = [*problems[:_MOST_TOLD], *([f"and {more} more mistakes"] if more > 0 else [])]
        raise HarnessError("\n".join(told))
    return known


def _says_all(body: Mapping[str, Any]) -> bool:
    keys = {"n", "d"} if body.get("task") == "regression" else {"n", "d", "classes"}
    sparse = body.get("sparse", body.get("text") is not None) is True
    keys |= {"nnz"} if sparse else set()
    keys |= {"largest_group"} if body.get("groups") is not None else set()
    keys |= {"n_unlabeled"} if body.get("other_classes") == "unlabeled" else set()
    return keys <= body.keys()


def _problems(error: ValidationError, where: str) -> list[str]:
    return [_problem(detail, where) for detail in error.errors(include_url=False)]


def _problem(detail: Mapping[str, Any], where: str) -> str:
    location = [part for part in detail["loc"] if part not in _PARTS]
    key = ".".join(str(part) for part in location)
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        model = _model_at(detail["loc"])
        close = difflib.get_close_matches(str(location[-1]), model.model_fields, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return f"{where}: unknown key {key!r}; {hint}known: {', '.join(model.model_fields)}"
    if detail["type"] in ("union_tag_invalid", "union_tag_not_found") and key == "read":
        return f"{where}: {_no_format(detail)}"
    given = "" if isinstance(detail["input"], dict) else f" (given: {shown(detail['input'])})"
    return f"{where}: {key + ': ' if key else ''}{message}{given}"


def _no_format(detail: Mapping[str, Any]) -> str:
    # what a plugin generates is no entry of a catalog
    allowed = ", ".join(name for name in reading.FORMATS if name != "generated")
    if not isinstance(detail["input"], dict) or "format" not in detail["input"]:
        return f"read: its format is missing; allowed are {allowed}"
    given = detail["input"]["format"]
    told = f"read.format: {shown(given)} is none; allowed are {allowed}"
    instead = INSTEAD.get(str(given).lower())
    return f"{told}; {instead}" if instead else told


_PARTS: dict[str, type[BaseModel]] = reading.FORMATS | {
    "by kind": MissingByKind,
    "by word": Entry,
    **dict.fromkeys(("one name", "several names"), matrix_reading.Stored),
}
"""What pydantic puts into a location where one of several forms was taken, and its keys."""


_KEYS: dict[str | int, type[BaseModel]] = {
    **{"text": Text, "groups": FactSource, "order": FactSource}
}
"""Keys whose value is a mapping of its own, and its keys."""


def _model_at(location: Sequence[str | int]) -> type[BaseModel]:
    if "files" in location[:2]:
        return File
    if location[0] in _KEYS:
        return _KEYS[location[0]]
    return next((_PARTS[str(part)] for part in location if part in _PARTS), Entry)
