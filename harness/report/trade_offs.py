"""What more bytes buy: steps along the front, bytes for a wanted score, budgets of a switch.

Each is told with what is sure of it. A front of means has a step wherever a mean is higher by
nothing that anybody could show, and a winner changes from budget to budget by chance alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from harness.report.answers import SIGNIFICANCE
from harness.report.pareto import on_front, signs
from harness.report.statistics import holm
from harness.report.verdicts import metric_margin

if TYPE_CHECKING:
    from harness.report.pairs import PairedScores
    from harness.report.scores import Score

WITHIN = (5, 2, 1)
"""Wanted scores: so many margins behind the best mean of a data set."""
_OF_A_CELL = ["problem", "method", "budget", "peak_bytes", "mean", "ci_low", "ci_high"]


def _whole(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of methods that finished every seed, with a measured peak."""
    whole = (cells["n_scored"] > 0) & (cells["n_scored"] == cells["n"])
    return cells[~cells["control"] & whole & (cells["peak_bytes"] > 0)]


def front_steps(
    paired: PairedScores, cells: pd.DataFrame, scores: Mapping[str, Score]
) -> pd.DataFrame:
    """List the front of each problem by measured peak, with what each step gains.

    Parameters
    ----------
    paired : PairedScores
    cells : pandas.DataFrame
        `Tables.cells`.
    scores : mapping of str to Score

    Returns
    -------
    pandas.DataFrame
        A row a mark of a front, the cheapest first: `problem`, `method`, `budget`, `peak_bytes`,
        `mean`, `ci_low`, `ci_high`; `gain` on the mark before (positive is better) and
        `gain_per_doubling` of the peak; `p_holm` of the paired t-test of that step, adjusted over
        the steps of the front; `enough`, whether it is the knee: the first mark that cannot be
        told apart from the best mean of the problem; none where too few seeds are shared.
    """
    known = _whole(cells)
    marks = known[on_front(known, "peak_bytes", scores)].sort_values(
        ["problem_place", "peak_bytes"], kind="stable"
    )
    marks = marks.drop_duplicates(["problem", "peak_bytes", "mean"])
    sign = signs(marks, scores)
    by = marks.groupby("problem", sort=False)
    before = by["cell"].shift()
    steps = paired.against(before.fillna(marks["cell"]).astype("int64").set_axis(marks["cell"]))
    p = steps["p"].set_axis(marks.index).where(before.notna())
    doublings = np.log2(marks["peak_bytes"].astype("float64"))
    doublings -= doublings.groupby(marks["problem"]).shift()
    gain = sign * (marks["mean"] - by["mean"].shift())
    last = by["cell"].transform("last")
    behind = paired.against(last.set_axis(marks["cell"])).set_axis(marks.index)
    other = behind["p"].where(marks["cell"] != last)
    told = other.groupby(marks["problem"], sort=False).transform(holm)
    # with a mark of too few shared seeds before the last, nobody knows where the knee is
    untested = other.isna() & (marks["cell"] != last)
    unknown = untested.groupby(marks["problem"]).transform("any")
    level = ((told >= SIGNIFICANCE) | (marks["cell"] == last)) & ~unknown
    first = level & (level.groupby(marks["problem"]).cumsum() == 1)
    return marks[_OF_A_CELL].assign(
        gain=gain,
        gain_per_doubling=gain / doublings,
        p_holm=p.groupby(marks["problem"], sort=False).transform(holm),
        enough=first,
    )


