"""What a report is made from: the files of one study's results, read and checked.

Nothing but these files is read, so a report can be made again anywhere from a copied directory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow

from harness.errors import DamagedFileError, HarnessError, shown
from harness.files import read_json
from harness.metrics.names import METRICS
from harness.records.cells import read
from harness.records.columns import COLUMNS
from harness.records.table import KeptTable, read_table
from harness.report.columns import UNREAD, read_column, read_trials
from harness.report.display_names import method_names, problem_names
from harness.report.rescoring import read_rescored, with_rescored
from harness.report.versions import count_versions
from harness.strict_yaml import read_document

TRIALS = "trials.parquet"
STUDY = "study.yaml"
PROVENANCE = "provenance.json"
CALIBRATION = "calibration.json"

CELL = ["problem", "budget", "method"]

_NEEDED = {"n_unlabeled", "n_test", "tune_s", "fit_s"}
"""Of columns that are left out: what names and orders of problems, and `train_s`, are made of."""

_CONTROLS = {"oracle": "truth", "prior": "chance", "random": "chance"}
"""Of rows that were written before the column `control`."""

_ORDER_OF_BUDGETS = {"size": 0, "bytes": 1, "none": 2}
"""No limit is the most that bytes can be, so that it stands beside them."""


@dataclass(frozen=True)
class Results:
    """The results of one study.

    Attributes
    ----------
    directory : Path
    cells : pandas.DataFrame
        The rows of trials, each column of the type that its name promises, with `problem` (data
        set, and task or labeled count where there are several), `control` and `truth` (whether
        the method is one, and is given the truth), `train_s` (tune + fit), `row` (its number
        in the table), and for `method` what the page calls it; `label` is what the study does.
        `cell` numbers problem, budget and method. Columns of UNREAD are not there, nor what
        `read_results` was told to leave out.
    left_out : pandas.DataFrame
        The other rows, of pairs that do not go together: `dataset`, `method`, `outcome`, `reason`.
    problems : list of str
        By data set, then by its numbers of points.
    study_text : str
        `study.yaml` as it stands.
    study, provenance : dict
    calibration : list of dict
    budgets : list of str
        In the order of the axis: bounds on the size, then bytes, then "none".
    cpus : list of str
        On which trials ran, most trials first; none where no row says. Rows tell them by
        `cpu_place`, their place in this list.
    metrics : list of str
        Columns that are scores: the built-in ones, then those of plugins.
    notes : list of str
        What a reader must know about how the rows were read.
    """

    directory: Path
    cells: pd.DataFrame
    left_out: pd.DataFrame
    problems: list[str]
    study_text: str
    study: dict[str, Any]
    provenance: dict[str, Any]
    calibration: list[dict[str, Any]]
    budgets: list[str]
    cpus: list[str]
    metrics: list[str]
    notes: list[str]

    @cached_property
    def trials(self) -> pd.DataFrame:
        """The records as written, for sections of plugins and for notebooks: all columns."""
        return read_table(self.directory / TRIALS)

    def column(self, name: str, some: slice = slice(None)) -> pd.Series:
        """Return a column of the trials, which is read again where `cells` has it not.

        Parameters
        ----------
        name : str
        some : slice, default all
            Which trials.

        Raises
        ------
        HarnessError
            If the table cannot be read any more.
        """
        if name in self.cells:
            return self.cells[name].iloc[some]
        rows = self.cells["row"].iloc[some]
        starts = np.cumsum([0, *map(self._table.group_rows, self._table.groups)])
        first, last = np.searchsorted(starts, rows.iloc[[0, -1]], "right") - 1
        read = read_column(self._table, name, range(first, last + 1))
        return read.iloc[rows.to_numpy() - starts[first]].set_axis(rows.index).rename(name)

    def parts(self, rows: int) -> Iterator[slice]:
        """Yield which trials stand in parts of so many rows, in order."""
        for start in range(0, len(self.cells), rows):
            yield slice(start, start + rows)

    @property
    def whole(self) -> Results:
        """The same with all columns in `cells` but those of UNREAD."""
        lacking = [name for name in COLUMNS if name not in {*self.cells, *UNREAD}]
        return replace(self, cells=self.cells.assign(**{n: self.column(n) for n in lacking}))

    def params_of(self, rows: Iterable[int]) -> list[dict[str, Any]]:
        """Read the parameters of some trials; none where nothing was kept of them.

        Parameters
        ----------
        rows : iterable of int
            `row` of each.

        Raises
        ------
        HarnessError
            If the table cannot be read any more.
        """
        texts = self._params
        return [json.loads(text) if (text := texts[row].as_py()) else {} for row in rows]

    @cached_property
    def problems_with(self) -> dict[str, set[str]]:
        """By metric, the problems of which some trial has a score."""
        problem = self.cells["problem"]
        return {name: set(problem[self.column(name).notna()].unique()) for name in self.metrics}

    @cached_property
    def _table(self) -> KeptTable:
        return KeptTable(self.directory / TRIALS)

    @cached_property
    def _params(self) -> pyarrow.ChunkedArray:
        return self._table.read(["params"])["params"]

    @cached_property
    def versions(self) -> dict[str, dict[str, int]]:
        """By package, how many trials were made with each of its versions."""
        column = self._table.read(["versions"], text=False)["versions"]
        return count_versions(
            {entry["values"]: entry["counts"] for entry in column.value_counts().to_pylist()}
        )

    @property
    def stand_ins(self) -> dict[str, str]:
        """Data sets that only have the shape of another, and of which."""
        known = self.provenance.get("datasets")
        entries = [entry for entry in known if isinstance(entry, dict)] if known else []
        named = {entry.get("name"): entry.get("stand_in_for") for entry in entries}
        return {str(name): str(real) for name, real in named.items() if name and real}

    @property
    def title(self) -> str:
        """The study's title, or the name of its directory."""
        return str(self.study.get("title") or self.directory.name)


