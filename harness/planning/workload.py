"""A study joined with what it names: data sets, plugins, digests. What there is to run.

Snakemake reads this in every job, so it needs neither numpy nor any plugin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from harness.datasets.catalog import Catalog, load_catalog
from harness.datasets.counting import contradiction
from harness.datasets.entry import Entry
from harness.datasets.meta import Meta
from harness.datasets.sizes import Sizes
from harness.errors import DamagedFileError, HarnessError, unknown_name
from harness.files import below, is_file
from harness.planning.fingerprints import deciding_parts
from harness.planning.learned.question import USUAL_RUNS, most_bytes
from harness.planning.row_keys import refuse_shared_places
from harness.planning.space_checks import bad_space, unsearched_spaces
from harness.planning.study_index import study_index
from harness.planning.study_splits import bad_splits, sizes_of
from harness.plugin.hookspecs import GeneratedDataset
from harness.plugin.index import generated_version, method_entry, unknown_entry
from harness.plugin.parameters import refused_values
from harness.plugin.registry import NAMED
from harness.records.columns import COLUMNS
from harness.records.table import finished_rows
from harness.study.budget import JOB_BYTES, Budget
from harness.study.method_choice import MethodChoice
from harness.study.published_tables import table_names
from harness.study.schema import Grid
from harness.study.study import Block, Study, load_study

if TYPE_CHECKING:
    import numpy as np

RESULTS = Path("results")
PREPARED = Path("prepared")
ROWS = ("journal", "rows")
"""Folders of a study's results in which rows are written, and published once a job has all."""

USAGE = "usage"
"""Folder of a study's results in which its jobs say what they took."""

_MOST_TOLD = 20
"""Mistakes of a study that are told."""

_MEND = "mend the entry, or leave n, d and classes out of it, which are then counted"


@dataclass(frozen=True)
class SkippedPair:
    """A data set and a method that do not go together, and why."""

    dataset: str
    method: str
    reason: str


@dataclass(frozen=True)
class Workload:
    """All blocks of a study and where their inputs and outputs are."""

    study: Study
    index: Mapping[str, Any]
    catalog: Catalog
    blocks: tuple[Block, ...]
    left_out: tuple[SkippedPair, ...]

    @cached_property
    def results(self) -> Path:
        """Folder of the study's results."""
        return below(RESULTS, self.study.name)

    @property
    def n_trials(self) -> int:
        """Trials of all blocks."""
        return sum(len(block.seeds) for block in self.blocks)

    def entry(self, block: Block) -> Entry:
        """Return the catalog's entry of a block's data set."""
        return self.catalog[block.dataset]

    def prepared(self, name: str) -> Path:
        """Return the folder of a prepared data set."""
        return below(PREPARED, self.catalog[name].directory)

    def finished_rows(
        self, dataset: str, wanted: Collection[str] | None = None
    ) -> dict[str, dict[str, Any]]:
        """Read the rows of a data set that are written or published, by fingerprint.

        Parameters
        ----------
        dataset : str
        wanted : collection of str, optional
            Fingerprints; all by default.
        """
        folders = (below(self.results, f"{kind}/{dataset}") for kind in ROWS)
        return finished_rows(*folders, wanted=wanted)

    def budgets(self, block: Block) -> list[Budget]:
        """Return the budgets of all trials of the study that differ from a block's in no else."""
        wanted, found = _beside_budget(block.grid), dict[Budget, None]()
        for grid in self.study.grids:
            if (
                block.dataset in grid.datasets
                and block.labeled in grid.labeled
                and block.method in grid.methods
                and _beside_budget(grid) == wanted
            ):
                found |= dict.fromkeys(grid.budgets)
        return list(found)

    def memory_bytes(self, block: Block) -> int:
        """Return what a scheduler should reserve: also for trials that are measured first."""
        if not self._learns(block):
            return block.memory_bytes
        measured = most_bytes(budget.bytes for budget in self.budgets(block))
        return max(block.memory_bytes, JOB_BYTES + measured)

    def seconds(self, block: Block, each: float) -> float:
        """Return what a block's trials take, likewise, if each takes so many seconds."""
        return (len(block.seeds) + USUAL_RUNS * self._learns(block)) * each

    def requirements(self, block: Block) -> tuple[str, ...]:
        """Return what the plugin of a block's method needs besides what the harness installs."""
        return tuple(method_entry(self.index, block.method.name)["plugin_requirements"])

    def _learns(self, block: Block) -> bool:
        return method_entry(self.index, block.method.name)["learns_storage"]

    def task(self, block: Block) -> str:
        """Return what a block does with its data set."""
        return block.grid.task_of(self.entry(block).task)

    def sizes(self, block: Block) -> Sizes:
        """Return how many points of each part a block's trials have, from the catalog alone."""
        return sizes_of(self.study, block.grid, self.entry(block), block.labeled)

    def datasets(self) -> list[str]:
        """List the data sets that some block needs."""
        return sorted({block.dataset for block in self.blocks})


