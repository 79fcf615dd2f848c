"""Pages of files, mapped before the memory of what uses them is measured.

The kernel's mark counts them, and how many there were at the peak cannot be known afterwards; what
is mapped after the peak hides as much of it. A process does not inherit the pages of libraries
when it is forked: it maps some 10 MB anew while it runs, wherever it runs code, and up to 2.5 MB
of a trial's own memory went unseen (SSSL on 2,800 points: 6.4 MB for 8.9). Mapped all at once they
stay as many. It takes 12 to 16 ms for 135 MB of libraries; before Linux 5.14 it cannot be done.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import numpy as np

_MAPS = Path("/proc/self/maps")
# scikit-learn imports them, and no method runs their code: 100 MB more
_LEFT_OUT = ("/pandas/", "/pyarrow/")
_POPULATE_READ = 22
_MADVISE = ctypes.CDLL(None).madvise if sys.platform == "linux" else None
_PAGE = os.sysconf("SC_PAGESIZE")

Ranges = list[tuple[int, int]]


def find_libraries() -> Ranges:
    """Return first and last address of what this process has mapped of files to read only."""
    ranges: Ranges = []
    try:
        lines = _MAPS.read_text().splitlines()
    except OSError:
        return ranges
    for line in lines:
        addresses, rights, _, _, _, *path = line.split(maxsplit=5)
        if not path or path[0][0] != "/" or rights[0] != "r" or rights[1] == "w":
            continue
        if any(part in path[0] for part in _LEFT_OUT):
            continue
        first, last = (int(address, 16) for address in addresses.split("-"))
        if ranges and ranges[-1][1] == first:
            first = ranges.pop()[0]
        ranges.append((first, last))
    return ranges


def map_pages(ranges: Ranges) -> bool:
    """Map all pages of these ranges; False if some could not be, or where it is not Linux."""
    if _MADVISE is None:
        return False
    done = [
        _MADVISE(ctypes.c_void_p(first), ctypes.c_size_t(last - first), _POPULATE_READ) == 0
        for first, last in ranges
    ]
    return all(done)


def map_array(array: np.memmap) -> bool:
    """Map all pages of an array in a file; False if it takes more than half of all memory."""
    if array.nbytes > os.sysconf("SC_PHYS_PAGES") * _PAGE // 2:
        return False
    first = array.ctypes.data // _PAGE * _PAGE
    return map_pages([(first, array.ctypes.data + array.nbytes)])
