"""What earlier trials took, and a guess where there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.planning.workload import RESULTS, Workload
from harness.study.study import Block

_CELL = ("dataset", "method", "n_labeled", "budget")

_KNOWN_ROOM, _GUESSED_ROOM = 4.0, 10.0
"""Times the mean of a cell, and times any other figure, that nearly no trial takes longer than."""

_LEAST_S = 0.1
_S_A_VALUE = 3e-7
"""Of the features: what a fit by one of the methods here takes, within a factor of ten."""


class Timings:
    """Mean seconds of earlier trials of a cell, else of its data set and method.

    Parameters
    ----------
    rows : iterable of mapping
        With data set, method, labeled points, budget, mean seconds and how many trials those are
        of; null where there is none.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self._sums: dict[tuple[Any, ...], float] = {}
        self._counts: dict[tuple[Any, ...], int] = {}
        for row in rows:
            if row["wall_s_mean"] is not None:
                pair, count = (row["dataset"], row["method"]), row["wall_s_count"]
                for key in (pair, (*pair, row["n_labeled"], row["budget"])):
                    self._sums[key] = self._sums.get(key, 0) + count * row["wall_s_mean"]
                    self._counts[key] = self._counts.get(key, 0) + count

    @classmethod
    def of_tables(cls, results: Path = RESULTS) -> Timings:
        """Read the tables of all studies whose results are here."""
        paths = sorted(results.glob("*/trials.parquet"))
        return cls(_read(paths) if paths else ())

    def seconds(self, workload: Workload, block: Block) -> float | None:
        """Return the mean seconds of a block's trials, None if there was none like them."""
        if not self._counts:
            return None
        cell = self._cell(workload, block)
        key = cell if cell in self._counts else cell[:2]
        return self._sums[key] / self._counts[key] if key in self._counts else None

    def guess(self, workload: Workload, block: Block) -> float:
        """Return the same, or a guess from the size of the data; never more than the limit."""
        known = self.seconds(workload, block)
        if known is None:
            entry, tuning = workload.entry(block), block.grid.tuning
            searched = 0
            if tuning:
                searched = tuning.trials * (1 if tuning.validation else tuning.folds)
            # points that come in parts are searched on the first of them
            part = block.grid.part_rows(-(-entry.data_bytes // entry.n)) or entry.n
            points = entry.n + searched * min(part, entry.n)
            known = (1 + searched) * _LEAST_S + _S_A_VALUE * points * entry.d
        return min(max(known, _LEAST_S), block.grid.limits.time)

    def allowed(self, workload: Workload, block: Block) -> float:
        """Return what a trial of a block hardly ever exceeds; never more than the limit."""
        known = self._counts and self._cell(workload, block) in self._counts
        room = _KNOWN_ROOM if known else _GUESSED_ROOM
        return min(room * self.guess(workload, block), block.grid.limits.time)

    @staticmethod
    def _cell(workload: Workload, block: Block) -> tuple[Any, ...]:
        labeled = workload.sizes(block).n_labeled
        return block.dataset, block.method.label, labeled, block.budget.text


def _read(paths: Iterable[Path]) -> Iterable[Mapping[str, Any]]:
    import pyarrow
    import pyarrow.parquet

    for path in paths:
        try:
            table = pyarrow.parquet.ParquetFile(path).read(columns=[*_CELL, "wall_s"])
            if {*_CELL, "wall_s"} <= set(table.column_names):
                kinds = [("wall_s", "mean"), ("wall_s", "count")]
                yield from table.group_by(list(_CELL)).aggregate(kinds).to_pylist()
        except (OSError, pyarrow.ArrowException):  # whoever reads the table itself says so
            continue
