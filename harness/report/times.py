"""Seconds of one kind of CPU at a time: a mean over two would be of neither.

Hosts of a cluster differ. A mean over some trials of a fast machine and some of a slow one says
which machine was free. So the times of a cell are of one CPU, and the page says of which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.report.results import CELL

if TYPE_CHECKING:
    from harness.report.results import Results

TIMES = ("train_s", "tune_s", "fit_s", "predict_s", "cpu_s")


def on_one_cpu(rows: pd.DataFrame) -> pd.Series:
    """Tell which trials that ended ok a cell's times are of: those on one kind of CPU.

    It is the one of most trials of the study, of those that the cell has at all.

    Parameters
    ----------
    rows : pandas.DataFrame
        With `cell`, `ok` and `cpu_place`.
    """
    places = rows["cpu_place"].where(rows["ok"])
    return rows["ok"] & (places == places.groupby(rows["cell"]).transform("min"))


def times_per_cpu(rows: pd.DataFrame) -> pd.DataFrame:
    """Average seconds per cell and kind of CPU, over the trials that ended ok.

    Returns
    -------
    pandas.DataFrame
        `cell`, `cpu_place`, CELL, `cpu`, `n` (trials), and mean and standard deviation of TIMES.
    """
    ok = rows.loc[rows["ok"], ["cell", "cpu_place", "cpu", *CELL, *TIMES]]
    grouped = ok.groupby(["cell", "cpu_place"])
    table = grouped.agg(
        **{name: (name, "first") for name in (*CELL, "cpu")},
        n=("cell", "size"),
        **{name: (name, "mean") for name in TIMES},
        **{f"{name}_std": (name, "std") for name in TIMES},
    )
    return table.reset_index()


def of_usual_cpu(cells: pd.DataFrame) -> pd.DataFrame:
    """Leave out of a chart the times of cells that ran on other CPUs alone."""
    usual = cells["timed_on"].fillna(0) == 0
    return cells.assign(**{name: cells[name].where(usual) for name in ("train_s", "predict_s")})


def times_by_place(results: Results, times: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Take apart the times of every CPU but the usual one: by its place, by cell."""
    columns = ["cell", "train_s", "predict_s"]
    return {
        str(place): times.loc[times["cpu_place"] == place, columns].set_index("cell")
        for place in range(1, len(results.cpus))
    }


def other_times(
    by_place: Mapping[str, pd.DataFrame], cells: pd.DataFrame
) -> dict[str, Mapping[str, Any]]:
    """Return what the charts of some cells draw of every CPU but the usual one, by its place."""
    found: dict[str, Mapping[str, Any]] = {}
    for place, times in by_place.items():
        mine = times.reindex(cells["cell"])
        found[place] = {
            short: [float(f"{value:.5g}") if value > 0 else None for value in mine[name]]
            for short, name in (("train", "train_s"), ("predict", "predict_s"))
        }
    return found
