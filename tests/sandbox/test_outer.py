"""A memory limit around the harness that ends a trial is the machine's failure, not a method's."""

import os

import pytest
from sandbox_client import Client

from harness.errors import HarnessError
from harness.sandbox.cgroup import LEAF
from harness.sandbox.outer import OuterLimits
from harness.sandbox.trial_cgroup import Group

MB = 1_000_000


@pytest.fixture
def start_within(clients, outer_group):
    """Start a sandbox of a backend whose process is within that group."""
    started = []

    def start(backend):
        clients(backend)  # skips where this machine has it not
        started.append(Client(backend, outer_group.around()))
        return started[-1]

    yield start
    for client in started:
        client.close()


@pytest.fixture(params=["cgroup-v2", "cgroup-v1", "rlimit-data", "watch"])
def inside(request, start_within):
    return start_within(request.param)


@pytest.fixture(params=["cgroup-v2", "cgroup-v1"])
def in_groups(request, start_within):
    return start_within(request.param)


def test_a_trial_that_an_outer_limit_ends_is_no_trial(inside, outer_group):
    """It keeps well within its budget, which is more than the machine has."""
    told = rf"limit of 400 MB of the memory cgroup \S*/{outer_group.name}, outside of the harness"
    with pytest.raises(HarnessError, match=told) as caught:
        inside.run("numpy_array", memory=900 * MB, size=500 * MB)
    assert "this trial: it has no row" in str(caught.value)
    assert "at least 800 MB beside the budget of 900 MB" in str(caught.value)
    fits = inside.run("numpy_array", memory=900 * MB, size=20 * MB)
    assert (fits.outcome, fits.reason) == ("ok", "")


def test_what_a_trial_started_and_an_outer_limit_ended_is_none_either(in_groups):
    with pytest.raises(HarnessError, match="outside of the harness"):
        in_groups.run("in_subprocess", memory=900 * MB, size=500 * MB)


def test_its_own_limit_ends_a_trial_within_an_outer_one(in_groups):
    over = in_groups.run("in_subprocess", memory=20 * MB, size=100 * MB)
    assert over.outcome == "over_budget"
    assert "the kernel stopped them" in over.reason


def test_page_cache_at_its_own_limit_is_no_guilt(outer_group, in_groups, tmp_path):
    """`memory.failcnt` of v1 counts that too; a notification tells whose limit ended the trial."""
    path = tmp_path / "much"
    with path.open("wb") as file:
        file.write(bytes(150 * MB))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    assert in_groups.run("nothing").outcome == "ok"
    limited = outer_group.used + 50 * MB
    shrinks = {"limit": str(outer_group.limit_file), "limited": limited}
    with pytest.raises(HarnessError, match="outside of the harness"):
        in_groups.run("read_and_take", memory=100 * MB, path=str(path), size=90 * MB, **shrinks)


def test_itself_killed_is_not_ended_by_an_outer_limit(inside):
    result = inside.run("kill_itself", memory=50 * MB)
    assert result.outcome == "crashed"


def test_counters_of_v2_tell_whose_limit_it_was(tmp_path):
    group = Group(2, tmp_path)
    (tmp_path / "memory.events").write_text("low 0\nmax 9\noom 0\noom_kill 1\n")
    assert group.killed_for_memory()
    assert not group.was_full()
    (tmp_path / "memory.events").write_text("low 0\nmax 9\noom 1\noom_kill 1\n")
    assert group.was_full()


def test_a_kill_counts_wherever_a_worker_has_moved_what_is_watched(tmp_path):
    """v2: who watches a job knows its group from before the worker moves both to a leaf."""
    scope = tmp_path / "sys/fs/cgroup/a.scope"
    proc = tmp_path / "proc/self"
    for folder in (scope / LEAF, proc):
        folder.mkdir(parents=True)
    (proc / "mountinfo").write_text("20 1 0:20 / /sys/fs/cgroup rw - cgroup2 none rw\n")
    (proc / "cgroup").write_text("0::/a.scope\n")
    (scope / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (scope / "memory.max").write_text("500000000\n")
    (scope / "memory.events.local").write_text("oom 0\noom_kill 0\n")
    outer = OuterLimits(tmp_path)
    assert not outer.killed()
    (scope / LEAF / "memory.events.local").write_text("oom 0\noom_kill 1\n")
    (scope / "memory.events.local").write_text("oom 1\noom_kill 0\n")
    assert outer.killed()
    assert outer.to_blame() == "the limit of 500 MB of the memory cgroup /a.scope"


def test_a_machine_without_cgroups_counts_its_own_kills(tmp_path):
    (tmp_path / "proc").mkdir()
    vmstat = tmp_path / "proc/vmstat"
    vmstat.write_text("pgfault 9\noom_kill 3\n")
    outer = OuterLimits(tmp_path)
    assert not outer.killed()
    vmstat.write_text("pgfault 9\noom_kill 4\n")
    assert outer.killed()
    assert "the memory of this machine" in str(outer.error("this trial", None))
    outer.note()
    assert not outer.killed()
