"""Which of the two marks is the figure."""

import mmap
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from harness.sandbox import peaks
from harness.sandbox.peaks import (
    REFERENCE_COUNTS,
    Idle,
    Marks,
    Memory,
    combine,
    copied_pages,
    read_memory,
)

MB = 1_000_000
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize(
    ("process", "group", "copied", "descendants", "expected"),
    [
        (50, 51, None, False, (50, "VmHWM")),
        (50, 57, 6, False, (50, "VmHWM")),  # reference counts
        (50, 150, 6, False, (50, "VmHWM")),  # a file that was written and removed
        (50, 90, 0, True, (90, "cgroup-v1")),
        (50, 96, 6, True, (90, "cgroup-v1")),
        (50, 51, 6, True, (50, "VmHWM")),  # small descendants never lower the figure
        (1, 61, 60, False, (61, "VmHWM")),  # an inherited array overwritten
        (50, 70, 60, False, (70, "VmHWM")),  # after the peak, as the cgroup knows
        (None, 70, None, False, (70, "cgroup-v1")),
        (50, None, None, False, (50, "VmHWM")),
        (50, None, 60, False, (110, "VmHWM")),
        (50, None, 10, False, (50, "VmHWM")),
        (50, None, None, True, (50, "VmHWM, child processes not seen")),
        (None, None, None, False, (None, "none")),
    ],
)
def test_the_figure_is_chosen(process, group, copied, descendants, expected):
    marks = Marks(*(None if mark is None else mark * MB for mark in (process, group)))
    copied = None if copied is None else copied * MB
    peak, measured_by = combine(marks, copied, descendants, True, "cgroup-v1")
    assert (peak if peak is None else peak // MB, measured_by) == expected


def test_a_figure_is_never_below_the_process_own_mark():
    rng = np.random.default_rng(0)
    for process, group, copied in rng.integers(0, 100 * MB, size=(200, 3)).tolist():
        for descendants in (False, True):
            peak, _ = combine(Marks(process, group), copied, descendants, True, "group")
            assert process <= peak <= max(process, group)


def test_of_a_child_that_died_the_cgroup_knows_what_counting_references_does_not_explain():
    def figure(group, descendants=False):
        return combine(Marks(10 * MB, group), None, descendants, False, "group")

    assert figure(26 * MB) == (10 * MB, "VmHWM")
    assert figure(10 * MB + REFERENCE_COUNTS) == (10 * MB, "VmHWM")
    assert figure(10 * MB + REFERENCE_COUNTS + 1)[1] == "group"
    assert figure(70 * MB) == (70 * MB, "group")
    assert figure(26 * MB, descendants=True) == (26 * MB, "group")
    assert figure(None) == (10 * MB, "VmHWM")


def test_marks_join_and_subtract():
    assert Marks(3, None).joined(Marks(2, 5)) == Marks(3, 5)
    assert Marks(3, None).less(Marks(5, 1)) == Marks(0, None)
    assert Marks(9, 9).less(Marks(4, None)) == Marks(5, 9)


def test_file_pages_are_taken_off_at_the_larger_of_both_ends():
    memory = Memory(peak=100, resident=60, file=20, shared=0, data=0)
    assert memory.held == 40
    assert memory.held_at_most(file_before=0) == 80
    assert memory.held_at_most(file_before=50) == 50
    assert memory.held_at_most(file_before=90) == 40


@linux
def test_this_process_can_be_read_and_another_may_be_gone():
    memory = read_memory()
    assert memory.peak >= memory.resident > memory.file > 0
    pid = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitpid(pid, 0)
    assert read_memory(pid) is None


@linux
def test_copied_pages_are_read_only_where_they_matter():
    many = REFERENCE_COUNTS // os.sysconf("SC_PAGE_SIZE") + 1

    def read(marks, idle=Idle(), descendants=False, faults=0):  # noqa: B008
        return copied_pages("self", 0, marks, idle, descendants, faults) is not None

    assert not read(Marks(10 * MB, 11 * MB))
    assert read(Marks(10 * MB, 30 * MB))
    assert not read(Marks(10 * MB, 30 * MB), Idle(Marks(0, 4 * MB)))
    assert not read(Marks(0, REFERENCE_COUNTS))
    assert read(Marks(0, REFERENCE_COUNTS + 1))
    assert read(Marks(10 * MB, 11 * MB), descendants=True)
    assert not read(Marks(10 * MB))
    assert read(Marks(10 * MB), faults=many)
    assert read(Marks(10 * MB), idle=None)


def test_copied_pages_are_what_is_private_less_growth_and_an_idle_trial(monkeypatch):
    def copied(private, now, held, idle):
        monkeypatch.setattr(peaks, "private_dirty", lambda pid: private)
        monkeypatch.setattr(peaks, "read_memory", lambda pid: SimpleNamespace(held=now))
        apart = Marks(10 * MB, 30 * MB)
        return copied_pages("self", held, apart, idle, descendants=False, faults=0)

    assert copied(20 * MB, 15 * MB, 10 * MB, Idle(copied=2 * MB)) == 13 * MB
    assert copied(20 * MB, 8 * MB, 10 * MB, Idle(copied=2 * MB)) == 18 * MB
    assert copied(20 * MB, 15 * MB, 10 * MB, None) == 15 * MB
    assert copied(5 * MB, 20 * MB, 10 * MB, Idle(copied=2 * MB)) == 0
    assert copied(20 * MB, 15 * MB, 10 * MB, Idle()) == 15 * MB
    assert copied(None, 15 * MB, 10 * MB, None) is None
    monkeypatch.setattr(peaks, "private_dirty", lambda pid: 20 * MB)
    monkeypatch.setattr(peaks, "read_memory", lambda pid: None)
    assert copied_pages("self", 0, Marks(), None, descendants=False, faults=0) is None


@linux
def test_what_a_process_shares_with_no_other_is_read_in_bytes():
    # A mapping of its own, page by page: what passes through the heap may leave pages there.
    before, held = peaks.private_dirty(), mmap.mmap(-1, 8 * MB)
    for start in range(0, 8 * MB, os.sysconf("SC_PAGE_SIZE")):
        held[start] = 1
    assert peaks.private_dirty() - before == pytest.approx(8 * MB, rel=0.2)
    assert peaks.private_dirty(2**22 + 1) is None
