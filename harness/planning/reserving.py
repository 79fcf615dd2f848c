"""What a scheduler should reserve for preparing a data set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.datasets.entry import Entry

_AROUND = 1_000_000_000
"""Bytes of two Snakemakes, and of the libraries and buffers with which a file is read."""

_COPIES = 4
"""How often the features are held at most, as read, encoded and scaled."""


def preparing_mb(entry: Entry) -> int:
    """Return megabytes that preparing a data set takes at most.

    Parameters
    ----------
    entry : Entry
    """
    return math.ceil((_AROUND + _COPIES * entry.n * entry.d * entry.itemsize) / 10**6)
