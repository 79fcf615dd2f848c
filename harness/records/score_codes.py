"""Scores as codes of two bytes, in which their order and their ties are kept.

A score x of a column becomes the whole number nearest to asinh((x - center) / scale) / step. Such
a scale is linear around the center and logarithmic beyond, so that neither an outlier nor a crowd
takes the digits of the others. `scale` is the median distance from the center, and `step` is such
that the farthest score gets the largest code. Probabilities are coded by their log-odds: of those
near 0 and 1, digits are kept that log-loss needs.

Different scores that would get one code are moved apart, the farthest of them by as little as can
be (isotonic regression by the largest error). So ranks are what they were, and AUC with
them, bit for bit. Where scores are too many or too close for that, equal codes stay, and
`Coded.exact` is False.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.plugin.method import NO_SCORE

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST = 32_766
"""The largest code of a score; one further is for what has no place on the scale."""

_FARTHEST = {"scores": 1024, "probabilities": 64, "values": 64}
"""Codes by which a score may be moved to keep it apart from its neighbour: of decision values the
order says more than the size, of others it is the other way round."""

_CROWD = 1 / 8
"""Scores that differ by less than this share of their size are coded around their median."""

_LARGEST, _LEAST = 1e300, 1e-300
"""Beyond which a difference of two scores could overflow, and below which it could vanish."""

_NEAREST = 1e-30
"""The smallest share of the farthest score that the median distance is taken for."""

Scale = tuple[float, float, float]
"""Center, scale and step of a column."""


@dataclass(frozen=True)
class Coded:
    """Scores as codes.

    Attributes
    ----------
    codes : ndarray of int16, shape (n,) or (n, columns)
    scales : tuple of Scale
        One a column.
    exact : bool
        Whether scores that differ have codes that differ.
    """

    codes: np.ndarray
    scales: tuple[Scale, ...]
    exact: bool


def encode(scores: np.ndarray, kind: str) -> Coded:
    """Code scores, column by column.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, columns)
        Finite. Of two classes, probabilities are their difference, from -1 to 1.
    kind : {"probabilities", "scores", "values"}
    """
    table = scores.reshape(len(scores), -1)
    codes = np.empty(table.shape, np.int16)
    scales, exact = [], True
    for column, values in enumerate(table.T):
        codes[:, column], scale, whole = _encode_column(values, kind, scores.ndim == 1)
        scales.append(scale)
        exact &= whole
    return Coded(codes.reshape(scores.shape), tuple(scales), exact)


def decode(codes: np.ndarray, scales: Sequence[Scale], kind: str) -> np.ndarray:
    """Return the scores that codes stand for, as doubles of the shape of the codes."""
    one_score = codes.ndim == 1
    center, scale, step = np.array(scales).reshape(-1, 3).T
    own = codes.reshape(len(codes), -1)
    with np.errstate(over="ignore"):
        found = own * step
        np.sinh(found, out=found)
        found *= scale
        found += center
        if kind == "probabilities":
            found = np.tanh(found / 2) if one_score else 1 / (1 + np.exp(-found))
    if own.size and max(-int(own.min()), int(own.max())) > _MOST:
        low, high = _ends(kind, one_score)
        found[own < -_MOST] = low
        found[own > _MOST] = high
    return found.reshape(codes.shape)


def predicted_labels(scores: np.ndarray) -> np.ndarray:
    """Return the classes that scores stand for, as the harness takes them."""
    return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)


def _encode_column(
    values: np.ndarray, kind: str, one_score: bool
) -> tuple[np.ndarray, Scale, bool]:
    said, inverse = np.unique(values, return_inverse=True)
    low, high = _ends(kind, one_score)
    first = np.searchsorted(said, low, "right")
    last = np.searchsorted(said, high)
    placed = said[first:last]
    if kind == "probabilities":
        # of what rounding makes of the log-odds, the order may not be that of the probabilities
        placed = np.maximum.accumulate(_log_odds(placed, one_score))
    placed = np.minimum(np.maximum(placed, -_LARGEST), _LARGEST)
    scale, places = _placed(placed, kind)
    below, above = np.searchsorted(placed, scale[0]), np.searchsorted(placed, scale[0], "right")
    found = _apart(places, int(below), int(above), _FARTHEST[kind])
    alone = first <= 1 and len(said) - last <= 1
    codes = np.full(len(said), -_MOST - 1, np.int16)
    codes[first:last] = found
    codes[last:] = _MOST + 1
    return codes[inverse], scale, bool(alone) and _all_differ(found)


def _ends(kind: str, one_score: bool) -> tuple[float, float]:
    """Return what has no place on the scale: the least and the largest that there may be."""
    if kind == "probabilities":
        return (-1.0, 1.0) if one_score else (0.0, 1.0)
    return (NO_SCORE if kind == "scores" else -np.inf), np.inf


def _log_odds(p: np.ndarray, one_score: bool) -> np.ndarray:
    return 2 * np.arctanh(p) if one_score else np.log(p) - np.log1p(-p)


def _placed(x: np.ndarray, kind: str) -> tuple[Scale, np.ndarray]:
    """Return the scale of sorted scores, and their places on it."""
    if not len(x):
        return (0.0, 1.0, 1.0), np.empty(0, np.int64)
    quarter, middle, last = (float(x[(len(x) - 1) * part // 4]) for part in (1, 2, 3))
    crowd = last - quarter <= abs(middle) * _CROWD and len(x) > 1
    center = middle if crowd or kind == "values" else 0.0
    away = np.abs(x - center)
    away = away[away > 0]
    if not len(away):
        return (center, 1.0, 1.0), np.zeros(len(x), np.int64)
    farthest = float(away.max())
    middle = len(away) // 2
    scale = max(float(np.partition(away, middle)[middle]), farthest * _NEAREST, _LEAST)
    step = float(np.arcsinh(farthest / scale)) / _MOST
    if not step:
        return (center, 1.0, 1.0), np.zeros(len(x), np.int64)
    return (center, scale, step), np.rint(np.arcsinh((x - center) / scale) / step).astype(np.int64)


def _apart(places: np.ndarray, below: int, above: int, farthest: int) -> np.ndarray:
    """Move places apart that are equal, if none has to go far; those of either side stay there.

    Parameters
    ----------
    places : ndarray of int
        In order; of scores that differ.
    below, above : int
        How many scores are below the center, and from where on they are above it.
    farthest : int
        The most that one may be moved.
    """
    places = places.copy()
    np.minimum(places[:below], -1, out=places[:below])
    np.maximum(places[above:], 1, out=places[above:])
    if _all_differ(places):
        return places
    moved = places.copy()
    moved[:below] = -_ascending(-places[:below][::-1])[::-1]
    moved[above:] = _ascending(places[above:])
    return moved if np.abs(moved - places).max() <= farthest else places


def _ascending(places: np.ndarray) -> np.ndarray:
    """Return the nearest different whole numbers in the same order, from 1 on."""
    n = len(places)
    if not 0 < n <= _MOST:
        return places
    steps = np.arange(n)
    free = places - steps
    high = np.maximum.accumulate(free)
    low = np.minimum.accumulate(free[::-1])[::-1]
    return np.minimum(np.maximum((high + low) // 2, 1), _MOST + 1 - n) + steps


def _all_differ(places: np.ndarray) -> bool:
    return bool((places[1:] > places[:-1]).all())
