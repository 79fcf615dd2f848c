"""Jobs on disk: a small file each, which is all that a job reads of what its study asks for.

`results/<study>/jobs/<data set>/<digest>.json` names the job's trials and what they need. Jobs
whose trials are all part of the study stay as they are when it grows.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.datasets.entry import FACTS_ENDING, SPARSE_ENDING
from harness.datasets.meta import DENSE, FACTS, SPARSE
from harness.errors import DamagedFileError, HarnessError
from harness.files import below, read_json, write_whole
from harness.planning.bundles import (
    Bundle,
    cut,
    memory_mb,
    minutes,
    timed,
    uncovered,
)
from harness.planning.fingerprints import deciding_parts
from harness.planning.study_index import study_index
from harness.planning.timings import Timings
from harness.planning.workload import RESULTS, Workload, load_workload, read_catalog
from harness.study.study import Block, Study, find_study, load_study

FOLDER = "jobs"


class StudyJobs:
    """The jobs of a study, as its workflow asks for them.

    What one job needs is read from its file, so that a job on a cluster does not read the study.

    Parameters
    ----------
    study : str or Path
        The study's file, or its name.
    lanes : int, default 1
        Jobs that run at a time: new ones are cut so that there are more than these.

    Attributes
    ----------
    longest : float
        Minutes that a job may have where it runs; without a bound until a scheduler tells one.

    Raises
    ------
    HarnessError
        If there is no such study.
    """

    def __init__(self, study: str | Path, lanes: int = 1) -> None:
        self.study = find_study(Path(study))
        self.longest = math.inf
        self._lanes = lanes

    @property
    def name(self) -> str:
        """The study's name."""
        return self.study.stem

    @cached_property
    def results(self) -> Path:
        """Folder of the study's results."""
        return below(RESULTS, self.name)

    @cached_property
    def workload(self) -> Workload:
        """The whole study."""
        return load_workload(self.study)

    @cached_property
    def bundles(self) -> list[Bundle]:
        """All jobs: those that are written down, then those that are new."""
        bundles = study_bundles(self.workload, self._lanes)
        if all(bundle.seconds is not None for bundle in bundles):
            return bundles
        timings = Timings.of_tables()
        return [
            timed(self.workload, bundle, timings) if bundle.seconds is None else bundle
            for bundle in bundles
        ]

    @cached_property
    def outputs(self) -> list[str]:
        """Files with the rows of all jobs."""
        return [f"{self.results.as_posix()}/rows/{bundle.id}.jsonl" for bundle in self.bundles]

    def written(self) -> set[str]:
        """Return the jobs that are written down, those of the study as it was among them."""
        folder = below(self.results, FOLDER)
        return {path.relative_to(folder).as_posix()[:-5] for path in folder.rglob("*.json")}

    @property
    def left(self) -> list[str]:
        """Files with what jobs leave besides, where their files go through a storage."""
        return [f"{self.results.as_posix()}/left/{bundle.id}.zip" for bundle in self.bundles]

    @property
    def labels(self) -> list[str]:
        """Files of the prepared data of the study that describe them and hold their labels."""
        found = []
        for meta in (_metadata(self.workload, name) for name in self.workload.datasets()):
            folder = Path(meta).parent
            beside = ["y.npy", FACTS] if FACTS_ENDING in folder.suffixes else ["y.npy"]
            found += [meta, *(f"{folder}/{name}" for name in beside)]
        return found

    def prepared(self, bundle_id: str, names: Iterable[str]) -> list[str]:
        """Return files, by name, of the prepared data that a job needs.

        Where these are sparse, the file of features is the one of a sparse matrix. Where there are
        groups, or an order, of the points, `FACTS` is needed beside the targets.
        """
        folder = Path(self.needs(bundle_id)["prepared"]).parent
        features = SPARSE if folder.name.endswith(SPARSE_ENDING) else DENSE
        wanted = [features if name == DENSE else name for name in names]
        if FACTS_ENDING in folder.suffixes and "y.npy" in wanted:
            wanted.append(FACTS)
        return [(folder / name).as_posix() for name in wanted]

    @cached_property
    def _needs(self) -> dict[str, dict[str, Any]]:
        return {}

    def needs(self, bundle_id: str) -> dict[str, Any]:
        """Return what a job needs.

        Returns
        -------
        dict
            "prepared" (file), "threads", "mem_mb", "minutes" and "most_minutes": those that it
            hardly ever exceeds, and those that it may take; "requirements" of its plugins.

        Raises
        ------
        HarnessError
            If there is no such job.
        """
        if bundle_id not in self._needs:
            if "bundles" in self.__dict__:
                self._needs.update({b.id: needs(self.workload, b) for b in self.bundles})
            else:
                self._needs[bundle_id] = _read(self.results, bundle_id)["needs"]
        return self._needs[bundle_id]

    def write(self, keep_others: bool = False) -> None:
        """Write down all jobs, and remove what was written of others unless that is kept."""
        write_jobs(self.workload, self.bundles, keep_others)


def needs(workload: Workload, bundle: Bundle) -> dict[str, Any]:
    """Return what a scheduler should know of a job."""
    first, most = minutes(workload, bundle)
    return {
        "prepared": _metadata(workload, bundle.dataset),
        "threads": bundle.threads,
        "mem_mb": memory_mb(workload, bundle),
        "minutes": first,
        "most_minutes": most,
        "requirements": list(workload.requirements(bundle.blocks[0])),
    }


