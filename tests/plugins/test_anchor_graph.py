"""Anchor graph regularisation against dense matrices, and what it is for."""

import anchor_graph
import numpy as np
import pytest
from anchor_graph import AnchorGraphRegularization
from blobs import blobs
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from harness import Shape
from harness.planning.size import plan


def dense_ties(model, X):
    nearest, weights = model._ties.of(X)
    Z = np.zeros((len(X), len(model.anchors_)))
    np.put_along_axis(Z, nearest, weights, axis=1)
    return Z


@pytest.mark.parametrize("weights", ["lae", "kernel"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_of_anchors_are_those_of_the_dense_system(n_classes, weights):
    X, y, _ = blobs(60, n_classes)
    model = AnchorGraphRegularization(30, weights=weights, gamma=0.1, sigma=0.3, random_state=0)
    model.fit(X, y)
    Z = dense_ties(model, X)
    W = Z / np.maximum(Z.sum(axis=0), 1e-300) @ Z.T
    np.testing.assert_allclose(W.sum(axis=1), 1)
    laplacian = Z.T @ (np.eye(len(X)) - W) @ Z
    known = y != -1
    targets = np.eye(n_classes)[y[known]]
    system = Z[known].T @ Z[known] + 0.1 * laplacian
    A = np.linalg.lstsq(system, Z[known].T @ targets, rcond=1e-8)[0]
    # what no label reaches is of no class in the paper, and here of the prior
    reached = Z @ A
    sure = reached.sum(axis=1) > 0.99
    np.testing.assert_allclose((Z @ model.anchor_labels_)[sure], reached[sure], atol=1e-3)
    assert sure.mean() > 0.9
    np.testing.assert_allclose(model.class_mass_, (Z @ model.anchor_labels_).mean(axis=0))
    scores = Z @ model.anchor_labels_ / model.class_mass_
    expected = scores if n_classes == 3 else scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


def test_of_all_points_as_anchors_each_its_own_labels_are_the_given_ones():
    """Z and W are then the identity, so that no label reaches another point."""
    X, y, _ = blobs(20, 3)
    model = AnchorGraphRegularization(60, n_neighbors=1, random_state=0).fit(X, y)
    found, known = dense_ties(model, X) @ model.anchor_labels_, y != -1
    np.testing.assert_allclose(found[known], np.eye(3)[y[known]], atol=1e-6)
    np.testing.assert_allclose(found[~known], 1 / 3, atol=1e-6)


def test_smoothness_pulls_scores_together():
    X, y, _ = blobs(60, 2)
    spreads = [
        np.ptp(model.anchor_labels_[:, 0])
        for gamma in (1e-3, 1.0, 1e3)
        for model in [AnchorGraphRegularization(40, gamma=gamma, random_state=0).fit(X, y)]
    ]
    assert spreads[0] > spreads[1] > spreads[2]


def test_anchors_are_means_and_kmeans_iter_zero_leaves_them_points():
    X, y, _ = blobs(60, 2)
    found = {}
    for rounds in (0, 10):
        model = AnchorGraphRegularization(20, kmeans_iter=rounds, random_state=0).fit(X, y)
        apart = ((X[:, None] - model.center_ - model.anchors_) ** 2).sum(axis=2)
        found[rounds] = apart.min(axis=1).sum()
        points = apart.min(axis=0) < 1e-10
        assert points.all() if not rounds else not points.all()
    assert found[10] < found[0]


@pytest.mark.parametrize("weights", ["lae", "kernel"])
def test_two_moons_with_three_labels_each(weights):
    X, truth = make_moons(600, noise=0.08, random_state=0)
    accuracy, supervised = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        known = np.concatenate([rng.choice(np.flatnonzero(truth == c), 3) for c in (0, 1)])
        y = np.full(600, -1)
        y[known] = truth[known]
        model = AnchorGraphRegularization(60, weights=weights, sigma=0.1, random_state=seed)
        accuracy.append((model.fit(X, y).predict(X) == truth).mean())
        supervised.append(SVC().fit(X[known], truth[known]).score(X, truth))
    assert np.mean(accuracy) > 0.95
    assert np.mean(accuracy) > np.mean(supervised) + 0.05


def test_a_plan_leaves_anchors_that_points_share():
    """Where all points are anchors each is tied to itself: more bytes would give less."""
    (method,) = (m for m in anchor_graph.harness_methods() if m.name == "anchor-graph")
    shape = Shape(20, 670, 42, 2)
    assert plan(method, shape, 4 * 10**6).size == plan(method, shape, 10**9).size == 172
    assert plan(method, Shape(2, 1, 4, 2), 10**9).size == 1
