"""The storage model as a function: what it may ask for, and that it never falls as size grows."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from numbers import Integral

import numpy as np

from harness.conformance.problems import N_CLASSES
from harness.plugin.method import N_UNLABELED, Method
from harness.plugin.shape import Shape
from harness.units import format_bytes

_POINTS = ((51, 200, 5), (201, 5_000, 40), (1_001, 200_000, 300))
"""Labeled and unlabeled points and features; no count of points can be halved by accident."""

_SIZES = 40


def asks_for_known_parameters(method: Method, task: str) -> str:
    """Compare the further arguments of `storage` with the estimator's parameters."""
    accepted = inspect.signature(method.estimator).parameters
    asked = list(inspect.signature(method.storage_model).parameters.values())
    positional = [a for a in asked if a.kind in (a.POSITIONAL_ONLY, a.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2:
        return f"storage takes {len(positional)} arguments; it is called as storage(shape, size)"
    for argument in asked:
        if argument in positional[:2] or argument.kind is argument.VAR_KEYWORD:
            continue
        name = argument.name
        if name in ("tuned", "paused"):
            continue
        if name not in accepted:
            return (
                f"storage asks for {name!r}, which {method.estimator.__name__} has not; name a "
                f"parameter of the estimator: {', '.join(accepted) or '(none)'}"
            )
        used = method.params.get(name, accepted[name].default)
        if name not in method.params and argument.default is argument.empty:
            return (
                f"storage asks for {name!r} and has no default for it; a study that leaves it "
                f"alone gives none, so write {name}={used!r} as the estimator does"
            )
        if name not in method.params and argument.default != used:
            return (
                f"storage takes {name}={argument.default!r} by default, the estimator "
                f"{name}={used!r}; make them equal, or the plan is for another method"
            )
    return ""


def is_monotone(method: Method, task: str) -> str:
    """Sample sizes of several shapes: finite, at least the data, never falling."""
    for shape in _shapes(task):
        seen = method.training_shape(shape, shape.n_unlabeled)
        falls = {*method.non_monotone_at}
        if method.size == N_UNLABELED:
            falls.add(shape.n_unlabeled)
        previous = None
        for size in _sizes(method, shape, seen):
            given = method.training_shape(shape, size)
            peaks = method.held(given, size, method.params).peaks
            at = f"at size {size}, n = {given.n}, d = {given.n_features}"
            if not all(map(math.isfinite, peaks)):
                return f"storage is {max(peaks)} {at}; return a finite number of bytes"
            if max(peaks) < given.data_bytes:
                return (
                    f"storage is {format_bytes(max(peaks))} {at}, less than the "
                    f"{format_bytes(given.data_bytes)} of X alone; add shape.data_bytes"
                )
            if previous is not None and any(previous[0] < fall <= size for fall in falls):
                previous = None
            if previous is not None:
                before, now = min(
                    zip(previous[1], peaks, strict=True), key=lambda two: two[1] - two[0]
                )
                if now < before:
                    return (
                        f"storage falls from {format_bytes(before)} at size {previous[0]} to "
                        f"{format_bytes(now)} {at}; the plan bisects, so it must not fall as size "
                        "grows: add the parts up, take the running maximum, or say where it may "
                        "in non_monotone_at"
                    )
            previous = size, peaks
    return ""


def sizes_are_valid(method: Method, task: str) -> str:
    """See that `sizes` gives whole numbers, the smaller first, and at least 1."""
    for shape in _shapes(task):
        low, high = method.sizes(method.training_shape(shape))
        whole = isinstance(low, Integral) and isinstance(high, Integral)
        if not whole or not 1 <= low <= high:
            return (
                f"sizes gave ({low!r}, {high!r}) for n = {shape.n}, d = {shape.n_features}; give "
                "two whole numbers, 1 <= smallest <= largest"
            )
    return ""


def _shapes(task: str) -> Iterator[Shape]:
    for n_labeled, n_unlabeled, d in _POINTS:
        labeled = 0 if task == "clustering" else n_labeled
        unlabeled = n_labeled + n_unlabeled - labeled
        for itemsize, n_test in ((4, 0), (8, n_labeled)):
            yield Shape(labeled, unlabeled, d, N_CLASSES[task], n_test, itemsize)


def _sizes(method: Method, shape: Shape, seen: Shape) -> list[int]:
    if method.size is None:
        return [0]
    low, high = (1, shape.n_unlabeled) if method.size == N_UNLABELED else method.sizes(seen)
    coarse = np.unique(np.geomspace(low, high, _SIZES).astype(int))
    return sorted({size + step for size in coarse for step in (0, 1) if size + step <= high})
