"""What a child would find in its parent's heap. Each test is a process: malloc has one state."""

import ctypes
import subprocess
import sys
import textwrap

import pytest

glibc = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="libc is not glibc"
)

HOLES = """
import numpy as np
from harness.sandbox import heap
from harness.sandbox.peaks import read_memory

heap.one_arena()
heap.return_large()
blocks = [np.ones(50_000, np.uint8) for _ in range(161)]
del blocks[::2]
filling = heap.Filling()
"""


def figure(code):
    """Return the number that a process prints which has 81 holes of 50 kB in its heap."""
    code = HOLES + textwrap.dedent(code)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.memory
@glibc
@pytest.mark.parametrize(
    ("renewals", "least", "most"), [(0, 0, 500_000), (3, 3_000_000, 4_000_000)]
)
def test_what_is_allocated_is_seen_once_the_holes_are_filled(renewals, least, most):
    grown = figure(f"""
        for _ in range({renewals}):
            filling.renew()
        before = read_memory().data
        held = [np.empty(45_000, np.uint8) for _ in range(70)]
        print(read_memory().data - before)
    """)
    assert least <= grown <= most


@glibc
@pytest.mark.parametrize(
    ("fill", "least", "most"), [("", 3_500, 4_000), ("heap.fill_small_holes()", 200, 400)]
)
def test_small_blocks_share_pages_once_small_holes_are_filled(fill, least, most):
    """Of 4,000 holes there is one in a page, and a child would copy each page that it fills."""
    pages = figure(f"""
        import ctypes
        libc = ctypes.CDLL(None)
        libc.malloc.restype = ctypes.c_void_p
        held = [libc.malloc(240) for _ in range(17 * 4000)]
        for block in held[::17]:
            libc.free(ctypes.c_void_p(block))
        {fill}
        print(len({{libc.malloc(240) // 4096 for _ in range(4000)}}))
    """)
    assert least <= pages <= most


@pytest.mark.memory
@glibc
def test_filling_takes_no_memory():
    taken = figure("""
        before = read_memory().resident
        filling.renew()
        print(read_memory().resident - before)
    """)
    assert taken < -3_000_000


@pytest.mark.memory
@glibc
def test_a_freed_block_of_64_kib_is_given_back_whatever_was_freed_before():
    kept = figure("""
        filling.renew()
        np.ones(20_000_000, np.uint8)
        before = read_memory().resident
        rows = [np.ones(1 << 16, np.uint8) for _ in range(80)]
        last = np.ones(100, np.uint8)
        rows.clear()
        print(read_memory().resident - before)
    """)
    assert kept < 500_000


@glibc
def test_a_large_block_is_never_above_small_ones_that_are_freed():
    kept = figure("""
        del blocks
        before = read_memory().held
        small = [np.ones(50_000, np.uint8) for _ in range(20)]
        large = np.ones(100_000, np.uint8)
        del small
        print(read_memory().held - before)
    """)
    assert 90_000 < kept < 200_000
