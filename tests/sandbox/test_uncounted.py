"""Memory that is not the process's own: a cgroup counts it, without one it is refused."""

import os
import re

import numpy as np
import pytest

from harness.sandbox import backends
from harness.sandbox.cgroup import LEAF, find

BUDGET = 60_000_000
MUCH = 120_000_000
ELSEWHERE = {
    "four_short_children": {"size": 37_000_000},
    "hidden_daemons": {"size": 37_000_000},
    "ignored_children": {"size": 37_000_000},
    "shared_file": {"size": MUCH},
    "file_in_memory": {"size": MUCH, "folder": "/dev/shm"},
    "mapped_file_in_memory": {"size": 1 << 27, "folder": "/dev/shm"},
    "full_pipes": {"size": MUCH},
    "many_pipes": {"size": MUCH},
    "full_sockets": {"size": MUCH},
    "system_v_segment": {"size": MUCH},
    "in_subprocess": {"size": MUCH},
}


@pytest.fixture(params=["rlimit-data", "watch"])
def alone(request, clients):
    """A sandbox of every backend that sees one process."""
    client = clients(request.param)
    yield client
    assert client.survivors() == []


@pytest.mark.parametrize("trial", ELSEWHERE)
def test_what_is_not_counted_is_refused(alone, trial):
    result = alone.run(trial, memory=BUDGET, **ELSEWHERE[trial])
    assert result.outcome == "error"
    assert re.search("PermissionError|File too large|Too many open files", result.reason)
    assert "Without a memory cgroup" in result.reason
    assert "harness doctor" in result.reason


@pytest.mark.parametrize("trial", ELSEWHERE)
def test_a_cgroup_counts_it(cgroup_sandbox, trial):
    result = cgroup_sandbox.run(trial, memory=BUDGET, **ELSEWHERE[trial])
    assert result.outcome == "over_budget", result.reason


def test_a_trial_that_waits_for_what_the_kernel_killed_is_ended(cgroup_sandbox):
    """The kernel is to take the children; now and then it takes the process that waits."""
    trial = {"size": 37_000_000, "oom_score": "1000"}
    for _ in range(4):
        result = cgroup_sandbox.run("four_short_children", memory=BUDGET, seconds=60, **trial)
        assert result.outcome == "over_budget", result.reason


def test_a_limit_that_a_trial_raised_is_not_the_only_one(sandbox):
    """The mark of the process says what it took."""
    result = sandbox.run("raises_its_limit", memory=BUDGET, size=MUCH)
    assert result.outcome == "over_budget"


def test_a_library_that_can_do_without_a_process_goes_on(alone):
    result = alone.run("runs_if_it_may", memory=BUDGET)
    assert (result.outcome, result.value) == ("ok", {"ran": False})


def test_pools_of_threads_and_maps_of_files_work(alone, tmp_path):
    """joblib runs random forests in such a pool, whose parts talk through a pipe."""
    np.save(tmp_path / "data.npy", np.ones((1000, 100)))
    result = alone.run("pool_of_threads", memory=BUDGET, path=str(tmp_path / "data.npy"))
    assert (result.outcome, result.value) == ("ok", {"sum": 400_000.0})


def test_without_a_budget_nothing_is_refused(alone):
    assert alone.run("runs_if_it_may").value == {"ran": True}


@pytest.mark.parametrize("trial", ["four_short_children", "hidden_daemons", "ignored_children"])
def test_where_the_kernel_cannot_refuse_processes_they_are_no_result(trial, clients):
    """As on macOS, or on a machine whose system calls the filter does not know."""
    client = clients("rlimit-data")
    result = client.run(trial, memory=BUDGET, size=1_000_000, without_filter=True)
    assert result.outcome == "error"
    assert "could not be measured: it started processes" in result.reason


@pytest.mark.parametrize("trial", ["leaves_its_group", "child_leaves_its_group"])
def test_whoever_leaves_the_group_that_limits_it_has_no_result(cgroup_sandbox, trial):
    base = find(int(cgroup_sandbox.backend[-1])).base
    # a group of v2 below which others are limited takes no processes, but for the root
    elsewhere = base / LEAF if (base / LEAF).exists() else base
    tasks = elsewhere / ("tasks" if cgroup_sandbox.backend == "cgroup-v1" else "cgroup.procs")
    if not os.access(tasks, os.W_OK):
        pytest.skip("only root may leave a group")
    result = cgroup_sandbox.run(trial, memory=BUDGET, size=37_000_000, tasks=str(tasks))
    assert result.outcome == "error"
    assert "could not be measured: a process left the cgroup" in result.reason
    assert result.seconds < 15


def test_doctor_says_what_is_refused_and_what_is_not_seen():
    for report in backends():
        assert bool(report.refuses) == (report.name in ("rlimit-data", "watch"))
        assert report.blind
