"""A study: one YAML file, validated, and what it asks for as trials and blocks.

Nothing heavy is imported here: every job reads the study again.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.datasets.split_sources import SplitSource
from harness.errors import HarnessError
from harness.files import is_file, is_folder, why_no_path
from harness.project import ROOT, STUDIES
from harness.strict_yaml import read_document
from harness.study.budget import JOB_BYTES, Budget
from harness.study.evaluation import Inductive
from harness.study.method_choice import MethodChoice
from harness.study.schema import Grid, StudyFile, validate
from harness.study.streams import refuse_unfit_stream

MOST_TRIALS = 10**7
MOST_JOBS = 10**5
"""Snakemake takes about 1 ms and 15 kB for each, so these are minutes and gigabytes."""

Decides = Callable[[Grid, str, MethodChoice], Mapping[str, Any]]
"""What decides trials of a grid, data set and method besides the study, part by part, as JSON."""


@dataclass(frozen=True, slots=True)
class Block:
    """Seeds of one data set, method, labeled count and budget.

    `fingerprint` covers everything that decides the outcome of its trials but the seed, so a block
    of another fingerprint is another file. `decided_by` is the share of it that the study does not
    say, part by part: data, code and versions, as JSON.
    """

    dataset: str
    method: MethodChoice
    labeled: int | float
    budget: Budget
    seeds: tuple[int, ...]
    grid: Grid
    fingerprint: str = ""
    decided_by: str = "{}"

    @property
    def trials(self) -> list[str]:
        """The fingerprint of each of its trials."""
        return [f"{self.fingerprint}-{seed}" for seed in self.seeds]

    @property
    def cell(self) -> str:
        """Everything but the seeds, in words."""
        return f"{self.dataset}/{self.method.label}/l{self.labeled}-b{self.budget.text}"

    @property
    def memory_bytes(self) -> int:
        """What a scheduler should reserve: for a trial, and for the processes around it."""
        return JOB_BYTES + (self.budget.bytes or self.grid.limits.memory)


@dataclass(frozen=True)
class Study:
    """A validated study."""

    path: Path
    settings: StudyFile
    grids: tuple[Grid, ...]
    text: str

    @property
    def name(self) -> str:
        """The file's name without its ending; also the folder of the results."""
        return self.path.stem

    @property
    def plugin_folders(self) -> list[Path]:
        """Extra plugin folders, relative to the study's file."""
        return [(self.path.parent / folder).resolve() for folder in self.settings.plugins]

    @property
    def catalogs(self) -> list[Path]:
        """Extra data set catalogs, relative to the study's file."""
        return [(self.path.parent / catalog).resolve() for catalog in self.settings.catalogs]

    def split_source(self, grid: Grid, dataset: str, n_train: int | None) -> SplitSource | None:
        """Return the files of a data set's splits; None if they are drawn."""
        return grid.split_source(self.path.parent, dataset, n_train)

    @property
    def seeds_per_job(self) -> int | None:
        """Seeds of one cell that a job runs, if the study says so, and no others then."""
        asked = self.settings.seeds_per_job
        return None if asked == "auto" else asked

    @property
    def n_trials(self) -> int:
        """Trials that are asked for; those asked for twice count twice."""
        return sum(_n_cells(grid) * len(grid.seeds) for grid in self.grids)

    def cells(self) -> Iterator[tuple[Grid, str, MethodChoice, int | float, Budget]]:
        """Everything but the seeds, in the order of the file."""
        for grid in self.grids:
            for dataset in grid.datasets:
                for method in grid.methods:
                    for labeled in grid.labeled:
                        for budget in grid.budgets:
                            yield grid, dataset, method, labeled, budget

    def blocks(
        self,
        decides: Decides | None = None,
    ) -> list[Block]:
        """Expand into blocks.

        Parameters
        ----------
        decides : callable (grid, dataset, method) -> mapping, optional
            What decides the outcome of trials besides the study, part by part, as JSON (see
            `harness.planning.fingerprints`); it is part of each block's fingerprint.

        Returns
        -------
        list of Block
            Without duplicates, in the order of the file.
        """
        size = self.seeds_per_job
        # cases may ask for more seeds of what others ask for
        alike: dict[tuple[str, str], tuple[Block, dict[int, None]]] = {}
        alone = functools.cache(functools.partial(self._decided, decides))
        for cell in self.cells():
            block = self._block(alone, *cell)
            _, seeds = alike.setdefault((block.cell, block.fingerprint), (block, {}))
            seeds |= dict.fromkeys(cell[0].seeds)
        blocks = []
        same: dict[tuple[int, ...], tuple[int, ...]] = {}  # of a million trials, seeds are a few
        for block, seeds in alike.values():
            # groups are aligned to multiples of the size, so that a new seed extends the last one
            groups: dict[int, list[int]] = {}
            for seed in sorted(seeds):
                groups.setdefault(seed // size if size else 0, []).append(seed)
            for group in map(tuple, groups.values()):
                blocks.append(replace(block, seeds=same.setdefault(group, group)))
        return blocks

    def rebuilt(self, told: Iterable[Mapping[str, Any]], decides: Decides) -> Iterator[Block]:
        """Yield blocks of which only their place in the study and their seeds are told.

        Parameters
        ----------
        told : iterable of mapping
            "case" (which grid), "dataset", "method" (its label), "labeled", "budget", "seeds" and
            "fingerprint" of each.
        decides : callable (grid, dataset, method) -> mapping

        Raises
        ------
        LookupError, ValueError
            If the study does not have such a block any more.
        """
        alone = functools.cache(functools.partial(self._decided, decides))
        for one in told:
            grid = self.grids[one["case"]]
            (method,) = (m for m in grid.methods if m.label == one["method"])
            (budget,) = (b for b in grid.budgets if b.text == one["budget"])
            if one["dataset"] not in grid.datasets or one["labeled"] not in grid.labeled:
                raise LookupError(one["dataset"])
            block = self._block(alone, grid, one["dataset"], method, one["labeled"], budget)
            if block.fingerprint != one["fingerprint"]:
                raise LookupError(block.cell)
            yield replace(block, seeds=tuple(one["seeds"]))

    def _block(
        self,
        decided: Callable[[int, str, str], tuple[str, str]],
        grid: Grid,
        dataset: str,
        method: MethodChoice,
        labeled: int | float,
        budget: Budget,
    ) -> Block:
        place = next(place for place, known in enumerate(self.grids) if known is grid)
        decided_by, most = decided(place, dataset, method.label)
        text = f"{most} {labeled!r} {budget.text} {budget.bytes} {budget.size}"
        fingerprint = hashlib.sha256(text.encode()).hexdigest()[:12]
        return Block(dataset, method, labeled, budget, (), grid, fingerprint, decided_by)

    def _decided(
        self, decides: Decides | None, place: int, dataset: str, label: str
    ) -> tuple[str, str]:
        """Return what decides trials besides the study, and with what the study says, as JSON."""
        grid = self.grids[place]
        method = next(method for method in grid.methods if method.label == label)
        decided = decides(grid, dataset, method) if decides else {}
        decided_by = json.dumps(decided, sort_keys=True, separators=(",", ":"))
        parts = [
            dataset,
            method.model_dump(mode="json"),
            grid.deciding_settings(),
            self.settings.metrics[:1] if grid.tuning else [],
            self.settings.seed,
            self.settings.enforcement,
            decided_by,
        ]
        return decided_by, json.dumps(parts, sort_keys=True, default=str)


def load_study(path: str | Path) -> Study:
    """Read and validate a study file.

    Parameters
    ----------
    path : str or Path
        A YAML file. Without an ending or folder it is looked for in `studies/`: first in that of
        the current folder, then among those that came with the harness.

    Raises
    ------
    HarnessError
        With every mistake of the file, each with its key, what was given and what is allowed.
    """
    path = find_study(Path(path))
    if not {"{", "}"}.isdisjoint(str(path)):
        raise HarnessError(
            f"{path}: a study's path has no braces, which stand for something else in Snakemake: "
            "rename it"
        )
    reason = why_no_path(path.stem)
    if reason:
        raise HarnessError(f"{path}: its results would have no folder: {reason}; rename it")
    text, content = read_document(path)
    if not isinstance(content, dict):
        raise HarnessError(
            f"{path}: a study is a mapping of keys, this is {type(content).__name__}"
        )
    settings = validate(StudyFile, content, str(path))
    inherited = {key: value for key, value in content.items() if key in Grid.model_fields}
    grids = [validate(Grid, inherited, str(path))]
    seeds = len(grids[0].seeds)
    for number, case in enumerate(settings.cases):
        grids.append(validate(Grid, {**inherited, **case}, f"{path}: cases.{number}"))
        seeds += len(grids[-1].seeds)
        if seeds > MOST_TRIALS:  # each case has a list of its own
            raise HarnessError(f"{path}: cases: list more than {MOST_TRIALS} seeds together")
    _refuse_missing_paths(path, settings)
    grids = _with_one_spelling(grids)
    wanted = [grid for grid in grids if grid.datasets and grid.methods]
    for grid in wanted:
        unsaid = bool(grid.split_files) or grid.is_prequential
        if not grid.labeled and grid.task != "clustering" and not unsaid:
            raise HarnessError(f"{path}: labeled: give counts or shares of labeled points")
        _refuse_shown_labels(path, grid)
        refuse_unfit_stream(path, grid)
    _refuse_label_clash(path, wanted)
    if not wanted:
        raise HarnessError(f"{path}: names no data set with a method: give datasets and methods")
    # clusters are found in all points, without labels: there is nothing to hold out or to tune by
    unlabeled = {"labeled": [0], "evaluation": None, "tuning": None}
    grids = [
        grid.model_copy(update=unlabeled)
        if grid.task == "clustering"
        else grid.model_copy(update={"labeled": [0]})  # as many as the file says, or all
        if not grid.labeled
        else grid
        for grid in wanted
    ]
    study = Study(path, settings, tuple(grids), text)
    _refuse_too_many(study)
    return study


def _n_cells(grid: Grid) -> int:
    return len(grid.datasets) * len(grid.methods) * len(grid.labeled) * len(grid.budgets)


def _refuse_too_many(study: Study) -> None:
    """Refuse what nobody could wait for, before it is expanded."""
    if study.n_trials > MOST_TRIALS:
        raise HarnessError(
            f"{study.path}: asks for {study.n_trials} trials, more than {MOST_TRIALS}: give fewer "
            "seeds, budgets or labeled counts, or several studies"
        )
    size = study.seeds_per_job
    if size is None:
        return
    jobs = sum(_n_cells(grid) * math.ceil(len(grid.seeds) / size) for grid in study.grids)
    if jobs > MOST_JOBS:
        raise HarnessError(
            f"{study.path}: asks for {jobs} jobs of {size} seeds, more than {MOST_JOBS}: raise "
            "seeds_per_job, or leave it out"
        )


def _with_one_spelling(grids: list[Grid]) -> list[Grid]:
    """Write equal budgets as the first of them is: each is one column, and run once."""
    first: dict[tuple[int | None, int | None], Budget] = {}
    alike = []
    for grid in grids:
        budgets = [first.setdefault((b.bytes, b.size), b) for b in grid.budgets]
        alike.append(grid.model_copy(update={"budgets": list(dict.fromkeys(budgets))}))
    return alike


def find_study(path: Path) -> Path:
    """Return the file of a study, which may be given by its name.

    Raises
    ------
    HarnessError
        If there is none.
    """
    for root in (Path(), ROOT):  # own ones come first
        for candidate in (path, Path("studies") / path, Path("studies") / f"{path}.yaml"):
            if is_file(root / candidate):
                return root / candidate
    known = [*Path("studies").glob("*.yaml"), *STUDIES.glob("*.yaml")]
    close = difflib.get_close_matches(path.stem, {study.stem for study in known}, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise HarnessError(
        f"no study {str(path)!r}: neither a file nor in studies/ of the current folder, nor among "
        f"those that came with the harness{hint}"
    )


def _refuse_missing_paths(path: Path, settings: StudyFile) -> None:
    mistakes = [
        f"{path}: {key}: there is no {kind} {named!r} beside the study: {path.parent / named}"
        for key, kind in (("plugins", "folder"), ("catalogs", "file"))
        for named in getattr(settings, key)
        if not is_file(path.parent / named)
        and not (kind == "folder" and is_folder(path.parent / named))
    ]
    if mistakes:
        raise HarnessError("\n".join(mistakes))


def _refuse_shown_labels(path: Path, grid: Grid) -> None:
    given = [key for key in ("labeled", "validation") if getattr(grid.tuning, key, None)]
    if given and grid.transductive:
        raise HarnessError(
            f"{path}: tuning.{given[0]}: shows labels of unlabeled points, which are scored if "
            "evaluation is 'transductive'; give evaluation: {test: ...}"
        )
    if len(given) > 1:
        raise HarnessError(f"{path}: tuning: give either labeled or validation, not both")
    drawn = grid.evaluation
    if given and isinstance(drawn, Inductive) and (drawn.groups or drawn.unlabeled):
        kind = "groups" if drawn.groups else "unlabeled"
        raise HarnessError(
            f"{path}: tuning.{given[0]}: shows labels of points that evaluation.{kind} keeps "
            "apart from the labeled ones; leave one of them out"
        )


def _refuse_label_clash(path: Path, grids: Iterable[Grid]) -> None:
    """Refuse a label of two methods, or of two settings of one method on the same data set."""
    names: dict[str, str] = {}
    choices: dict[tuple[str, str], MethodChoice] = {}
    for grid in grids:
        for method, dataset in itertools.product(grid.methods, grid.datasets):
            name = names.setdefault(method.label, method.name)
            choice = choices.setdefault((method.label, dataset), method)
            if name != method.name or choice != method:
                what = (
                    f"{name} and {method.name}"
                    if name != method.name
                    else f"{name} with other parameters on {dataset}"
                )
                raise HarnessError(
                    f"{path}: methods: two different methods are called {method.label!r}: {what}; "
                    "tell them apart with 'as: label'"
                )
