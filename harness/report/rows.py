"""One row a trial in few columns: what is kept of a study so that others can compare with it.

`trials.parquet` says everything of a trial and is too large to keep in a repository. These rows
hold what a comparison seed by seed asks for, and the fingerprint that names the trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

from harness.errors import HarnessError
from harness.files import whole_file
from harness.metrics.names import LATER, METRICS
from harness.records.columns import COLUMNS
from harness.report.columns import as_series
from harness.report.results import number_of

if TYPE_CHECKING:
    from harness.report.results import Results

FILE = "rows.parquet"

IDENTIFIERS = ("dataset", "n_labeled", "n_unlabeled", "n_test", "budget", "method", "seed")
"""What names a trial, whoever ran it; `method` is the label of the study."""
SECONDS = ("tune_s", "fit_s", "predict_s", "cpu_s")
BYTES = ("planned_bytes", "peak_bytes", "predict_peak_bytes")
COMPARED = ("task", *IDENTIFIERS, "outcome", *METRICS)
"""What a comparison of scores asks for, beside metrics of plugins."""
KEPT = ("task", *IDENTIFIERS, "outcome", "size", *BYTES, *SECONDS, *METRICS, "fingerprint")
"""The columns of every file of rows; metrics of plugins stand behind them."""

MOST_TIGHT = 100_000
"""Rows that are compressed as tightly as can be: a repository may keep them."""
_TIGHT, _FAST = 19, 3

_ARROW = {"string": pyarrow.string(), "int64": pyarrow.int64(), "float64": pyarrow.float64()}


def kept_rows(
    results: Results, some: slice = slice(None), columns: Sequence[str] = KEPT
) -> pd.DataFrame:
    """Take from a study's trials the columns that are kept, metrics of plugins among them.

    Parameters
    ----------
    results : Results
    some : slice, default all
        Which trials.
    columns : sequence of str, default KEPT
    """
    extra = [name for name in results.metrics if name not in METRICS]
    names = {name: "label" if name == "method" else name for name in (*columns, *extra)}
    return pd.DataFrame({name: results.column(of, some) for name, of in names.items()})


def write_kept_rows(results: Results, path: Path) -> None:
    """Write the kept rows of a study, part by part; see `write_rows`."""
    parts = (kept_rows(results, some) for some in results.parts(MOST_TIGHT))
    _write(parts, path, _TIGHT if len(results.cells) <= MOST_TIGHT else _FAST)


def write_rows(rows: pd.DataFrame, path: Path) -> None:
    """Write rows as one small Parquet file, whole or not at all.

    Seconds are kept to seven digits, scores to the last bit, so that equal scores can be told.

    Raises
    ------
    HarnessError
        If the file cannot be written.
    """
    _write([rows], path, _TIGHT)


def _write(parts: Iterable[pd.DataFrame], path: Path, level: int) -> None:
    with ExitStack() as opened:
        file = opened.enter_context(whole_file(path))
        writer = None
        for rows in parts:
            kinds = {name: COLUMNS.get(name, "float64") for name in rows}
            schema = pyarrow.schema(
                (name, pyarrow.float32() if name in SECONDS else _ARROW[kind])
                for name, kind in kinds.items()
            )
            if writer is None:
                writer = opened.enter_context(
                    pyarrow.parquet.ParquetWriter(
                        file, schema, compression="zstd", compression_level=level
                    )
                )
            table = pyarrow.Table.from_pandas(rows, schema=schema, preserve_index=False)
            writer.write_table(table.replace_schema_metadata())


def read_rows(path: Path, columns: Sequence[str] = KEPT) -> pd.DataFrame:
    """Read kept rows, from this project's studies or somebody else's.

    Parameters
    ----------
    path : Path
        A file as `write_rows` leaves it.
    columns : sequence of str, default KEPT
        Those that are read, IDENTIFIERS among them; metrics of plugins are read too.

    Raises
    ------
    HarnessError
        If there is no such file, it is no Parquet, lacks a column, holds another type than the
        column's, or names a trial twice.
    """
    path = Path(path)
    try:
        there = pyarrow.parquet.read_schema(path).names
        lacking = [name for name in KEPT if name not in (*there, *LATER)]
        if lacking:
            raise HarnessError(f"{path}: columns {', '.join(lacking)} are missing")
        wanted = [name for name in there if name in columns or name not in KEPT]
        table = pyarrow.parquet.read_table(path, columns=wanted)
    except FileNotFoundError:
        raise HarnessError(f"{path}: there is no such file of rows") from None
    except (OSError, pyarrow.ArrowException) as error:
        raise HarnessError(f"{path}: is not a file of rows: {error}") from None
    kinds = {name: COLUMNS.get(name, "float64") for name in table.column_names}
    made = {}
    try:
        for name, kind in kinds.items():
            column = table[name].cast(_ARROW[kind])
            made[name] = as_series(
                column.dictionary_encode() if kind == "string" else column, kind
            )
    except (pyarrow.ArrowException, ValueError) as error:
        raise HarnessError(f"{path}: a column is not of its type: {error}") from None
    made |= {name: np.nan for name in LATER if name in columns and name not in made}
    rows = pd.DataFrame(made, copy=False)
    if number_of(rows, IDENTIFIERS)[1] < len(rows):
        twice = rows.duplicated(list(IDENTIFIERS))
        first = ", ".join(str(rows.loc[twice.idxmax(), name]) for name in IDENTIFIERS)
        raise HarnessError(f"{path}: {twice.sum()} rows repeat a trial, the first of them {first}")
    return rows
