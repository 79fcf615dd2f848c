"""Row numbers drawn without replacement, in memory of the order of what is drawn."""

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
    """Add rows that are not chosen yet, at random, until there are `size`."""
    others = np.setdiff1d(rows, chosen)
    more = draw_rows(len(others), size - len(chosen), random_state)
    return np.concatenate([chosen, others[more]])
