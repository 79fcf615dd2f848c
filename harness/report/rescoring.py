"""Metrics computed from predictions that were kept, in a table beside the study's.

A metric that trials scored themselves stays as they did. What is computed here fills in the rows
that lack it, and is read with the table wherever that is judged.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.errors import DamagedFileError, HarnessError
from harness.files import is_file, whole_file
from harness.metrics.functions import evaluate
from harness.metrics.names import METRICS
from harness.records.columns import COLUMNS
from harness.report.predictions import TRIAL, KeptPredictions, Predicted

if TYPE_CHECKING:
    from harness.plugin.hookspecs import Metric

FILE = "rescored.parquet"

_DECLARED = b"memory_budget_harness_metrics"
_TRIAL = "fingerprint"


@dataclass(frozen=True)
class Rescored:
    """What a metric gave.

    Attributes
    ----------
    table : DataFrame
        "fingerprint", `TRIAL`, and a column for each metric; NaN where there is none.
    lacking : Counter
        Trials without a score, by the reason.
    """

    table: pd.DataFrame
    lacking: Counter[str]


def rescore(
    kept: KeptPredictions, metrics: Sequence[Metric], rows: pd.DataFrame | None = None
) -> Rescored:
    """Compute metrics from kept predictions.

    Parameters
    ----------
    kept : KeptPredictions
    metrics : sequence of Metric
    rows : DataFrame, optional
        Of trials, as `KeptPredictions.rows` gives them; all by default.

    Raises
    ------
    HarnessError
        If a data set is not prepared here.
    """
    lacking: Counter[str] = Counter()
    table = []
    for one in kept.read(rows):
        made = {name: one.row[name] for name in (_TRIAL, *TRIAL)}
        for metric in metrics:
            if one.row["task"] in metric.tasks:
                made[metric.name], why = _scored(metric, one)
                lacking[why] += bool(why)
        table.append(made)
    lacking.update(kept.lacking)
    names = [metric.name for metric in metrics]
    return Rescored(pd.DataFrame(table, columns=[_TRIAL, *TRIAL, *names]), +lacking)


def _scored(metric: Metric, one: Predicted) -> tuple[float, str]:
    X = one.rows_of_points() if metric.needs == "features" else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = evaluate([metric], one.row["task"], one.truth, one.predictions, X)
    except Exception as error:
        return np.nan, f"{metric.name} could not be computed: {type(error).__name__}: {error}"
    if metric.name not in found:
        return np.nan, f"{metric.name} needs {metric.needs}, and their method gave none"
    return found[metric.name], ""


def refuse_clash(metrics: Sequence[Metric]) -> None:
    """Refuse metrics that are called like another column of a table.

    Raises
    ------
    HarnessError
        Naming one.
    """
    for metric in metrics:
        if metric.name in COLUMNS and metric.name not in METRICS:
            raise HarnessError(f"metric {metric.name!r} is called like a column of every table")


def write_rescored(results: Path, found: Rescored, metrics: Sequence[Metric]) -> Path:
    """Add metrics to the table beside the study's; those of the same names are replaced.

    Parameters
    ----------
    results : Path
        The study's folder.
    found : Rescored
    metrics : sequence of Metric
    """
    import pyarrow
    import pyarrow.parquet

    path = results / FILE
    table, declared = read_rescored(results)
    names = [metric.name for metric in metrics]
    new = found.table.set_index(_TRIAL)[names].astype(float)
    table = table.drop(columns=names, errors="ignore").join(new, how="outer")
    declared = declared | {
        metric.name: {
            "greater_is_better": metric.greater_is_better,
            "tasks": sorted(metric.tasks),
        }
        for metric in metrics
    }
    written = pyarrow.Table.from_pandas(
        table.rename_axis(_TRIAL).reset_index(), preserve_index=False
    ).replace_schema_metadata({_DECLARED: json.dumps(declared)})
    with whole_file(path) as file:
        pyarrow.parquet.write_table(written, file)
    return path


def read_rescored(results: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read the table beside the study's.

    Returns
    -------
    table : DataFrame
        A column for each metric, by fingerprints; empty where there is none.
    declared : dict
        "greater_is_better" and "tasks" of each metric.

    Raises
    ------
    DamagedFileError
        If it is not what `write_rescored` writes.
    """
    import pyarrow
    import pyarrow.parquet

    path = results / FILE
    if not path.exists():
        return pd.DataFrame(index=pd.Index([], dtype=object, name=_TRIAL)), {}
    try:
        if not is_file(path):
            raise ValueError("it is no file")
        read = pyarrow.parquet.ParquetFile(path).read()
        declared = json.loads((read.schema.metadata or {}).get(_DECLARED, b"null"))
        kinds = {
            name: str(kind)
            for name, kind in zip(read.schema.names, read.schema.types, strict=True)
        }
        others = set(kinds) - {_TRIAL}
        if not (
            isinstance(declared, dict)
            and kinds.get(_TRIAL) in ("string", "large_string")
            and {kinds[name] for name in others} <= {"double"}
            and others == set(declared)
            and not others & (COLUMNS.keys() - METRICS.keys())
            and all(isinstance(said, dict) for said in declared.values())
        ):
            raise ValueError("it has other columns")
        table = read.to_pandas().drop_duplicates(_TRIAL, keep="last").set_index(_TRIAL)
    except (OSError, pyarrow.ArrowException, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        message = f"{path}: is not what harness rescore writes ({reason}); remove it, and rescore"
        raise DamagedFileError(path, message) from None
    return table, declared


def with_rescored(
    cells: pd.DataFrame, fingerprints: pd.Series, table: pd.DataFrame
) -> pd.DataFrame:
    """Add rescored metrics to rows of trials.

    Parameters
    ----------
    cells : DataFrame
    fingerprints : Series
        Of the same rows.
    table : DataFrame
        As `read_rescored` gives it.
    """
    found = table.reindex(fingerprints.to_numpy(dtype=object))
    found.index = cells.index
    for name in table.columns:
        own = cells[name] if name in METRICS else None
        cells[name] = found[name] if own is None else own.fillna(found[name])
    return cells


def summary(found: Rescored, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return means over seeds: a row for each data set, method, labeled count and budget.

    Rows without any are left out.
    """
    by = [name for name in TRIAL if name != "seed"]
    rows = []
    for key, group in found.table.groupby(by, sort=False, dropna=False):
        row = dict(zip(by, key, strict=True)) | {"seeds": len(group)}
        for name in names:
            values = group[name].dropna().astype(float)
            row[name] = values.mean() if len(values) else np.nan
        if any(row[name] == row[name] for name in names):
            rows.append(row)
    return rows
