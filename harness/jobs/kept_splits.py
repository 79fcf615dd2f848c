"""The splits of a study, kept beside its results for whoever wants the same elsewhere."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from harness.datasets import Meta
from harness.datasets.sizes import rules_of
from harness.datasets.split_files import read_splits, write_splits
from harness.files import below
from harness.jobs.drawn_splits import BlockSplits
from harness.planning.workload import Workload
from harness.study.study import Block

FOLDER = "splits"


def keep_splits(workload: Workload) -> list[Path]:
    """Write a file for each data set and number of labeled points, unless it is there.

    `evaluation: {splits: FILE}` reads them, and predictions are of their points. Splits that the
    study took from a file are written too: that file may be gone when predictions are looked at.

    Returns
    -------
    list of Path
        Files that were written.
    """
    # a study has few settings of many cells: what decides splits is worked out once for each
    settings: dict[tuple[int, str, str], tuple[Block, dict[int, None]]] = {}
    for block in workload.blocks:
        setting = (id(block.grid), block.dataset, str(block.labeled))
        settings.setdefault(setting, (block, {}))[1].update(dict.fromkeys(block.seeds))
    drawn: dict[Path, tuple[Block, dict[int, None]]] = {}
    for block, seeds in settings.values():
        if name := split_name(workload, block):
            path = below(workload.results, f"{FOLDER}/{name}.npz")
            drawn.setdefault(path, (block, {}))[1].update(seeds)
    written = []
    known: dict[str, tuple[Meta, np.ndarray]] = {}
    for path, (block, seeds) in drawn.items():
        if _holds(path, seeds):
            continue
        if block.dataset not in known:
            folder = workload.prepared(block.dataset)
            known = {block.dataset: (Meta.read_alone(folder), np.load(folder / "y.npy"))}
        meta, y = known[block.dataset]
        drawn_for = BlockSplits(workload, block, meta, y)
        splits = {seed: drawn_for.draw(seed) for seed in sorted(seeds)}
        write_splits(path, meta.n, splits)
        written.append(path)
    return written


def split_name(workload: Workload, block: Block) -> str:
    """Return a name that says what decides the splits but their seeds; "" where there are none."""
    if workload.task(block) == "clustering":
        return ""
    entry = workload.entry(block)
    decides = [workload.study.settings.seed, entry.directory, entry.n_train]
    decides += [block.labeled, block.grid.split_rules]
    given = workload.study.split_source(block.grid, block.dataset, entry.n_train)
    if given is not None:
        file = read_splits(given, entry.n)
        decides[-1] = file.digest
        if not file.says_labeled:  # labeled points are drawn in it
            rules = rules_of(block.grid.split_rules)
            decides += [rules["stratified"], rules["unlabeled_per_labeled"]]
    digest = hashlib.sha256(json.dumps(decides, default=str).encode()).hexdigest()[:8]
    return f"{block.dataset}-{workload.sizes(block).n_labeled}-{digest}"


def _holds(path: Path, seeds: dict[int, None]) -> bool:
    """Whether a file has the splits of these seeds; a damaged one has none."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return set(seeds) <= set(file["seeds"].tolist())
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return False
