"""Degrees in the Nystrom kernel."""

import numpy as np
from ksc.components import landmark_degree_weights

from harness import kernels


def test_degrees_from_all_points_as_landmarks_are_exact():
    X = np.random.default_rng(0).normal(size=(300, 7)) + 3
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 2)
    weights = landmark_degree_weights(X, X, 1.0, kernels.NystromFeatures(X, 1.0).projection)
    np.testing.assert_allclose(K @ weights, K.sum(axis=1), rtol=1e-8)
