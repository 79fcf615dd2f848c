"""Choice of landmarks: the few points that stand for all."""

from __future__ import annotations

import numpy as np


def uniform_landmarks(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Choose rows uniformly and without replacement (Williams & Seeger 2001).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    n_landmarks : int
    random_state : numpy.random.RandomState

    Returns
    -------
    ndarray of shape (n_landmarks,)
        Row numbers, ascending.

    Raises
    ------
    ValueError
        If more landmarks are asked for than there are points.
    """
    if n_landmarks > len(X):
        message = f"n_landmarks={n_landmarks} is more than the {len(X)} points there are"
        raise ValueError(message)
    return np.sort(random_state.choice(len(X), n_landmarks, replace=False))
