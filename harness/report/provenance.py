"""Where the figures come from, in the order a reader who doubts them would ask.

`provenance.json` may lack any key and may spell its collections as lists or as objects; what is
not known here is shown as it stands rather than dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.records.columns import COLUMNS
from harness.report.columns import UNREAD
from harness.report.versions import in_words
from harness.units import format_bytes

if TYPE_CHECKING:
    from harness.report.results import Results

_FACTS = {
    "command": "command",
    "git_sha": "commit",
    "host": "host",
    "cpu": "CPU",
    "started_at": "started",
    "started": "started",
    "finished_at": "finished",
    "finished": "finished",
}
_COLLECTIONS = ("datasets", "plugins")
_HANDLED = {*_FACTS, *_COLLECTIONS, "hosts", "git_dirty", "versions", "metrics", "study", "title"}


def describe_provenance(results: Results) -> dict[str, Any]:
    """Sort `provenance.json` for the page, filling in from the records what it lacks.

    Returns
    -------
    dict
        `facts` (label -> text), `dirty` (bool or None), `versions` (name -> text), `datasets` and
        `plugins` (lists of dicts with `name`), `hosts` (likewise, with `host`), `others` (label ->
        JSON text).
    """
    given = results.provenance
    facts = {}
    for key, label in _FACTS.items():
        values = [given[key]] if given.get(key) else []
        if not values or key in _OF_A_TRIAL:  # where the last run was is not where all were
            values = _from_records(results, key) or values
        if values and label not in facts:
            facts[label] = ", ".join(map(str, values))
    versions = given.get("versions")
    told = dict(versions) if isinstance(versions, Mapping) else {}
    told |= {package: in_words(of) for package, of in results.versions.items() if len(of) > 1}
    return {
        "facts": facts,
        "dirty": _dirty(results),
        "versions": told,
        "datasets": _named(given.get("datasets")),
        "plugins": _named(given.get("plugins")),
        "hosts": _hosts(results),
        "others": {
            key: value if isinstance(value, str) else json.dumps(value, indent=1)
            for key, value in given.items()
            if key not in _HANDLED
        },
    }


_OF_A_TRIAL = ("host", "cpu")
_OF_A_HOST = ("cores", "threads", "blas", "cache", "governor", "kernel")


def _hosts(results: Results) -> list[dict[str, Any]]:
    """Count the trials of each host, and say what is kept of it."""
    given = results.provenance.get("hosts")
    listed = given if isinstance(given, list) else []
    kept = [entry for entry in listed if isinstance(entry, Mapping)]
    facts = {(entry.get("host"), entry.get("cpu")): entry for entry in kept}
    rows = pd.DataFrame({name: results.column(name) for name in ("host", "cpu")})
    rows = rows.dropna(how="all").fillna("")
    found = []
    for (host, cpu), trials in rows.value_counts().items():
        known = facts.get((host, cpu), {})
        memory = known.get("memory_bytes")
        told = {name: "" if known.get(name) is None else str(known[name]) for name in _OF_A_HOST}
        told["memory"] = format_bytes(memory) if isinstance(memory, int) else ""
        found.append({"host": host, "cpu": cpu, "trials": int(trials)} | told)
    return found


def _from_records(results: Results, key: str) -> list[str]:
    if key not in COLUMNS or key in UNREAD:
        return []
    return sorted(results.column(key).dropna().unique())


def _dirty(results: Results) -> bool | None:
    given = results.provenance.get("git_dirty")
    if isinstance(given, bool):
        return given
    seen = results.column("git_dirty").dropna()
    return bool(seen.astype(bool).any()) if len(seen) else None


def _named(collection: Any) -> list[dict[str, str]]:
    """Bring {name: sha256}, {name: {...}} and [{"name": ...}] to one form, a row a name.

    Entries of one name (the methods of one plugin file) become one row that lists what differs.
    """
    entries: list[Mapping[str, Any]]
    if isinstance(collection, Mapping):
        entries = [
            {"name": name, **(value if isinstance(value, Mapping) else {"sha256": value})}
            for name, value in collection.items()
        ]
    elif isinstance(collection, list):
        entries = [
            value if isinstance(value, Mapping) else {"name": value} for value in collection
        ]
    else:
        return []
    rows: dict[str, dict[str, list[str]]] = {}
    for entry in entries:
        named_by = next((key for key in ("name", "path", "method") if entry.get(key)), "")
        row = rows.setdefault(str(entry.get(named_by, "")), {})
        for key, value in entry.items():
            if key != named_by and value not in (None, ""):
                row.setdefault(key, []).append(str(value))
    return [
        {"name": name} | {key: ", ".join(dict.fromkeys(values)) for key, values in row.items()}
        for name, row in rows.items()
    ]
