"""Pages of files, mapped before the memory of what uses them is measured.

The kernel's mark counts them, and how many there were at the peak cannot be known afterwards; what
is mapped after the peak hides as much of it. Left to itself a forked process maps some 10 MB of
libraries anew while it runs, wherever it runs code, and up to 2.5 MB of a trial's own memory went
unseen (SSSL on 2,800 points: 6.4 MB for 8.9). Mapped all at once they stay as many.

A child takes 12 to 16 ms to map 135 MB of libraries. It inherits them mapped where its parent has
written to a page of each mapping: then the kernel copies the page table when it forks. Before
Linux 5.14 pages cannot be mapped all at once.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

_MAPS, _MEMORY = Path("/proc/self/maps"), Path("/proc/self/mem")
# scikit-learn imports them, and no method runs their code: 100 MB more
_LEFT_OUT = ("/pandas/", "/pyarrow/")
_POPULATE_READ = 22
_MADVISE = ctypes.CDLL(None).madvise if sys.platform == "linux" else None
_PAGE = os.sysconf("SC_PAGESIZE")

Ranges = list[tuple[int, int]]


def find_libraries() -> Ranges:
    """Return first and last address of what this process has mapped of files to read only."""
    ranges: Ranges = []
    for first, last in _read_only_mappings():
        if ranges and ranges[-1][1] == first:
            first = ranges.pop()[0]
        ranges.append((first, last))
    return ranges


def inherit_libraries() -> bool:
    """Map all libraries here, and see to it that children inherit them so.

    A byte of the first page of each mapping is written as it is: that page becomes this process's
    own, and its children's.

    Returns
    -------
    bool
        False where it cannot be done, as in a process that hides its memory and is not root's;
        children map the libraries themselves then.
    """
    try:
        with _MEMORY.open("r+b", buffering=0) as memory:
            for first, _ in _read_only_mappings():
                memory.seek(first)
                byte = memory.read(1)
                memory.seek(first)
                memory.write(byte)
    except OSError:
        return False
    return map_pages(find_libraries())


def _read_only_mappings() -> Iterator[tuple[int, int]]:
    """Yield first and last address of each mapping of a library."""
    try:
        lines = _MAPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        addresses, rights, _, _, _, *path = line.split(maxsplit=5)
        if not path or path[0][0] != "/" or rights[0] != "r" or rights[1] == "w":
            continue
        if rights[3] == "p" and not any(part in path[0] for part in _LEFT_OUT):
            first, last = (int(address, 16) for address in addresses.split("-"))
            yield first, last


def map_pages(ranges: Ranges) -> bool:
    """Map all pages of these ranges; False if some could not be, or where it is not Linux."""
    if _MADVISE is None:
        return False
    done = [
        _MADVISE(ctypes.c_void_p(first), ctypes.c_size_t(last - first), _POPULATE_READ) == 0
        for first, last in ranges
    ]
    return all(done)


def map_array(array: np.ndarray) -> bool:
    """Map all pages of an array in a file; False if it takes more than half of all memory."""
    if array.nbytes > os.sysconf("SC_PHYS_PAGES") * _PAGE // 2:
        return False
    first = array.ctypes.data // _PAGE * _PAGE
    return map_pages([(first, array.ctypes.data + array.nbytes)])