def read_results(directory: Path, without: Iterable[str] = ()) -> Results:
    """Read the results of a study.

    Parameters
    ----------
    directory : Path
    without : iterable of str, default ()
        Further columns that are left out of `Results.cells`.

    Raises
    ------
    HarnessError
        If a file is missing, empty or not what its name says. All missing files are named.
    """
    directory = Path(directory)
    needed = (TRIALS, STUDY, PROVENANCE, CALIBRATION)
    lacking = [name for name in needed if not (directory / name).is_file()]
    if lacking:
        where = f"{directory.absolute()}: no report without {', '.join(lacking)}"
        raise HarnessError(f"{where}; run the study first")
    rescored, declared = read_rescored(directory)
    without = {*UNREAD, *without} - set(rescored.columns)
    rows = read_trials(directory / TRIALS, without - _NEEDED)
    study_text, study = _read_study(directory / STUDY)
    cells, left_out, notes = _as_cells(rows)
    provenance = read_json(directory / PROVENANCE, dict)
    if len(rescored.columns):
        names = KeptTable(directory / TRIALS).read(["fingerprint"])["fingerprint"].to_pandas()
        cells = with_rescored(cells, names.iloc[cells["row"]], rescored)
        own = provenance.get("metrics")
        provenance["metrics"] = declared | (own if isinstance(own, dict) else {})
    cpus = list(cells["cpu"].value_counts().index)
    # a row that does not say is taken to be of the usual one
    places = cells["cpu"].map({name: place for place, name in enumerate(cpus)})
    cells["cpu_place"] = places.fillna(0).astype("int64")
    problems = _ordered_problems(cells)
    cells = cells.drop(columns=without & _NEEDED)
    return Results(
        directory=directory.resolve(),
        cells=cells,
        left_out=left_out,
        problems=problems,
        study_text=study_text,
        study=study,
        provenance=provenance,
        calibration=_read_calibration(directory / CALIBRATION),
        budgets=_ordered_budgets(cells),
        cpus=cpus,
        metrics=_metric_columns(cells),
        notes=notes,
    )


_CALIBRATED = {
    "kind": "string",
    "backend": "string",
    "within": "bool",
    **dict.fromkeys(("allocated_bytes", "measured_bytes", "error_bytes"), "float64"),
}


def _read_calibration(path: Path) -> list[dict[str, Any]]:
    rows = []
    for number, entry in enumerate(read_json(path, list)):
        if not isinstance(entry, dict):
            raise DamagedFileError(path, f"{path}: entry {number} is no object")
        try:
            rows.append(
                entry | {key: read(entry.get(key), _CALIBRATED[key]) for key in _CALIBRATED}
            )
        except ValueError as error:
            raise DamagedFileError(path, f"{path}: entry {number}: a value {error}") from None
    return rows


