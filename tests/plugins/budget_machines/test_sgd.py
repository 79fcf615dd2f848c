"""Gradient descent by batches, whatever blocks the kernel rows come in."""

import numpy as np
import pytest
from budget_machines.objective import LandmarkProblem
from budget_machines.sgd import descend

from harness import kernels
from harness.kernels import landmark_features
from harness.semi_supervised import read_labels


def problem(n=700, d=20, loss="hinge"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    labels = read_labels((X[:, 0] > 0).astype(int) + (X[:, 1] > 1))
    features = kernels.LandmarkFeatures(X[:10], kernels.bind_kernel("rbf", X))
    return LandmarkProblem(features, X, np.arange(n), labels, 1.0, loss)


def descended(problem, batch, epochs=2):
    a, b = descend(problem, epochs, batch, np.random.RandomState(0))
    return np.vstack([a, b])


@pytest.mark.parametrize("loss", ["hinge", "squared"])
@pytest.mark.parametrize("batch", [1, 30, 64, 300, 10**5])
def test_blocks_do_not_cut_batches(batch, loss, monkeypatch):
    given = problem(loss=loss)
    expected = descended(given, batch)
    for rows in (50, 83):
        monkeypatch.setattr(landmark_features, "block_rows", lambda *_, rows=rows: rows)
        np.testing.assert_allclose(descended(given, batch), expected, atol=1e-4)


def test_batches_larger_than_a_block_differ():
    # a block has 83 rows
    given = problem(n=1500, d=784)
    found = [descended(given, batch) for batch in (64, 83, 600, 10**5)]
    for i, one in enumerate(found):
        for other in found[:i]:
            assert np.abs(one - other).max() > 1e-3


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_one_step_of_all_rows_is_along_the_gradient(loss):
    given = problem(loss=loss)
    found = descended(given, 10**5, epochs=1)
    features = given.features
    near = features.near(given.X, np.float64)
    K = features.kernel(near, features.landmarks.astype(np.float64))
    # at zero y - f and the slope of the hinge are y
    gradient = np.vstack([K.T, np.ones(len(K))]) @ given.labels.targets()
    np.testing.assert_allclose(found / gradient, (found / gradient)[-1, -1], rtol=1e-3)
