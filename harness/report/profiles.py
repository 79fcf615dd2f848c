"""Performance profiles: on what share of trials a method comes how near the best.

As Dolan and More (2002) draw them. An instance is a data set, budget and seed: the best score on
it is that of any method there. A trial that did not end ok is near nothing. For scores of a fixed
range nearness is a difference; for errors without one it is a share of the best, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import pandas as pd
from altair.utils.schemapi import debug_mode

from harness.report.axes import layered
from harness.report.charts import number
from harness.report.verdicts import MARGINS, RELATIVE_MARGINS

if TYPE_CHECKING:
    from harness.report.pairs import PairedScores
    from harness.report.scores import Score

STEPS = (0.0, 0.5, 1.0, 2.0, 5.0)
"""Distances of the table, in margins; the chart ends at the last of them twice over."""
MOST_POINTS = 80
"""Of one line of a chart."""


@dataclass(frozen=True)
class Profile:
    """The profile of one family and metric.

    Attributes
    ----------
    family, metric : str
        The metric as the page calls it.
    relative : bool
        Whether distances are shares of the best score.
    n : int
        Instances.
    taus : list of float
        Distances of the table.
    shares : pandas.DataFrame
        A row a method, best first: `method` and a column a distance of `taus`.
    lines : pandas.DataFrame
        `method`, `tau`, `share`, for the chart.
    left_out : list of str
        Methods that some data set or budget has not.
    """

    family: str
    metric: str
    relative: bool
    n: int
    taus: list[float]
    shares: pd.DataFrame
    lines: pd.DataFrame
    left_out: list[str]


def make_profiles(
    paired: PairedScores, cells: pd.DataFrame, scores: Mapping[str, Score]
) -> list[Profile]:
    """Work out the profile of each family and metric that has two methods or more.

    Parameters
    ----------
    paired : PairedScores
    cells : pandas.DataFrame
        `Tables.cells`.
    scores : mapping of str to Score
    """
    ranked = cells[~cells["control"]]
    names = ranked["problem"].map({name: score.name for name, score in scores.items()})
    known = {score.name: score for score in scores.values()}
    trials = paired.trials()
    made = []
    for (family, metric), mine in ranked.groupby(["family", names], sort=False):
        rows = mine.groupby("method")["cell"].size()
        places = len(mine[["problem", "budget"]].drop_duplicates())
        whole = rows.index[rows == places]
        if len(whole) > 1 and mine["n_scored"].any():
            mine = mine[mine["method"].isin(whole)]
            left_out = sorted(rows.index.difference(whole))
            made.append(_profile(family, known[metric], mine, trials, left_out))
    return made


def _profile(
    family: str, score: Score, cells: pd.DataFrame, trials: pd.DataFrame, left_out: list[str]
) -> Profile:
    sign = 1 if score.greater_is_better else -1
    at = pd.factorize(pd.MultiIndex.from_frame(cells[["problem", "budget"]]))[0]
    about = pd.DataFrame({"method": cells["method"].to_numpy(), "at": at}, cells["cell"])
    mine = trials.join(about, on="cell", how="inner")
    instance = [mine["at"], mine["seed"]]
    best = (sign * mine["score"]).groupby(instance).transform("max") * sign
    behind = sign * (best - mine["score"])
    relative = score.name in RELATIVE_MARGINS
    if relative:
        behind = behind / best.abs().where(best != 0)
    # as many as the methods share: seeds of which no method has a score are no instance
    n = mine[["at", "seed"]].drop_duplicates().shape[0]
    margin = (RELATIVE_MARGINS if relative else MARGINS).get(score.name)
    if margin is None:
        margin = float(behind.quantile(0.5)) or 1.0
    taus = [float(f"{step * margin:.3g}") for step in STEPS]
    sorted_behind = {
        method: np.sort(np.maximum(values.dropna().to_numpy(), 0))
        for method, values in behind.groupby(mine["method"])
    }
    sorted_behind = {m: sorted_behind.get(m, np.zeros(0)) for m in cells["method"].unique()}
    shares = pd.DataFrame(
        [
            [method, *(np.searchsorted(far, np.array(taus) + 1e-12, "right") / n)]
            for method, far in sorted_behind.items()
        ],
        columns=["method", *taus],
    )
    order = [taus[2], taus[0], taus[-1]]
    shares = shares.sort_values(order, ascending=False, kind="stable", ignore_index=True)
    # even in the square root: a chart shows most of what is near the best
    grid = (np.linspace(0, 1, MOST_POINTS) ** 2) * 2 * taus[-1]
    lines = pd.DataFrame(
        [
            {"method": method, "tau": tau, "share": share}
            for method, far in sorted_behind.items()
            for tau, share in zip(
                grid, np.searchsorted(far, grid + 1e-12, "right") / n, strict=True
            )
        ]
    )
    return Profile(family, score.label, relative, n, taus, shares, lines, left_out)


@debug_mode(False)
def profile_chart(profile: Profile, looks: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Draw a profile, a line a method.

    Parameters
    ----------
    profile : Profile
    looks : dict
        `styles` of all methods of the study that are not controls.
    """
    values = [
        {key: number(value) for key, value in row.items()}
        for row in profile.lines.to_dict("records")
    ]
    base = alt.Chart(alt.Data(values=values))
    title = (
        "a share of the best score" if profile.relative else f"a difference of {profile.metric}"
    )
    format_ = "%" if profile.relative else "~g"
    dashes = alt.Scale(domain=list(looks), range=[look["dash"] for look in looks.values()])
    shown = list(profile.shares["method"])
    legend = alt.Legend(orient="bottom", columns=4, title=None, values=shown, symbolOpacity=1)
    picked = {"test": "indexof(picked, datum.method) < 0", "value": 0.15}
    line = base.mark_line(interpolate="step-after", strokeWidth=2).encode(
        alt.X(
            "tau:Q",
            title=f"at most so far behind the best, {title}",
            scale=alt.Scale(type="sqrt", nice=False),
            axis=alt.Axis(format=format_, values=[*profile.taus, 2 * profile.taus[-1]]),
        ),
        alt.Y(
            "share:Q",
            title="share of data set x budget x seed",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%"),
        ),
        color=alt.Color("method:N", legend=legend, scale=alt.Scale(domain=list(looks))),
        strokeDash=alt.StrokeDash("method:N", legend=legend, scale=dashes),
        opacity=alt.OpacityValue(1, condition=picked),
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("tau:Q", title="within", format=".2~g"),
            alt.Tooltip("share:Q", format=".0%"),
        ],
    )
    params = [{"name": "picked", "value": list(looks)}]
    return {**layered([line]), "height": 260, "params": params}


def profile_table(profiles: list[Profile]) -> pd.DataFrame:
    """Return `profiles.csv`: a row a family, metric, method and distance."""
    parts = [
        one.shares.melt("method", var_name="tau", value_name="share").assign(
            family=one.family, metric=one.metric, relative=one.relative, n=one.n
        )
        for one in profiles
    ]
    columns = ["family", "metric", "method", "relative", "tau", "share", "n"]
    return pd.concat(parts)[columns] if parts else pd.DataFrame(columns=columns)
