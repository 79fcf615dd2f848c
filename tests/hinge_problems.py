"""Problems that hinge machines are tried on, and calls of functions, counted."""

import numpy as np

from harness import kernels


def problem(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)
    return X, y


def features_of(X, b, name="rbf", width=1.0):
    kernel = kernels.bind_kernel(name, X, width, "absolute")
    return kernels.LandmarkFeatures(X[:b], kernel)


def counted(monkeypatch, module, name):
    """Return a list that grows by the arguments of every call."""
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(
        module, name, lambda *a, **options: [calls.append(a), function(*a, **options)][1]
    )
    return calls


def noisy():
    """Return points, labels that often contradict them, and features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6)).astype(np.float32)
    codes = (X[:, 0] * X[:, 1] + rng.normal(size=4000) > 0).astype(int)
    return X, codes, features_of(X, 50, width=2.0)


def separable():
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(1000, 20))).astype(np.float32)
    return X, (X @ rng.normal(size=(20, 3))).argmax(axis=1)
