"""A method on a stream that looks for labels where a trial could have them."""

import gc
import os
import stat

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from harness import Method, hookimpl


class Peeking(ClassifierMixin, BaseEstimator):
    """Scores points by whatever it can read ahead; without that it says 0 of all of them."""

    def fit(self, X, y):
        return self.partial_fit(X, y, np.unique(y))

    def partial_fit(self, X, y, classes=None):
        self.classes_ = classes
        return self

    def decision_function(self, X):
        found = self._ahead(len(X))
        return np.zeros(len(X)) if found is None else 2.0 * found - 1

    def _ahead(self, n):
        for descriptor in range(256):
            try:
                if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                    continue
                os.set_blocking(descriptor, False)
                try:
                    content = os.read(descriptor, n)
                finally:
                    os.set_blocking(descriptor, True)
            except OSError:
                continue
            if len(content) == n:
                return np.frombuffer(content, np.int8)
        for thing in gc.get_objects():
            y = getattr(thing, "y_labeled", None)
            if isinstance(y, np.ndarray) and len(y) >= n:
                return y[:n]
        return None


@hookimpl
def harness_methods():
    """Provide it."""
    yield Method("peeking", Peeking, lambda shape, size: 1_000_000, uses_unlabeled=False)
