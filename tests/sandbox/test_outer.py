"""A memory limit around the harness that ends a trial is the machine's failure, not a method's."""

import os

import pytest
from sandbox_client import Client

from harness.errors import HarnessError
from harness.sandbox.outer import OuterLimits
from harness.sandbox.trial_cgroup import Group

MB = 1_000_000


@pytest.fixture
def start_within(clients, outer_group):
    """Start a sandbox of a backend whose process is within that group."""
    started = []

    def start(backend):
        clients(backend)  # skips where this machine has it not
        enter = f'echo $$ > {outer_group}/cgroup.procs; exec "$@"'
        started.append(Client(backend, ["sh", "-c", enter, "sh"]))
        return started[-1]

    yield start
    for client in started:
        client.close()


@pytest.fixture(params=["cgroup-v1", "rlimit-data", "watch"])
def inside(request, start_within):
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


def test_what_a_trial_started_and_an_outer_limit_ended_is_none_either(start_within):
    client = start_within("cgroup-v1")
    with pytest.raises(HarnessError, match="outside of the harness"):
        client.run("in_subprocess", memory=900 * MB, size=500 * MB)


def test_its_own_limit_ends_a_trial_within_an_outer_one(start_within):
    client = start_within("cgroup-v1")
    over = client.run("in_subprocess", memory=20 * MB, size=100 * MB)
    assert over.outcome == "over_budget"
    assert "the kernel stopped them" in over.reason


def test_page_cache_at_its_own_limit_is_no_guilt(outer_group, start_within, tmp_path):
    """`memory.failcnt` counts that too; the notification tells whose limit ended the trial."""
    path = tmp_path / "much"
    with path.open("wb") as file:
        file.write(bytes(150 * MB))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    client = start_within("cgroup-v1")
    assert client.run("nothing").outcome == "ok"
    limit = outer_group / "memory.limit_in_bytes"
    used = int((outer_group / "memory.usage_in_bytes").read_text())
    shrinks = {"limit": str(limit), "limited": used + 50 * MB}
    with pytest.raises(HarnessError, match="outside of the harness"):
        client.run("read_and_take", memory=100 * MB, path=str(path), size=90 * MB, **shrinks)


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
