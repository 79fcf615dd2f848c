"""Separators are local minima of the transductive objective, and differ."""

import numpy as np
import pytest
from blobs import blobs
from s4vm.separators import Separation, diverse, highest

from harness.semi_supervised import LinearProduct
from harness.semi_supervised.squared_hinge import Expansion


def separation(weight=0.05, seed=0):
    X, y, _ = blobs(40, 2, seed=seed)
    labeled, unlabeled = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    targets = np.where(y[labeled] == 1, 1.0, -1.0)
    return Separation(LinearProduct(X), labeled, unlabeled, targets, 1.0, weight)


def test_highest_gives_so_many_the_label_of_the_positive():
    assert highest(np.array([0.1, 3.0, -1.0, 3.0]), 2).tolist() == [-1, 1, -1, 1]
    assert highest(np.array([0.1, 3.0]), 0).tolist() == [-1, -1]


@pytest.mark.parametrize("seed", range(3))
def test_no_exchange_of_two_labels_lowers_the_objective_of_a_separator(seed):
    problem = separation(seed=seed)
    rng = np.random.default_rng(seed)
    u = len(problem.unlabeled)
    start = Expansion.zero(problem.kernel.n)
    objective, labels = problem.separator(highest(rng.random(u), u // 2), u // 2, start)
    assert (labels > 0).sum() == u // 2
    f = problem.machine(labels, start, 1e-8)
    # at the minimum of these labels all positive points are above all others
    scores = f.scores[problem.unlabeled]
    assert scores[labels > 0].min() >= scores[labels < 0].max() - 1e-3 * np.ptp(scores)
    assert objective == pytest.approx(f.objective(problem.losses(labels)), rel=0.02)


def test_of_each_cluster_the_best_labels_stay():
    rng = np.random.default_rng(0)
    centers = np.where(rng.random((3, 60)) < 0.5, -1, 1)
    group = np.repeat(np.arange(3), 8)
    labels = np.where(rng.random((24, 60)) < 0.05, -1, 1) * centers[group]
    objectives = rng.random(24)
    best = {tuple(labels[g * 8 + objectives[group == g].argmin()]) for g in range(3)}
    found = diverse(objectives, labels.astype(np.int8), 3, np.random.RandomState(0))
    assert {tuple(one) for one in found} == best


def test_equal_labels_are_one():
    labels = np.array([[1, -1], [1, -1], [-1, 1]], np.int8)
    found = diverse(np.arange(3.0), labels, 5, np.random.RandomState(0))
    assert sorted(found.tolist()) == [[-1, 1], [1, -1]]
