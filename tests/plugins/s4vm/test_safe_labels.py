"""Labels that cannot lose, whichever candidate is the truth."""

import itertools

import numpy as np
import pytest
from s4vm.safe_labels import MOST_PATTERNS, gains, safe_labels
from scipy.optimize import linprog

SIGNS = np.array([-1, 1], np.int8)


def improvement(y, t, baseline, risk):
    """Gained points less `risk` times lost ones, as Li & Zhou write it."""
    gained = ((y == t) & (t != baseline)).sum()
    lost = ((y != t) & (t == baseline)).sum()
    return gained - risk * lost


@pytest.mark.parametrize("risk", [1.0, 3.0])
def test_labels_are_never_worse_than_the_baseline_whichever_candidate_is_true(risk):
    rng, changed = np.random.default_rng(0), 0
    for _ in range(60):
        t, u = rng.integers(1, 6), rng.integers(1, 40)
        truth = rng.choice(SIGNS, u)
        candidates = np.where(rng.random((t, u)) < 0.25, -truth, truth)
        baseline = np.where(rng.random(u) < 0.4, -truth, truth)
        found = safe_labels(candidates, baseline, rng.normal(size=u), risk)
        assert np.isin(found, SIGNS).all()
        assert gains(found, candidates, baseline).min() >= 0
        changed += (found != baseline).any()
    assert changed > 20


def test_gains_are_differences_of_what_is_right():
    labels, baseline = np.array([1, 1, -1]), np.array([1, -1, -1])
    candidates = np.array([[1, 1, 1], [-1, -1, -1]])
    assert gains(labels, candidates, baseline).tolist() == [1, -1]


def test_the_least_improvement_is_near_the_best_there_is():
    """What is whole of a pattern changes; of each of at most t others half a point is lost."""
    rng = np.random.default_rng(1)
    every = np.array(list(itertools.product(SIGNS, repeat=8)))
    for _ in range(20):
        candidates, baseline = rng.choice(SIGNS, (3, 8)), rng.choice(SIGNS, 8)
        best = max(min(improvement(y, t, baseline, 2.0) for t in candidates) for y in every)
        found = safe_labels(candidates, baseline, rng.normal(size=8), 2.0)
        least = min(improvement(found, t, baseline, 2.0) for t in candidates)
        assert max(0, best - 3) <= least <= best


def test_points_of_a_pattern_are_one_variable_of_the_same_program():
    rng = np.random.default_rng(2)
    truth = rng.choice(SIGNS, 400)
    candidates = np.where(rng.random((5, 400)) < 0.3, -truth, truth).astype(np.int8)
    baseline = np.where(rng.random(400) < 0.4, -truth, truth).astype(np.int8)
    found = safe_labels(candidates, baseline, rng.normal(size=400), 2.0)
    least = min(improvement(found, t, baseline, 2.0) for t in candidates)
    # the program of all points, which bounds every labeling
    slopes = (3.0 * candidates + 1.0 * baseline) / 4
    offsets = (-1.0 * 400 - 3.0 * (candidates @ baseline.astype(float))) / 4
    left = np.column_stack([-slopes, np.ones(5)])
    bounds = [*[(-1, 1)] * 400, (None, None)]
    bound = -linprog([*[0] * 400, -1], left, offsets, bounds=bounds).fun
    assert bound > 20
    assert bound - 5 * 3 / 2 - 1 <= least <= bound + 1e-6


def test_rare_patterns_stay_and_nothing_is_lost():
    rng = np.random.default_rng(3)
    truth = rng.choice(SIGNS, 3000)
    candidates = np.where(rng.random((10, 3000)) < 0.3, -truth, truth).astype(np.int8)
    baseline = np.where(rng.random(3000) < 0.4, -truth, truth).astype(np.int8)
    patterns = np.unique(np.vstack([candidates, baseline]), axis=1)
    assert patterns.shape[1] > 2 * MOST_PATTERNS
    found = safe_labels(candidates, baseline, rng.normal(size=3000), 3.0)
    least = min(improvement(found, t, baseline, 3.0) for t in candidates)
    assert least > 100
    assert gains(found, candidates, baseline).min() >= least


def test_of_a_pattern_the_least_sure_points_change():
    baseline = np.ones(4, np.int8)
    candidates = np.array([[-1, -1, -1, -1], [1, 1, -1, -1]], np.int8)
    # the last two are gained either way
    found = safe_labels(candidates, baseline, np.array([3.0, 0.1, 2.0, 1.0]), 1.0)
    assert found[2:].tolist() == [-1, -1]


def test_of_one_candidate_the_labels_are_its_own():
    baseline, candidate = np.array([1, 1, -1, -1]), np.array([[1, -1, 1, -1]])
    assert safe_labels(candidate, baseline, np.ones(4), 3.0).tolist() == [1, -1, 1, -1]


def test_of_two_opposites_the_baseline_stays():
    baseline = np.array([1, 1, -1, -1])
    candidates = np.array([baseline, -baseline])
    assert safe_labels(candidates, baseline, np.ones(4), 1.0).tolist() == [1, 1, -1, -1]
