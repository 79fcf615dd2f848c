"""What a method's bytes may grow with: products of the counts that make up a shape and a size."""

from __future__ import annotations

from collections.abc import Callable

from harness.plugin.shape import Shape

Count = Callable[[Shape, int], float]

COUNTS: dict[str, Count] = {
    "n": lambda shape, size: shape.n,
    "labeled": lambda shape, size: shape.n_labeled,
    "d": lambda shape, size: shape.n_features,
    "size": lambda shape, size: size,
    "classes": lambda shape, size: max(1, shape.n_classes),
    "block": lambda shape, size: shape.block_rows,
}
"""Factors of terms, by the name that they have in a formula."""

SOURCE = {
    "n": "shape.n",
    "labeled": "shape.n_labeled",
    "d": "shape.n_features",
    "size": "size",
    "classes": "max(1, shape.n_classes)",
    "block": "shape.block_rows",
}
"""The same as a storage model would write them."""

PRODUCTS: tuple[tuple[str, ...], ...] = (
    (),
    *((name,) for name in ("size", "n", "labeled", "d", "classes")),
    *(("n", name) for name in ("d", "size", "classes", "n", "labeled")),
    *(("labeled", name) for name in ("d", "size", "classes", "labeled")),
    *(("size", name) for name in ("d", "classes", "size")),
    *(("block", name) for name in ("size", "d", "classes")),
    ("d", "d"),
    ("d", "classes"),
)
"""Terms, simpler ones first: of two that measurements cannot tell apart the first is taken."""

FIXED = "1"


def term_value(factors: tuple[str, ...], itemsize: bool, shape: Shape, size: int | None) -> float:
    """Return bytes of one term: elements times their bytes.

    Parameters
    ----------
    factors : tuple of str
        Of `COUNTS`; none is one byte, whatever the shape.
    itemsize : bool
        Whether an element has the bytes of X's, or those of a double.
    shape : Shape
        Of the points that fit is given.
    size : int or None
    """
    value = 1.0
    for factor in factors:
        value *= COUNTS[factor](shape, size or 0)
    if not factors:
        return value
    return value * (shape.itemsize if itemsize else 8)


def term_name(factors: tuple[str, ...], itemsize: bool) -> str:
    """Write a term as people do: "n d", "n^2"; with a small mark where elements are X's."""
    if not factors:
        return FIXED
    if len(factors) == 2 and factors[0] == factors[1]:
        text = f"{factors[0]}^2"
    else:
        text = " ".join(factors)
    return f"{text} itemsize" if itemsize else text


def term_source(factors: tuple[str, ...], itemsize: bool) -> str:
    """Write a term as Python."""
    per_element = "shape.itemsize" if itemsize else "8"
    return " * ".join([per_element, *(SOURCE[factor] for factor in factors)]) if factors else "1"
