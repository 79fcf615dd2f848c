"""Points among which landmarks are chosen in tests, and a choice among them."""

import numpy as np

from harness import kernels


def clusters(n=1500, d=5, seed=0):
    """Return points of twelve clusters of very different sizes, no value below zero."""
    rng = np.random.default_rng(seed)
    shares = 0.6 ** np.arange(12)
    members = rng.choice(12, size=n, p=shares / shares.sum())
    return np.abs(rng.uniform(0, 20, size=(12, d))[members] + rng.normal(size=(n, d)))


def bind(X, name="rbf"):
    return kernels.bind_kernel(name, X, 0.5)


def choose(selector, X, b, seed=0, name="rbf"):
    random_state = np.random.RandomState(seed)
    return kernels.select_landmarks(selector, X, b, random_state, bind(X, name))
