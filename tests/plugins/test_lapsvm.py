"""LapSVM in the primal against the dual, whose kernel is deformed by all points."""

import numpy as np
import pytest
from blobs import blobs
from dense import gaussian, median, off, squared_hinge
from lapsvm import LapSVM
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from harness import kernels


@pytest.mark.parametrize("manifold", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_primal_is_at_the_minimum_of_the_dual(C, manifold):
    """Belkin et al. 2006, by the kernel of Sindhwani, Niyogi & Belkin 2005, in dense float64."""
    X, y, _ = blobs(60, 2)
    X = X - kernels.column_medians(X)
    model = LapSVM(C=C, manifold=manifold, sigma=0.5, tol=1e-7).fit(X, y)
    sigma, n, known = 0.5 * median(X), len(X), np.flatnonzero(y != -1)
    K = gaussian(X, X, sigma)
    W = kernels.NeighborGraph(X, 10, sigma).multiply(np.arange(n), np.eye(n))
    M = 2 * manifold * (np.diag(W.sum(axis=1)) - W) / W.sum()
    deformed = K @ np.linalg.solve(np.eye(n) + M @ K, np.eye(n)[:, known])
    signs = np.where(y[known] == 1, 1.0, -1.0)
    expected = squared_hinge(deformed[known], signs, C)
    assert off(model.decision_scores_[known], expected) < 1e-3
    # out of sample it is the same function
    assert off(model.decision_function(X), model.decision_scores_) < 1e-4


def test_without_a_manifold_the_other_points_do_not_matter():
    X, y, _ = blobs(60, 2)
    known = y != -1
    width = {"sigma": 1.5, "sigma_unit": "absolute"}
    seen = LapSVM(manifold=0, tol=1e-7, **width).fit(X, y)
    alone = LapSVM(manifold=0, tol=1e-7, **width).fit(X[known], y[known])
    assert off(seen.decision_function(X), alone.decision_function(X)) < 1e-3


def test_scores_are_smoother_along_the_graph_the_more_it_weighs():
    X, y, _ = blobs(60, 2)
    W = kernels.NeighborGraph(X, 10, median(X)).multiply(np.arange(120), np.eye(120))
    steps = []
    for manifold in (0.0, 10.0, 1e3):
        f = LapSVM(manifold=manifold).fit(X, y).decision_scores_
        steps.append((W * (f[:, None] - f) ** 2).sum())
    assert steps[0] > steps[1] > steps[2]


def test_two_moons_with_two_labels_each():
    X, truth = make_moons(300, noise=0.06, random_state=1)
    found, supervised = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        known = np.concatenate([rng.choice(np.flatnonzero(truth == c), 2) for c in (0, 1)])
        y = np.full(300, -1)
        y[known] = truth[known]
        model = LapSVM(C=100.0, manifold=1e4, sigma=0.15).fit(X, y)
        found.append((model.transduction_ == truth).mean())
        supervised.append(SVC(C=100.0).fit(X[known], truth[known]).score(X, truth))
    assert np.mean(found) > 0.93
    assert np.mean(found) > np.mean(supervised) + 0.05
