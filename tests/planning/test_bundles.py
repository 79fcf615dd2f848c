"""Jobs: every trial in one, none twice, of about equal length, as many as a scheduler can take."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from harness.planning.bundles import (
    LONGEST_S,
    MOST_JOBS,
    SHORTEST_S,
    Bundle,
    cut,
    minutes,
    timed,
    uncovered,
)
from harness.planning.timings import Timings
from harness.study.budget import JOB_BYTES, Budget
from harness.study.study import Block

LIMITS = {"time": 10**6, "memory": 4 * 10**9}


def block(cell, seeds, dataset="iris", megabytes=10, threads=1, data="loaded"):
    grid = SimpleNamespace(
        limits=SimpleNamespace(**LIMITS, threads=threads), data=data, part_rows=lambda _: None
    )
    budget = Budget(f"{megabytes}MB", bytes=megabytes * 10**6)
    return Block(dataset, SimpleNamespace(label=cell), 20, budget, tuple(seeds), grid, cell)


def workload(seeds_per_job=None):
    return SimpleNamespace(
        study=SimpleNamespace(seeds_per_job=seeds_per_job),
        memory_bytes=lambda block: block.memory_bytes,
        requirements=lambda block: (),
        seconds=lambda block, each: len(block.seeds) * each,
    )


class Known:
    """Timings of trials whose cell says what they take."""

    def __init__(self, seconds):
        self.seconds = seconds

    def guess(self, workload, block):
        return self.seconds(block.fingerprint) if callable(self.seconds) else self.seconds

    def allowed(self, workload, block):
        return 4 * self.guess(workload, block)


def trials(bundles):
    return list(itertools.chain.from_iterable(bundle.trials() for bundle in bundles))


@pytest.mark.parametrize("seed", range(20))
def test_every_trial_is_in_one_job_and_jobs_are_about_as_long_as_wanted(seed):
    rng = np.random.default_rng(seed)
    seconds = dict(
        zip(map(str, range(60)), np.exp(rng.uniform(np.log(0.1), np.log(200), 60)), strict=True)
    )
    blocks = [
        block(name, range(rng.integers(1, 60)), dataset=f"set{rng.integers(3)}")
        for name in seconds
    ]
    bundles = cut(workload(), blocks, Known(seconds.get), lanes=int(rng.integers(1, 5)))
    assert sorted(trials(bundles)) == sorted(trial for b in blocks for trial in b.trials)
    assert len({bundle.id for bundle in bundles}) == len(bundles) <= MOST_JOBS
    for bundle in bundles:
        assert {b.dataset for b in bundle.blocks} == {bundle.dataset}
        took = sum(seconds[b.fingerprint] * len(b.seeds) for b in bundle.blocks)
        last = seconds[bundle.blocks[-1].fingerprint]
        assert took <= LONGEST_S + max(LONGEST_S / 2, last) + 1e-9


def test_few_seconds_are_one_job_and_many_are_spread_over_what_runs_at_a_time():
    few = [block(str(cell), range(5)) for cell in range(10)]
    assert len(cut(workload(), few, Known(0.1), lanes=8)) == 1
    assert len(cut(workload(), few, Known(5 * SHORTEST_S / 50), lanes=8)) == 5
    assert len(cut(workload(), few, Known(LONGEST_S), lanes=1)) == 50


def test_there_are_no_more_jobs_than_a_scheduler_can_take():
    blocks = [block(str(cell), range(50), dataset=f"set{cell % 7}") for cell in range(400)]
    bundles = cut(workload(), blocks, Known(10**4))
    assert 0.7 * MOST_JOBS < len(bundles) <= MOST_JOBS
    sizes = [bundle.n_trials for bundle in bundles]
    assert max(sizes) <= 2 * np.mean(sizes)


def test_what_needs_other_things_is_another_job():
    alike = [block("a", range(3)), block("b", range(3), megabytes=700)]
    assert len(cut(workload(), alike, Known(1))) == 1
    for other in ({"dataset": "wine"}, {"threads": 2}, {"data": "mapped"}):
        assert len(cut(workload(), [alike[0], block("b", range(3), **other)], Known(1))) == 2
    large = block("b", range(3), megabytes=JOB_BYTES // 10**6)
    assert len(cut(workload(), [alike[0], large], Known(1))) == 2


def test_seeds_of_one_job_can_be_asked_for():
    blocks = [block("a", range(2)), block("a", range(2, 4)), block("b", range(2))]
    bundles = cut(workload(seeds_per_job=2), blocks, Known(1))
    assert [bundle.blocks for bundle in bundles] == [(b,) for b in blocks]


def test_what_is_in_no_job_is_left():
    blocks = [block("a", range(5)), block("b", range(3))]
    bundles = cut(workload(), [block("a", (1, 3)), block("c", (0,))], Known(1))
    first, second = uncovered(blocks, bundles)
    assert (first.fingerprint, first.seeds) == ("a", (0, 2, 4))
    assert second == blocks[1]
    assert uncovered(blocks, cut(workload(), blocks, Known(1))) == []


def test_time_is_that_of_the_cell_else_of_its_pair_else_a_guess_within_the_limit():
    cell = {"dataset": "iris", "method": "a", "n_labeled": 20, "budget": "10MB"}
    rows = [
        cell | {"wall_s_mean": 2.0, "wall_s_count": 3},
        cell | {"budget": "3MB", "wall_s_mean": 6.0, "wall_s_count": 1},
        cell | {"method": "b", "wall_s_mean": None, "wall_s_count": 0},
    ]
    timings = Timings(rows)
    tuning = SimpleNamespace(trials=20, folds=5, validation=0)
    around = SimpleNamespace(
        sizes=lambda block: SimpleNamespace(n_labeled=20),
        entry=lambda block: SimpleNamespace(n=10**6, d=100, data_bytes=8 * 10**8),
    )
    assert timings.seconds(around, block("a", [0])) == 2
    assert timings.seconds(around, block("a", [0], megabytes=40)) == 3
    assert timings.seconds(around, block("b", [0])) is None
    for b in (block("b", [0]), block("a", [0])):
        b.grid.tuning = None
    plain = block("b", [0])
    plain.grid.tuning = None
    tuned = block("b", [0])
    tuned.grid.tuning = tuning
    once = timings.guess(around, plain)
    assert 1 < once < 100
    assert timings.guess(around, tuned) == pytest.approx(101 * once)
    assert timings.allowed(around, block("a", [0])) == 4 * 2
    assert timings.allowed(around, block("a", [0], megabytes=40)) == 10 * 3
    assert timings.allowed(around, tuned) == 10 * timings.guess(around, tuned)
    streamed = block("b", [0])
    streamed.grid.tuning, streamed.grid.part_rows = tuning, lambda row: 10**6 // (row // 8)
    # a hundred fits of a hundredth of the points, and a tenth of a second each
    assert timings.guess(around, streamed) == pytest.approx(2 * once + 99 * 0.1)
    tuned.grid.limits.time = 7
    assert timings.guess(around, tuned) == timings.allowed(around, tuned) == 7


def test_a_job_may_take_what_its_trials_hardly_ever_exceed():
    blocks = [block("a", range(30)), block("b", range(10))]
    for each in blocks:
        each.grid.limits.time = 60
    (untimed,) = cut(workload(), blocks, Known(0.1))
    assert minutes(workload(), untimed) == (45, 45)
    bundle = timed(workload(), untimed, Known(0.1))
    assert bundle.seconds == pytest.approx(4 * 0.1 * 40)
    assert minutes(workload(), bundle) == (10, 5 + 40)
    for seconds, wanted in ((5 * 60, 10), (5 * 60 + 1, 20), (14 * 60, 20), (900, 20), (999, 40)):
        assert minutes(workload(), Bundle(bundle.blocks, seconds)) == (wanted, 45)
    # a guess beyond the limits
    assert minutes(workload(), Bundle(bundle.blocks, 10**6)) == (45, 45)