def _beside_budget(grid: Grid) -> tuple[Any, ...]:
    return (grid.task, grid.split_rules, grid.data, grid.limits, grid.tuning is None)


def load_workload(path: str | Path) -> Workload:
    """Read a study and everything it names.

    Raises
    ------
    HarnessError
        With every unknown data set, method, parameter, metric, search, kernel or landmark
        selector of the study, and every data set whose files cannot be read or whose entry says
        other sizes than its prepared data have; if there is none, with every value that an
        estimator does not allow; then with a place of the table that two trials would have.
    """
    study = load_study(path)
    index = study_index(study)
    catalog = read_catalog(study, index)
    _refuse_unknown_names(study, index, catalog)
    methods = {m.name: method_entry(index, m.name) for g in study.grids for m in g.methods}
    kept: list[Block] = []
    left_out: dict[SkippedPair, None] = {}
    for block in study.blocks(deciding_parts(study, index, catalog)):
        task = block.grid.task_of(catalog[block.dataset].task)
        tasks = methods[block.method.name]["tasks"]
        reason = ""
        if task not in tasks:
            reason = (
                f"{block.method.name} does {', '.join(tasks)}; {block.dataset} asks for {task}"
            )
        elif task == "clustering" and not catalog[block.dataset].n_classes:
            reason = f"{block.dataset} has no classes to compare clusters with"
        if reason:
            left_out[SkippedPair(block.dataset, block.method.label, reason)] = None
        else:
            kept.append(block)
    if not kept:
        reasons = "; ".join(pair.reason for pair in left_out)
        raise HarnessError(f"{study.path}: no method fits any data set: {reasons}")
    workload = Workload(study, index, catalog, tuple(kept), tuple(left_out))
    placed = ((block, workload.task(block), workload.sizes(block)) for block in kept)
    refuse_shared_places(study.path, placed)
    return workload


def read_catalog(study: Study | None, index: Mapping[str, Any]) -> Catalog:
    """Read the project's catalog, a study's own ones, and the data sets that plugins generate.

    The latter are described by the index, not loaded: their digest follows their plugin's.
    """
    fields = {"name", "task", "n", "d", "n_classes", "scaling", "dtype", "stand_in_for", "nnz"}
    fields |= {"largest_group", "has_order"}
    generated = {
        item["name"]: GeneratedDataset(generate=_not_loaded, **{key: item[key] for key in fields})
        for item in index["datasets"]
    }
    versions = {item["name"]: generated_version(item) for item in index["datasets"]}
    return load_catalog(study.catalogs if study else (), generated, versions)


def _not_loaded(_: np.random.Generator) -> NoReturn:
    raise RuntimeError("only the process that loads its plugin can generate this data set")


def _refuse_unknown_names(study: Study, index: Mapping[str, Any], catalog: Catalog) -> None:
    mistakes = []
    metrics = {metric["name"] for metric in index["metrics"]}
    for name in study.settings.metrics:
        if name not in metrics:
            mistakes.append(unknown_name("metric", name, metrics, f"{study.path}: metrics"))
    own = Counter(metric["name"] for metric in index["metrics"] if metric["plugin_sha256"])
    for name, count in own.items():
        owners = " and ".join(m["plugin_path"] for m in index["metrics"] if m["name"] == name)
        if count > 1:
            mistakes.append(HarnessError(f"metric {name!r} is provided twice, by {owners}"))
        elif name in COLUMNS:
            message = f"metric {name!r} of {owners} is called like a column of every table"
            mistakes.append(HarnessError(message))
    tables = table_names() if study.settings.published else []
    for name in study.settings.published:
        if name not in tables:
            where = f"{study.path}: published"
            mistakes.append(unknown_name("printed table", name, tables, where))
    for grid in study.grids:
        if grid.tuning is not None:
            mistakes += _bad_search(study, grid.tuning.search, index)
        for name in grid.datasets:
            if name not in catalog:
                mistakes.append(unknown_name("data set", name, catalog, f"{study.path}: datasets"))
                continue
            mistakes += bad_splits(study, grid, catalog[name])
    for name in dict.fromkeys(name for grid in study.grids for name in grid.datasets):
        if name in catalog:
            mistakes += _bad_data(catalog[name], catalog.origins[name])
    for method in {str(m): m for grid in study.grids for m in grid.methods}.values():
        mistakes += _bad_parameters(method, index, f"{study.path}: methods")
    mistakes += unsearched_spaces(study)
    if not mistakes:
        mistakes += _bad_values(study, index)
    told = list(dict.fromkeys(map(str, mistakes)))
    if len(told) > _MOST_TOLD:
        told[_MOST_TOLD:] = [f"and {len(told) - _MOST_TOLD} more mistakes"]
    if told:
        raise HarnessError("\n".join(told))


