"""Dense references in float64, none of which shares code with what it judges."""

import os

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_digits

from harness.datasets import load_catalog
from harness.datasets.preparation import load


def odd_digits(n):
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).choice(len(X), n, replace=False)
    return X[rows] / 16, y[rows] % 2


def a9a(n):
    if not os.environ.get("HARNESS_MIRROR"):
        pytest.skip("HARNESS_MIRROR names no mirror of the real data")
    X, y = load(load_catalog()["a9a"])
    rows = np.random.default_rng(0).choice(len(X), n, replace=False)
    return X[rows].astype(np.float64), (y[rows] == 1).astype(int)


SETS = [odd_digits, a9a]


def median(X):
    return float(np.median(pdist(X[:300])))


def gaussian(X, Z, width):
    return np.exp(-cdist(X, Z, "sqeuclidean") / (2 * width**2))


def off(found, expected):
    """Return the largest error in parts of the range of what is right."""
    return np.abs(found - expected).max() / np.ptp(expected)


def squared_hinge(K, signs, costs, bias=None):
    """Return scores that minimise |f|^2 / 2 + sum c_i max(0, 1 - y_i f_i)^2, by Newton's method.

    The bias is free unless it is given. K is a matrix of doubles.
    """
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-13 * values[-1]
    Z = vectors[:, kept] * np.sqrt(values[kept])
    penalty = np.ones(Z.shape[1] + (bias is None))
    if bias is None:
        Z, penalty[-1] = np.column_stack([Z, np.ones(len(Z))]), 0
    costs, fixed = np.broadcast_to(costs, len(Z)), bias or 0.0

    def objective(w):
        slack = np.maximum(0, 1 - signs * (Z @ w + fixed))
        return penalty @ w**2 / 2 + costs @ slack**2

    w = np.zeros(Z.shape[1])
    for _ in range(500):
        slack = np.maximum(0, 1 - signs * (Z @ w + fixed))
        gradient = penalty * w - 2 * Z.T @ (costs * signs * slack)
        active = Z[slack > 0]
        curvature = np.diag(penalty) + 2 * (active.T * costs[slack > 0]) @ active
        step = np.linalg.solve(curvature, -gradient)
        length, before = 1.0, objective(w)
        while objective(w + length * step) > before and length > 1e-12:
            length /= 2
        w = w + length * step
        if before - objective(w) < 1e-15 * before:
            break
    return Z @ w + fixed


def smooth_hinge(Z, signs, C, width):
    """Return scores that minimise |w|^2 + C sum_i l(y_i (w'z_i + b)), l the smooth hinge."""
    Z = np.column_stack([Z, np.ones(len(Z))])
    penalty = np.append(np.ones(Z.shape[1] - 1), 0)

    def objective(w):
        slack = 1 - signs * (Z @ w)
        part = np.clip(slack / width, 0, 1)
        return penalty @ w**2 + C * np.sum(part * (slack - width * part / 2))

    w = np.zeros(Z.shape[1])
    for _ in range(500):
        slack = 1 - signs * (Z @ w)
        gradient = 2 * penalty * w - C * Z.T @ (np.clip(slack / width, 0, 1) * signs)
        bent = Z[(slack > 0) & (slack < width)]
        # where no row is on the parabola the bias has no curvature
        curvature = 2 * np.diag(penalty) + C / width * bent.T @ bent + 1e-7 * C * np.eye(len(w))
        step, length, before = np.linalg.solve(curvature, -gradient), 1.0, objective(w)
        while objective(w + length * step) > before and length > 1e-14:
            length /= 2
        w = w + length * step
        if before - objective(w) < 1e-15 * before:
            break
    return Z @ w


def dense_cluster_kernel(X, sigma, phi):
    """Return the cluster kernel of Chapelle et al. 2002, a line for each of its four steps."""
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * sigma**2))
    L = K / np.sqrt(np.outer(K.sum(0), K.sum(0)))
    e, U = np.linalg.eigh(L)
    L = (U[:, ::-1] * phi(np.clip(e[::-1], 0, 1))) @ U[:, ::-1].T
    return L / np.sqrt(np.outer(np.diag(L), np.diag(L)))
