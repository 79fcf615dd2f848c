import dataclasses
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import harness
from harness.errors import HarnessError


class Unpicklable(Exception):  # noqa: N818
    def __init__(self, one, two):
        super().__init__(one)


@pytest.mark.memory
def test_value_and_peak_are_those_of_the_callable():
    for size in (1_000_000, 30_000_000):
        m = harness.measure(np.full, size, 7, dtype=np.uint8, budget="100MB")
        assert (m.outcome, m.reason, m.error) == ("ok", "", None)
        assert m.means != "none"
        assert m.peak_bytes == pytest.approx(size, abs=25_000 + size / 100)
        assert m.get().sum() == 7 * size
    with pytest.raises(dataclasses.FrozenInstanceError):
        m.value = 1


def test_what_it_changes_stays_in_the_child():
    seen = []
    assert harness.measure(seen.append, 1).outcome == "ok"
    assert seen == []


def test_too_much_is_over_budget():
    m = harness.measure(lambda: bytes(90_000_000), budget="20MB")
    assert (m.outcome, m.value) == ("over_budget", None)
    with pytest.raises(harness.OverBudget, match="the budget of 20 MB"):
        m.get()


def test_a_value_near_the_budget_is_sent():
    m = harness.measure(lambda: b"1" * 90_000_000, budget="100MB")
    assert (m.outcome, len(m.value)) == ("ok", 90_000_000)


def test_exceptions_are_outcomes_and_can_be_raised():
    m = harness.measure(lambda: {}["key"])
    assert (m.outcome, m.reason) == ("error", "KeyError: 'key'")
    with pytest.raises(KeyError):
        m.get()

    def fail():
        raise Unpicklable(1, 2)

    m = harness.measure(fail)
    assert (m.outcome, m.error) == ("error", None)
    with pytest.raises(RuntimeError, match="Unpicklable: 1"):
        m.get()


def test_a_value_that_cannot_be_pickled_is_told():
    m = harness.measure(lambda: lambda: 1)
    assert m.outcome == "error"
    assert "returned a function, which cannot be pickled" in m.reason


def test_a_crash_and_a_time_limit_are_outcomes():
    m = harness.measure(lambda: os.kill(os.getpid(), signal.SIGSEGV))
    assert m.outcome == "crashed"
    with pytest.raises(ChildProcessError, match="SIGSEGV"):
        m.get()
    m = harness.measure(signal.pause, time_limit="0.3s")
    assert m.outcome == "timeout"
    with pytest.raises(TimeoutError, match="time limit of 300 ms"):
        m.get()


def test_its_child_processes_count():
    code = "b = b'1' * 60_000_000; import time; time.sleep(1)"
    m = harness.measure(subprocess.call, [sys.executable, "-c", code], budget="200MB")
    assert (m.outcome, m.value) == ("ok", 0)
    assert m.peak_bytes > 55_000_000


@pytest.mark.parametrize("limit", [{"budget": "lots"}, {"time_limit": "soon"}])
def test_a_bad_limit_is_told(limit):
    with pytest.raises(HarnessError, match="is not"):
        harness.measure(int, **limit)


def test_what_cannot_be_called_is_told():
    with pytest.raises(HarnessError, match="must be callable"):
        harness.measure(3)


def test_start_up_does_not_import_it():
    code = "import sys, harness.cli; print('harness.measuring' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
