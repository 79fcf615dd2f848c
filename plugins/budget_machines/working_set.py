"""Which rows a hinge machine is trained on next, and which need no more than their sum."""

from __future__ import annotations

import numpy as np


def farthest(margins: np.ndarray, signs: np.ndarray, may: np.ndarray, most: int) -> np.ndarray:
    """Return rows to bind, those of least margin; half of either sign's stay, for the bias."""
    of_a_sign = [np.flatnonzero(may & (signs == sign)) for sign in (1, -1)]
    lowest = [rows[np.argsort(margins[rows])[: len(rows) // 2]] for rows in of_a_sign]
    rows = np.concatenate(lowest)
    return rows[np.argsort(margins[rows])[:most]]


def working_set(
    margins: np.ndarray,
    signs: np.ndarray,
    pulling: np.ndarray,
    candidates: np.ndarray,
    most: int,
    reach: float,
) -> np.ndarray:
    """Return the rows to train on next: those that pull already, and some of the candidates.

    While the rows that pull stay, the dual never falls. Of the candidates whose margin is below 1
    any are taken, since the worst would be the outliers, then those of least margin, but none far
    above: `most` rows in all, or what pulls and an eighth as many. Where all are of one sign, as
    where a class is rare, the bias would be free: half of them give way to the rows of least
    margin of the other.
    """
    n_pulling = int(pulling.sum())
    room = max(most - n_pulling, n_pulling // 8, 1)
    others = np.flatnonzero(candidates)
    below = others[margins[others] < 1]
    if room < len(below):
        others = np.random.default_rng(len(below)).choice(below, room, replace=False)
    else:
        near = others[margins[others] < 1 + reach]
        others = near if n_pulling + len(near) else others
        if room < len(others):
            others = others[np.argpartition(margins[others], room)[:room]]
    chosen = np.concatenate([np.flatnonzero(pulling), others])
    if np.ptp(signs[chosen]) == 0:
        missing = np.flatnonzero((pulling | candidates) & (signs != signs[chosen[0]]))
        half = min(len(missing), -(-len(chosen) // 2))
        missing = missing[np.argsort(margins[missing])[:half]]
        stays = max(len(chosen) - half, 1)
        chosen = np.concatenate([chosen[np.argsort(margins[chosen])[:stays]], missing])
    # Where not all can be held, those are that a solver asks for most.
    return chosen[np.argsort(margins[chosen])]
