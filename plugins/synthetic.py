"""Generated data sets: curved classes in the plane, and stand-ins for large sets.

A stand-in has the size of a set that is not at hand, and its kinds of column as far as they are
known, for time and memory at scale. What scores mean on it says nothing of the set it is named
after, and no printed figure is judged by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from harness import GeneratedDataset, hookimpl

_ROWS = 65_536
"""Rows that are made at a time: what is held besides the result is a few such blocks."""

_DUMMIES = (4, 40)
"""Covertype's groups of dummies: wilderness areas and soil types."""


def two_moons(
    rng: np.random.Generator, n: int = 20_000, noise: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    """Return two half circles that reach into each other.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int, default 20,000
    noise : float, default 0.1
        Standard deviation, in radii.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        The classes take turns, so that half of the points are of each.
    """
    y = np.arange(n) % 2
    angle = rng.uniform(0, np.pi, n)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[y == 1] = (1.0, 0.5) - X[y == 1]
    X += noise * rng.standard_normal(X.shape)
    return X, y


def two_spirals(
    rng: np.random.Generator, n: int = 20_000, turns: float = 1.5, noise: float = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    """Return two Archimedean spirals, one the other turned by half a circle.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int, default 20,000
    turns : float, default 1.5
    noise : float, default 0.3
        Standard deviation; arms are pi apart.

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        The classes take turns.
    """
    y = np.arange(n) % 2
    # equally dense along the arm, whose length grows as the square of the angle
    angle = 2 * np.pi * turns * np.sqrt(rng.uniform(0, 1, n))
    direction = angle + np.pi * y
    X = angle[:, None] * np.column_stack([np.cos(direction), np.sin(direction)])
    X += noise * rng.standard_normal(X.shape)
    return X, y


def covertype_shape(rng: np.random.Generator, n: int = 500_000) -> tuple[np.ndarray, np.ndarray]:
    """Return 10 continuous columns and dummies of 4 and of 40 values, 7 classes of unequal size.

    The class is the greatest of seven smooth functions of the continuous columns plus an effect of
    each dummy, with noise.

    Returns
    -------
    X : ndarray of shape (n, 54), float32
    y : ndarray of shape (n,)
    """
    continuous, classes = 10, 7
    rule = _SmoothRule(rng, continuous, classes, 1.2)
    effects = [rng.normal(0, 0.3, (values, classes)) for values in _DUMMIES]
    # most frequent first, as in the original: a few soil types are common, most are rare
    shares = [rng.dirichlet(np.full(values, 0.7)) for values in _DUMMIES]
    prior = 0.4 * np.log([0.36, 0.49, 0.06, 0.005, 0.02, 0.03, 0.035])
    X, y = np.zeros((n, continuous + sum(_DUMMIES)), np.float32), np.empty(n, np.int64)
    for block in _blocks(n):
        rows = block.stop - block.start
        Z = rng.standard_normal((rows, continuous))
        # neighboring columns go together, as elevation and distances do
        Z[:, 1:] += 0.5 * Z[:, :-1]
        scores = prior + rule(Z) + rng.gumbel(0, 0.1, (rows, classes))
        X[block, :continuous] = Z
        start = continuous
        for values, share, effect in zip(_DUMMIES, shares, effects, strict=True):
            chosen = rng.choice(values, rows, p=share)
            X[np.arange(block.start, block.stop), start + chosen] = 1
            scores += effect[chosen]
            start += values
        y[block] = scores.argmax(axis=1)
    return X, y


def susy_shape(rng: np.random.Generator, n: int = 2_000_000) -> tuple[np.ndarray, np.ndarray]:
    """Return 8 measured columns and 10 functions of them, 2 classes that overlap.

    Returns
    -------
    X : ndarray of shape (n, 18), float32
    y : ndarray of shape (n,)
    """
    measured, derived = 8, 10
    rule = _SmoothRule(rng, measured, 1, 1.2)
    mixing = rng.normal(0, measured**-0.5, (measured, derived))
    X, y = np.empty((n, measured + derived), np.float32), np.empty(n, np.int64)
    for block in _blocks(n):
        Z = rng.standard_normal((block.stop - block.start, measured))
        X[block, :measured] = Z
        X[block, measured:] = np.abs(Z @ mixing)
        y[block] = rule(Z)[:, 0] + rng.logistic(0, 0.4, len(Z)) > 0.07
    return X, y


def sylva_shape(rng: np.random.Generator, n: int = 72_626) -> tuple[np.ndarray, np.ndarray]:
    """Return 216 columns of which 108 tell nothing, 6 % of positive points.

    Each informative column is a noisy mean of some of 12 hidden ones; half of them are cut to 0
    and 1.

    Returns
    -------
    X : ndarray of shape (n, 216), float32
    y : ndarray of shape (n,)
    """
    return rare_class(rng, n, columns=216, share=0.06)


def rare_class(
    rng: np.random.Generator, n: int, columns: int, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return columns half of which tell nothing, and two classes, one of them of a given share.

    Parameters
    ----------
    rng : numpy.random.Generator
    n, columns : int
    share : float
        Of positive points.

    Returns
    -------
    X : ndarray of shape (n, columns), float32
    y : ndarray of shape (n,)
    """
    hidden, informative = 12, columns // 2
    rule = _SmoothRule(rng, hidden, 1, 0.8)
    mixing = rng.normal(0, hidden**-0.5, (hidden, informative))
    threshold = np.quantile(rule(rng.standard_normal((20_000, hidden))), 1 - share)
    X, y = np.empty((n, columns), np.float32), np.empty(n, np.int64)
    for block in _blocks(n):
        rows = block.stop - block.start
        Z = rng.standard_normal((rows, hidden))
        X[block] = 0.3 * rng.standard_normal((rows, columns), dtype=np.float32)
        X[block, :informative] += Z @ mixing
        X[block, : informative // 2] = X[block, : informative // 2] > 0
        y[block] = rule(Z)[:, 0] + rng.logistic(0, 0.05, rows) > threshold
    return X, y


def smooth_target(
    rng: np.random.Generator, n: int, columns: int, hidden: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return columns that are noisy means of a few hidden ones, and a smooth function of these.

    Parameters
    ----------
    rng : numpy.random.Generator
    n, columns : int
    hidden : int
        Dimensions that the columns span, up to noise.

    Returns
    -------
    X : ndarray of shape (n, columns), float32
    y : ndarray of shape (n,)
        A tenth of its variance is noise.
    """
    rule = _SmoothRule(rng, hidden, 1, 1.0)
    mixing = rng.normal(0, hidden**-0.5, (hidden, columns))
    X, y = np.empty((n, columns), np.float32), np.empty(n)
    for block in _blocks(n):
        rows = block.stop - block.start
        Z = rng.standard_normal((rows, hidden))
        X[block] = Z @ mixing + 0.3 * rng.standard_normal((rows, columns))
        y[block] = rule(Z)[:, 0] + 0.3 * rng.standard_normal(rows)
    return X, y


class _SmoothRule:
    """Smooth functions of standard normal columns, about 0: sums of sines along random lines."""

    _SINES = 24

    def __init__(self, rng: np.random.Generator, d: int, outputs: int, frequency: float) -> None:
        self._directions = rng.normal(0, frequency * d**-0.5, (d, self._SINES))
        self._phases = rng.uniform(0, 2 * np.pi, self._SINES)
        self._weights = rng.normal(0, np.sqrt(2 / self._SINES), (self._SINES, outputs))
        # of a sine at a normal point, by its characteristic function
        means = np.sin(self._phases) * np.exp(-0.5 * np.sum(self._directions**2, axis=0))
        self._centre = means @ self._weights

    def __call__(self, Z: np.ndarray) -> np.ndarray:
        return np.sin(Z @ self._directions + self._phases) @ self._weights - self._centre


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _ROWS, n)) for start in range(0, n, _ROWS))