def _metadata(workload: Workload, dataset: str) -> str:
    return (workload.prepared(dataset) / "meta.json").as_posix()


def study_bundles(workload: Workload, lanes: int = 1) -> list[Bundle]:
    """Return all jobs of a study: those that are written down, then those that are new."""
    kept = list(_written(workload))
    new = uncovered(workload.blocks, kept)
    if not new:
        return kept
    return [*kept, *cut(workload, new, Timings.of_tables(), lanes)]


def write_jobs(workload: Workload, bundles: Iterable[Bundle], keep_others: bool = False) -> None:
    """Write down jobs, and remove what was written of others unless that is kept."""
    folder = below(workload.results, FOLDER)
    others = set(folder.rglob("*.json"))
    for bundle in bundles:
        path = folder / f"{bundle.id}.json"
        if path not in others:
            content = {
                "needs": needs(workload, bundle),
                "seconds": bundle.seconds,
                "blocks": _told(workload.study, bundle),
            }
            write_whole(json.dumps(content, separators=(",", ":")), path)
        others.discard(path)
    for path in () if keep_others else others:
        path.unlink(missing_ok=True)


def job_requirements(study: str | Path, bundle_id: str) -> list[str]:
    """Return what the plugins of a job need besides what the harness installs.

    Raises
    ------
    HarnessError
        If the job is not written down.
    """
    results = below(RESULTS, find_study(Path(study)).stem)
    return _read(results, bundle_id)["needs"].get("requirements", [])


def load_job(study: str | Path, bundle_id: str) -> tuple[Workload, Bundle]:
    """Read one job, and of its study what it needs.

    Returns
    -------
    workload : Workload
        With the blocks of the job alone.
    bundle : Bundle

    Raises
    ------
    HarnessError
        If it is not written down, or the study, a plugin or data have changed since.
    """
    read = load_study(study)
    content = _read(below(RESULTS, read.name), bundle_id)
    index = study_index(read)
    catalog = read_catalog(read, index)
    try:
        told = [{**one, "seeds": seeds_of(one["seeds"])} for one in content["blocks"]]
        blocks = tuple(read.rebuilt(told, deciding_parts(read, index, catalog)))
    except (LookupError, TypeError, ValueError):
        raise HarnessError(_changed(read.path)) from None
    return Workload(read, index, catalog, blocks, ()), Bundle(blocks)


def _changed(path: Path) -> str:
    return (
        f"{path}: the study, a plugin or a data set has changed since this job was cut; run the "
        "study again, which keeps all rows that are what they would be now"
    )


def _read(results: Path, bundle_id: str) -> dict[str, Any]:
    path = below(results, f"{FOLDER}/{bundle_id}.json")
    try:
        content = read_json(path, dict)
    except DamagedFileError as error:
        raise HarnessError(f"{error}; run the study again, which writes it anew") from None
    if not {"needs", "blocks"} <= content.keys():
        raise HarnessError(f"{path}: is no job; run the study again, which writes it anew")
    return content


def _told(study: Study, bundle: Bundle) -> list[dict[str, Any]]:
    cases = {id(grid): number for number, grid in enumerate(study.grids)}
    return [
        {
            "case": cases[id(block.grid)],
            "dataset": block.dataset,
            "method": block.method.label,
            "labeled": block.labeled,
            "budget": block.budget.text,
            "seeds": _ranges(block.seeds),
            "fingerprint": block.fingerprint,
        }
        for block in bundle.blocks
    ]


def _written(workload: Workload) -> Iterator[Bundle]:
    """Yield the jobs on disk of which all trials are part of the study as it is."""
    folder = below(workload.results, FOLDER)
    paths = sorted(folder.rglob("*.json"))
    if not paths:
        return
    wanted: dict[str, Block] = {}
    for block in workload.blocks:
        other = wanted.get(block.fingerprint)
        both = replace(block, seeds=other.seeds + block.seeds) if other else block
        wanted[block.fingerprint] = both
    for path in paths:
        with suppress(DamagedFileError, LookupError, TypeError, ValueError):
            blocks, content = [], read_json(path, dict)
            for told in content["blocks"]:
                block, seeds = wanted[told["fingerprint"]], seeds_of(told["seeds"])
                if seeds != block.seeds:
                    if not set(block.seeds).issuperset(seeds):
                        raise LookupError(path)
                    block = replace(block, seeds=seeds)
                blocks.append(block)
            seconds = content.get("seconds")
            yield Bundle(tuple(blocks), None if seconds is None else float(seconds))


def _ranges(seeds: Iterable[int]) -> list[list[int]]:
    """Return first and last of each run of consecutive seeds."""
    pairs = itertools.groupby(enumerate(seeds), key=lambda pair: pair[1] - pair[0])
    runs = ([seed for _, seed in group] for _, group in pairs)
    return [[run[0], run[-1]] for run in runs]


def seeds_of(ranges: Iterable[Iterable[int]]) -> tuple[int, ...]:
    """Return the seeds of runs, each given by its first and last."""
    return tuple(seed for first, last in ranges for seed in range(first, last + 1))
