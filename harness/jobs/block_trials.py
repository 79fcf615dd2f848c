"""What the trials of one block have in common: data, plugins, and the process that runs them."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.jobs.prepared import Prepared
from harness.jobs.trial_process import TrialRunner
from harness.planning.workload import PREPARED, RESULTS, Workload
from harness.plugin.index import method_entry
from harness.plugin.method import Method
from harness.plugin.registry import NAMED, Registry, Source
from harness.study.study import Block
from harness.trial.mapped import write_rows
from harness.trial.reach import make_reach, mapped_folder, scratch_folder

if TYPE_CHECKING:
    from harness.plugin.hookspecs import Search
    from harness.sandbox import Limits, Result
    from harness.trial.assignment import Assignment


@dataclass(frozen=True)
class Running:
    """The process that forks a block's trials.

    Attributes
    ----------
    runner : TrialRunner
    mapped : Path or None
        Where rows are written that are mapped instead of loaded.
    """

    runner: TrialRunner
    mapped: Path | None

    def run(self, assignment: Assignment, limits: Limits, timeline: bool = False) -> Result | None:
        """Run one trial; None if it took the runner down with it."""
        if self.mapped is None:
            return self.runner.run(assignment, limits, timeline)
        with tempfile.NamedTemporaryFile(dir=self.mapped, suffix=".npy") as file:
            return self.runner.run(write_rows(assignment, Path(file.name)), limits, timeline)


class BlockTrials:
    """The plugins and the data of one block.

    Parameters
    ----------
    workload : Workload
    block : Block

    Raises
    ------
    HarnessError
        If a plugin or the prepared data cannot be used.
    """

    def __init__(self, workload: Workload, block: Block) -> None:
        self.workload, self.block = workload, block
        self.prepared = Prepared(workload, block.dataset)
        self.registry = _load_plugins(workload, block)
        self.method: Method = self.registry.get("methods", block.method.name)[0]
        self.params = self.registry.look_up(block.method.params)
        self.search = _search(self.registry, block)

    @contextlib.contextmanager
    def running(self) -> Iterator[Running]:
        """Start the process that forks trials, which must be before any label is read.

        Raises
        ------
        HarnessError
            If the forced way of enforcement cannot be used.
        """
        from harness.jobs.referee import primary

        provided = {
            "method": self.method,
            "params": self.params,
            "metric": primary(self.workload, self.block, self.registry),
            "search": self.search,
        }
        folder = self.prepared.folder
        maps = self.block.grid.data == "mapped"
        rows = mapped_folder(folder) if maps else contextlib.nullcontext()
        with scratch_folder() as scratch, rows as mapped:
            reach = make_reach(
                self.workload.catalog,
                self.workload.study.plugin_folders,
                withheld=(PREPARED, RESULTS),
                shown=(folder / "X.npy", *filter(None, [mapped])),
                scratch=scratch,
            )
            enforcement = self.workload.study.settings.enforcement
            running = Running(TrialRunner(enforcement, reach, provided), mapped)
            yield running
            running.runner.stop()


def _load_plugins(workload: Workload, block: Block) -> Registry:
    index = workload.index
    wanted = {method_entry(index, block.method.name)["plugin_path"]}
    for parameter, kind in NAMED.items():
        name = block.method.params.get(parameter)
        wanted |= {item["plugin_path"] for item in index[kind] if item["name"] == name}
    if block.grid.tuning is not None:
        searches = (item for item in index["searches"] if item["name"] == block.grid.tuning.search)
        wanted |= {item["plugin_path"] for item in searches}
    wanted |= {item["plugin_path"] for item in index["metrics"]}
    around = {"harness_trial_started", "harness_trial_finished"}
    wanted |= {plugin["path"] for plugin in index["plugins"] if around & set(plugin["hooks"])}

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
