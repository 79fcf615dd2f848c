"""A learned storage model: a storage model like any other, and honest about what it knows."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import Estimator, measured

from harness.planning.learned.model import Fitted, LearnedStorage, LearningError, is_learned
from harness.planning.learned.runs import GENERATED, NOISE, Run, noise_of, spread_of
from harness.planning.own_bytes import overhead_bytes
from harness.plugin.method import Method
from harness.plugin.shape import Shape

SHAPE = Shape(200, 3_800, 20, 2)
METHOD = Method("a", Estimator, size="rank")


def own(shape, size):
    return shape.data_bytes + 8 * shape.n * size + 24 * size**2 + 50_000


@pytest.fixture(scope="module")
def runs():
    return measured(METHOD, SHAPE, [9_000_000, 60_000_000], own)[1]


def test_it_is_never_below_a_run(runs):
    model = LearnedStorage(runs)
    for run in runs:
        if run.ok:
            peaks = model(run.shape, run.size).peaks
            assert max(peaks) + overhead_bytes(run.shape) >= run.peak


def test_it_never_falls_as_the_size_grows(runs):
    model = LearnedStorage(runs)
    for n_unlabeled in (100, 1_000, 3_800):
        shape = Shape(200, n_unlabeled, 20, 2)
        found = [max(model(shape, size).peaks) for size in range(1, 3_000, 37)]
        assert found == sorted(found)


def test_a_phase_says_what_is_beyond_all_that_was_measured(runs):
    model = LearnedStorage(runs)
    assert model(SHAPE, 8).largest() == "fit: measured"
    assert model(SHAPE, 100_000).largest() == "fit: extrapolated"
    assert model(replace(SHAPE, n_unlabeled=40_000), 8).largest() == "fit: extrapolated"
    assert model(replace(SHAPE, n_features=30), 8).largest() == "fit: extrapolated"


def test_a_phase_says_how_unsure_it_is(runs):
    again = [replace(run, repeat=1, fit=int(1.25 * run.fit) + NOISE) for run in runs]
    spread = spread_of([*runs, *again])
    assert 0.19 < spread < 0.25
    phase = LearnedStorage([*runs, *again])(SHAPE, 8).largest()
    assert phase == f"fit: measured, peaks differ by {spread:.0%}"


def test_a_plan_is_above_most_of_the_trials_that_are_still_to_come(runs):
    rng = np.random.default_rng(5)
    last = max(runs, key=lambda run: run.peak)
    steady = max(LearnedStorage(runs)(last.shape, last.size).peaks)
    for deviation in (0.01, 0.05):
        inside = []
        for _ in range(60):
            drawn = last.fit * (1 + deviation * rng.standard_normal(16))
            seen = [replace(last, repeat=1 + i, fit=int(fit)) for i, fit in enumerate(drawn[:8])]
            others = [run for run in runs if run.size != last.size]
            planned = max(LearnedStorage([*others, *seen])(last.shape, last.size).peaks)
            inside.append(drawn[8:] < planned + overhead_bytes(last.shape))
            assert planned < steady * (1 + 5 * deviation)
        assert np.mean(inside) > 0.95


def test_what_marks_differ_by_is_a_small_part_of_a_small_plan(runs):
    for size in (1, 2_000):
        fit, _ = Fitted.of(runs).totals(SHAPE, size)
        assert noise_of(fit) <= min(NOISE, 0.07 * fit)


def test_a_trial_that_its_budget_refused_needs_more_than_it_took(runs):
    last = max((run for run in runs if run.ok), key=lambda run: run.peak)
    limit = int(1.1 * last.peak)
    refused = replace(last, outcome="over_budget", fit=limit, predict=0, limit=limit)
    needed = max(LearnedStorage([*runs, refused])(last.shape, last.size).peaks)
    assert needed + overhead_bytes(last.shape) > 1.02 * limit


def test_a_data_sets_own_runs_serve_before_generated_ones(runs):
    twice = [replace(run, data="own", fit=2 * run.fit) for run in runs]
    both = [*runs, *twice]
    larger = max(LearnedStorage(both, "own")(SHAPE, 50).peaks)
    assert larger > 1.5 * max(LearnedStorage(both, GENERATED)(SHAPE, 50).peaks)
    assert LearnedStorage(both, "none of them")(SHAPE, 50) == LearnedStorage(runs)(SHAPE, 50)


def test_it_says_why_nothing_is_known():
    failed = Run(GENERATED, SHAPE, 8, 0, "error", "ValueError: no", 0, 0, 0.1)
    with pytest.raises(LearningError, match="size 8 ended as error: ValueError: no"):
        LearnedStorage([failed])(SHAPE, 8)
    with pytest.raises(LearningError, match="nothing was measured"):
        LearnedStorage([])(SHAPE, 8)


def test_a_model_to_paste_says_the_same(runs):
    from harness import Arrays, Storage

    fitted = LearnedStorage(runs).overall()
    names = {"Storage": Storage, "Arrays": Arrays}
    exec(fitted.source(), names)
    pasted = METHOD.learned(names["storage"])
    assert not is_learned(pasted)
    for size in (10, 200):
        told, real = pasted.held(SHAPE, size, {}).peaks, own(SHAPE, size)
        assert real <= max(told) <= 1.1 * real + 50_000


def test_runs_are_read_as_they_were_written(runs):
    assert [Run.of(run.as_dict()) for run in runs] == runs
