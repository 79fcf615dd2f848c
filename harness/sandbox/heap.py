"""malloc's heap, arranged so that a trial's peak is what it holds and not what was freed before.

A child inherits the holes of its parent's heap: what it allocates there is no growth that
`RLIMIT_DATA` sees, and once touched a hole stays, whatever is freed. So holes are filled before
the fork, by blocks that are never touched. All of this is for glibc; with another libc the
functions do nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

_LIBC = ctypes.CDLL(None)
_LIBC.malloc.restype = ctypes.c_void_p
_M_ARENA_MAX = -8
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
_MAPPED_FROM = 1 << 16
_KEPT, _ASKED_MORE = 1 << 15, 1 << 14
"""What malloc may keep free at the end of the heap, and what it asks for beyond its need: together
less than a block that is mapped, or such a block would be put there."""
_LARGEST_HOLE = 1 << 25
_SMALLEST_HOLE = 1 << 13
_SMALLEST_BLOCK, _HEAD = 32, 8
"""Bytes of malloc's smallest block, and those of a block that are malloc's own."""
_RUN, _MOST_BLOCKS = 64, 1 << 17
_COUNTS = (
    *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
    *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
)


def one_arena() -> None:
    """Let threads share malloc's main arena, which would reserve 64 MB for each."""
    mallopt = getattr(_LIBC, "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)


def return_large() -> None:
    """Let malloc map every block from 64 KiB on by itself, so that freeing it gives it back.

    glibc raises that threshold to the size of whatever mapped block is freed, up to 32 MiB, and
    keeps twice as much of freed heap: the peak of a trial would depend on what it freed before. A
    threshold that was set stays; small blocks still come from the heap, which is faster. Of the
    heap's free end 32 KiB are kept: with glibc's 128 KiB, and as much asked for beyond the need,
    it took in blocks of 64 KiB and more, below which 0.8 MB of freed small ones then stayed.
    """
    mallopt = getattr(_LIBC, "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM)
        mallopt(_M_TRIM_THRESHOLD, _KEPT)
        mallopt(_M_TOP_PAD, _ASKED_MORE)


def return_arrays() -> None:
    """Let malloc map every block from 1 MiB on by itself, so that freeing an array gives it back.

    Cheaper than `return_large`, which is for peaks that are measured.
    """
    mallopt = getattr(_LIBC, "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, 1 << 20)


def return_freed() -> None:
    """Give freed heap back to the system; its addresses stay."""
    trim = getattr(_LIBC, "malloc_trim", None)
    if trim is not None:
        trim(0)


def fill_small_holes() -> None:
    """Take the small holes of the heap, for good: about 10,000 of a process that has imported all.

    A child's small blocks then lie one after another in pages of their own. In the holes that it
    inherits each block would copy a page, which counts as its own: 1,000 blocks of 240 bytes, as
    LIBSVM takes for sparse rows, were 10 MB.
    """
    if not hasattr(_LIBC, "malloc_trim"):
        return
    size = _SMALLEST_HOLE
    while size >= _SMALLEST_BLOCK:
        last, run = 0, 0
        for _ in range(_MOST_BLOCKS):
            block = _LIBC.malloc(ctypes.c_size_t(size - _HEAD)) or 0
            run = run + 1 if 0 < block - last <= size + _HEAD else 0
            if run == _RUN:  # no holes any more, but one long stretch
                break
            last = block
        size //= 2


class Filling:
    """Blocks in the holes of the heap, down to 8 KiB.

    malloc prefers a hole to the end of the heap and to a mapping of its own, whatever the size.
    """

    def __init__(self) -> None:
        self._blocks: list[int] = []
        self._state = _heap_state()

    def renew(self) -> None:
        """Empty the holes that are filled, give freed heap back and fill what holes there are."""
        self.release()
        return_freed()
        if self._state is None:
            return
        size = _LARGEST_HOLE
        while size >= _SMALLEST_HOLE:
            block = self._fill(size, self._state)
            if block is None:
                size //= 2
            else:
                self._blocks.append(block)
        return_freed()  # the end of the heap, from which the last sizes were tried

    def release(self) -> None:
        """Empty the holes that are filled."""
        for block in self._blocks:
            _LIBC.free(ctypes.c_void_p(block))
        self._blocks.clear()

    def _fill(self, size: int, state: Callable[[], tuple[int, ...]]) -> int | None:
        """Return a block of this size within the heap, None if it has no such hole."""
        before = state()
        block = _LIBC.malloc(ctypes.c_size_t(size))
        if block and state() != before:
            _LIBC.free(ctypes.c_void_p(block))
            return None
        return block


def _heap_state() -> Callable[[], tuple[int, ...]] | None:
    """Return a function that tells bytes of the heap, of its free end, and of mapped blocks."""
    number: type[ctypes.c_size_t | ctypes.c_int]
    if hasattr(_LIBC, "mallinfo2"):
        function, number = _LIBC.mallinfo2, ctypes.c_size_t
    elif hasattr(_LIBC, "mallinfo"):  # before glibc 2.33; what wraps around differs all the same
        function, number = _LIBC.mallinfo, ctypes.c_int
    else:
        return None
    fields = [(count, number) for count in _COUNTS]
    function.restype = type("mallinfo", (ctypes.Structure,), {"_fields_": fields})

    def state() -> tuple[int, ...]:
        counts = function()
        return counts.arena, counts.keepcost, counts.hblkhd

    return state
