"""Scores expected on data of a shape, from studies on data of like shape.

Scores of different data sets cannot be compared, differences within one setting can. So a score is
taken to be the level of its setting and what the method adds to it: `score = level + effect`.
Effects are fitted by weighted least squares. The nearer a setting, the more it counts, and all
settings of one data set together count as its nearest one. A ridge keeps the effect of a method
that few data sets tell of near the mean of all methods. Intervals are of a bootstrap over data
sets, since the next data set is what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from harness.advice.evidence import SETTING
from harness.advice.nearness import FAR, NEAR, coordinates, weights
from harness.report.scores import SCORES

RIDGE = 1.0
"""Data sets, at no distance, that say of each method that it is as good as the mean."""

CONFIDENCE = 0.8
"""Of all intervals: four of five."""

RESAMPLES = 200
_SEED = 0

EXPECTED = ["method", "score", "low", "high", "behind", "behind_low", "behind_high"]
EXPECTED += ["datasets", "weight"]
"""Columns of what is expected."""


@dataclass(frozen=True)
class Scores:
    """The evidence of one metric as a matrix; greater is better in it.

    Attributes
    ----------
    table : ndarray of shape (n_settings, n_methods)
        Mean scores, NaN where a setting has no score of a method.
    settings : pandas.DataFrame
        SETTING, the shape, and `bytes`: the budget, else the most that a method was planned for.
    methods : list of str
    metric : str
    """

    table: np.ndarray
    settings: pd.DataFrame
    methods: list[str]
    metric: str

    @property
    def sign(self) -> float:
        """-1 where a lower score is better, which the table has turned around."""
        return 1.0 if SCORES[self.metric].greater_is_better else -1.0

    @cached_property
    def places(self) -> np.ndarray:
        """Coordinates of the settings, shape (n_settings, 5)."""
        return coordinates(self.settings)

    @cached_property
    def datasets(self) -> np.ndarray:
        """The number of each setting's data set, shape (n_settings,)."""
        return pd.factorize(self.settings["dataset"])[0]

    def some(self, kept: np.ndarray) -> Scores:
        """Return the settings that are kept, a mask of shape (n_settings,)."""
        settings = self.settings[kept].reset_index(drop=True)
        return Scores(self.table[kept], settings, self.methods, self.metric)


def scores_of(evidence: pd.DataFrame, metric: str, without: Sequence[str] = ()) -> Scores:
    """Arrange the scores of a metric by setting and method.

    Parameters
    ----------
    evidence : pandas.DataFrame
        From `read_evidence`.
    metric : str
    without : sequence of str, default ()
        Methods that are left out, such as controls.

    Returns
    -------
    Scores
        Of settings in which two methods or more have scores.
    """
    mine = evidence[(evidence["metric"] == metric) & ~evidence["method"].isin(list(without))]
    by = [*SETTING, "n_features", "n_classes"]
    number = mine.groupby(by, dropna=False, sort=False).ngroup().to_numpy()
    methods = sorted(mine["method"].unique())
    column = {name: place for place, name in enumerate(methods)}
    table = np.full((number.max(initial=-1) + 1, len(methods)), np.nan)
    table[number, mine["method"].map(column).to_numpy(dtype=int)] = mine["mean"]
    settings = (
        mine.assign(number=number)
        .groupby("number")
        .agg(
            **{name: (name, "first") for name in by},
            budget_bytes=("budget_bytes", "max"),
            planned=("planned_bytes", "max"),
        )
    )
    # without a budget in bytes, what was held at most says how much was allowed
    size = settings["budget_bytes"].fillna(settings["planned"])
    settings["bytes"] = size.fillna(size.median())
    sign = 1.0 if SCORES[metric].greater_is_better else -1.0
    found = Scores(sign * table, settings.reset_index(drop=True), methods, metric)
    return found.some(np.isfinite(table).sum(axis=1) > 1)


def shares(scores: Scores, query: np.ndarray, scale: float = NEAR) -> np.ndarray:
    """Return the weight of each setting, shape (n_settings,).

    Settings of one data set share the weight of its nearest one.

    Parameters
    ----------
    scores : Scores
    query : ndarray of shape (5,)
        From `Query.coordinates`.
    scale : float, default NEAR
        numpy.inf lets all data sets count alike.
    """
    near = weights(query, scores.places, scale)
    n_datasets = scores.datasets.max(initial=-1) + 1
    total, most = np.bincount(scores.datasets, near, n_datasets), np.zeros(n_datasets)
    np.maximum.at(most, scores.datasets, near)
    return near * (most / np.maximum(total, np.finfo(float).tiny))[scores.datasets]


