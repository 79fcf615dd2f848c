"""The rows of a trial in a file of their own, to be mapped instead of loaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.datasets import is_sparse, open_mapped, read_rows, row_blocks, write_sparse
from harness.trial.assignment import Assignment


def write_rows(assignment: Assignment, path: Path) -> Assignment:
    """Write the rows of `fit` in their order, and return the trial that maps them.

    Parameters
    ----------
    assignment : Assignment
    path : Path
        Its ending is that of the features' file.
    """
    if is_sparse(path):
        write_sparse(path, read_rows(assignment.features, assignment.seen, assignment.item))
        return replace(assignment, mapped=path)
    source, item = open_mapped(assignment.features), assignment.item
    if item is not None and item.keeps_integers:
        item = None
    shape = (len(assignment.seen), source.shape[1])
    kind = source.dtype if item is None else np.dtype(item.dtype)
    target = np.lib.format.open_memmap(path, "w+", kind, shape)
    start = 0
    for block in row_blocks(assignment.features, assignment.seen, item):
        target[start : start + len(block)] = block
        start += len(block)
    target.flush()
    return replace(assignment, mapped=path)
