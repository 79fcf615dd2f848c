"""Scores of which few differ: a list of these, and of each score its place in the list, in bits.

Nearest neighbors, votes of trees and controls give such scores. They are kept as they are, take
some bits instead of two bytes, and need no sort.
"""

from __future__ import annotations

import numpy as np

from harness.records.prediction_files import MOST_VALUES

_SCORES_A_VALUE = 8
"""Scores that there must be for each value: list and places then take two bytes each at most."""

_SAMPLE = 512
"""Scores that are looked at first."""

_COMPARED = 8
"""Values up to which comparing with each is quicker than searching."""


def listed(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the values of scores and the place of each score among them, if there are few.

    Parameters
    ----------
    scores : ndarray
        Finite, of any shape.

    Returns
    -------
    values : ndarray of float, shape (n_values,)
        Ascending.
    places : ndarray of uint8, shape (scores.size,)
    """
    flat = np.ascontiguousarray(scores, float).ravel()
    most = min(MOST_VALUES, len(flat) // _SCORES_A_VALUE)
    values = np.unique(flat[:: max(1, len(flat) // _SAMPLE)])
    while len(values) <= most:
        places = _places(flat, values)
        others = flat[values[places] != flat]
        if not len(others):
            return values, places
        values = np.union1d(values, others[:: max(1, len(others) // _SAMPLE)])
    return None


def _places(flat: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the place of the nearest value that is not larger, or 0."""
    if len(values) > _COMPARED:
        places = np.searchsorted(values, flat, "right") - 1
        return np.maximum(places, 0, out=places).astype(np.uint8)
    places = np.zeros(len(flat), np.uint8)
    for value in values[1:]:
        places += flat >= value
    return places


def to_bits(places: np.ndarray, n_values: int) -> bytes:
    """Pack places: all lowest bits, then those above, and so on."""
    planes = np.arange(_width(n_values), dtype=np.uint8)
    return np.packbits((places >> planes[:, None]) & 1, axis=1).tobytes()


def n_bytes(n_scores: int, n_values: int) -> int:
    """Return how many bytes `to_bits` gives."""
    return _width(n_values) * -(-n_scores // 8)


def from_bits(content: bytes, n_scores: int, n_values: int) -> np.ndarray:
    """Return the places that `to_bits` packed.

    Raises
    ------
    ValueError
        If one is beyond the values.
    """
    places = np.zeros(n_scores, np.uint8)
    if width := _width(n_values):
        planes = np.frombuffer(content, np.uint8).reshape(width, -1)
        for plane, packed in enumerate(planes):
            places |= np.unpackbits(packed, count=n_scores) << plane
    if n_scores and places.max() >= n_values:
        raise ValueError("it has a score of no value")
    return places


def _width(n_values: int) -> int:
    return (n_values - 1).bit_length()
