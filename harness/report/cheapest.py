"""What to take of methods that cannot be told apart: one rule for commands, page and advice.

A test of few seeds tells little apart, so that the cheapest of many may be far behind to save next
to nothing. Bytes within a tenth of the fewest therefore count as equal, and the highest mean of
those is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

EQUALLY_CHEAP = 1.1
"""Costs up to this multiple of the least count as equal."""

_One = TypeVar("_One")


def take_of(
    level: Iterable[_One], cost: Callable[[_One], float], behind: Callable[[_One], float]
) -> _One:
    """Return the best by its mean of those that are as cheap as the cheapest, within a tenth.

    Parameters
    ----------
    level : iterable
        Methods that cannot be told apart; at least one.
    cost : callable
        Bytes, or the largest share of a limit; infinity where that is not known.
    behind : callable
        How far the mean is from the best, larger is worse. Of equal means the cheaper is taken.
    """
    known = list(level)
    most = EQUALLY_CHEAP * min(map(cost, known))
    return min(
        (one for one in known if cost(one) <= most), key=lambda one: (behind(one), cost(one))
    )
