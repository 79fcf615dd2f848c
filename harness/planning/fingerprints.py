"""What decides the outcome of a trial besides the study, part by part.

A row is kept as long as every part is what it was when the row was made: the data, the code of the
method and of what it uses, the code of the harness that runs and scores trials, and the versions
of the libraries that compute. The parts stand in each row, so that a plan can say why rows are
stale.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from harness.datasets.catalog import Catalog
from harness.datasets.split_files import read_splits
from harness.datasets.split_sources import SplitSource
from harness.metrics.names import primary_metric_name, quantile_of
from harness.plugin.index import method_entry
from harness.plugin.registry import NAMED
from harness.study.method_choice import MethodChoice
from harness.study.schema import Grid
from harness.study.study import Decides, Study


def deciding_parts(study: Study, index: Mapping[str, Any], catalog: Catalog) -> Decides:
    """Return the function that names what decides the trials of a cell.

    Returns
    -------
    callable (grid, dataset, method) -> dict
        "data", "splits", "method", "harness", "storage", "search", "kernel", "selector" and
        "metrics" to digests, each where there is one, and "versions" to the version of each
        library by name.
    """
    provided = {
        (parameter, item["name"]): item
        for parameter, kind in NAMED.items()
        for item in index[kind]
    }
    searches = {item["name"]: item for item in index["searches"]}

    @functools.cache
    def owners(
        method: str, search: str | None, named: frozenset[tuple[str, str]]
    ) -> dict[str, Mapping[str, Any]]:
        found = {"method": method_entry(index, method)}
        if search in searches:
            found["search"] = searches[search]
        return found | {pair[0]: provided[pair] for pair in sorted(named)}

    @functools.cache
    def data(name: str) -> str:
        return catalog[name].digest  # reads local files

    @functools.cache
    def splits(source: SplitSource, n: int) -> str:
        return read_splits(source, n).digest[:12]

    def decides(grid: Grid, dataset: str, choice: MethodChoice) -> dict[str, Any]:
        search = grid.tuning.search if grid.tuning else None
        given = {(name, choice.params.get(name)) for name in NAMED}
        named = frozenset(pair for pair in given if isinstance(pair[1], str) and pair in provided)
        used = owners(choice.name, search, named)
        parts = {name: item["code"][:12] for name, item in used.items() if item["code"]}
        if used["method"]["learns_storage"]:
            parts["storage"] = index["harness"]["learning"][:12]
        parts |= {"data": data(dataset), "harness": index["harness"]["code"][:12]}
        entry = catalog[dataset]
        if (source := study.split_source(grid, dataset, entry.n_train)) is not None:
            parts["splits"] = splits(source, entry.n)
        scoring = _scoring(study, index, grid, grid.task_of(catalog[dataset].task))
        if scoring:
            parts["metrics"] = scoring
        versions = index["harness"]["versions"]
        for item in used.values():
            versions = versions | item["versions"]
        return parts | {"versions": versions}

    return decides


def changes(recorded: str | None, now: str) -> list[str]:
    """Say which parts have changed since a row was made.

    Parameters
    ----------
    recorded, now : str
        `decided_by` of a row and of its block; the first is None in rows that lack it.

    Returns
    -------
    list of str
        In plain words; never empty.
    """
    if recorded is None:
        return ["an earlier version of the harness made them"]
    then, current = json.loads(recorded), json.loads(now)
    told = []
    for part in sorted((then.keys() | current.keys()) - {"versions"}):
        if then.get(part) != current.get(part):
            told.append(_CHANGED.get(part, f"{part} has changed"))
    old, new = then.get("versions", {}), current.get("versions", {})
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            told.append(f"{name} is {new.get(name, 'not used')}, was {old.get(name, 'not used')}")
    return told or ["the study's settings have changed"]


_CHANGED = {
    "data": "the data set has changed",
    "splits": "the file of splits has changed",
    "method": "the code of the method has changed",
    "harness": "the code that runs and scores trials has changed",
    "storage": "the code that learns storage models has changed",
    "search": "the code of the search has changed",
    "kernel": "the code of the kernel has changed",
    "selector": "the code of the landmark selector has changed",
    "metrics": "the code or the choice of metrics has changed",
}


def _scoring(study: Study, index: Mapping[str, Any], grid: Grid, task: str) -> list[str]:
    """Return the digests of plugins' metrics that score trials, and the one that tunes them.

    Which that is need not be said where it is the first of the study's metrics, or the default.
    Said are metrics that a study makes by a name, and that it has probabilities predicted.
    """
    tasks = {metric["name"]: frozenset(metric["tasks"]) for metric in index["metrics"]}
    applying = [metric for metric in index["metrics"] if task in tasks[metric["name"]]]
    found = [metric["code"][:12] for metric in applying if metric["code"]]
    asked = [metric for metric in applying if metric["name"] in study.settings.metrics]
    found += [m["name"] for m in asked if quantile_of(m["name"]) is not None]
    if any(metric["needs"] == "probabilities" for metric in asked):
        found.append("probabilities")
    if grid.tuning is not None:
        metrics = study.settings.metrics
        by_first, decides = (primary_metric_name(task, m, tasks) for m in (metrics[:1], metrics))
        found += [decides] * (decides != by_first)
    return found
