"""Search spaces: what values a parameter may take while it is tuned.

Every distribution maps the unit interval to values (`at`), so that one description serves all
searches: to them a space is the unit cube.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from harness.errors import HarnessError


@runtime_checkable
class Distribution(Protocol):
    """A set of values with an order, addressed by a position between 0 and 1."""

    def at(self, position: float) -> object:
        """Return the value at a position of the unit interval [0, 1)."""

    def grid(self, points: int) -> list[Any]:
        """Return at most `points` values spread over the whole range."""


@dataclass(frozen=True)
class Uniform:
    """Real numbers between `low` and `high`, equally likely, on a linear or logarithmic scale."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            message = f"a range needs low < high (and low > 0 if logarithmic), got {self}"
            raise ValueError(message)

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}" + (", logarithmic" if self.log else "")

    def at(self, position: float) -> float:
        """Return the value at a position of the unit interval."""
        if self.log:
            span = math.log(self.high / self.low)
            return self.low * math.exp(position * span)
        return self.low + position * (self.high - self.low)

    def grid(self, points: int) -> list[float]:
        """Return `points` values from `low` to `high`, both included; the middle if only one."""
        if points == 1:
            return [self.at(0.5)]
        return [self.at(i / (points - 1)) for i in range(points)]


@dataclass(frozen=True)
class Choice:
    """One of a few values of any kind."""

    values: tuple[Any, ...]

    def __str__(self) -> str:
        *most, last = (str(value) for value in self.values)
        return f"{', '.join(most)} or {last}" if most else last

    def at(self, position: float) -> object:
        """Return the value at a position of the unit interval."""
        return self.values[min(int(position * len(self.values)), len(self.values) - 1)]

    def grid(self, points: int) -> list[Any]:
        """Return all values: a choice is never thinned out."""
        return list(self.values)


def uniform(low: float, high: float) -> Distribution:
    """Real numbers between `low` and `high`."""
    return Uniform(low, high)


def log_uniform(low: float, high: float) -> Distribution:
    """Positive real numbers between `low` and `high`, every order of magnitude equally likely."""
    return Uniform(low, high, log=True)


def choice(values: Sequence[Any]) -> Distribution:
    """One of `values`."""
    return Choice(tuple(values))


def read_range(written: Any) -> Distribution:
    """Read what a study says that a parameter may be.

    Parameters
    ----------
    written : list, or mapping of one of "uniform" and "log_uniform" to [low, high]

    Raises
    ------
    HarnessError
        If it is neither, with what is allowed.
    """
    if isinstance(written, list) and written:
        return choice(written)
    ends = (
        next(iter(written.values())) if isinstance(written, dict) and len(written) == 1 else None
    )
    kind = {"uniform": uniform, "log_uniform": log_uniform}.get(
        next(iter(written)) if ends else ""
    )
    if kind and isinstance(ends, list) and len(ends) == 2 and all(map(_is_number, ends)):
        try:
            return kind(*ends)
        except ValueError:
            raise HarnessError(
                f"{written!r}: the first end must be below the second, and above 0 in log_uniform"
            ) from None
    raise HarnessError(
        f"{written!r} is neither a list of values nor a range, such as "
        "{log_uniform: [0.01, 100]} or {uniform: [0, 1]}"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def contains(distribution: Distribution, value: Any) -> bool:
    """Say whether a value lies in a range, or among the values of a choice."""
    if isinstance(distribution, Uniform):
        return _is_number(value) and distribution.low <= value <= distribution.high
    return value in distribution.grid(1)


def settings_at(
    space: Mapping[str, Distribution], positions: Iterable[Iterable[float]]
) -> list[dict[str, Any]]:
    """Return the settings at positions of the unit cube, its axes in the order of sorted names.

    Parameters
    ----------
    space : mapping of str to Distribution
    positions : (n, len(space)) array
        Between 0 and 1.

    Returns
    -------
    list of dict
        One a row: parameter names to values.
    """
    names = sorted(space)
    return [
        {name: space[name].at(float(x)) for name, x in zip(names, row, strict=True)}
        for row in positions
    ]
