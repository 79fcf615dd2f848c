"""A toy problem: normal clouds, of which few points are labeled."""

import numpy as np


def blobs(per_class, n_classes, d=4, labeled=6, seed=0):
    """Return X, y with -1 where unlabeled, and the whole truth."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_classes), per_class)
    centres = 1.5 * rng.normal(size=(n_classes, d))
    X = centres[truth] + rng.normal(size=(len(truth), d))
    y = np.full(len(truth), -1)
    for label in range(n_classes):
        y[np.flatnonzero(truth == label)[:labeled]] = label
    order = rng.permutation(len(truth))
    X = X[order]
    X.setflags(write=False)
    return X, y[order], truth[order]
