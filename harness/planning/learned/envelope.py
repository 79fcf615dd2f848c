"""A formula for bytes that is never below what was measured, and as little above as can be.

A linear program finds it: coefficients of growing terms, none negative, so that the formula grows
with every count; every measured point is a bound from below; what is minimised is the excess,
relative to the bytes measured, so that small shapes count as much as large ones. Least squares
would need a factor on top, which the worst point sets for all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.planning.learned.terms import PRODUCTS, term_name, term_source, term_value
from harness.plugin.shape import Shape

OVERCOUNTED = 1 << 18
"""Bytes by which a formula may be below zero: what a plan has at the least for the harness."""

_SMALLEST = 500_000
"""Bytes below which an excess counts as it would at so many."""

_COSTS = {0: 0.0, 1: 1e-3, 2: 4e-3}
_PIECE = 5e-3
"""What a term costs beside the excess, as a part of its own bytes: by its factors, or as a bend.

Of formulas that are as true, the simplest says most of what was not measured.
"""

_STRAIGHT = 0.02
"""Excess of products alone up to which no bends are tried."""

_FEWER = 2e-3
"""Excess, as a part of the bytes, that is accepted for one term less."""


class Point(NamedTuple):
    """Bytes that a method held at a shape and a size.

    Attributes
    ----------
    shape : Shape
        Of the points that fit was given.
    size : int or None
    bytes : float
        What the formula is for.
    whole : float
        All bytes of the trial, which an excess is seen relative to.
    exact : bool
        False where a trial was stopped, so that it would have held more.
    """

    shape: Shape
    size: int | None
    bytes: float
    whole: float
    exact: bool = True


@dataclass(frozen=True)
class Term:
    """One term of a formula: a product of counts, or one count between two bounds.

    Attributes
    ----------
    factors : tuple of str
    itemsize : bool
        Whether elements have the bytes of X's.
    start, stop : float
        Bounds between which a single count adds to it; all by default.
    """

    factors: tuple[str, ...]
    itemsize: bool = False
    start: float = 0.0
    stop: float = float("inf")

    def __call__(self, shape: Shape, size: int | None) -> float:
        """Bytes of the term with a coefficient of one."""
        value = term_value(self.factors, self.itemsize, shape, size)
        if not self.is_piece:
            return value
        return min(max(value / 8 - self.start, 0.0), self.stop - self.start) * 8

    @property
    def is_piece(self) -> bool:
        """Whether it grows between two bounds only."""
        return self.start > 0 or self.stop < float("inf")

    @property
    def cost(self) -> float:
        """What it costs beside the excess, as a part of its own bytes."""
        return _PIECE if self.is_piece else _COSTS[len(self.factors)]

    @property
    def name(self) -> str:
        """The term as people write it."""
        text = term_name(self.factors, self.itemsize)
        if not self.is_piece:
            return text
        upper = "" if self.stop == float("inf") else f" to {self.stop:,.0f}"
        return f"{text} from {self.start:,.0f}{upper}"

    @property
    def source(self) -> str:
        """The term as Python."""
        if not self.is_piece:
            return term_source(self.factors, self.itemsize)
        count = term_source(self.factors, False).removeprefix("8 * ")
        beyond = f"max(0, {count} - {self.start:.0f})" if self.start else count
        if self.stop == float("inf"):
            return f"8 * {beyond}"
        return f"8 * min({beyond}, {self.stop - self.start:.0f})"


@dataclass(frozen=True)
class Envelope:
    """A formula: terms and their coefficients.

    Attributes
    ----------
    terms : tuple of (Term, float)
    """

    terms: tuple[tuple[Term, float], ...]

    def __call__(self, shape: Shape, size: int | None) -> float:
        """Bytes at a shape of `fit` and a size."""
        return sum(factor * term(shape, size) for term, factor in self.terms)

    def source(self) -> list[str]:
        """Return each term as Python, rounded up."""
        lines = []
        for term, factor in self.terms:
            if term.factors:
                lines.append(f"{_rounded_up(factor):g} * {term.source}")
            else:
                lines.append(f"{math.ceil(factor):_}")
        return lines


def _rounded_up(factor: float, digits: int = 3) -> float:
    step = 10.0 ** (math.floor(math.log10(factor)) - digits + 1)
    return math.ceil(factor / step) * step


def fit_envelope(
    points: Sequence[Point], lowest: float = -OVERCOUNTED, bends: bool = True, blocks: bool = True
) -> Envelope:
    """Find the formula that is least above what was measured, and never below it.

    Parameters
    ----------
    points : sequence of Point
        At least one.
    lowest : float, default -OVERCOUNTED
        The least constant.
    bends : bool, default True
        Whether the formula may bend at counts that were measured, where products alone are far
        above: near these it is truer, beyond them it says less.
    blocks : bool, default True
        Whether what is held may grow with the rows of a block, as a prediction's does.

    Returns
    -------
    Envelope
        It does not fall as any count or the size grows.
    """
    found = _Fit(points, _products(points, blocks), lowest).solve()
    if bends and found.excess > _STRAIGHT:
        # a method that changes its ways, such as a cache that is full at some size
        bent = _Fit(points, [*_products(points, blocks), *_pieces(points)], lowest).solve()
        found = min(found, bent, key=lambda fit: fit.excess + _FEWER * len(fit.used))
    return found.fewer().envelope()


def _products(points: Sequence[Point], blocks: bool) -> list[Term]:
    """List the products that these points can tell apart, simpler ones first."""
    both = len({point.shape.itemsize for point in points}) > 1
    sized = any(point.size for point in points)
    left_out = {*(() if sized else ("size",)), *(() if blocks else ("block",))}
    kinds = [Term(factors) for factors in PRODUCTS if left_out.isdisjoint(factors)]
    if both:
        kinds += [Term(term.factors, True) for term in kinds if len(term.factors) == 2]
    kept: list[Term] = []
    columns: list[np.ndarray] = []
    for term in kinds:
        column = np.array([term(point.shape, point.size) for point in points])
        if not column.any():
            continue
        column = column / np.linalg.norm(column)
        if all(abs(column @ other) < 1 - 1e-9 for other in columns):
            kept.append(term)
            columns.append(column)
    return kept


def _pieces(points: Sequence[Point]) -> list[Term]:
    """List terms that bend where something was measured: of n and of the size."""
    found = []
    for name in ("n", "size"):
        at = sorted({Term((name,))(point.shape, point.size) / 8 for point in points})
        bounds = [0.0, *at[1:-1], float("inf")] if len(at) > 2 else []
        for start, stop in itertools.pairwise(bounds):
            found.append(Term((name,), start=start, stop=stop))
    return found


class _Fit:
    """The linear program of some points and terms."""

    def __init__(self, points: Sequence[Point], terms: Sequence[Term], lowest: float) -> None:
        self.points, self.terms, self.lowest = points, list(terms), lowest
        self.scale = np.array([max(point.whole, _SMALLEST) for point in points])
        self.columns = np.array(
            [[term(point.shape, point.size) for term in terms] for point in points]
        )
        self.bytes = np.array([point.bytes for point in points])
        self.used: list[int] = []
        self.factors = np.zeros(len(terms))
        self.excess = float("inf")

    def solve(self, among: Sequence[int] | None = None) -> _Fit:
        """Solve for the terms of these numbers, all by default."""
        from scipy.optimize import linprog  # a worker has no other need of it

        among = list(range(len(self.terms))) if among is None else list(among)
        rows = self.columns[:, among] / self.scale[:, None]
        below = self.bytes / self.scale
        exact = np.array([point.exact for point in self.points])
        counted = exact if exact.any() else ~exact
        reach = np.abs(rows).max(axis=0)
        costs = np.array([self.terms[j].cost for j in among])
        objective = rows[counted].mean(axis=0) + costs * rows.mean(axis=0)
        bounds = [
            (self.lowest * reach[k] if not self.terms[j].factors else 0, None)
            for k, j in enumerate(among)
        ]
        solved = linprog(objective / reach, A_ub=-rows / reach, b_ub=-below, bounds=bounds)
        other = _Fit.__new__(_Fit)
        other.__dict__ |= self.__dict__
        if solved.x is None:  # without a constant nothing may be above a point
            other.excess = float("inf")
            return other
        factors = np.zeros(len(self.terms))
        factors[among] = solved.x / reach
        other.factors = factors
        other.used = [j for j in among if factors[j]]
        excess = (self.columns @ factors - self.bytes) / self.scale
        other.excess = float(excess[counted].mean())
        return other

    def fewer(self) -> _Fit:
        """Leave out terms as long as that costs little, those that add least first."""
        best, limit = self, self.excess + _FEWER
        added = np.abs(self.columns * self.factors / self.scale[:, None]).max(axis=0)
        for j in sorted(self.used, key=lambda j: added[j]):
            tried = best.solve([k for k in best.used if k != j]) if len(best.used) > 1 else best
            if tried.excess <= limit:
                best = tried
        return best

    def envelope(self) -> Envelope:
        """Return the formula; what rounding took is given back."""
        terms = [(self.terms[j], float(self.factors[j])) for j in self.used]
        terms = [(term, factor) for term, factor in terms if term.factors or abs(factor) >= 1]
        formula = Envelope(tuple(terms))
        lacking = math.ceil(max(p.bytes - formula(p.shape, p.size) for p in self.points))
        if lacking > 0:
            constants = [factor for term, factor in terms if not term.factors]
            rest = [(term, factor) for term, factor in terms if term.factors]
            terms = [(Term(()), sum(constants) + lacking), *rest]
        return Envelope(tuple(terms))
