"""What papers' algorithms do to a kernel expansion, point by point in float64."""

import numpy as np
from blobs import blobs

SIGMA = 1.5
AS_GIVEN = {"shuffle": False, "sigma": SIGMA, "sigma_unit": "absolute", "random_state": 0}


def gaussian(X, Z):
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / (2 * SIGMA**2))


def problem(n_classes=2, per_class=80, seed=0):
    """All points labeled; classes overlap, so that there is something to learn all the time."""
    X, _, y = blobs(per_class, n_classes, d=3, seed=seed)
    return np.rint(64 * X) / 64, y


def directions(y, scores, n_machines):
    """The machines that a point is learned by, and its margin."""
    if n_machines == 1:
        sign = 1.0 if y == 1 else -1.0
        return np.array([sign]), sign * scores[0]
    others = np.where(np.arange(n_machines) == y, -np.inf, scores)
    direction = np.zeros(n_machines)
    direction[y], direction[others.argmax()] = 1, -1
    return direction, scores[y] - others.max()


class Expansion:
    """A function of any number of points of X, and what algorithms of the papers do to it."""

    def __init__(self, X, n_machines=1):
        self.K, self.rows, self.coef = gaussian(X, X), [], np.zeros((0, n_machines))

    def scores(self, t):
        return self.K[t, self.rows] @ self.coef

    def append(self, t, coef):
        self.rows.append(t)
        self.coef = np.vstack([self.coef, coef])

    def drop(self, slot):
        del self.rows[slot]
        self.coef = np.delete(self.coef, slot, axis=0)

    def all_scores(self):
        return self.K[:, self.rows] @ self.coef


def run(X, y, update, least=0.0, n_machines=1, before=None):
    """Go through the points; return the function and the mistakes."""
    f, mistakes = Expansion(X, n_machines), 0
    for t in range(len(X)):
        direction, margin = directions(y[t], f.scores(t), n_machines)
        mistakes += margin <= 0
        if before:
            before(f, t)
        if margin <= 0 or margin < least:
            update(f, t, direction, margin)
    return f, mistakes


def assert_same(estimator, X, y, f, mistakes):
    estimator.fit(X, y)
    expected = f.all_scores()
    found = estimator.decision_function(X).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * np.ptp(expected))
    assert estimator.mistakes_ == mistakes
    assert estimator.n_seen_ == len(X)


def perceptron(f, t, direction, margin):
    f.append(t, direction)
