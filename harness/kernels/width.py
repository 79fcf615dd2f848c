"""The width of a kernel in the units of the points, from what a study says of it."""

from __future__ import annotations

import numpy as np

from harness.kernels.gaussian import median_distance, refuse_overflow

_EXTREME = 1e6
"""Widths beyond so many median distances, or below their inverse, change nothing but overflow."""


def kernel_width(X: np.ndarray, sigma: float, sigma_unit: str) -> float:
    """Return a kernel's width in the units of X, between 1e-6 and 1e6 median distances.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    sigma : float
        The width, in units of `sigma_unit`.
    sigma_unit : str
        "median": the median distance between two rows of X; "absolute": 1.

    Raises
    ------
    ValueError
        As `refuse_overflow`.
    """
    width = natural_width(median_distance(X), sigma, sigma_unit)
    refuse_overflow(X, width)
    return width


def natural_width(median: float, sigma: float, sigma_unit: str) -> float:
    """Return `kernel_width` where the median distance is known, whatever kind it is of."""
    width = sigma * median if sigma_unit == "median" else float(sigma)
    return min(max(width, median / _EXTREME), _EXTREME * median)