def fit_effects(table: np.ndarray, weight: np.ndarray, ridge: float = RIDGE) -> np.ndarray:
    """Return what each method adds to the level of a setting, by weighted least squares.

    Parameters
    ----------
    table : ndarray of shape (n_settings, n_methods)
        NaN where there is no score; two scores or more in each row.
    weight : ndarray of shape (n_settings,)
    ridge : float, default RIDGE
        Weight of the penalty on squared effects.

    Returns
    -------
    ndarray of shape (n_methods,)
        0 for a method without any score.
    """
    known = np.isfinite(table)
    count = known.sum(axis=1)[:, None]
    level = np.where(known, table, 0.0).sum(axis=1)[:, None] / count
    centred = np.where(known, table - level, 0.0)
    each = known * weight[:, None]
    # the level of each setting is eliminated
    normal = np.diag(each.sum(axis=0) + ridge) - (each / count).T @ known
    return np.linalg.solve(normal, (each * centred).sum(axis=0))


def expect(
    scores: Scores, query: np.ndarray, within: Sequence[str], scale: float = NEAR
) -> pd.DataFrame:
    """Return what is expected of methods on data of a shape, the best first.

    Parameters
    ----------
    scores : Scores
    query : ndarray of shape (5,)
        From `Query.coordinates`.
    within : sequence of str
        Methods that can be had, such as those that fit a budget.
    scale : float, default NEAR
        How far settings count that tell methods apart.

    Returns
    -------
    pandas.DataFrame
        A row for each of `within` that has a score, by `method`. `score`, `low` and `high` are the
        expected score and the ends of its interval, infinite where too few data sets tell;
        `behind` is by how much the score is below that of the first row, `behind_low` and
        `behind_high` the ends of its interval. `datasets` is how many data sets have a score of
        the method, `weight` what they count together. All are as the metric is read.
    """
    at = [scores.methods.index(name) for name in within if name in scores.methods]
    if not at:
        return pd.DataFrame(columns=EXPECTED)
    near = shares(scores, query, scale)
    effect = fit_effects(scores.table, near)
    best = at[int(np.argmax(effect[at]))]
    drawn = _resampled(scores, near)
    behind = np.quantile(drawn[:, [best]] - drawn[:, at], _tails(), axis=0)
    known = np.isfinite(scores.table)
    levels = setting_levels(scores, effect)
    low, middle, high = level_interval(levels, shares(scores, query, FAR))
    sign, seen = scores.sign, known[:, at]
    by_dataset = pd.DataFrame(seen * near[:, None]).groupby(scores.datasets).sum()
    ends = np.sort(sign * np.stack([low + effect[at], high + effect[at]]), axis=0)
    found = pd.DataFrame(
        {
            "method": [scores.methods[place] for place in at],
            "score": sign * (middle + effect[at]),
            "low": ends[0],
            "high": ends[1],
            "behind": effect[best] - effect[at],
            "behind_low": behind[0],
            "behind_high": behind[1],
            "datasets": pd.DataFrame(seen).groupby(scores.datasets).any().sum().to_numpy(),
            "weight": by_dataset.sum().to_numpy(),
        }
    )
    return found[EXPECTED].sort_values(["behind", "method"], kind="stable", ignore_index=True)


def setting_levels(scores: Scores, effect: np.ndarray) -> np.ndarray:
    """Return the level of each setting, shape (n_settings,): its scores without what methods add.

    Parameters
    ----------
    scores : Scores
    effect : ndarray of shape (n_methods,)
    """
    known = np.isfinite(scores.table)
    return np.where(known, scores.table - effect, 0.0).sum(axis=1) / known.sum(axis=1)


def level_interval(levels: np.ndarray, weight: np.ndarray) -> tuple[float, float, float]:
    """Return an interval of the level of a further data set, and its middle.

    The ends are quantiles among the levels and the one to come, which counts as much as a data set
    at no distance and may be anywhere (weighted conformal prediction).

    Parameters
    ----------
    levels, weight : ndarray of shape (n_settings,)

    Returns
    -------
    low, middle, high : float
        The ends are infinite where the weights are too small to tell.
    """
    wanted = _tails()[1] * (weight.sum() + 1.0)
    low, high = -_reached(-levels, weight, wanted), _reached(levels, weight, wanted)
    return low, _reached(levels, weight, weight.sum() / 2), high


def _reached(levels: np.ndarray, weight: np.ndarray, wanted: float) -> float:
    """Return the level up to which the weights add up to what is wanted; infinite beyond all."""
    order = np.argsort(levels, kind="stable")
    place = int(np.searchsorted(np.cumsum(weight[order]), wanted))
    return float(levels[order[place]]) if place < len(levels) else np.inf


def _tails() -> tuple[float, float]:
    return (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2


def drawn_anew(scores: Scores) -> np.ndarray:
    """Return how often each data set is drawn, shape (RESAMPLES, n_datasets): always the same."""
    n_datasets = scores.datasets.max(initial=-1) + 1
    rng = np.random.default_rng(_SEED)
    return rng.multinomial(n_datasets, np.full(n_datasets, 1 / n_datasets), RESAMPLES)


def _resampled(scores: Scores, weight: np.ndarray) -> np.ndarray:
    """Return effects on data sets that are drawn anew, shape (RESAMPLES, n_methods)."""
    drawn = drawn_anew(scores)
    return np.stack(
        [fit_effects(scores.table, weight * times[scores.datasets]) for times in drawn]
    )
