"""How near a setting is to what is asked about: points, columns, labels, classes and bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

NEAR = 0.5
"""Distance at which differences between methods count 0.61 of those at hand, in powers of ten."""

FAR = 2.0
"""The same of levels, which hardly depend on the shape: a narrower one has too few data sets."""

CLASSES_SCALE = 0.5
"""Classes vary less than points: from 2 to 6 is as far as ten times the points."""

COORDINATES = ["points", "labeled", "columns", "classes", "bytes"]


@dataclass(frozen=True)
class Query:
    """What is known of the data that advice is asked for.

    Attributes
    ----------
    n_labeled, n_unlabeled : int
        Points of the training part.
    n_features : int
    n_classes : int
        0 for regression.
    budget : float
        Bytes.
    task : {"binary", "multiclass", "regression", "clustering"}
    """

    n_labeled: int
    n_unlabeled: int
    n_features: int
    n_classes: int
    budget: float
    task: str

    @property
    def coordinates(self) -> np.ndarray:
        """Its place, shape (5,), in the order of COORDINATES."""
        n = self.n_labeled + self.n_unlabeled
        counts = (n, self.n_labeled, self.n_features, self.n_classes, self.budget)
        return _logarithms(np.array(counts, dtype=float))


def coordinates(settings: pd.DataFrame) -> np.ndarray:
    """Return the place of each setting, shape (n_settings, 5), in the order of COORDINATES.

    Parameters
    ----------
    settings : pandas.DataFrame
        With `n_labeled`, `n_unlabeled`, `n_features`, `n_classes` and `bytes`.
    """
    n = settings["n_labeled"] + settings["n_unlabeled"]
    named = [n, *(settings[name] for name in ("n_labeled", "n_features", "n_classes", "bytes"))]
    return _logarithms(np.stack([np.asarray(column, dtype=float) for column in named], axis=1))


def weights(query: np.ndarray, places: np.ndarray, scale: float = NEAR) -> np.ndarray:
    """Return how much each place counts, from 0 to 1: a Gaussian of its distance.

    Parameters
    ----------
    query : ndarray of shape (5,)
    places : ndarray of shape (n_settings, 5)
    scale : float, default NEAR
        numpy.inf lets all count alike.
    """
    return np.exp(-((places - query) ** 2).sum(axis=1) / (2 * scale**2))


def _logarithms(counts: np.ndarray) -> np.ndarray:
    found = np.log10(np.maximum(1, counts))
    found[..., 3] /= CLASSES_SCALE
    return found
