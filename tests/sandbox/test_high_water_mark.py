"""The mark of a process after pages were mapped and given back."""

import mmap
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.sandbox.high_water_mark import HighWaterMark
from harness.sandbox.peaks import read_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

PAGE = mmap.PAGESIZE
CORES = os.cpu_count() or 1
BATCH = max(32, 2 * CORES) * PAGE
"""What one core counts by itself, at most, of each of the two kinds of page."""
NEARLY = BATCH - 4 * PAGE
"""Not enough for a core to add it to the common count."""
SIZE = 8_000_000 // BATCH * BATCH


@pytest.fixture
def mark():
    mark = HighWaterMark()
    yield mark
    mark.close()


@pytest.fixture
def one_core():
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    yield
    os.sched_setaffinity(0, allowed)


def hold(size):
    """Map memory and have every page of it."""
    pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for start in range(0, size, PAGE):
        pages[start] = 1
    return pages


def hold_file(stream, size):
    """Map the start of a file and read every page of it."""
    pages = mmap.mmap(stream.fileno(), size, mmap.MAP_PRIVATE, mmap.PROT_READ)
    pages.read()
    return pages


def freed(mark):
    """Return what the mark says of `SIZE` bytes that were held and given back."""
    assert mark.reset()
    before = read_memory()
    hold(SIZE).close()
    return read_memory().held_at_most(before.file) - before.held


def settled(mark):
    """Return the same once all code that does it is mapped, with nothing counted before.

    What other cores had counted before the process was kept on one stays out of the mark.
    """
    for _ in range(2):
        hold(4 * BATCH).close()
        quiet = freed(mark)
    assert abs(quiet - SIZE) <= 2 * BATCH * CORES
    return quiet


def test_pages_that_were_taken_before_do_not_lower_the_mark(mark, one_core):
    quiet = settled(mark)
    hold(4 * BATCH).close()
    held = hold(NEARLY)
    assert abs(freed(mark) - quiet) < NEARLY // 2
    held.close()


def test_pages_that_were_given_back_before_do_not_raise_the_mark(mark, one_core):
    quiet = settled(mark)
    library = max(Path(np.__file__).parent.rglob("*.so"), key=os.path.getsize)
    with library.open("rb") as stream:
        several = hold_file(stream, 4 * BATCH)
        few = hold_file(stream, NEARLY)
    several.close()
    few.close()
    assert abs(freed(mark) - quiet) < NEARLY // 2


def test_the_mark_is_of_the_time_since_it_was_reset(mark):
    hold(SIZE).close()
    assert mark.reset()
    now = read_memory()
    assert now.peak <= now.resident + 2 * BATCH


def test_a_reset_leaves_nothing_resident(mark):
    mark.reset()
    before = read_memory()
    for _ in range(20):
        mark.reset()
    after = read_memory()
    assert after.held - before.held <= 4 * PAGE
    assert after.file <= before.file + 16 * PAGE  # the kernel maps a file's pages 16 at a time


def test_a_closed_mark_cannot_be_reset(mark):
    mark.close()
    assert not mark.reset()
