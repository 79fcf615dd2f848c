"""Three classes that overlap, and what a machine on landmarks is made of."""

import numpy as np


def problem(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)


def pieces(model, X, y):
    """Return K_BB, k(X, B), and targets in float64."""
    B = model.landmarks_.astype(np.float64)
    kernel, near = model._features.kernel, model._features.near(X, np.float64)
    return kernel(B, B), kernel(near, B), np.where(y[:, None] == model.classes_, 1.0, -1.0)
