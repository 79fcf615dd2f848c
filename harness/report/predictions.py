"""What trials predicted, read from where it was kept, beside the points' numbers and the truth.

Rows of the table say which trials there are, `splits/` which points they predicted, and the
prepared data what these are. Predictions of trials that have no row in the table are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness.datasets import Meta, numbers_at
from harness.datasets.split_files import read_splits
from harness.errors import DamagedFileError, HarnessError, unknown_name
from harness.files import below
from harness.records.prediction_files import ENDING, FOLDER, Kept, read_kept
from harness.records.predictions import digest, unpack
from harness.records.table import KeptTable, as_frame

TRIAL = ("dataset", "task", "method", "n_labeled", "budget", "seed")
"""Columns that tell trials apart."""

MOST_POINTS = 50_000_000
"""Rows of a data frame of predictions: some gigabytes."""

_READ = ("fingerprint", *TRIAL, "outcome", "dataset_sha256")


@dataclass(frozen=True)
class Predicted:
    """One trial's predictions.

    Attributes
    ----------
    row : mapping
        What its row says: `TRIAL`, "fingerprint", "outcome" and "dataset_sha256".
    points : ndarray of int, shape (n,)
        Numbers of the points in the prepared data, in order.
    truth : ndarray of shape (n,)
        Their classes, or values.
    predictions : mapping of str to ndarray
        "values", or "labels" with or without "scores" or "probabilities".
    features : Path
        The prepared `X.npy`.
    """

    row: Mapping[str, Any]
    points: np.ndarray
    truth: np.ndarray
    predictions: Mapping[str, np.ndarray]
    features: Path

    def rows_of_points(self) -> np.ndarray:
        """Return the points themselves, (n, d)."""
        return numbers_at(self.features, self.points)


class KeptPredictions:
    """The predictions of a study.

    Parameters
    ----------
    results : Path
        The study's folder.
    prepared : sequence of Path
        Folders in which prepared data may be.

    Attributes
    ----------
    lacking : Counter
        Trials that ended `ok` and were asked for in vain, by the reason, once they were read.

    Raises
    ------
    HarnessError
        If the study has no table.
    """

    def __init__(self, results: Path, prepared: Sequence[Path]) -> None:
        self.results, self._prepared = results, prepared
        table = KeptTable(results / "trials.parquet")
        rows = as_frame(table.read(_READ))
        self._rows = rows[(rows["outcome"] == "ok") & rows["fingerprint"].notna()]
        self.lacking: Counter[str] = Counter()
        self._found: dict[str, tuple[Path, Meta]] = {}
        self._truth: dict[str, np.ndarray] = {}

    def rows(self, **wanted: Any) -> pd.DataFrame:
        """Choose rows of trials that ended `ok`.

        Parameters
        ----------
        **wanted : str, number or list of these
            What their columns of `TRIAL` say; None for anything.

        Raises
        ------
        HarnessError
            If a column says none of that.
        """
        rows = self._rows
        for name, value in wanted.items():
            if value is None:
                continue
            values = value if isinstance(value, (list, tuple, set, range)) else [value]
            there = set(rows[name].dropna())
            for one in values:
                if one not in there:
                    known = map(str, sorted(there))
                    raise unknown_name(name, str(one), known, str(self.results / "trials.parquet"))
            rows = rows[rows[name].isin(list(values))]
        return rows

    def read(self, rows: pd.DataFrame | None = None) -> Iterator[Predicted]:
        """Read the predictions of some trials, a data set after the other.

        Parameters
        ----------
        rows : DataFrame, optional
            Of `rows`; all by default.

        Raises
        ------
        HarnessError
            If a data set is not prepared here, or is not the one of the rows.
        """
        rows = self._rows if rows is None else rows
        self.lacking = Counter()
        for dataset, group in rows.groupby("dataset", sort=False):
            self._found, self._truth = {}, {}
            wanted = {row["fingerprint"]: row for row in group.to_dict("records")}
            found: set[str] = set()
            for kept, packed in self._kept(str(dataset), wanted):
                if kept.trial in found:
                    continue
                found.add(kept.trial)
                try:
                    yield self._predicted(wanted[kept.trial], kept, packed)
                except ValueError as error:
                    self.lacking[str(error)] += 1
            if absent := len(wanted) - len(found):
                self.lacking["no predictions were kept of them"] += absent

    def _kept(self, dataset: str, wanted: Mapping[str, Any]) -> Iterator[tuple[Kept, bytes]]:
        folder = below(self.results, f"{FOLDER}/{dataset}")
        for path in sorted(folder.rglob(f"*{ENDING}")):
            try:
                yield from read_kept(path, wanted)
            except DamagedFileError as error:
                self.lacking[f"{error}; what follows in it is left out"] += 0

    def _predicted(self, row: Mapping[str, Any], kept: Kept, packed: bytes) -> Predicted:
        prepared, meta = self._data(row["dataset"], row["dataset_sha256"])
        if kept.split:
            path = below(self.results, f"splits/{kept.split}.npz")
            try:
                points = getattr(read_splits(path, meta.n).split(row["seed"]), kept.part)
            except HarnessError as error:
                raise ValueError(str(error)) from None
        else:
            points = np.arange(meta.n)
        if digest(points) != kept.points or len(points) != kept.n:
            raise ValueError("their points are not those of the splits that are here")
        try:
            predictions = unpack(kept, packed)
        except ValueError as error:
            raise ValueError(f"what was kept of them is damaged: {error}") from None
        if meta.sha256 not in self._truth:
            self._truth[meta.sha256] = np.load(prepared / "y.npy", allow_pickle=False)
        truth = self._truth[meta.sha256][points]
        return Predicted(row, points, truth, predictions, prepared / "X.npy")

    def _data(self, dataset: str, sha256: str) -> tuple[Path, Meta]:
        if sha256 in self._found:
            return self._found[sha256]
        for folder, meta in _metas(self._prepared):
            if meta.sha256 == sha256:
                self._found[sha256] = folder, meta
                return folder, meta
        raise HarnessError(
            f"{dataset}: its data, of SHA-256 {sha256[:12]}, are not in "
            f"{' or '.join(map(str, self._prepared))}: a run of the study prepares them"
        )


def as_table(predicted: Iterable[Predicted]) -> pd.DataFrame:
    """Join predictions: a row for each point of each trial.

    Returns
    -------
    DataFrame
        Columns `TRIAL`, `point`, `label` (the truth), `predicted`, `score` or `score_0` and so on,
        and `probabilities`: whether scores are some.
    """
    parts: dict[str, list[Any]] = {}
    told: list[list[Any]] = []
    sizes: list[int] = []
    for one in predicted:
        found = one.predictions
        scores = found.get("probabilities", found.get("scores"))
        sure = "probabilities" in found
        columns = {
            "point": one.points,
            "label": one.truth,
            "predicted": found.get("values", found.get("labels")),
            "probabilities": np.full(len(one.points), sure),
        }
        if scores is not None and scores.ndim == 1:
            columns["score"] = (1 + scores) / 2 if sure else scores
        elif scores is not None:
            columns |= {f"score_{k}": scores[:, k] for k in range(scores.shape[1])}
        start = sum(sizes)
        for name, values in columns.items():
            parts.setdefault(name, []).append((start, values))
        told.append([one.row[name] for name in TRIAL])
        sizes.append(len(one.points))
        if start + sizes[-1] > MOST_POINTS:
            raise HarnessError(
                f"more than {MOST_POINTS:,} predictions: ask for some data sets, methods, budgets "
                "or seeds"
            )
    total = sum(sizes)
    made = {}
    for place, name in enumerate(TRIAL):
        values = pd.Series([one[place] for one in told])
        if name in ("dataset", "task", "method", "budget"):
            values = values.astype("category")
        made[name] = values.repeat(sizes).reset_index(drop=True)
    for name in sorted(parts, key=lambda name: (name.startswith("score"), len(name), name)):
        made[name] = _joined(parts[name], total)
    return pd.DataFrame(made)


def _joined(parts: list[tuple[int, np.ndarray]], total: int) -> np.ndarray:
    """Join parts of a column, NaN where there is none."""
    if sum(len(values) for _, values in parts) == total:
        return np.concatenate([values for _, values in parts])
    joined = np.full(total, np.nan)
    for start, values in parts:
        joined[start : start + len(values)] = values
    return joined


def _metas(folders: Sequence[Path]) -> Iterator[tuple[Path, Meta]]:
    for folder in folders:
        for path in sorted(folder.glob("*/meta.json")):
            try:
                yield path.parent, Meta.read_alone(path.parent)
            except DamagedFileError:
                continue
