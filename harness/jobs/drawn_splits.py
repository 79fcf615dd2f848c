"""The splits of a block's trials: drawn from its seeds, or taken from a file and drawn within."""

from __future__ import annotations

import hashlib

import numpy as np

from harness.datasets import Meta, Split, split
from harness.datasets.point_facts import read_facts
from harness.datasets.sizes import rules_of
from harness.datasets.split_files import read_splits
from harness.datasets.streams import Stream, as_split, draw_stream
from harness.planning.workload import Workload
from harness.study.study import Block


def seed_sequence(study_seed: int, dataset: str, seed: int) -> np.random.SeedSequence:
    """Return where all randomness of a trial comes from, the same for every method and budget."""
    name = int.from_bytes(hashlib.sha256(dataset.encode()).digest()[:8])
    return np.random.SeedSequence([study_seed, name, seed])


class BlockSplits:
    """The splits of one block.

    Parameters
    ----------
    workload : Workload
    block : Block
    meta : Meta
        Of the prepared data set.
    y : ndarray (n,)
        All of its targets.

    Attributes
    ----------
    groups : ndarray of int (n,) or None
        The group of each point, where the evaluation keeps groups apart.

    Raises
    ------
    HarnessError
        If the evaluation asks for a feature that the data do not have.
    """

    def __init__(self, workload: Workload, block: Block, meta: Meta, y: np.ndarray) -> None:
        self._block, self._meta, self._y = block, meta, y
        self._task = workload.task(block)
        self._study_seed = workload.study.settings.seed
        self._source = workload.study.split_source(block.grid, block.dataset, meta.n_train)
        rules = rules_of(block.grid.split_rules)
        self._facts = read_facts(workload.prepared(block.dataset), meta, rules)
        self.groups = self._facts.groups

    def draw(self, seed: int, rng: np.random.Generator | None = None) -> Split:
        """Draw the split of a seed, or take it from the file that the study names.

        Parameters
        ----------
        seed : int
        rng : Generator, optional
            What draws; by default that of the seed, from its start.

        Raises
        ------
        HarnessError
            If the parts that the evaluation asks for cannot be made.
        """
        block, meta = self._block, self._meta
        if block.grid.is_prequential:
            return as_split(*self.stream(seed))
        if self._task == "clustering":
            nothing = np.empty(0, dtype=np.int64)
            return Split(nothing, np.arange(meta.n), nothing)
        given = None
        if self._source is not None:
            file = read_splits(self._source, meta.n)
            given = file.split(seed)
            if file.says_labeled:
                return given
        if rng is None:
            sequence = seed_sequence(self._study_seed, block.dataset, seed)
            rng = np.random.default_rng(sequence.spawn(2)[0])
        return split(
            *(self._y, self._task, block.labeled, block.grid.split_rules, rng, block.dataset),
            n_train=meta.n_train,
            facts=self._facts,
            given=given,
        )

    def stream(self, seed: int) -> tuple[Stream, np.ndarray]:
        """Draw the stream of a seed, and whose labels are told.

        Raises
        ------
        HarnessError
            If the points are too few.
        """
        block = self._block
        sequence = seed_sequence(self._study_seed, block.dataset, seed)
        rng = np.random.default_rng(sequence.spawn(2)[0])
        rules = block.grid.split_rules
        assert not isinstance(rules, str), "a stream has rules"
        return draw_stream(self._meta.n, block.labeled, rules, rng, block.dataset)
