"""Pages of 4 kB, whatever the machine gives to programs that do not ask."""

import subprocess
import sys

import pytest

TOUCH = """
import mmap
from harness.sandbox import prctl
from harness.sandbox.peaks import read_memory

prctl.small_pages()
region = mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
before = read_memory().held
for start in range(0, len(region), 2 << 20):
    region[start] = 1
print(read_memory().held - before)
"""


@pytest.mark.memory
@pytest.mark.skipif(sys.platform != "linux", reason="huge pages are Linux's")
def test_a_byte_takes_a_page_of_4_kb():
    run = subprocess.run([sys.executable, "-c", TOUCH], capture_output=True, text=True, check=True)
    assert 4 * 4096 <= int(run.stdout) < 100_000
