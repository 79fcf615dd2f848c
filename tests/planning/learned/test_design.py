"""What is measured is enough: plans by learned models are those of the truth."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import Estimator, measured, run_of

from harness.planning.learned.design import Design, Wanted
from harness.planning.learned.runs import GENERATED, repeats_of
from harness.plugin.method import Method
from harness.plugin.shape import Shape

SHAPE = Shape(200, 3_800, 20, 2)


def kernel(shape, size):
    return shape.data_bytes + 8 * shape.n**2 + 100_000


def landmarks(shape, size):
    return shape.data_bytes + 8 * shape.n * size + 24 * size**2 + 50_000


def cache(shape, size):
    return shape.data_bytes + min(8 * shape.n**2, 4_000_000) + 64 * shape.n


def kept(shape, size):
    return shape.data_bytes + 16 * shape.n_labeled * shape.n


METHODS = {
    "all pairs": (Method("a", Estimator), kernel),
    "labeled only": (Method("b", Estimator, uses_unlabeled=False), kernel),
    "landmarks": (Method("c", Estimator, size="rank"), landmarks),
    "a full cache": (Method("d", Estimator), cache),
    "a subsample": (Method("e", Estimator, size="n_unlabeled"), kept),
}


@pytest.mark.parametrize("budget", [2_000_000, 9_000_000, 60_000_000])
@pytest.mark.parametrize("name", METHODS)
def test_a_plan_fits_and_uses_its_budget(name, budget):
    method, own = METHODS[name]
    design, runs = measured(method, SHAPE, [budget], own)
    found = design.planned(runs, budget)
    if not found.feasible:
        assert min(run.peak for run in runs) > 0.9 * budget - 60_000
        return
    trial = Wanted(found.size, found.n_kept)
    peak = run_of(design, trial, own).peak
    assert peak <= found.planned_bytes <= budget
    seen = method.training_shape(SHAPE, found.size, found.n_kept)
    everything = seen.n == method.training_shape(SHAPE).n and found.size in (
        None,
        seen.n,
        seen.n_unlabeled,
    )
    # what a plan has for noise is a part of few bytes only
    assert everything or peak >= 0.93 * budget - 60_000


def test_all_budgets_of_a_study_share_what_is_measured():
    budgets = [2_000_000, 9_000_000, 60_000_000]
    method, own = METHODS["landmarks"]
    _, together = measured(method, SHAPE, budgets, own)
    alone = sum(len(measured(method, SHAPE, [budget], own)[1]) for budget in budgets)
    assert len(together) < alone


@pytest.mark.parametrize("other", [{"n_labeled": 400}, {"itemsize": 4}, {"n_features": 40}])
def test_what_another_shape_held_is_no_reason_to_measure_less(other):
    method, own = METHODS["landmarks"]
    _, known = measured(method, SHAPE, [6_000_000, 9_000_000, 12_000_000], own)
    shape = replace(SHAPE, **other)
    design, runs = measured(method, shape, [9_000_000], own, known=known)
    found = design.planned(runs, 9_000_000)
    peak = run_of(design, Wanted(found.size, found.n_kept), own).peak
    assert 0.9 * 9_000_000 <= peak <= found.planned_bytes


def test_few_trials_are_measured():
    for name, (method, own) in METHODS.items():
        _, runs = measured(method, SHAPE, [9_000_000, 60_000_000], own)
        assert len(runs) <= 22, name


def test_nothing_is_measured_again():
    design, runs = measured(*METHODS["landmarks"][:1], SHAPE, [9_000_000], METHODS["landmarks"][1])
    assert design.next(runs) is None
    assert design.next(runs[:-1]) is not None


def test_peaks_that_differ_by_chance_widen_the_plan():
    method, own = METHODS["labeled only"]
    shape = Shape(1_000, 100, 20, 2)
    steady = measured(method, shape, [20_000_000], own)
    unsteady = measured(method, shape, [20_000_000], own, lambda repeat: 0.1 * (repeat % 2))
    assert len(unsteady[1]) > len(steady[1])
    plans = [design.planned(runs, 20_000_000) for design, runs in (steady, unsteady)]
    largest = max(run.peak for run in unsteady[1])
    assert plans[0].planned_bytes < largest < plans[1].planned_bytes


def test_repeats_are_of_a_large_trial_and_more_where_peaks_differ():
    method, own = METHODS["landmarks"]
    for deviation, most in ((0.0, 3), (0.05, 8)):
        noise = dict(enumerate([0, *np.random.default_rng(3).normal(0, deviation, 20)]))
        _, runs = measured(method, SHAPE, [2_000_000, 20_000_000], own, noise.__getitem__)
        repeats = {what: len(found) for what, found in repeats_of(runs).items()}
        assert max(repeats.values()) == most
        (_, shape, size), _ = max(repeats.items(), key=lambda item: item[1])
        assert max(run.peak for run in runs if (run.shape, run.size) == (shape, size)) > 10**7


def test_an_allocation_that_is_refused_and_never_touched_is_planned_for():
    method, own = METHODS["landmarks"]

    def run(design, wanted):
        # a tenth more is asked for than is touched
        found = run_of(design, wanted, own)
        if not wanted.limit or not found.ok or 1.1 * found.fit <= wanted.limit:
            return found
        return replace(found, outcome="over_budget", fit=wanted.limit, predict=0)

    budgets = [4_000_000, 9_000_000]
    design = Design(method, SHAPE, [(many, None) for many in budgets], {}, GENERATED)
    runs = []
    while (wanted := design.next(runs)) is not None:
        runs.append(run(design, wanted))
        assert len(runs) < 40
    for budget in budgets:
        found = design.planned(runs, budget)
        again = run(design, Wanted(found.size, found.n_kept, limit=budget))
        assert again.ok
        assert again.fit > 0.8 * budget


@pytest.mark.parametrize("draw", range(12))
def test_a_formula_far_from_the_truth_is_set_right_by_what_a_refused_trial_holds(draw):
    """Sizes are tried on few points, and rows held for all of them are five times as many."""
    method = Method("f", Estimator, size="rank", sizes=lambda shape: (1, 100_000))
    shape, budget, noise = Shape(50, 519, 30, 2), 4_000_000, np.random.default_rng(draw)
    design, runs = Design(method, shape, [(budget, None)], {}, GENERATED), []

    def run(wanted):
        more = noise.uniform(0, 60_000)
        return run_of(design, wanted, lambda seen, size: 8 * seen.n * (30 + size) + more)

    while (wanted := design.next(runs)) is not None:
        runs.append(run(wanted))
        assert len(runs) < 30
    found = design.planned(runs, budget)
    assert 0.9 * budget < run(Wanted(found.size, found.n_kept)).peak <= found.planned_bytes


def test_where_no_budget_is_given_the_largest_trial_is_measured_if_it_is_no_monster():
    method, own = METHODS["labeled only"]
    _, runs = measured(method, SHAPE, [None], own)
    assert max(run.shape.n for run in runs) == SHAPE.n_labeled
    huge = Shape(100, 200_000, 20, 2)
    _, runs = measured(METHODS["all pairs"][0], huge, [None], kernel)
    assert all(run.peak <= 2_100_000_000 for run in runs)


def test_of_tuned_parameters_the_values_count_that_need_most():
    method, own = METHODS["landmarks"]
    settings = ['{"factor": 0.5}', '{"factor": 2.0}', '{"other": 1}']
    design, runs = measured(method, SHAPE, [9_000_000], own, settings=settings)
    assert design.setting(runs) == '{"factor": 2.0}'
    found = design.planned(runs, 9_000_000)
    trial = Wanted(found.size, found.n_kept, setting='{"factor": 2.0}')
    assert run_of(design, trial, own).peak <= found.planned_bytes
    plain = measured(method, SHAPE, [9_000_000], own)
    assert found.size < plain[0].planned(plain[1], 9_000_000).size


def test_tuned_parameters_that_change_nothing_are_tried_once_each():
    method, own = METHODS["landmarks"]
    settings = ['{"C": 0.5}', '{"C": 2.0}']
    design, runs = measured(method, SHAPE, [9_000_000], own, settings=settings)
    assert design.setting(runs) == ""
    assert [run.setting for run in runs if run.setting] == settings


def test_where_no_trial_of_a_shape_ends_well_others_of_its_data_are_no_rungs():
    """A study of 100 and 1,000 labels on one data set, of which the second has no time."""
    method, own = METHODS["labeled only"]
    _, known = measured(method, SHAPE, [9_000_000], own)
    design = Design(method, replace(SHAPE, n_labeled=2_000), [(9_000_000, None)], {}, GENERATED)
    runs = list(known)
    while (wanted := design.next(runs)) is not None:
        runs.append(replace(run_of(design, wanted, own), outcome="timeout"))
    assert len(runs) > len(known)
    assert design.setting(runs) == ""
