"""Advice: methods that fit a budget, the best expected first, and what is not known of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from harness.advice.model import Scores, expect, shares
from harness.advice.nearness import FAR, NEAR, Query
from harness.advice.sizes import Fit
from harness.report.cheapest import take_of
from harness.report.metric_bounds import within_range

LEAST_WEIGHT = 0.1
"""What the data sets of a method count together at least, if anything is to be said of it."""

_NEAREST = 3
"""Data sets that are named."""


@dataclass(frozen=True)
class Advice:
    """What is advised for data of one shape.

    Attributes
    ----------
    ranked : pandas.DataFrame
        Of methods that fit, or of which that is not known: the columns of `expect`, the best
        first.
    near : bool
        Whether studies of like shape tell; if not, the order is that of all shapes.
    unranked : list of Fit
        Methods that fit, of which no study near this shape tells.
    refused : list of Fit
        Methods that do not fit.
    fits : dict of str to Fit
        All methods that do the task.
    nearest : list of str
        Data sets that count most, the nearest first.
    metric : str
    """

    ranked: pd.DataFrame
    near: bool
    unranked: list[Fit]
    refused: list[Fit]
    fits: dict[str, Fit]
    nearest: list[str]
    metric: str

    @property
    def taken(self) -> str | None:
        """The cheapest of the methods that cannot be told apart from the first; None without any.

        These are behind by nothing at the lower end of the interval. Bytes that are not known
        count as the most.
        """
        level = self.ranked[self.ranked["behind_low"] <= 0]
        if level.empty:
            return None
        taken: Any = take_of(
            level.itertuples(index=False),
            lambda row: self.fits[row.method].planned_bytes or math.inf,
            lambda row: float(row.behind),
        )
        return str(taken.method)

    def rows(self) -> list[dict[str, Any]]:
        """Return what is known of every method that may fit, as plain JSON, the best first."""
        told = []
        for row in self.ranked.to_dict("records"):
            figures = {name: _plain(value) for name, value in row.items()}
            told.append(figures | asdict(self.fits[row["method"]]))
        nothing = dict.fromkeys(self.ranked.columns) | {"datasets": 0}
        return told + [nothing | asdict(fit) for fit in self.unranked]


def advise(scores: Scores, query: Query, fits: Sequence[Fit]) -> Advice:
    """Order methods by their expected score on data of a shape.

    Parameters
    ----------
    scores : Scores
        Of the metric that decides, without controls.
    query : Query
    fits : sequence of Fit
        From `fit_methods`.
    """
    refused = [fit for fit in fits if fit.reason]
    had = {fit.method: fit for fit in fits if not fit.reason}
    place = query.coordinates
    told, scale = told_of(scores, place, list(had))
    ranked = expect(scores, place, told, scale)
    for end in ("score", "low", "high"):
        ranked[end] = within_range(scores.metric, ranked[end])
    said = set(ranked["method"])
    return Advice(
        ranked,
        scale == NEAR,
        [fit for name, fit in had.items() if name not in said],
        refused,
        {fit.method: fit for fit in fits},
        _nearest(scores, place, scale),
        scores.metric,
    )


def told_of(scores: Scores, place: np.ndarray, within: Sequence[str]) -> tuple[list[str], float]:
    """Return the methods that studies of like shape tell of, and how far these may be.

    Where they tell of none, studies of all shapes are asked.
    """
    known = np.isfinite(scores.table)
    for scale in (NEAR, FAR, np.inf):
        weight = (known * shares(scores, place, scale)[:, None]).sum(axis=0)
        enough = {n for n, w in zip(scores.methods, weight, strict=True) if w >= LEAST_WEIGHT}
        if told := [name for name in within if name in enough]:
            return told, scale
    return [], NEAR


def _nearest(scores: Scores, place: np.ndarray, scale: float) -> list[str]:
    weight = pd.Series(shares(scores, place, scale)).groupby(scores.settings["dataset"]).sum()
    # of equals the first by name
    return list(weight.round(9).sort_values(ascending=False, kind="stable").index[:_NEAREST])


def _plain(value: Any) -> Any:
    return (float(value) if np.isfinite(value) else None) if isinstance(value, float) else value
