"""The tables that stand as CSV beside the page, with the columns that they promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.report.csv_text import PART
from harness.report.tables import COSTS

if TYPE_CHECKING:
    from harness.report.tables import Tables

_ENDS = (("mean", ""), ("std", "_std"))


def means_in_parts(tables: Tables) -> Iterator[pd.DataFrame]:
    """Yield `means.csv`: a row a cell and metric, with what the cell cost."""
    keys = ["dataset", "task", "n_labeled", "budget", "method"]
    figures = ["n_ok", "n", "metric", "mean", "ci_low", "ci_high", "std", "rank"]
    costs = {f"{what}_{name}": f"{name}{end}" for name in COSTS for what, end in _ENDS}
    columns = [*keys, *figures, *costs, "cpu", "n_timed"]
    about = tables.cells.set_index("cell")
    about = about[[name for name in columns if name not in tables.means]]
    for start in range(0, len(tables.means), PART):
        part = tables.means.iloc[start : start + PART].join(about, on="cell")
        yield part[columns].rename(columns=costs)


def csv_tables(
    tables: Tables, best: pd.DataFrame, calibration: list[dict[str, Any]]
) -> dict[str, pd.DataFrame]:
    """Name the tables that stand as CSV beside the page, with the columns that they promise.

    `means_in_parts` is a further one.
    """
    per_cpu = tables.times
    times = per_cpu.drop(columns=["cell", "cpu_place"]).rename(columns={"problem": "dataset"})
    return {
        "ranks": tables.ranks.drop(columns="place"),
        "outcomes": tables.outcomes.rename(columns={"problem": "dataset"}),
        "best": best,
        "planned_vs_measured": tables.planned.rename(columns={"problem": "dataset"}),
        "calibration": pd.DataFrame(calibration),
        **({"times": times} if per_cpu["cpu_place"].max() > 0 else {}),
    }