@hookimpl
def harness_datasets() -> list[GeneratedDataset]:
    """Provide the generated data sets."""
    described = partial(GeneratedDataset, scaling="standard")
    large = partial(described, dtype="float32")
    return [
        described("two-moons", two_moons, "binary", 20_000, 2, 2),
        described("two-spirals", two_spirals, "binary", 20_000, 2, 2),
        large(
            "covertype-shape",
            covertype_shape,
            "multiclass",
            500_000,
            54,
            7,
            stand_in_for="covertype",
        ),
        large("susy-shape", susy_shape, "binary", 2_000_000, 18, 2, stand_in_for="SUSY"),
        large("sylva-shape", sylva_shape, "binary", 72_626, 216, 2, stand_in_for="sylva"),
        *(_rare(name, n, d, share) for name, n, d, share in _RARE),
        *(_smooth(name, n, d, hidden) for name, n, d, hidden in _SMOOTH),
    ]


_RARE = (
    ("hiva", 42_678, 1_617, 0.035),
    ("ibn_sina", 20_722, 92, 0.378),
    ("orange", 50_000, 230, 0.018),
)
"""Points, columns and share of positive points of sets of the active learning challenge."""
_SMOOTH = (("census", 18_186, 119, 10), ("ct", 53_500, 385, 12), ("sarcos", 44_484, 21, 12))
"""Points and columns of regressions, and how many hidden columns stand behind them."""


def _rare(name: str, n: int, d: int, share: float) -> GeneratedDataset:
    def generate(rng: np.random.Generator, n: int = n) -> tuple[np.ndarray, np.ndarray]:
        return rare_class(rng, n, d, share)

    return GeneratedDataset(
        f"{name}-shape",
        generate,
        "binary",
        n,
        d,
        2,
        scaling="standard",
        dtype="float32",
        stand_in_for=name,
    )


def _smooth(name: str, n: int, d: int, hidden: int) -> GeneratedDataset:
    def generate(rng: np.random.Generator, n: int = n) -> tuple[np.ndarray, np.ndarray]:
        return smooth_target(rng, n, d, hidden)

    return GeneratedDataset(
        f"{name}-shape",
        generate,
        "regression",
        n,
        d,
        scaling="standard",
        dtype="float32",
        stand_in_for=name,
    )
