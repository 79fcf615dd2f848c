"""Rows of a folder that `harness publish` wrote: they are in its table alone."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.files import is_file

TRIALS = "trials.parquet"
SUMS = "SHA256SUMS"
"""A folder with a list of checksums was published."""


def is_table(folder: Path) -> bool:
    """Tell whether the rows of a folder are in its table, since it was published."""
    return is_file(folder / SUMS) and is_file(folder / TRIALS)


def table_datasets(folder: Path) -> set[str]:
    """Return the data sets of which a published folder has rows."""
    return {row["dataset"] for row in _rows(folder / TRIALS).values()}


def table_rows(folder: Path, dataset: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a data set by fingerprint, as a journal has them."""
    rows = _rows(folder / TRIALS)
    return {name: row for name, row in rows.items() if row["dataset"] == dataset}


def table_journal(folder: Path) -> str:
    """Return what a journal of these rows is called: by what is in the list of checksums."""
    digest = hashlib.sha256((folder / SUMS).read_bytes()).hexdigest()
    return f"published-{digest[:12]}.jsonl"


@lru_cache(maxsize=2)
def _rows(path: Path) -> dict[str, dict[str, Any]]:
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(path).to_pylist()
    # a score of a plugin that the row's data set has not is in the table all the same
    return {row["fingerprint"]: row for row in rows if row["fingerprint"] is not None}
