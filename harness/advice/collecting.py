"""The scores of all kept studies as one small file, so that an installed harness has them.

`python -m harness.advice.collecting` writes it anew; a test says when it is out of date.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.advice.evidence import KEPT, METRICS, typed
from harness.errors import HarnessError
from harness.planning.study_splits import sizes_of
from harness.planning.workload import read_catalog
from harness.plugin.index import read_index
from harness.project import ROOT
from harness.study.budget import parse_budget
from harness.study.study import load_study

if TYPE_CHECKING:
    from harness.datasets.catalog import Catalog
    from harness.study.study import Study

RESULTS = ROOT / "docs" / "results"

_LABELED = re.compile(r", ([\d,]+) labeled")


def collect(folder: Path = RESULTS) -> pd.DataFrame:
    """Return the mean scores of all kept studies.

    Parameters
    ----------
    folder : Path, default docs/results
        A folder a study, with `means.csv`, `planned_vs_measured.csv` and `study.yaml`.

    Returns
    -------
    pandas.DataFrame
        With the columns of the evidence.

    Raises
    ------
    HarnessError
        If a table has a method or a data set that its study has not.
    """
    catalog = read_catalog(None, read_index())
    return typed(pd.concat(_scores(path, catalog) for path in sorted(folder.glob("*/means.csv"))))


def _scores(path: Path, catalog: Catalog) -> pd.DataFrame:
    study = load_study(path.parent / "study.yaml")
    means = pd.read_csv(path, dtype={"budget": "str"}, keep_default_na=False, na_values=[""])
    means = means[means["metric"].isin(METRICS)].rename(columns={"method": "label"})
    methods = {choice.label: choice.name for grid in study.grids for choice in grid.methods}
    # what the report shortens is still `method[...]`
    methods |= {name: name for name in methods.values()}
    known = means["label"].where(means["label"].isin(list(methods)))
    means["method"] = known.fillna(means["label"].str.partition("[")[0]).map(methods)
    points = dict(_points(study, catalog))
    keys = list(zip(means["dataset"], means["task"], means["n_labeled"].astype(int), strict=True))
    lost = {*means["label"][means["method"].isna()], *(str(k) for k in keys if k not in points)}
    if lost:
        raise HarnessError(f"{path}: study.yaml beside it has no {', '.join(sorted(lost))}")
    means = means.assign(
        study=path.parent.name,
        budget_bytes=[parse_budget(text).bytes for text in means["budget"]],
        **pd.DataFrame([points[key] for key in keys], index=means.index),
    )
    return means.merge(_planned(path.parent, means), how="left")


def _points(study: Study, catalog: Catalog) -> Iterator[tuple[tuple[str, str, int], Any]]:
    """Yield the shape of each data set at each number of labels."""
    for grid in study.grids:
        for name in grid.datasets:
            entry = catalog[name]
            for labeled in grid.labeled:
                sizes = sizes_of(study, grid, entry, labeled)
                shape: Mapping[str, int] = {
                    **sizes._asdict(),
                    "n_features": entry.d,
                    "n_classes": entry.n_classes,
                }
                yield (name, grid.task_of(entry.task), sizes.n_labeled), shape


def _planned(folder: Path, means: pd.DataFrame) -> pd.DataFrame:
    """Return the planned bytes of each cell, by the columns that `means.csv` has."""
    path = folder / "planned_vs_measured.csv"
    columns = ["dataset", "n_labeled", "budget", "label", "planned_bytes"]
    if not path.is_file():
        return means[columns[:4]].drop_duplicates().assign(planned_bytes=math.nan)
    table = pd.read_csv(path, keep_default_na=False, na_values=[""])
    told = table["dataset"].str.extract(_LABELED)[0]
    table["dataset"] = table["dataset"].str.partition(",")[0]
    # where there is one number of labels, the name of the data set does not tell it
    alone = means.groupby("dataset")["n_labeled"].max()
    told = pd.to_numeric(told.str.replace(",", ""))
    table["n_labeled"] = told.fillna(table["dataset"].map(alone))
    return table.rename(columns={"method": "label"})[columns]


if __name__ == "__main__":
    collect().to_parquet(KEPT, compression="zstd", compression_level=19, index=False)
