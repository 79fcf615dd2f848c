"""What a scheduler should reserve for preparing a data set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from harness.datasets.reading import SPARSE_FORMATS

if TYPE_CHECKING:
    from harness.datasets.entry import Entry
    from harness.planning.workload import Workload

_AROUND = 1_000_000_000
"""Bytes of two Snakemakes, and of the libraries and buffers with which a file is read."""

_COPIES = 4
"""How often the features are held at most, as read, encoded and scaled."""


_INTEGER_FORMATS = ("idx", "images")
"""Formats of which small integers are read as they are."""


def preparing_mb(workload: Workload, directory: str) -> int:
    """Return megabytes that preparing a data set takes at most.

    Parameters
    ----------
    workload : Workload
    directory : str
        Of the prepared data.
    """
    entries = (workload.catalog[name] for name in workload.datasets())
    entry = next((entry for entry in entries if entry.directory == directory), None)
    features = _read_bytes(entry) if entry else 0
    return math.ceil((_AROUND + _COPIES * features) / 10**6)


def _read_bytes(entry: Entry) -> int:
    """Return the bytes of the features as they are read: with all zeros, and as numbers."""
    read_sparse = entry.text is not None or entry.format in SPARSE_FORMATS
    if entry.sparse and not read_sparse:
        return entry.n * entry.d * entry.itemsize
    if entry.small_integers and entry.format not in _INTEGER_FORMATS:
        return 8 * entry.n * entry.d
    return entry.data_bytes