def _bad_parameters(
    method: MethodChoice, index: Mapping[str, Any], where: str
) -> list[HarnessError]:
    try:
        entry = method_entry(index, method.name, where)
    except HarnessError as error:
        return [error]
    mistakes = _bad_functions(method, entry, index, where)
    for parameter in method.params:
        if parameter == "as":
            message = (
                f"{where}: {method.name}: write 'as' beside the name, not among its parameters"
            )
            mistakes.append(HarnessError(message))
        elif parameter not in entry["parameters"]:
            kind = f"parameter of {method.name}:"
            mistakes.append(unknown_name(kind, parameter, entry["parameters"], where))
    return [*mistakes, *bad_space(method, entry, index, where)]


def _bad_values(study: Study, index: Mapping[str, Any]) -> list[HarnessError]:
    choices = list({str(m): m for grid in study.grids for m in grid.methods}.values())
    given: list[tuple[str, tuple[str, Mapping[str, Any]]]] = [
        (choice.label, (choice.name, choice.params)) for choice in choices
    ]
    given += [
        (f"space of {choice.label}", (choice.name, {name: value}))
        for choice in choices
        for name, over in choice.ranges.items()
        for value in over.grid(2)
    ]
    needed = {choice.name: method_entry(index, choice.name) for choice in choices}
    refused = refused_values(
        study.plugin_folders,
        [question for _, question in given],
        {name: entry["plugin_requirements"] for name, entry in needed.items()},
    )
    return [
        HarnessError(f"{study.path}: methods: {what}: {message}")
        for (what, _), messages in zip(given, refused, strict=True)
        for message in messages
    ]


def _bad_search(study: Study, name: str, index: Mapping[str, Any]) -> list[HarnessError]:
    owners, where = _owners(index, "searches"), f"{study.path}: tuning.search"
    return _bad_name(index, "search", name, owners, where)


def _bad_functions(
    method: MethodChoice, entry: Mapping[str, Any], index: Mapping[str, Any], where: str
) -> list[HarnessError]:
    """List names of kernels and landmark selectors that nothing provides, or two plugins do."""
    mistakes = []
    for parameter, kind in NAMED.items():
        name, own = method.params.get(parameter), entry["own_names"][parameter]
        if isinstance(name, str):
            owners = [(known, entry["plugin_path"]) for known in own["names"]]
            # what an estimator lists may be what is built in, but not what a plugin provides
            owners += [
                (item["name"], item["plugin_path"])
                for item in index[kind]
                if (item["plugin_sha256"] if item["name"] in own["names"] else own["others"])
            ]
            what = f"{parameter} of {method.name}:"
            mistakes += _bad_name(index, what, name, owners, where)
    return mistakes


def _owners(index: Mapping[str, Any], kind: str) -> list[tuple[str, str]]:
    return [(item["name"], item["plugin_path"]) for item in index[kind]]


def _bad_name(
    index: Mapping[str, Any], kind: str, name: str, owners: list[tuple[str, str]], where: str
) -> list[HarnessError]:
    """List what is wrong with a name that exactly one owner should provide."""
    found = [owner for known, owner in owners if known == name]
    if not found:
        return [unknown_entry(index, kind, name, {known for known, _ in owners}, where)]
    if len(found) > 1:
        message = f"{where}: {kind} {name!r} is provided twice, by {' and '.join(found)}"
        return [HarnessError(message)]
    return []


def _bad_data(entry: Entry, origin: str) -> list[HarnessError]:
    """List files of an entry that cannot be read, else sizes that its data do not have.

    Sizes are no part of its digest, so an entry that is edited to other ones finds the same data.
    """
    where = f"{origin}: {entry.name}"
    try:
        folder = below(PREPARED, entry.directory)
    except HarnessError as error:
        return [HarnessError(f"{where}: {error}")]
    if not is_file(folder / "meta.json"):
        try:
            wrong = contradiction(entry)
        except HarnessError as error:
            return [HarnessError(f"{where}: {error}")]
        return [HarnessError(f"{where}: {wrong}: {_MEND}")] if wrong else []
    try:
        meta = Meta.read_alone(folder)
    except DamagedFileError:  # whoever needs the data has them prepared again
        return []
    told: dict[str, tuple[Any, Any]] = {
        key: (getattr(entry, key), getattr(meta, key))
        for key in ("n", "d", "nnz", "n_unlabeled", "largest_group")
    }
    names, counts = entry.class_names, entry.class_counts
    if counts is not None:
        found = dict(zip(names, meta.class_counts, strict=True))
        told["classes"] = (dict(zip(names, counts, strict=True)), found)
    return [
        HarnessError(
            f"{where}: {key} is {said}, but the data prepared in {folder} have "
            f"{held}: mend the entry, or remove that folder if the source has changed"
        )
        for key, (said, held) in told.items()
        if said != held
    ]
