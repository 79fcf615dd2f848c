"""The first sentence of a report: which methods are level over all rows, and the cheapest of them.

A row is a data set at a budget. A method is worse on a row if the paired test tells it apart from
the best one there, and the difference is more than the margin below which nobody would choose a
method. Else it is level, which says that nothing better was shown, and not that the two are equal:
so the largest shortfall that its intervals leave open stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.report.answers import SIGNIFICANCE
from harness.report.cheapest import take_of
from harness.report.pareto import signs
from harness.report.statistics import MIN_PAIRS
from harness.report.verdicts import metric_margin
from harness.units import format_bytes, format_duration

if TYPE_CHECKING:
    from harness.report.scores import Score

MOST_NAMED = 8
"""Methods that a sentence names one by one."""
_WORDS = dict(
    enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"), 1)
)


@dataclass(frozen=True)
class Decision:
    """What the rows of one metric say.

    Attributes
    ----------
    metric : str
        As the page calls it.
    lead : str
        What to take.
    text : str
        Who is level, who is worse by how much, and what that rests on.
    standings : pandas.DataFrame
        As from `standings`, of this family and metric.
    """

    metric: str
    lead: str
    text: str
    standings: pd.DataFrame


def standings(compared: pd.DataFrame, scores: Mapping[str, Score]) -> pd.DataFrame:
    """Count how each method stands over the rows of a family and metric.

    Parameters
    ----------
    compared : pandas.DataFrame
        `Tables.cells` joined with `compare_with_best` of them.
    scores : mapping of str to Score
        The primary metric of each problem.

    Returns
    -------
    pandas.DataFrame
        A row a family, metric and method, those that are level on most rows first, then the
        cheapest: `n_rows` that have the method, `all_rows` of the metric, `level`, `worse`,
        `few` (too few seeds to tell) and `failed` (no score for some seeds); `worse_least` and
        `worse_most`, the mean differences where it is worse; `shortfall`, the largest mean
        difference on any row, `shortfall_mean`, the mean of it over the rows, and
        `shortfall_bound`, the largest upper end of a 95 % interval;
        `first`, rows on which its mean is the best; `no_better`, those on which it is no better
        than a control that knows nothing; least, largest and (geometric) mean of
        `peak_bytes` and `train_s` over the rows.
    """
    cells = compared[~compared["control"]]
    sign = signs(cells, scores)
    key = [cells["problem"], cells["budget"]]
    best = cells["mean"].where(cells["n_scored"] > 0).groupby(key, sort=False).transform("first")
    least = best.groupby(cells["problem"]).transform("max").fillna(0)
    names = {name: score.name for name, score in scores.items()}
    metrics = cells["problem"].map(names)
    margin = [metric_margin(*pair) for pair in zip(metrics, least, strict=True)]
    leads = cells["cell"].groupby(key, sort=False).transform("first") == cells["cell"]
    short = (-sign * cells["difference"]).where(~leads, 0.0)
    failed = cells["n_scored"] < cells["n"]
    few = ~failed & ~leads & ~(cells["pairs"] >= MIN_PAIRS)
    told = cells["p_holm"] < SIGNIFICANCE
    worse = ~failed & ~few & ~leads & told & (short > margin)
    chance = compared[compared["control"] & ~compared["truth"]]
    floor = (signs(chance, scores) * chance["mean"]).groupby(chance["problem"]).max()
    table = pd.DataFrame(
        {
            "family": cells["family"],
            "metric": metrics,
            "method": cells["method"],
            "row": pd.factorize(pd.MultiIndex.from_arrays(key))[0],
            "level": ~failed & ~few & ~worse,
            "worse": worse,
            "few": few,
            "failed": failed,
            "first": leads & (cells["n_scored"] > 0),
            "no_better": sign * cells["mean"] <= cells["problem"].map(floor),
            "by": short.where(worse),
            "short": short,
            "bound": (short + cells["half"]).where(~leads, 0.0),
            **{
                f"{short}_{name}": cells[name].astype("float64")
                for name in COSTS
                for short in ("least", "most")
            },
            **{f"log_{name}": np.log(cells[name].where(cells[name] > 0)) for name in COSTS},
        }
    )
    group = ["family", "metric", "method"]
    found = table.groupby(group, sort=False).agg(
        n_rows=("row", "size"),
        **{name: (name, "sum") for name in ("level", "worse", "few", "failed", "first")},
        no_better=("no_better", "sum"),
        worse_least=("by", "min"),
        worse_most=("by", "max"),
        shortfall=("short", "max"),
        shortfall_mean=("short", "mean"),
        shortfall_bound=("bound", "max"),
        **{f"{name}_least": (f"least_{name}", "min") for name in COSTS},
        **{f"{name}_most": (f"most_{name}", "max") for name in COSTS},
        **{name: (f"log_{name}", "mean") for name in COSTS},
    )
    for name in COSTS:
        found[name] = np.exp(found[name])
    found = found.reset_index()
    rows = table.groupby(["family", "metric"])["row"].nunique()
    found["all_rows"] = pd.MultiIndex.from_frame(found[["family", "metric"]]).map(rows)
    return found.sort_values(
        ["family", "metric", "level", "peak_bytes", "train_s", "method"],
        ascending=[True, True, False, True, True, True],
        ignore_index=True,
    )


COSTS = ("peak_bytes", "train_s")


def decide(compared: pd.DataFrame, scores: Mapping[str, Score]) -> list[Decision]:
    """Word a decision for each family and metric, the one of most rows first.

    Parameters
    ----------
    compared, scores
        As for `standings`.
    """
    labels = {score.name: score.label for score in scores.values()}
    found = []
    cells = compared[~compared["control"]]
    names = cells["problem"].map({name: score.name for name, score in scores.items()})
    table = standings(compared, scores)
    for (family, metric), mine in table.groupby(["family", "metric"], sort=False):
        some = cells[(cells["family"] == family) & (names == metric)]
        lead, text = _worded(mine, labels[metric], _rows(some))
        found.append(Decision(labels[metric], lead, text, mine))
    found.sort(key=lambda one: -int(one.standings["n_rows"].sum()))
    return found


def _rows(cells: pd.DataFrame) -> str:
    datasets, budgets = cells["problem"].nunique(), cells["budget"].nunique()
    rows = len(cells[["problem", "budget"]].drop_duplicates())
    if rows == 1:
        return f"{cells['problem'].iloc[0]}"
    parts = [_count(datasets, "data set")] + ([_count(budgets, "budget")] if budgets > 1 else [])
    return f"{rows} rows ({' at '.join(parts)})" if budgets > 1 else parts[0]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _worded(table: pd.DataFrame, label: str, where: str) -> tuple[str, str]:
    everywhere = table[table["n_rows"] == table["all_rows"]]
    scored = table[table["failed"] < table["n_rows"]]
    by = f"By {label} on {where}"
    if scored.empty:
        return "No method has a score.", f"{by}: {_endings(table)}."
    if len(table) == 1:
        only = table.iloc[0]
        return f"{only['method']}: {_cost(only)}.", f"{by}, it is the only method."
    if (scored["level"] <= scored["first"]).all() and scored["few"].any():
        leader = scored.loc[scored["first"].idxmax()]
        lead = f"Too few seeds to choose: {leader['method']} has the best mean most often"
        also = _failing(table)
        return f"{lead}, {_cost(leader)}.", (
            f"{by}, no two methods share {MIN_PAIRS} seeds, so every difference may be "
            f"chance.{also}"
        )
    level = everywhere[everywhere["level"] == everywhere["all_rows"]]
    if level.empty:
        return _nobody(table, by)
    cheapest = take_of(
        [row for _, row in level.iterrows()], _bytes, lambda row: row.shortfall_mean
    )
    n, k = len(table), len(level)
    if k == 1:
        told = f"{by}, no other of {_word(n)} methods is level with the best on every row."
    elif k == n:
        told = f"{by}, all {_word(n)} are level: {_names(level['method'])}."
    else:
        told = f"{by}, {_word(k)} of {_word(n)} are level: {_names(level['method'])}."
    lead = f"Take {cheapest['method']}: {_cost(cheapest)}."
    if k > 1:
        lead = f"Take {cheapest['method']}, the cheapest of those that are level: "
        lead += f"{_cost(cheapest)}."
    others = table[~table["method"].isin(level["method"])]
    floor = ""
    if cheapest["no_better"]:
        floor = f"It is no better than a control on {_of(cheapest, 'no_better')}."
    return lead, " ".join(filter(None, [told, _worse(others), _open(cheapest, label), floor]))


def _bytes(row: Any) -> float:
    return float(row.peak_bytes) if math.isfinite(row.peak_bytes) else math.inf


def _nobody(table: pd.DataFrame, by: str) -> tuple[str, str]:
    nearest = table.iloc[0]
    lead = f"No method is level with the best everywhere; {nearest['method']} is on most: "
    lead += f"{_of(nearest, 'level')}, {_cost(nearest)}."
    return lead, f"{by}: {_worse(table)}"


def _of(row: Any, name: str) -> str:
    return f"{row[name]} of {row['n_rows']}"


def _worse(table: pd.DataFrame) -> str:
    """Say of each method on how many rows it is worse and by how much, or has no score."""
    words = []
    ordered = table.sort_values(["worse_most", "method"], kind="stable", na_position="last")
    for _, row in ordered.head(MOST_NAMED).iterrows():
        said = []
        if row["worse"]:
            on = "" if row["worse"] == row["all_rows"] else f" on {_of(row, 'worse')}"
            said.append(f"worse{on} by {_range(row['worse_least'], row['worse_most'])}")
        if row["failed"]:
            said.append(f"without some scores on {_of(row, 'failed')}")
        if row["few"]:
            said.append(f"of too few seeds on {_of(row, 'few')}")
        if row["n_rows"] < row["all_rows"]:
            said.append(f"run on {row['n_rows']} of {row['all_rows']} alone")
        words.append(f"{row['method']} is {' and '.join(said)}")
    rest = len(table) - len(words)
    if rest:
        words.append(f"{rest} more are worse or without a score on some")
    return f"{'; '.join(words)}." if words else ""


def _open(cheapest: Any, label: str) -> str:
    if not cheapest["shortfall"] > 0:
        return f"{cheapest['method']} has the best mean on every row."
    bound = cheapest["shortfall_bound"]
    beyond = f" (95 % interval up to {bound:.2g})" if math.isfinite(bound) else ""
    told = f"{cheapest['method']} is behind the best {label} of a row by"
    return f"{told} {cheapest['shortfall']:.2g} at most{beyond}."


def _failing(table: pd.DataFrame) -> str:
    failed = table[table["failed"] > 0]
    if failed.empty:
        return ""
    return f" Without some scores: {_names(failed['method'])}."


def _endings(table: pd.DataFrame) -> str:
    return f"all of {_names(table['method'])} failed"


def _cost(row: Any) -> str:
    parts = []
    for name, write, after in (
        ("peak_bytes", format_bytes, ""),
        ("train_s", seconds, " of training"),
    ):
        low, high = row[f"{name}_least"], row[f"{name}_most"]
        if math.isfinite(high):
            ends = dict.fromkeys((write(low), write(high)))
            parts.append(f"{' to '.join(ends)}{after}")
    return ", ".join(parts) or "bytes and seconds unknown"


def seconds(value: float) -> str:
    """Write a time, in milliseconds below a hundredth of a second."""
    return f"{1000 * value:.2g} ms" if value < 0.01 else format_duration(value)


def _range(low: float, high: float) -> str:
    ends = dict.fromkeys((f"{low:.2g}", f"{high:.2g}"))
    return " to ".join(ends)


def _word(number: int) -> str:
    return _WORDS.get(number, str(number))


def _names(names: Iterable[str]) -> str:
    listed = list(names)
    shown = listed[:MOST_NAMED]
    if len(listed) > MOST_NAMED:
        shown.append(f"{len(listed) - MOST_NAMED} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def decision_table(decisions: Iterable[Decision]) -> pd.DataFrame:
    """Return `decision.csv`: how each method stands over the rows of a family and metric."""
    columns = ["family", "metric", "method", "n_rows", "all_rows", "level", "worse", "few"]
    parts = [one.standings for one in decisions]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
