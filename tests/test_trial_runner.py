"""The process that forks trials: what they find there, and what is the machine's failure."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from harness.errors import HarnessError
from harness.sandbox import Limits, Reach, Sandbox
from harness.trial import Assignment
from harness.trial_runner import TrialRunner, warm_up


def nearest_of_2000(monitor):
    X = np.random.default_rng(0).standard_normal((2000, 64))
    search = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(X)
    return {"n": len(search.kneighbors(X[:300], return_distance=False))}, {}


def run(trial, limits):
    """Run a trial where the limit is on a process's data; None where there is no such limit."""
    warm_up()
    try:
        sandbox = Sandbox("rlimit-data")
    except HarnessError:
        return None
    with sandbox:
        result = sandbox.run(trial, limits)
    return result.outcome, result.reason, result.value


def test_nearest_neighbors_of_scikit_learn_fit_in_less_than_a_buffer_of_blas():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as process:
        limits = Limits(memory=5_000_000, seconds=20)
        found = process.submit(run, nearest_of_2000, limits).result()
    if found is None:
        pytest.skip("this system does not limit a process's data")
    assert found == ("ok", "", {"n": 300})


def ask_for_500_mb(outer_group, scratch):
    """Have the runner take more than the group around it may."""
    (outer_group / "cgroup.procs").write_text(str(os.getpid()))
    runner = TrialRunner("auto", Reach((), (), (), scratch), {"method": None})
    assignment = Assignment(**dict.fromkeys(f.name for f in fields(Assignment)))
    try:
        return runner.run(assignment, Limits(memory=900_000_000), False)
    except HarnessError as error:
        return str(error)


def take_500_mb(*arguments):
    np.ones(500_000_000, dtype=np.uint8)


def test_a_runner_that_an_outer_limit_ends_is_no_fault_of_the_trial(
    outer_group, monkeypatch, tmp_path
):
    monkeypatch.setattr(Sandbox, "run", take_500_mb)
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as process:
        told = process.submit(ask_for_500_mb, outer_group, tmp_path).result()
    assert "ended the process that runs trials: it has no row" in told
    assert f"{outer_group.name}, outside of the harness" in told


def test_a_machine_that_cannot_run_trials_is_no_row_of_a_method(monkeypatch, tmp_path):
    def refuse(*arguments, **more):
        raise HarnessError("no cgroup can be made here")

    monkeypatch.setattr(Sandbox, "run", refuse)
    runner = TrialRunner("auto", Reach((), (), (), tmp_path), {"method": None})
    with pytest.raises(HarnessError, match="no cgroup can be made here"):
        runner.run(Assignment(**dict.fromkeys(f.name for f in fields(Assignment))), None, False)
    runner.stop()