def _read_study(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text, study = read_document(path)
    except HarnessError as error:
        raise DamagedFileError(path, str(error)) from None
    if not isinstance(study, dict):
        message = f"{path}: must hold the study's keys, and holds {shown(study)}"
        raise DamagedFileError(path, message)
    return text, study


def _as_cells(cells: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    cells["row"] = np.arange(len(cells))
    # a pair that does not go together has neither a budget nor points: it is no trial of a problem
    pairs = cells["seed"].isna()
    left_out = cells.loc[pairs, ["dataset", "method", "outcome", "reason"]]
    if pairs.any():
        cells = cells[~pairs].copy()
        cells["seed"] = cells["seed"].astype("int64")
    cells["budget"] = cells["budget"].fillna("none")
    cells["plugin_method"] = cells["plugin_method"].fillna(cells["method"])
    kinds = cells["control"].fillna(cells["plugin_method"].map(_CONTROLS)).fillna("")
    cells["control"], cells["truth"] = kinds != "", kinds == "truth"
    cells["train_s"] = cells["fit_s"] + cells["tune_s"].fillna(0)
    names = _name_cells(cells)
    left_out["method"] = left_out["method"].map(lambda label: names.get(label, label))
    notes = []
    again = pd.DataFrame({"cell": cells["cell"], "seed": cells["seed"]}).duplicated(keep="last")
    if again.any():
        notes.append(
            f"{again.sum()} rows repeat a trial (same data set, method, budget and seed); "
            "the last of each was taken."
        )
        cells = cells[~again]
    return cells.reset_index(drop=True), left_out.reset_index(drop=True), notes


def _name_cells(cells: pd.DataFrame) -> dict[str, str]:
    """Add `problem`, `label` and `cell`, and call methods as the page does; return their names.

    Names are made once for all rows that differ in nothing that a name is made of.
    """
    by = ["dataset", "n_labeled"]
    place = ["budget", "method"]
    if number_of(cells, [*by, *place, "seed"])[1] < len(cells):
        by += ["n_unlabeled", "n_test"]
    alike, _ = number_of(cells, ["task", *by, *place, "plugin_method"])
    first = np.unique(alike, return_index=True)[1]
    kinds = cells.iloc[first][["task", *by, *place, "plugin_method"]]
    kinds = kinds.rename(columns={"method": "label"})
    names = method_names(kinds)
    kinds["problem"], kinds["method"] = problem_names(kinds, by), kinds["label"].map(names)
    kinds["cell"] = number_of(kinds, CELL)[0]
    for name in ("problem", "label", "method", "cell"):
        made = kinds[name].to_numpy()[alike]
        cells[name] = pd.Series(made, cells.index, dtype=made.dtype)
    return names


def number_of(rows: pd.DataFrame, columns: Sequence[str]) -> tuple[np.ndarray, int]:
    """Give each row the number of what it says in some columns, counted as they first appear.

    Parameters
    ----------
    rows : pandas.DataFrame
    columns : sequence of str

    Returns
    -------
    numbers : ndarray of int, shape (n_rows,)
    n_numbers : int
    """
    numbers, count = np.zeros(len(rows), "int64"), 1
    for name in columns:
        codes, said = pd.factorize(rows[name], use_na_sentinel=False)
        numbers, found = pd.factorize(numbers * len(said) + codes)
        count = len(found)
    return numbers, count


def _ordered_problems(cells: pd.DataFrame) -> list[str]:
    by = ["dataset", "n_labeled", "n_unlabeled", "n_test", "problem"]
    return list(_one_a_cell(cells)[by].sort_values(by)["problem"].unique())


def _one_a_cell(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.iloc[np.unique(cells["cell"], return_index=True)[1]]


def _ordered_budgets(cells: pd.DataFrame) -> list[str]:
    limits = cells.groupby("budget")["budget_bytes"].max()

    def place(item: tuple[str, float]) -> tuple[int, str, float, str]:
        text, limit = item
        if text == "none":
            return _ORDER_OF_BUDGETS["none"], "", 0, text
        if limit == limit:
            return _ORDER_OF_BUDGETS["bytes"], "", limit, text
        digits, _, counted = text.partition(" ")
        count = float(digits) if digits.isdigit() else np.inf
        return _ORDER_OF_BUDGETS["size"], counted, count, text

    return [text for text, _ in sorted(limits.items(), key=place)]


def _metric_columns(cells: pd.DataFrame) -> list[str]:
    derived = {"train_s"}  # beside the columns of the record
    extra = [
        name
        for name, kind in cells.dtypes.items()
        if name not in COLUMNS and name not in derived and pd.api.types.is_float_dtype(kind)
    ]
    return [*METRICS, *extra]
