"""What trials of one data set have in common: data, plugins, and the process that runs them."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError
from harness.jobs.prepared import Prepared
from harness.jobs.trial_process import TrialRunner
from harness.planning.workload import PREPARED, RESULTS, Workload
from harness.plugin.environments import current
from harness.plugin.index import method_entry
from harness.plugin.method import Method
from harness.plugin.registry import NAMED, Registry, Source
from harness.study.study import Block
from harness.trial.mapped import write_rows
from harness.trial.reach import make_reach, mapped_folder, scratch_folder

if TYPE_CHECKING:
    from harness.jobs.label_release import LabelRelease
    from harness.plugin.hookspecs import Search
    from harness.sandbox import Limits, Result
    from harness.trial.assignment import Assignment


class Shared:
    """The data and the plugins of a job.

    Plugins of all methods of the study are loaded, in one order, so that what a trial finds
    imported does not depend on which trials are run by the same job.

    Parameters
    ----------
    workload : Workload
    dataset : str

    Attributes
    ----------
    prepared : Prepared
    registry : Registry
    intact : bool
        Whether nothing is known to have been altered by a trial.

    Raises
    ------
    HarnessError
        If a plugin or the prepared data cannot be used.
    """

    def __init__(self, workload: Workload, dataset: str) -> None:
        self.prepared = Prepared(workload, dataset)
        self.registry = _load_plugins(workload)
        self.intact = True


class BlockTrials:
    """The method of one block, and what its trials share with those of other blocks.

    Parameters
    ----------
    workload : Workload
    block : Block
    shared : Shared, optional
        Of the job; made if there is none.

    Raises
    ------
    HarnessError
        If a plugin or the prepared data cannot be used.
    """

    def __init__(self, workload: Workload, block: Block, shared: Shared | None = None) -> None:
        self.workload, self.block = workload, block
        self.shared = shared or Shared(workload, block.dataset)
        self.prepared, self.registry = self.shared.prepared, self.shared.registry
        self.method: Method = self.registry.get("methods", block.method.name)[0]
        self.params = self.registry.look_up(block.method.params)
        self.search = _search(self.registry, block)

    def provided(self) -> dict[str, Any]:
        """Return what of a trial's assignment only a fork can hand over."""
        from harness.jobs.referee import primary

        return {
            "method": self.method,
            "params": self.params,
            "metric": primary(self.workload, self.block, self.registry),
            "search": self.search,
        }

    @contextlib.contextmanager
    def running(self) -> Iterator[Running]:
        """Start the process that forks the trials of this block alone; see `running`."""
        with running([self]) as started:
            yield started


@dataclass(frozen=True)
class Running:
    """The process that forks trials.

    Attributes
    ----------
    runner : TrialRunner
    mapped : Path or None
        Where rows are written that are mapped instead of loaded.
    """

    runner: TrialRunner
    mapped: Path | None

    def run(
        self,
        assignment: Assignment,
        limits: Limits,
        timeline: bool = False,
        kind: int = 0,
        release: LabelRelease | None = None,
    ) -> Result | None:
        """Run one trial, `kind` says of which block; None if it took the runner down with it.

        Labels of a stream are told by `release` meanwhile.
        """
        if self.mapped is None:
            return self.runner.run(assignment, limits, timeline, kind, release)
        ending = assignment.features.suffix
        with tempfile.NamedTemporaryFile(dir=self.mapped, suffix=ending) as file:
            rows = write_rows(assignment, Path(file.name))
            return self.runner.run(rows, limits, timeline, kind)


@contextlib.contextmanager
def running(blocks: Sequence[BlockTrials]) -> Iterator[Running]:
    """Start the process that forks trials, which must be before any label is read.

    Parameters
    ----------
    blocks : sequence of BlockTrials
        Of one data set, which all map its rows or none does.

    Raises
    ------
    HarnessError
        If the forced way of enforcement cannot be used.
    """
    workload, folder = blocks[0].workload, blocks[0].prepared.folder
    maps = blocks[0].block.grid.data == "mapped"
    rows = mapped_folder(folder) if maps else contextlib.nullcontext()
    with scratch_folder() as scratch, rows as mapped:
        reach = make_reach(
            workload.catalog,
            workload.study.plugin_folders,
            withheld=(PREPARED, RESULTS),
            shown=(blocks[0].prepared.features, *filter(None, [mapped])),
            scratch=scratch,
        )
        provided = [block.provided() for block in blocks]
        sparse = workload.entry(blocks[0].block).row_nnz is not None
        runner = TrialRunner(workload.study.settings.enforcement, reach, provided, sparse)
        yield Running(runner, mapped)
        runner.stop()


def _load_plugins(workload: Workload) -> Registry:
    index, wanted = workload.index, set()
    for grid in workload.study.grids:
        for method in grid.methods:
            wanted.add(method_entry(index, method.name)["plugin_path"])
            for parameter, kind in NAMED.items():
                name = method.params.get(parameter)
                wanted |= {item["plugin_path"] for item in index[kind] if item["name"] == name}
        if grid.tuning is not None:
            searches = (item for item in index["searches"] if item["name"] == grid.tuning.search)
            wanted |= {item["plugin_path"] for item in searches}
    wanted |= {item["plugin_path"] for item in index["metrics"]}
    around = {"harness_trial_started", "harness_trial_finished"}
    wanted |= {plugin["path"] for plugin in index["plugins"] if around & set(plugin["hooks"])}
    # what runs in another environment cannot be loaded here, and has jobs of its own
    here = {"", current()}
    wanted -= {p["path"] for p in index["plugins"] if p["environment"] not in here}

    def is_wanted(source: Source) -> bool:
        return source.location in wanted

    registry = Registry.load(workload.study.plugin_folders, is_wanted)
    for plugin in registry.plugins:
        if plugin.failure:
            raise HarnessError(f"{plugin.source.location}: {plugin.failure}")
    return registry


def _search(registry: Registry, block: Block) -> Search | None:
    if block.grid.tuning is None:
        return None
    return registry.get("searches", block.grid.tuning.search)[0]
