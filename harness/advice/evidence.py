"""The evidence behind advice: mean scores of studies, a row a cell, with the shape of its data.

Kept studies come along as one small file, which `harness.advice.collecting` makes of
`docs/results`. Studies that were run in the current folder are read from their tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from harness.errors import HarnessError
from harness.planning.workload import RESULTS
from harness.project import TEMPLATES
from harness.records.table import KeptTable, as_frame

KEPT = TEMPLATES / "kept_scores.parquet"
"""Scores of the kept studies, as they come along with the harness."""

METRICS = ("auc", "accuracy", "balanced_accuracy", "nmse", "r2", "adjusted_rand")
"""What scores are kept of: the one that decides each task, and others that can be asked for."""

SETTING = ["study", "dataset", "task", "n_labeled", "n_unlabeled", "n_test", "budget"]
"""What scores are compared within: the same points, and the same budget."""

_SHAPE = ["n_features", "n_classes", "budget_bytes"]
COLUMNS = [*SETTING, *_SHAPE, "method", "label", "metric", "n", "n_ok", "mean", "planned_bytes"]
"""Columns of the evidence.

`budget_bytes` is missing where a budget is none or a number of landmarks. `method` is the method
behind `label`, which the study calls it. `mean` is over the `n_ok` of `n` seeds that ended ok;
`planned_bytes` is what the storage model said.
"""

_ASKED = ["dataset", "task", "method", "plugin_method", "n_labeled", "n_unlabeled", "n_test"]
_ASKED += [*_SHAPE, "budget", "outcome", "planned_bytes"]


def read_evidence(results: Path | None = RESULTS, kept: Path = KEPT) -> pd.DataFrame:
    """Read the kept scores, and those of studies that were run in the current folder.

    Parameters
    ----------
    results : Path or None, default results/
        Holds a folder a study; None for none. A study there counts instead of a kept one of its
        name.
    kept : Path
        As `harness.advice.collecting` writes it.

    Returns
    -------
    pandas.DataFrame
        With COLUMNS, one row a method, metric and setting. Where a study has several variants of a
        method, this is the plain one, else the median of all.

    Raises
    ------
    HarnessError
        If the kept scores cannot be read.
    """
    try:
        parts = [pd.read_parquet(kept)]
    except (OSError, ValueError) as error:
        raise HarnessError(f"{kept}: cannot be read: {error}; install the harness again") from None
    for path in sorted(results.glob("*/trials.parquet")) if results else []:
        own = scores_of_trials(path)
        if not own.empty:
            parts = [part[part["study"] != path.parent.name] for part in parts] + [own]
    return one_a_method(pd.concat(parts, ignore_index=True))


def scores_of_trials(path: Path) -> pd.DataFrame:
    """Return the mean scores of a study that was run here; no row where its table is damaged."""
    try:
        table = KeptTable(path)
        metrics = [name for name in METRICS if name in table.columns]
        rows = as_frame(table.read([*_ASKED, *metrics]))
    except HarnessError:
        return pd.DataFrame(columns=COLUMNS)
    rows = rows.rename(columns={"method": "label", "plugin_method": "method"})
    rows = rows.assign(study=path.parent.name, ok=rows["outcome"] == "ok")
    return typed(pd.concat([_means(rows, metric) for metric in metrics]))


def _means(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a row a cell that the metric applies to."""
    score = rows[metric].where(rows["ok"]).astype(float)
    by = [*SETTING, *_SHAPE, "method", "label"]
    grouped = rows.assign(score=score).groupby(by, dropna=False, sort=False)
    cells = grouped.agg(
        n=("ok", "size"),
        n_ok=("ok", "sum"),
        mean=("score", "mean"),
        planned_bytes=("planned_bytes", "median"),
    ).reset_index()
    applies = cells.groupby(SETTING, dropna=False)["mean"].transform("count") > 0
    return cells[applies].assign(metric=metric)


def typed(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of the evidence, numbers as numbers."""
    kinds: Mapping[str, str] = {
        **dict.fromkeys(
            ("n_labeled", "n_unlabeled", "n_test", "n_features", "n_classes"), "int32"
        ),
        **dict.fromkeys(("budget_bytes", "planned_bytes", "mean"), "float64"),
        **dict.fromkeys(("n", "n_ok"), "int32"),
        **dict.fromkeys(
            ("study", "dataset", "task", "budget", "method", "label", "metric"), "str"
        ),
    }
    return cells[COLUMNS].astype(kinds).reset_index(drop=True)


def one_a_method(cells: pd.DataFrame) -> pd.DataFrame:
    """Return one row a method and setting: the plain variant, else the median of all variants.

    The best of them would have been chosen by the scores that it is judged by.
    """
    key = [*SETTING, *_SHAPE, "metric", "method"]
    plain = cells["label"] == cells["method"]
    has_plain = plain.groupby([cells[name] for name in key], dropna=False).transform("any")
    alone = cells[plain | ~has_plain]
    figures = {"n": "min", "n_ok": "min", "mean": "median", "planned_bytes": "median"}
    found = alone.groupby(key, dropna=False, sort=False).agg(figures | {"label": "first"})
    return found.reset_index()[COLUMNS]


def by_setting(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the rows of each setting."""
    for _, rows in cells.groupby(SETTING, dropna=False, sort=False):
        yield rows
