import mmap
import resource
import subprocess
import sys

import numpy as np
import pytest

import harness
from harness.errors import HarnessError

HELD = """
import sys
import numpy as np
import harness
with harness.budget("100MB") as b:
    held = np.ones(int(sys.argv[1]), dtype=np.uint8)
print(b.outcome, b.means, b.measured_by, b.peak_bytes)
"""


@pytest.mark.memory
@pytest.mark.parametrize("size", [1_000_000, 30_000_000])
def test_the_peak_of_what_is_held_is_true(size):
    """In a process of its own: threads that other tests left here would count too."""
    done = subprocess.run(
        [sys.executable, "-c", HELD, str(size)], capture_output=True, text=True, check=True
    )
    *told, peak = done.stdout.split()
    assert told == ["ok", "rlimit-data", "VmHWM"]
    assert int(peak) == pytest.approx(size, abs=25_000 + size / 100)


def test_too_much_is_refused_and_the_limit_put_back():
    before = resource.getrlimit(resource.RLIMIT_DATA)
    b = harness.budget("20MB")
    with pytest.raises(harness.OverBudget, match="the budget of 20 MB") as raised, b:
        np.ones(60_000_000, dtype=np.uint8)
    assert isinstance(raised.value.__cause__, MemoryError)
    assert b.outcome == "over_budget"
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert np.ones(60_000_000, dtype=np.uint8).nbytes == 60_000_000


def _fill(shared):
    for _ in range(40):
        shared.write(bytes(1_000_000))


def test_shared_maps_are_noticed_at_the_end():
    b = harness.budget("20MB")
    with pytest.raises(harness.OverBudget, match="more than the budget of 20 MB"), b:
        _fill(mmap.mmap(-1, 40_000_000))
    assert b.outcome == "over_budget"


def test_an_exception_goes_through():
    with pytest.raises(ZeroDivisionError), harness.budget("20MB") as b:
        int("1") / 0
    assert (b.outcome, b.reason) == ("error", "ZeroDivisionError: division by zero")


@pytest.mark.memory
def test_the_outer_block_has_the_peak_of_the_inner_one():
    with harness.budget() as outer:
        first = np.ones(30_000_000, dtype=np.uint8)
        del first
        with harness.budget("20MB") as inner:
            second = np.ones(10_000_000, dtype=np.uint8)
    assert len(second) == 10_000_000
    assert inner.peak_bytes == pytest.approx(10_000_000, abs=125_000)
    assert outer.peak_bytes == pytest.approx(30_000_000, abs=500_000)
    assert outer.means == "none"


def test_child_processes_are_told():
    with harness.budget("100MB") as b:
        subprocess.run([sys.executable, "-c", ""], check=True)
    assert b.reason == "Child processes were started, which are not seen."


def test_a_bad_limit_and_one_in_use_are_told():
    with pytest.raises(HarnessError, match="'lots' is not bytes"):
        harness.budget("lots")
    b = harness.budget()
    with b, pytest.raises(HarnessError, match="in use"), b:
        pass
