"""Shift invariance: where points moved by a little are the same to a method, far ones are too.

Kernels of differences, distances and free intercepts do not know where the origin is. Computed
in float32 by way of squared norms they do: of points a thousand widths away few digits are left.
Whether a method is meant to be invariant no one needs to say: an offset of one shows it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import DTypeLike

from harness.conformance.behaviour import SOLVER_SHARE
from harness.conformance.finding import NotApplicableError
from harness.conformance.problems import Problem, fitted, predictions
from harness.plugin.method import Method

OFFSETS = (1e3, 1e5)
"""What is added to every feature, in float64 and in float32."""

# Of multiples of this, which clouds of a few units are rounded to, float32 has all digits at 1e5.
_GRID = 1 / 16


def is_shift_invariant(method: Method, problem: Problem) -> str:
    """Fit on the points as they are and far from the origin, and compare what is said of them."""
    expected = _said(method, problem, 0.0, np.float64)
    spread = float(expected.std()) or 1.0

    def gap(offset: float, dtype: DTypeLike) -> float:
        found = _said(method, problem, offset, dtype)
        return float(np.abs(found - expected).max()) / spread

    if gap(1.0, np.float64) > SOLVER_SHARE:
        raise NotApplicableError("its predictions depend on where the origin is: an offset of 1")
    for offset in OFFSETS:
        for dtype in (np.float64, np.float32):
            found = gap(offset, dtype)
            if found > SOLVER_SHARE:
                return (
                    f"predictions changed by up to {found:.2g} spreads when {offset:g} was added "
                    f"to every feature, in {np.dtype(dtype)}, where adding 1 changed none; "
                    "subtract `kernels.column_medians(X)` before points are rounded or squared "
                    "(`center` of `kernels.gaussian_kernel`, `near` of a bound kernel)"
                )
    return ""


def _said(method: Method, problem: Problem, offset: float, dtype: DTypeLike) -> np.ndarray:
    """Return predictions on moved points as one vector; labels only where there is no more."""
    X, X_new = (
        (np.rint(Z / _GRID) * _GRID + offset).astype(dtype) for Z in (problem.X, problem.X_new)
    )
    moved = replace(problem, X=X, X_new=X_new)
    found = predictions(fitted(method, moved), moved)
    kinds = {name.split()[1] for name in found}
    kept = {"labels"} if kinds == {"labels"} else kinds - {"labels"}
    parts = [values.ravel() for name, values in sorted(found.items()) if name.split()[1] in kept]
    return np.concatenate(parts).astype(np.float64)
