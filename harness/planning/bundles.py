"""What one job of a scheduler runs: trials of one data set that need the same things, for minutes.

A job imports its libraries once, so it has many cells. Which trials are one job is written down
before they run, a small file each, and stays so while the study grows: what is new gets new jobs.
Rows are known by their trials, so cutting otherwise runs nothing twice.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.files import below
from harness.planning.workload import Workload
from harness.records.prediction_files import ENDING, FOLDER
from harness.study.budget import JOB_BYTES
from harness.study.study import Block

if TYPE_CHECKING:
    from harness.planning.timings import Timings

MOST_JOBS = 1000
"""Jobs of one study: Snakemake plans them in about two seconds."""

SHORTEST_S, LONGEST_S = 15.0, 300.0
"""Seconds of trials that a job is cut to; its start takes about two."""

_JOBS_A_LANE = 3
"""Jobs for each that runs at a time, so that all of them end at about the same time."""

_START_MINUTES, _LEAST_MINUTES = 5, 10
"""Of a job, to start on a node that is busy; of any that a scheduler is asked for."""

_DIGITS = 12


@dataclass(frozen=True)
class Bundle:
    """Blocks of one data set that one job runs.

    Attributes
    ----------
    blocks : tuple of Block
    seconds : float or None, default None
        What its trials hardly ever exceed, as known when it was cut; None where nothing was.
    """

    blocks: tuple[Block, ...]
    seconds: float | None = field(default=None, compare=False)

    @property
    def dataset(self) -> str:
        """The data set of all its blocks."""
        return self.blocks[0].dataset

    @cached_property
    def id(self) -> str:
        """Data set and digest: unique within the study, and a relative path."""
        content = "\n".join(f"{block.fingerprint} {block.seeds}" for block in self.blocks)
        return f"{self.dataset}/{hashlib.sha256(content.encode()).hexdigest()[:_DIGITS]}"

    @property
    def n_trials(self) -> int:
        """Trials of all blocks."""
        return sum(len(block.seeds) for block in self.blocks)

    def trials(self) -> Iterator[str]:
        """Yield the fingerprint of each trial, in the order in which they run."""
        for block in self.blocks:
            yield from block.trials

    @property
    def threads(self) -> int:
        """Threads of each trial."""
        return self.blocks[0].grid.limits.threads


def published(workload: Workload, bundle: Bundle) -> Path:
    """Return where a job's rows are, once it has all of them."""
    return below(workload.results, f"rows/{bundle.id}.jsonl")


def journal(workload: Workload, bundle: Bundle) -> Path:
    """Return where a job's rows are written as trials end."""
    return below(workload.results, f"journal/{bundle.id}.jsonl")


def pictures(workload: Workload, bundle: Bundle) -> Path:
    """Return where a job keeps pictures of its trials' memory over time."""
    return below(workload.results, f"timelines/{bundle.id}.jsonl")


def predictions(workload: Workload, bundle: Bundle) -> Path:
    """Return where a job keeps what its trials predict."""
    return below(workload.results, f"{FOLDER}/{bundle.id}{ENDING}")


def memory_mb(workload: Workload, bundle: Bundle) -> int:
    """Return the megabytes that a scheduler should reserve."""
    return math.ceil(max(map(workload.memory_bytes, bundle.blocks)) / 10**6)


def minutes(workload: Workload, bundle: Bundle) -> tuple[int, int]:
    """Return the minutes that a scheduler should allow a job.

    Returns
    -------
    first : int
        Those that it hardly ever exceeds, in steps of a factor of two, so that few kinds of jobs
        wait in a queue.
    most : int
        Those that it takes if every trial takes all of its time.
    """
    blocks = bundle.blocks
    seconds = sum(workload.seconds(block, block.grid.limits.time) for block in blocks)
    most = _START_MINUTES + math.ceil(seconds / 60)
    if bundle.seconds is None:
        return most, most
    wanted, step = _START_MINUTES + bundle.seconds / 60, _LEAST_MINUTES
    while step < wanted:
        step *= 2
    return min(step, most), most


def cut(
    workload: Workload, blocks: Iterable[Block], timings: Timings, lanes: int = 1
) -> list[Bundle]:
    """Cut blocks into jobs that last minutes, as far as their time is known.

    Parameters
    ----------
    workload : Workload
    blocks : iterable of Block
    timings : Timings
        Of earlier trials.
    lanes : int, default 1
        Jobs that run at a time.

    Returns
    -------
    list of Bundle
        At most `MOST_JOBS`, as far as blocks of one data set, threads and memory can be one job.
        A study that says `seeds_per_job` has a job a block.
    """
    blocks = list(blocks)
    if workload.study.seeds_per_job is not None:
        return [Bundle((block,)) for block in blocks]
    alike: dict[tuple[Any, ...], list[Block]] = {}
    for block in blocks:
        alike.setdefault(_needs(workload, block), []).append(block)
    guesses = {id(block): timings.guess(workload, block) for block in blocks}
    total = sum(guesses[id(block)] * len(block.seeds) for block in blocks)
    wanted = min(LONGEST_S, max(SHORTEST_S, total / (_JOBS_A_LANE * lanes)))
    wanted = max(wanted, total / max(1, MOST_JOBS - len(alike)))
    made: list[Bundle] = []
    for group in alike.values():
        made += _cut_alike(group, lambda block: guesses[id(block)], wanted)
    return made


def timed(workload: Workload, bundle: Bundle, timings: Timings) -> Bundle:
    """Return a job with what its trials hardly ever exceed, by earlier ones or a guess."""
    each = ((block, timings.allowed(workload, block)) for block in bundle.blocks)
    return replace(bundle, seconds=sum(workload.seconds(*pair) for pair in each))


def _needs(workload: Workload, block: Block) -> tuple[Any, ...]:
    """Return what blocks of one job have in common."""
    doublings = int(math.log2(workload.memory_bytes(block) / JOB_BYTES))
    needed = workload.requirements(block)
    return block.dataset, block.grid.limits.threads, block.grid.data, doublings, needed


def _cut_alike(
    blocks: Sequence[Block], seconds: Callable[[Block], float], wanted: float
) -> Iterator[Bundle]:
    total = sum(seconds(block) * len(block.seeds) for block in blocks)
    share = total / max(1, math.ceil(total / wanted))
    taken: list[Block] = []
    room = share
    for block in blocks:
        each, seeds = seconds(block), block.seeds
        while seeds:
            # seeds of a cell stay together where that makes the job no more than a half longer
            whole = len(seeds) * each <= room + share / 2
            fits = len(seeds) if whole else math.ceil(room / each)
            taken.append(replace(block, seeds=seeds[:fits]))
            room -= fits * each
            seeds = seeds[fits:]
            if room <= 0:
                yield Bundle(tuple(taken))
                taken, room = [], share
    if taken:
        yield Bundle(tuple(taken))


def uncovered(blocks: Iterable[Block], bundles: Iterable[Bundle]) -> list[Block]:
    """Return blocks with the seeds that are in no bundle; those without any are left out."""
    covered: dict[str, tuple[int, ...]] = {}
    for block in itertools.chain.from_iterable(bundle.blocks for bundle in bundles):
        covered[block.fingerprint] = covered.get(block.fingerprint, ()) + block.seeds
    found = []
    for block in blocks:
        has = covered.get(block.fingerprint, ())
        if not has:
            found.append(block)
        elif has != block.seeds:
            known = frozenset(has)
            seeds = tuple(seed for seed in block.seeds if seed not in known)
            found += [replace(block, seeds=seeds)] * bool(seeds)
    return found
