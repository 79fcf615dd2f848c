"""The high-water mark of this process itself (`VmHWM`), set back for each stage.

Since Linux 6.2 every core counts the pages that a process maps and unmaps there, and adds them to
the common count when they are a batch: 32 pages, or two for each core of the machine if that is
more. The mark is taken from the common count, and what a core had counted before the mark was set
back moved it: one trial, repeated, was read from 0.22 MB below its bytes to 0.11 MB above.
So twice a batch of pages passes through the process before the mark is set back, which makes the
core it is on add all that it has counted: repeated, the trial is read within 10 kB in eight cases
of nine, and lower by 60 to 200 kB where it changed cores meanwhile. Passing through the other
cores as well would wait for them, 8 ms a time on a busy machine.

From there on the mark can only be low, by less than a batch for each kind of page; where the
process changes cores, by a batch a core, and high by what another core had counted before.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import os
import re
from pathlib import Path

_PAGE = os.sysconf("SC_PAGESIZE")
_TABLE = _PAGE * _PAGE // 8
"""Bytes that one page table maps."""
_POPULATE_READ, _POPULATE_WRITE = 22, 23  # of `madvise`, since Linux 5.14
_LIBRARY = re.compile(r"r-xp .* (/.*)$", re.MULTILINE)


class HighWaterMark:
    """The mark of the process that makes it, which needs to open no file later on.

    A child of that process needs its own. Where there is no such mark, `reset` says so.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._pages = pages_to_count()
        try:
            self._descriptor = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            self._descriptor = -1

    def reset(self) -> bool:
        """Set the mark back to what is resident now; False where that is not possible."""
        with contextlib.suppress(OSError):  # where memory is full, the mark is as it was
            for pages in self._pages:
                pages.pass_through()
        try:
            os.pwrite(self._descriptor, b"5", 0)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Let go of the descriptor."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class _Pages:
    """Room for pages of one kind in one page table: the kernel counts a table at a time."""

    def __init__(self, size: int, populate: int, descriptor: int = -1) -> None:
        anonymous = mmap.MAP_ANONYMOUS if descriptor < 0 else 0
        self._map = mmap.mmap(descriptor, 2 * size, mmap.MAP_PRIVATE | anonymous)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        within = address % _TABLE
        self._start = 0 if within + size <= _TABLE else _TABLE - within
        self._size, self._populate = size, populate
        self.pass_through()

    def pass_through(self) -> None:
        """Take the pages and give them back; raises OSError where they cannot be had."""
        self._map.madvise(self._populate, self._start, self._size)
        self._map.madvise(mmap.MADV_DONTNEED, self._start, self._size)


@functools.cache
def pages_to_count() -> list[_Pages]:
    """Return room for pages of memory and of a file, the two kinds that are counted apart.

    Call it before a fork: what it holds for a moment would be a hole in the child's memory.
    """
    size = 4 * max(16, os.cpu_count() or 1) * _PAGE
    try:
        maps = Path("/proc/self/maps").read_text()
        library = max(set(_LIBRARY.findall(maps)), key=os.path.getsize)
        with Path(library).open("rb") as stream:
            return [_Pages(size, _POPULATE_WRITE), _Pages(size, _POPULATE_READ, stream.fileno())]
    except (OSError, ValueError):  # not Linux, or an older one, which counts otherwise
        return []
