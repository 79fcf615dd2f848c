"""The prototype vector machine against its dense objective, and what it is for."""

import anchor_graph
import numpy as np
import pytest
from anchor_graph.prototype_vectors import PrototypeVectorMachine
from blobs import blobs
from dense import gaussian, off
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from harness import Shape

SETTINGS = {"sigma": 0.8, "sigma_unit": "absolute", "random_state": 0}


def dense_values(model, X, y, n_classes):
    """Values that minimise the paper's objective, by dense matrices over all points."""
    V, near = model.prototypes_.astype(float), X - model.center_
    E, W = gaussian(near, V, 0.8), gaussian(V, V, 0.8)
    e, U = np.linalg.eigh(W)
    kept = e > 1e-5 * e[-1]
    Z = E @ U[:, kept] / np.sqrt(e[kept])
    K = Z @ Z.T
    H = E / E.sum(axis=1, keepdims=True)
    degrees = np.maximum(K.sum(axis=1), 1)
    S = (np.diag(degrees) - K) / K.sum(axis=1).mean()
    known = np.flatnonzero(y != -1)
    others = np.flatnonzero(y == -1)
    prior = np.bincount(y[known], minlength=n_classes) / len(known)
    Y = np.eye(n_classes)[y[known]] - prior
    M = H.T @ S @ H + model.C * H[known].T @ H[known]
    M += model.unlabeled_penalty * H[others].T @ H[others]
    return H @ np.linalg.solve(M, model.C * H[known].T @ Y) + prior


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_it_is_at_the_minimum_of_its_objective(C, n_classes):
    X, y, _ = blobs(40, n_classes)
    model = PrototypeVectorMachine(25, C=C, **SETTINGS).fit(X, y)
    F = dense_values(model, X, y, n_classes)
    expected = F[:, 1] - F[:, 0] if n_classes == 2 else F
    assert off(model.decision_function(X), expected) < 2e-3


def test_prototypes_are_means_of_the_points_nearest_to_them():
    X, y, _ = blobs(60, 2)
    model = PrototypeVectorMachine(10, kmeans_iter=100, **SETTINGS).fit(X, y)
    V, near = model.prototypes_, X - model.center_
    nearest = ((near[:, None] - V) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([near[nearest == j].mean(axis=0) for j in range(10)])
    np.testing.assert_allclose(V, means, atol=1e-4)


def test_a_fold_is_scored_as_fit_scores_it():
    X, y, _ = blobs(60, 3, labeled=12)
    rows = np.flatnonzero(y != -1)
    model = PrototypeVectorMachine(40, **SETTINGS).fit_features(X, rows)
    for held in (rows[:3], rows[5:9]):
        masked = y.copy()
        masked[held] = -1
        whole = PrototypeVectorMachine(40, **SETTINGS).fit(X, masked)
        found = model.fit_labels(masked[rows]).held_out_scores_
        assert off(found, whole.decision_function(X[held])) < 1e-3


def test_two_moons_with_few_labels():
    X, truth = make_moons(400, noise=0.06, random_state=1)
    found, supervised = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        known = np.concatenate([rng.choice(np.flatnonzero(truth == c), 4) for c in (0, 1)])
        y = np.full(400, -1)
        y[known] = truth[known]
        model = PrototypeVectorMachine(100, sigma=0.1, random_state=seed).fit(X, y)
        found.append((model.predict(X) == truth).mean())
        supervised.append(SVC(C=10.0).fit(X[known], truth[known]).score(X, truth))
    assert np.mean(found) > np.mean(supervised) + 0.03


def test_bytes_do_not_grow_with_the_points_once_landmarks_are_drawn():
    method = next(m for m in anchor_graph.harness_methods() if m.name == "pvm")

    def own(n):
        shape = Shape(100, n, 20, 2, itemsize=4, n_test=1000)
        held = method.held(shape, 200, method.params, False, False).phases()
        del held["fit: selection"]
        return max(arrays.bytes for arrays in held.values()) - shape.data_bytes

    assert own(10**6) == own(10**4)
