"""The process that forks trials: what they find there, and what is the machine's failure."""

import mmap
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from harness.errors import HarnessError
from harness.jobs.trial_process import TrialRunner
from harness.sandbox import Limits, Reach, Sandbox
from harness.trial.assignment import Assignment
from harness.trial.warm_up import warm_up


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


def count_in_memory(inverted):
    """Count where bytes lie in this process's memory; they are given inverted, not to be found."""
    inverted = np.frombuffer(inverted, dtype=np.uint8)
    sought = np.empty_like(inverted)
    np.invert(inverted, out=sought)
    own = sought.__array_interface__["data"][0]
    found, largest = 0, 1 << 27
    with Path("/proc/self/maps").open() as maps, Path("/proc/self/mem").open("rb", 0) as memory:
        listed = maps.read().splitlines()
        # not of the heap, where what is read would stay
        with mmap.mmap(-1, largest) as held, memoryview(held) as view:
            spans = []
            for line in listed:
                span, rights, _, _, inode, *_ = line.split()
                start, end = (int(address, 16) for address in span.split("-"))
                if inode != "0" or "r" not in rights or "[v" in line or end - start > largest:
                    continue
                # the heap may be in several parts
                if spans and spans[-1][1] == start and end - spans[-1][0] <= largest:
                    start = spans.pop()[0]
                spans.append((start, end))
            for start, end in spans:
                memory.seek(start)
                try:
                    read = memory.readinto(view[: end - start])
                except OSError:  # given back since it was listed
                    continue
                at = held.find(sought, 0, read)
                while at >= 0:
                    found += start + at != own
                    at = held.find(sought, at + 1, read)
    return found


def look_for_labels(sandbox, trial, limits, timeline, kept):
    (assignment,) = trial.args
    return {"found": count_in_memory(assignment.ranges["inverted"])}


def labels_found(n_labeled, scratch):
    """Count labels of a first trial in the memory of the first, a second and a third one."""
    Sandbox.run = look_for_labels  # in a process of its own
    runner = TrialRunner("auto", Reach((), (), (), scratch), [{"method": None}])
    labels = np.random.default_rng().integers(0, 2, n_labeled)
    empty = Assignment(**dict.fromkeys(f.name for f in fields(Assignment)))
    sought = labels[n_labeled // 3 : 2 * n_labeled // 3]
    empty = replace(empty, ranges={"inverted": (~sought).tobytes()})
    found = [
        runner.run(replace(empty, y_labeled=y), None, False)["found"]
        for y in (labels, np.zeros(n_labeled, int), np.zeros(0, int))
    ]
    runner.stop()
    return found


@pytest.mark.parametrize("n_labeled", [120, 300, 60_000])
def test_labels_of_one_trial_are_nowhere_in_the_memory_that_the_next_inherits(tmp_path, n_labeled):
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        found = process.submit(labels_found, n_labeled, tmp_path).result()
    assert found[0] > 0
    assert found[1:] == [0, 0]


def ask_for_500_mb(outer_group, scratch):
    """Have the runner take more than the group around it may."""
    outer_group.enter()
    runner = TrialRunner("auto", Reach((), (), (), scratch), [{"method": None}])
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
    runner = TrialRunner("auto", Reach((), (), (), tmp_path), [{"method": None}])
    with pytest.raises(HarnessError, match="no cgroup can be made here"):
        runner.run(Assignment(**dict.fromkeys(f.name for f in fields(Assignment))), None, False)
    runner.stop()
