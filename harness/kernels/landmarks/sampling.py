"""What selectors share: rows drawn without replacement, and the bytes of a row that is scored."""

from __future__ import annotations

import numpy as np
from sklearn.utils.random import sample_without_replacement


def draw_rows(n: int, size: int, random_state: np.random.RandomState) -> np.ndarray:
    """Draw min(n, size) numbers below n uniformly; ascending, as files are best read."""
    if size >= n:
        return np.arange(n)
    return np.sort(sample_without_replacement(n, size, random_state=random_state))


def fill_up(
    chosen: np.ndarray, rows: np.ndarray, size: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Add rows that are not chosen yet, at random, until there are `size`.

    Of distinct `rows`, ascending, that need not have all of `chosen` among them.
    """
    if len(chosen) == size:
        return chosen
    left = np.ones(len(rows), bool)
    places = np.searchsorted(rows, chosen)
    found = places < len(rows)
    found[found] = rows[places[found]] == chosen[found]
    left[places[found]] = False
    others = rows[left]
    more = draw_rows(len(others), size - len(chosen), random_state)
    return np.concatenate([chosen, others[more]])


def residual_row_bytes(n_landmarks: int, n_features: int, itemsize: int) -> int:
    """Bytes held for a row of which landmarks leave a part of k(x, x) that is computed.

    It is as it is and moved, and its kernel values are in the type of X and in float64.
    """
    values = itemsize + (0 if itemsize == 8 else 8)
    return 2 * itemsize * n_features + values * n_landmarks
