"""A study beside kept rows of another run, seed by seed: the same trials, scored twice.

A trial of one run and a trial of the other are a pair if data set, numbers of points, budget,
label of the method and seed are the same: then split and draws are the same, and what differs is
the method's version, the machine or the library. Equal bits are told from equal means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.errors import HarnessError
from harness.report.answers import decimals
from harness.report.rows import IDENTIFIERS
from harness.report.statistics import MIN_PAIRS, holm, mean_interval, paired_p
from harness.study.budget import parse_budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.report.scores import Score

CELL = [name for name in IDENTIFIERS if name != "seed"]


def compare_rows(
    ours: pd.DataFrame, theirs: pd.DataFrame, metrics: Mapping[tuple[str, str], str], where: str
) -> pd.DataFrame:
    """Compare two runs of the same trials, a row a cell that both have.

    Parameters
    ----------
    ours, theirs : pandas.DataFrame
        As from `kept_rows` and `read_rows`.
    metrics : mapping of (data set, task) to str
        What each data set is compared by.
    where : str
        The file of `theirs`, for messages.

    Returns
    -------
    pandas.DataFrame
        CELL, `metric`, `n` (pairs of which both ended ok), `n_equal` (pairs whose scores are the
        same to the last bit), `unpaired` (seeds that one run alone has, or that failed in one of
        them), `ours` and `theirs` (means over the pairs), `difference` (ours less theirs) with
        `ci_low` and `ci_high` (95 %, of the paired differences), `p` of the paired t-test and
        `p_holm`, adjusted over all rows of the table.

    Raises
    ------
    HarnessError
        If no trial is in both.
    """
    tables = []
    for rows in (ours, theirs):
        scores = pd.Series(np.nan, rows.index)
        for (dataset, task), metric in metrics.items():
            mine = (rows["dataset"] == dataset) & (rows["task"] == task)
            if metric in rows:
                scores[mine] = rows.loc[mine, metric]
        limits = {text: _limit(text) for text in rows["budget"].unique()}
        tables.append(
            rows[list(IDENTIFIERS)].assign(
                limit=rows["budget"].map(limits),
                task=rows["task"],
                score=scores.where(rows["outcome"] == "ok"),
            )
        )
    on = ["limit" if name == "budget" else name for name in IDENTIFIERS] + ["task"]
    joined = tables[0].merge(
        tables[1].drop(columns="budget"), on=on, how="outer", suffixes=("", "_theirs")
    )
    both = joined.groupby([*CELL, "task"], sort=False)
    found = [
        dict(zip(CELL, key, strict=False)) | _cell(mine) | {"metric": metrics[key[0], key[-1]]}
        for key, mine in both
        if (key[0], key[-1]) in metrics
        and mine[["score", "score_theirs"]].notna().all(axis=1).any()
    ]
    if not found:
        message = "has no trial in common with the study that ended ok in both: data set, numbers"
        raise HarnessError(f"{where}: {message} of points, budget, method and seed must agree")
    table = pd.DataFrame(found)
    table["p_holm"] = holm(table["p"])
    return table[[*CELL, "metric", *_FIGURES, "p_holm"]]


_FIGURES = ["n", "n_equal", "unpaired", "ours", "theirs", "difference", "ci_low", "ci_high", "p"]


def _limit(text: str) -> str:
    budget = parse_budget(text)
    return f"{budget.bytes} {budget.size}"


def _cell(rows: pd.DataFrame) -> dict[str, Any]:
    pairs = rows.dropna(subset=["score", "score_theirs"])
    differences = (pairs["score"] - pairs["score_theirs"]).to_numpy()
    interval = mean_interval(differences)
    return {
        "n": len(pairs),
        "n_equal": int((differences == 0).sum()),
        "unpaired": len(rows) - len(pairs),
        "ours": pairs["score"].mean(),
        "theirs": pairs["score_theirs"].mean(),
        "difference": interval.mean,
        "ci_low": interval.low,
        "ci_high": interval.high,
        "p": float(paired_p(differences)),
    }


def paired_lines(table: pd.DataFrame, scores: Mapping[str, Score]) -> list[dict[str, Any]]:
    """Write a comparison line by line.

    Parameters
    ----------
    table : pandas.DataFrame
        As from `compare_rows`.
    scores : mapping of str to Score
        By metric: which way is better.
    """
    return [
        {
            "data set": row.dataset,
            "labeled": f"{int(row.n_labeled):,}",
            "budget": row.budget,
            "method": row.method,
            "metric": row.metric,
            "pairs": f"{row.n}",
            "ours": f"{row.ours:.4f}",
            "theirs": f"{row.theirs:.4f}",
            "difference": _difference(row),
            "it says": _words(row, scores[row.metric].greater_is_better),
        }
        for row in table.itertuples()
    ]


def _difference(row: Any) -> str:
    half = (row.ci_high - row.ci_low) / 2
    if half != half:
        return f"{row.difference:+.4f}"
    digits = max(4, decimals(row.difference, half))
    return f"{row.difference:+.{digits}f} ± {half:.{digits}f}"


def _words(row: Any, greater_is_better: bool) -> str:
    if row.n_equal == row.n:
        return "equal to the last bit"
    if row.n < MIN_PAIRS:
        return f"cannot tell: fewer than {MIN_PAIRS} pairs"
    if not row.p_holm < 0.05:
        return "no difference shown"
    return "better" if (row.difference > 0) == greater_is_better else "worse"
