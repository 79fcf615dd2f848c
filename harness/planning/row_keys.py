"""Places of the table: a trial has one of its own, or it would hide another's row.

Rows are read by data set, numbers of points, method, budget and seed. Nothing heavy is imported
here: Snakemake reads the study again in every job of a cluster.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.datasets.sizes import Sizes
from harness.errors import HarnessError
from harness.study.study import Block


def refuse_shared_places(path: Path, placed: Iterable[tuple[Block, str, Sizes]]) -> None:
    """Refuse a study two of whose trials would have one place; what is asked for twice is one.

    Parameters
    ----------
    path : Path
        Of the study's file, for the message.
    placed : iterable of (Block, str, Sizes)
        Blocks, each with its task and its numbers of points.

    Raises
    ------
    HarnessError
        Naming the place and the keys in which the trials differ.
    """
    places: dict[tuple[Any, ...], dict[str, tuple[Block, set[int]]]] = {}
    for block, task, sizes in placed:
        place = (block.dataset, task, block.method.label, sizes, block.budget)
        alike = places.setdefault(place, {})
        for fingerprint, (other, seeds) in alike.items():
            shared = seeds.intersection(block.seeds)
            if fingerprint != block.fingerprint and shared:
                raise HarnessError(
                    f"{path}: {block.method.label} on {block.dataset} with {sizes.n_labeled} "
                    f"labeled points, budget {block.budget.text} and seed {min(shared)} is asked "
                    f"for in two ways (they differ in {_differing(block, other)}), and a table "
                    "has one row for it: give one of them another name with 'as: label', or put "
                    "it into a study of its own"
                )
        alike.setdefault(block.fingerprint, (block, set()))[1].update(block.seeds)


def _differing(block: Block, other: Block) -> str:
    mine, theirs = block.grid.deciding_settings(), other.grid.deciding_settings()
    keys = [key for key in mine | theirs if mine.get(key) != theirs.get(key)]
    keys += ["labeled"] * (block.labeled != other.labeled)
    # 1 and 1.0 are equal, and other trials
    written = (json.dumps(b.method.params, sort_keys=True, default=str) for b in (block, other))
    keys += ["spelling of parameters"] * (len(set(written)) > 1)
    return " and ".join(keys)
