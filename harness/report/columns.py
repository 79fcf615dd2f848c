"""The rows of a study, column by column: which a report holds, and how each stands in memory."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow

from harness.errors import DamagedFileError, HarnessError
from harness.metrics.names import METRICS
from harness.records.columns import COLUMNS, OUTCOMES
from harness.records.table import KeptTable

UNREAD = (
    *("study", "n_features", "n_classes", "size_name", "taken_again", "load_s", "wall_s"),
    *("predict_row_s", "predict_row_calls", "threads", "n_kept", "versions", "decided_by"),
    *("dataset_sha256", "plugin_sha256", "started_at", "command", "params"),
)
"""Columns that no table, chart or sentence is made of, of which a million rows are a gigabyte.
What parameters trials had is asked of a few of them: `Results.params_of`."""

SAYS_NOTHING_OF_SCORES = (
    *("fingerprint", "checkpoints", "enforced_by", "measured_by", "isolation", "host"),
    *("git_sha", "git_dirty", "planned_phase", "storage_model", "baseline_bytes", "data_bytes"),
    *("load_peak_bytes", "tune_peak_bytes", "fit_peak_bytes"),
)
"""Further columns that who looks for the best method alone has no need of."""

READ_WHEN_ASKED = (
    *(*SAYS_NOTHING_OF_SCORES, *METRICS, "size", "n_unlabeled", "n_test", "ram_hours"),
    *("tune_s", "fit_s", "predict_s", "cpu_s"),
    *("predict_peak_bytes", "model_bytes", "predict_row_peak_bytes", "predict_row_p99_s"),
)
"""Columns that a report looks at once, one after the other: see `Results.column`."""


def read_trials(path: Path, without: Container[str]) -> pd.DataFrame:
    """Read the rows of a study's table; what many of them say alike is in memory once.

    Parameters
    ----------
    path : Path
    without : container of str
        Columns that are not read.

    Raises
    ------
    HarnessError
        If there is none, it cannot be read, or it holds no trials.
    """
    table = KeptTable(path)
    columns = {}
    for name in table.columns:
        if name not in without:
            columns[name] = read_column(table, name)
    trials = pd.DataFrame(columns, copy=False)
    if trials["seed"].isna().all():  # pairs that do not go together, and nothing else
        raise HarnessError(f"{path}: holds no trials; run the study first")
    found = set(trials["outcome"].unique())
    unknown = sorted(found - {*OUTCOMES, None})
    if unknown or None in found:
        words = ", ".join(map(repr, unknown)) or "null"
        message = f"{path}: outcome {words} is not one of {', '.join(OUTCOMES)}"
        raise DamagedFileError(path, message)
    return trials


def read_column(table: KeptTable, name: str, groups: Sequence[int] | None = None) -> pd.Series:
    """Read a column of some parts of a table, or of all, as `as_series` gives it."""
    (column,) = table.read([name], groups, text=False).columns
    return as_series(column, COLUMNS.get(name, "float64"))


def as_series(column: pyarrow.ChunkedArray, kind: str) -> pd.Series:
    """Return a column of a kind of `COLUMNS`; its texts come coded by a dictionary."""
    if kind == "string":
        coded = column.unify_dictionaries().combine_chunks()
        if 2 * len(coded.dictionary) > len(coded):  # hardly anything is said twice
            return column.cast("string").to_pandas(types_mapper=lambda _: pd.StringDtype())
        said = np.array([*coded.dictionary.to_pylist(), None], dtype=object)
        places = coded.indices.fill_null(len(said) - 1).to_numpy(zero_copy_only=False)
        # objects, each of them once: texts of their own would be copied with every selection
        return pd.Series(said[places], dtype=object)
    if kind == "bool":
        return column.to_pandas(types_mapper=lambda _: pd.BooleanDtype())
    values = column.to_numpy()
    if values.dtype.kind == "i":
        return pd.Series(values)
    return pd.Series(np.where(np.isfinite(values), values, np.nan))
