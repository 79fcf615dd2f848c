"""Two runs of the same trials: which cells moved beyond noise in score, seconds and bytes.

Two versions, two machines, before and after: trials are paired as in `harness.report.paired`.
Scores are compared by their differences, seconds and bytes by their ratios. Seconds are compared
between trials on one CPU alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness.metrics.names import PRIMARY
from harness.report.answers import decimals
from harness.report.columns import SAYS_NOTHING_OF_SCORES
from harness.report.paired import compare_rows
from harness.report.results import read_results
from harness.report.rows import COMPARED, KEPT, kept_rows, read_rows
from harness.report.scores import SCORES, Score, choose_scores
from harness.report.statistics import MIN_PAIRS, holm
from harness.units import format_bytes, format_duration

LEVEL = 0.05
"""Of the adjusted p-value below which a cell is said to have moved."""

_RATIOS = {"cpu_s": "CPU time", "peak_bytes": "peak"}
_LOG = "log of {}"


@dataclass(frozen=True)
class Run:
    """The rows of one run.

    Attributes
    ----------
    place : Path
    rows : pandas.DataFrame
        As from `kept_rows`, with `cpu`: null where the file does not say.
    metrics : mapping of (data set, task) to Score
        Empty where a file of rows alone was read.
    """

    place: Path
    rows: pd.DataFrame
    metrics: Mapping[tuple[str, str], Score]


def read_run(place: Path) -> Run:
    """Read a folder of results, or a file of kept rows.

    Raises
    ------
    HarnessError
        If it is neither.
    """
    if not place.is_dir():
        return Run(place, read_rows(place).assign(cpu=None), {})
    without = [name for name in SAYS_NOTHING_OF_SCORES if name not in {*KEPT, "cpu"}]
    results = read_results(place, without=without)
    scores = choose_scores(results)
    problems = results.cells.drop_duplicates("problem")[["problem", "dataset", "task"]]
    metrics = {(p.dataset, p.task): scores[p.problem] for p in problems.itertuples()}
    rows = kept_rows(results, columns=(*COMPARED, *_RATIOS))
    return Run(place, rows.assign(cpu=results.cells["cpu"].to_numpy()), metrics)


@dataclass(frozen=True)
class Moved:
    """What two runs have in common, compared.

    Attributes
    ----------
    table : pandas.DataFrame
        What names a cell; `what` (a metric, "CPU time" or "peak"), `greater_is_better`,
        `is_ratio`; `n` pairs, `n_equal`, `unpaired`; `before`, `after`, `change` with `ci_low` and
        `ci_high` (95 %): a difference, or a ratio where `is_ratio`; `p`, `p_holm` over all of the
        table, and `moved`.
    cpu : str or None
        The CPU of all trials whose times are compared; empty where no file says; None where no
        CPU ran trials of both, and times are not compared.
    """

    table: pd.DataFrame
    cpu: str | None

    def counts(self) -> dict[str, int]:
        """Count comparisons: those that moved, that did not, and that cannot be told."""
        few = self.table["n"] < MIN_PAIRS
        same = self.table["n_equal"] == self.table["n"]
        moved = self.table["moved"]
        return {
            "moved": int(moved.sum()),
            "equal": int(same.sum()),
            "not shown": int((~moved & ~same & ~few).sum()),
            "too few": int((few & ~same).sum()),
        }


def compare_runs(before: Run, after: Run) -> Moved:
    """Compare two runs, cell by cell.

    Raises
    ------
    HarnessError
        If no trial is in both.
    """
    metrics = {**before.metrics, **after.metrics}
    if not metrics:
        metrics = _first_metrics(after.rows)
    where = str(before.place)
    names = {key: score.name for key, score in metrics.items()}
    better = {score.name: score.greater_is_better for score in metrics.values()}
    tables = [compare_rows(after.rows, before.rows, names, where).assign(is_ratio=False)]
    cpu = _shared_cpu(before.rows, after.rows)
    for column in _RATIOS:
        if column == "cpu_s" and cpu is None:
            continue
        ours, theirs = (_with_log(rows, column, cpu) for rows in (after.rows, before.rows))
        log = _LOG.format(column)
        if ours[log].notna().any() and theirs[log].notna().any():
            logs = compare_rows(ours, theirs, dict.fromkeys(names, log), where)
            tables.append(logs.assign(is_ratio=True))
    table = pd.concat(tables, ignore_index=True)
    ratios = table["is_ratio"]
    for name in ("ours", "theirs", "difference", "ci_low", "ci_high"):
        table.loc[ratios, name] = np.exp(table.loc[ratios, name])
    told = {_LOG.format(column): text for column, text in _RATIOS.items()}
    table["what"] = table["metric"].replace(told)
    table["greater_is_better"] = table["metric"].map(better).fillna(False).astype(bool)
    table["p_holm"] = holm(table["p"])
    table["moved"] = (table["p_holm"] < LEVEL) & (table["n"] >= MIN_PAIRS)
    renamed = {"ours": "after", "theirs": "before", "difference": "change"}
    return Moved(table.drop(columns="metric").rename(columns=renamed), cpu)


def _first_metrics(rows: pd.DataFrame) -> dict[tuple[str, str], Score]:
    """Return what decides each data set of rows that no study stands beside."""
    found = {}
    for (dataset, task), mine in rows.groupby(["dataset", "task"], observed=True):
        has = [name for name in SCORES if name in mine and mine[name].notna().any()]
        default = PRIMARY.get(task, "accuracy")
        found[dataset, task] = SCORES[default if default in has or not has else has[0]]
    return found


def _shared_cpu(before: pd.DataFrame, after: pd.DataFrame) -> str | None:
    """Return the CPU of most trials that both have; "" where no file says, None where none is."""
    if before["cpu"].isna().all() or after["cpu"].isna().all():
        return ""
    counts = after["cpu"].value_counts()
    return next((cpu for cpu in counts.index if (before["cpu"] == cpu).any()), None)


def _with_log(rows: pd.DataFrame, column: str, cpu: str | None) -> pd.DataFrame:
    known = rows[column].where(rows[column] > 0)
    if column == "cpu_s" and cpu:
        known = known.where(rows["cpu"] == cpu)
    return rows.assign(**{_LOG.format(column): np.log(known.astype("float64"))})


def moved_lines(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Write comparisons line by line, those of scores first, then the largest change."""
    ratio = np.log(table["change"].where(table["is_ratio"])).abs().fillna(0)
    order = table.assign(_size=ratio + table["change"].abs().where(~table["is_ratio"], 0))
    ordered = order.sort_values(["is_ratio", "what", "_size"], ascending=[True, True, False])
    return [
        {
            "data set": row.dataset,
            "labeled": f"{int(row.n_labeled):,}",
            "budget": row.budget,
            "method": row.method,
            "what": row.what,
            "pairs": f"{row.n}",
            "before": _value(row, row.before),
            "after": _value(row, row.after),
            "change": _change(row),
            "it is": _words(row),
        }
        for row in ordered.itertuples()
    ]


def _value(row: Any, value: float) -> str:
    if row.what == _RATIOS["cpu_s"]:
        return format_duration(value)
    return format_bytes(round(value)) if row.is_ratio else f"{value:.4f}"


def _change(row: Any) -> str:
    if row.is_ratio:
        return f"x {row.change:.3g} ({row.ci_low:.3g} to {row.ci_high:.3g})"
    half = (row.ci_high - row.ci_low) / 2
    digits = max(4, decimals(row.change, half)) if half == half else 4
    return f"{row.change:+.{digits}f} ± {half:.{digits}f}"


def _words(row: Any) -> str:
    grew = row.change > (1 if row.is_ratio else 0)
    if row.is_ratio:
        return "more" if grew else "less"
    return "better" if grew == row.greater_is_better else "worse"