def least_bytes(cells: pd.DataFrame, scores: Mapping[str, Score]) -> pd.DataFrame:
    """Find the least measured peak for some wanted scores of each problem.

    Parameters
    ----------
    cells : pandas.DataFrame
        `Tables.cells`.
    scores : mapping of str to Score

    Returns
    -------
    pandas.DataFrame
        A row a problem and wanted score, which lies WITHIN margins of the best mean: `problem`,
        `wanted`; `method`, `budget` and `peak_bytes` of the cheapest cell whose mean reaches it;
        `low_bytes`, of the cheapest whose 95 % interval reaches it, and `high_bytes`, of the
        cheapest whose whole interval does (NaN where none does). Problems whose metric has no
        margin are left out.
    """
    known = _whole(cells).sort_values(["problem_place", "peak_bytes", "rank"], kind="stable")
    sign = signs(known, scores)
    worth = sign * known["mean"]
    best = worth.groupby(known["problem"]).transform("max")
    names = known["problem"].map({name: score.name for name, score in scores.items()})
    margin = pd.Series(
        [metric_margin(*pair) for pair in zip(names, best, strict=True)], known.index, dtype=float
    )
    low, high = (sign * known[end].fillna(known["mean"]) for end in ("ci_low", "ci_high"))
    ends = {"low_bytes": np.fmax(low, high), "high_bytes": np.fmin(low, high)}
    parts = []
    for margins in WITHIN:
        wanted = (best - margins * margin)[margin > 0]
        reached = known.loc[wanted.index][worth[wanted.index] >= wanted]
        first = reached.drop_duplicates("problem").set_index("problem")
        part = first[["problem_place", "method", "budget", "peak_bytes"]]
        of_one = (sign * wanted)[reached.index].groupby(reached["problem"]).first()
        part = part.assign(order=-margins, wanted=of_one)
        for name, end in ends.items():
            far = known.loc[wanted.index][end[wanted.index] >= wanted]
            part[name] = far.drop_duplicates("problem").set_index("problem")["peak_bytes"]
        parts.append(part.reset_index())
    table = pd.concat(parts).sort_values(["problem_place", "order"], ignore_index=True)
    columns = ["problem", "wanted", "method", "budget", "peak_bytes", "low_bytes", "high_bytes"]
    return table[columns]


def switch_points(
    paired: PairedScores, cells: pd.DataFrame, scores: Mapping[str, Score], budgets: Sequence[str]
) -> pd.DataFrame:
    """Find the budgets between which the winner of a problem changes, and how sure that is.

    Parameters
    ----------
    paired : PairedScores
    cells : pandas.DataFrame
        `Tables.cells`.
    scores : mapping of str to Score
    budgets : sequence of str
        Of the study, in order.

    Returns
    -------
    pandas.DataFrame
        A row a problem and change of the highest mean from one budget to the next: `problem`,
        `below`, `above` (budgets), `from_method`, `to_method`; `lead_below` and `lead_above`, by
        how much each leads the other at its own budget, with `p_below` and `p_above` of the paired
        t-tests, corrected by Holm for the two; `sure`: "yes" if both leads are more than chance,
        "below" or "above" if one is, "no" if neither; "few" if too few seeds are shared, "failed"
        if one of them has no score at the other's budget.
    """
    known = _whole(cells)
    sign = signs(known, scores)
    best = known.assign(worth=sign * known["mean"]).sort_values(
        ["problem_place", "place", "worth"], ascending=[True, True, False], kind="stable"
    )
    winners = best.drop_duplicates(["problem", "budget"])[
        ["problem", "place", "budget", "method", "cell"]
    ]
    following = winners.groupby("problem", sort=False).shift(-1)
    changes = winners.join(following.add_suffix("_next"))
    changes = changes[
        changes["method_next"].notna() & (changes["method"] != changes["method_next"])
    ]
    cell_of = known.set_index(["problem", "budget", "method"])["cell"]

    def other(budget: str, method: str) -> pd.Series:
        keys = pd.MultiIndex.from_frame(changes[["problem", budget, method]])
        return pd.Series(cell_of.reindex(keys).to_numpy(), changes.index)

    direction = signs(changes, scores)
    table = {
        "problem": changes["problem"],
        "below": changes["budget"],
        "above": changes["budget_next"],
        "from_method": changes["method"],
        "to_method": changes["method_next"],
    }
    ps = []
    for side, own, rival in (
        ("below", changes["cell"], other("budget", "method_next")),
        ("above", changes["cell_next"], other("budget_next", "method")),
    ):
        own = own.astype("int64")
        found = paired.against(rival.fillna(own).astype("int64").set_axis(own))
        table[f"lead_{side}"] = direction * found["difference"].set_axis(changes.index)
        ps.append(found["p"].set_axis(changes.index).where(rival.notna()))
    adjusted = np.array([holm(pair) for pair in zip(*ps, strict=True)]).reshape(-1, 2)
    table |= {f"p_{side}": adjusted[:, place] for place, side in enumerate(("below", "above"))}
    made = pd.DataFrame(table)
    less = made["p_below"] < SIGNIFICANCE
    more = made["p_above"] < SIGNIFICANCE
    lacking = made["lead_below"].isna() | made["lead_above"].isna()
    untested = made["p_below"].isna() | made["p_above"].isna()
    made["sure"] = np.select(
        [lacking, untested, less & more, less, more],
        ["failed", "few", "yes", "below", "above"],
        "no",
    )
    return made.reset_index(drop=True)
