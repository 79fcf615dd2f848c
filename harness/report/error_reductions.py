"""By how much a method's error, and its spread over draws, is below that of its rivals on average.

Papers sum up a comparison so: on each data set against the rival with the lower mean error there,
then averaged over data sets. Data sets weigh the same whatever their error is.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from harness.report.statistics import Interval, mean_interval
from harness.study.budget import parse_budget

if TYPE_CHECKING:
    from harness.report.results import Results
    from harness.study.published_tables import Printed

_STATISTIC = {"error_reduction": "mean", "std_reduction": "std"}


class Reduction(NamedTuple):
    """A reduction averaged over data sets: the interval is over these, not over seeds."""

    interval: Interval
    n: int
    """Data sets on which the method was run."""
    datasets: list[str]
    """Those on which a rival was as well, each with two seeds at least."""


def reduction(results: Results, figure: Printed) -> Reduction:
    """Work out what a printed reduction says, on a study's own data sets.

    The error is the normalised MSE of a regression and else the error rate, of the trials with as
    many labels and the budget that the figure names, on all data sets but generated stand-ins.
    """
    rows = _answering(results.cells, figure, results.stand_ins)
    statistic = _STATISTIC[figure.metric]
    found, tried = {}, 0
    for dataset, mine in rows.groupby("dataset", sort=False):
        labels = mine.drop_duplicates("label").set_index("label")["plugin_method"]
        own = _label(figure.method, labels)
        tried += own is not None
        errors = mine["nmse"].fillna(mine["error_rate"]).where(mine["outcome"] == "ok")
        table = errors.groupby(mine["label"]).agg(["count", "mean", "std"])
        table = table[table["count"] > 1]
        rivals = table.loc[table.index.isin([_label(name, labels) for name in figure.against])]
        if own in table.index and len(rivals):
            best = rivals.loc[rivals["mean"].idxmin()]
            if best[statistic] > 0:
                found[dataset] = 1 - table.at[own, statistic] / best[statistic]
    scale = 100 if figure.unit == "%" else 1
    interval = mean_interval([scale * value for value in found.values()])
    return Reduction(interval, tried, list(found))


def _answering(cells: pd.DataFrame, figure: Printed, stand_ins: Collection[str]) -> pd.DataFrame:
    labeled, budget = figure.setting.labeled, figure.setting.budget
    mine = cells[~cells["control"] & (cells["task"] != "clustering")]
    mine = mine[~mine["dataset"].isin(stand_ins)]
    if labeled is not None:
        mine = mine[mine["n_labeled"] == labeled]
    if budget is not None:
        limits = ((text, parse_budget(text)) for text in mine["budget"].unique())
        asked = (budget.bytes, budget.size)
        same = [text for text, limit in limits if (limit.bytes, limit.size) == asked]
        mine = mine[mine["budget"].isin(same)]
    return mine


def _label(name: str, labels: pd.Series) -> str | None:
    """Find a method by its label, else the first by its name in the plugin."""
    by_name = labels.index[labels == name]
    return name if name in labels.index else next(iter(by_name), None)
