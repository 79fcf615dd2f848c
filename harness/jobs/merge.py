"""The rows of one study from several folders, such as those of two sites, joined in one of them.

A folder is the results of a study, or what `harness publish` made of them, whose rows are a table.
A row is taken by its fingerprint, as a run takes over rows of an earlier one. What decided it must
be the same at every site: data, code of method and harness, versions of what computes. Other
versions, machines and ways of enforcement are told, and stand in every row.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.files import is_folder
from harness.jobs.published_rows import is_table, table_datasets, table_journal, table_rows
from harness.metrics.names import METRICS
from harness.planning.fingerprints import changes
from harness.planning.workload import ROWS
from harness.records.journal import Journal
from harness.records.prediction_files import ENDING, copy_kept
from harness.records.prediction_files import FOLDER as PREDICTIONS
from harness.records.table import finished_rows, read_rows

JOURNAL, PUBLISHED = ROWS
_BESIDE = ("timelines", "hosts")
_MOST_TOLD = 10
_PLACE = ("dataset", "task", "method", "n_labeled", "n_unlabeled", "n_test", "budget")
"""What names a place of the table, but for the seed."""
_MARKED = ("plugin_sha256", "git_sha", "enforced_by", "cpu", "versions")
"""Columns that decide no score, and are told where sites differ in them."""

Rows = dict[str, dict[str, Any]]
"""By fingerprint."""


@dataclass
class Merged:
    """What was joined.

    Attributes
    ----------
    study : str
    taken : dict of Path to int
        Rows that each folder brought.
    twice : int
        Rows that an earlier folder had too.
    other_scores : int
        Of these, those with another outcome or another score there; the first is kept.
    old : int
        Rows of earlier versions, that a run would not take either.
    marks : list of str
        In what else the folders differ.
    """

    study: str = ""
    taken: dict[Path, int] = field(default_factory=dict)
    twice: int = 0
    other_scores: int = 0
    old: int = 0
    marks: list[str] = field(default_factory=list)


def merge(folders: Sequence[Path], output: Path) -> Merged:
    """Join the rows of one study; nothing is written unless all of them go together.

    Parameters
    ----------
    folders : sequence of Path
        Results of the study, `results/NAME` of each site, or published ones. Where two have a
        trial, the row of the first is kept; of `output`, if that is one of them.
    output : Path
        A new folder, or one of `folders`, which gets the rows of the others.

    Raises
    ------
    HarnessError
        If a folder has no rows, or rows of another study, or rows that were made by other code,
        from other data or with other versions of what computes: naming them.
    """
    _refuse_folders(folders, output)
    # what is in a folder that is added to stays there
    folders = sorted(dict.fromkeys(folders), key=lambda folder: not _is_same(output, folder))
    check = _Check()
    for dataset in _datasets(folders):
        found = [_current(_rows(folder, dataset))[0] for folder in folders]
        check.look_at(found, folders)
    check.refuse()
    merged = Merged(check.study, dict.fromkeys(folders, 0), marks=check.marks())
    for dataset in _datasets(folders):
        _join(dataset, folders, output, merged)
    for folder in folders:
        _copy_beside(folder, output)
    return merged


def _refuse_folders(folders: Sequence[Path], output: Path) -> None:
    for folder in folders:
        if not is_folder(folder):
            raise HarnessError(f"{folder}: there is no such folder of results")
        if not (is_table(folder) or any(is_folder(folder / name) for name in ROWS)):
            raise HarnessError(
                f"{folder}: holds neither {JOURNAL}/ nor {PUBLISHED}/: give the folder of a "
                "study, results/NAME, or a published one"
            )
        if is_table(folder) and _is_same(output, folder):
            raise HarnessError(
                f"{folder}: was published, and is not added to: give a new folder with -o"
            )
    there = output.exists() and (not is_folder(output) or any(output.iterdir()))
    if there and not any(_is_same(output, folder) for folder in folders):
        raise HarnessError(
            f"{output}: is there already: name it among the folders to add to it, or give a "
            "new one"
        )


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and one.samefile(other)


def _datasets(folders: Sequence[Path]) -> list[str]:
    """List the data sets of which some folder has rows."""
    found = {
        path.parent.relative_to(folder / name).as_posix()
        for folder in folders
        for name in ROWS
        for path in (folder / name).rglob("*.jsonl")
    }
    for folder in filter(is_table, folders):
        found |= table_datasets(folder)
    return sorted(found)


def _rows(folder: Path, dataset: str) -> Rows:
    if is_table(folder):
        return table_rows(folder, dataset)
    return finished_rows(*(folder / name / dataset for name in ROWS))


def _current(rows: Rows) -> tuple[Rows, int]:
    """Take the rows of the version of each place that was run last, and count the others."""
    begun: dict[Place, dict[str, str]] = defaultdict(dict)
    for fingerprint, row in rows.items():
        versions, version = begun[_place(row)], fingerprint.rpartition("-")[0]
        versions[version] = max(versions.get(version, ""), row["started_at"] or "")
    last = {max(versions, key=versions.__getitem__) for versions in begun.values()}
    kept = {name: row for name, row in rows.items() if name.rpartition("-")[0] in last}
    return kept, len(rows) - len(kept)


Place = tuple[Any, ...]


def _place(row: Mapping[str, Any]) -> Place:
    return tuple(row[name] for name in _PLACE)


class _Check:
    """What must be the same in all folders, as far as it was looked at."""

    def __init__(self) -> None:
        self.study = ""
        self._faults: dict[str, None] = {}
        self._decided: dict[tuple[str, str], tuple[Path, str]] = {}
        self._data: dict[str, tuple[Path, str]] = {}
        self._said: dict[str, dict[Path, set[str]]] = defaultdict(lambda: defaultdict(set))
        self._first: Path | None = None

    def look_at(self, found: Sequence[Rows], folders: Sequence[Path]) -> None:
        """Compare the rows of one data set."""
        versions: dict[Place, dict[str, Path]] = defaultdict(dict)
        for folder, rows in zip(folders, found, strict=True):
            for fingerprint, row in rows.items():
                self._row(folder, row)
                versions[_place(row)].setdefault(fingerprint.rpartition("-")[0], folder)
        if self._faults:  # which may be why versions differ
            return
        for place, owners in versions.items():
            if len(owners) > 1:
                told = ", ".join(str(part) for part in place if part is not None)
                sites = " and ".join(map(str, owners.values()))
                self._fault(f"{told}: {sites} were run with other settings of the study")

    def _row(self, folder: Path, row: dict[str, Any]) -> None:
        study = row["study"] or ""
        if self._first is None:
            self.study, self._first = study, folder
        if study != self.study:
            self._fault(f"{folder} holds rows of study {study}, {self._first} of {self.study}")
        digest = row["dataset_sha256"] or ""
        other, known = self._data.setdefault(row["dataset"], (folder, digest))
        if known != digest:
            self._fault(f"{row['dataset']}: other data in {folder} than in {other}")
        self._parts(folder, row)
        for name in _MARKED:
            self._said[name][folder].add(str(row[name]))

    def _parts(self, folder: Path, row: dict[str, Any]) -> None:
        decided = row["decided_by"] or "{}"
        pair = (row["dataset"], row["method"])
        other, known = self._decided.setdefault(pair, (folder, decided))
        if known == decided:
            return
        then, now = json.loads(known), json.loads(decided)
        # cases of one study may differ in what they are tuned by
        shared = [name for name in then if name in now]
        before, after = ({name: parts[name] for name in shared} for parts in (then, now))
        if before != after:
            told = "; ".join(changes(json.dumps(before), json.dumps(after)))
            self._fault(f"{' with '.join(pair)}: {folder} differs from {other}: {told}")

    def _fault(self, told: str) -> None:
        self._faults[told] = None

    def refuse(self) -> None:
        """Raise if anything was found that must not be joined, or nothing to join."""
        if self._first is None:
            raise HarnessError("no folder holds a row of a trial")
        if self._faults:
            shown = list(self._faults)[:_MOST_TOLD]
            more = len(self._faults) - len(shown)
            shown += [f"and {more} more"] * (more > 0)
            advice = "nothing was written: run the study again where it is behind, or leave it out"
            raise HarnessError("\n".join([*shown, advice]))

    def marks(self) -> list[str]:
        """Say in what else the folders differ."""
        words = {"plugin_sha256": "files of plugins", "git_sha": "commits of the harness"}
        words |= {"enforced_by": "ways of enforcement", "cpu": "CPUs"}
        words["versions"] = "versions of what does not decide scores"
        told = []
        for name in _MARKED:
            said = list(self._said[name].values())
            if any(one != said[0] for one in said[1:]):
                told.append(words[name])
        return told


def _join(dataset: str, folders: Sequence[Path], output: Path, merged: Merged) -> None:
    had: Rows = {}
    for folder in folders:
        current, old = _current(_rows(folder, dataset))
        merged.old += old
        new = {name: row for name, row in current.items() if name not in had}
        for name in current.keys() & had.keys():
            merged.twice += 1
            merged.other_scores += _differ(current[name], had[name])
        had |= new
        merged.taken[folder] += len(new)
        if not _is_same(output, folder):
            for path in (folder / PREDICTIONS / dataset).glob(f"*{ENDING}"):
                copy_kept(path, output / PREDICTIONS / dataset / path.name, new.keys())
            _write(folder, dataset, output, new)


def _write(folder: Path, dataset: str, output: Path, rows: Rows) -> None:
    """Add rows to files that are called as those of the folder that they come from."""
    if is_table(folder):
        with Journal(output / JOURNAL / dataset / table_journal(folder)) as journal:
            there = journal.rows.keys()
            journal.extend([row for name, row in rows.items() if name not in there])
        return
    places = (folder / top / dataset for top in reversed(ROWS))
    paths = {path.name: path for place in places for path in place.glob("*.jsonl")}
    for name, path in sorted(paths.items()):
        found = {row["fingerprint"] for row in read_rows(path)}
        mine = {fingerprint: rows.pop(fingerprint) for fingerprint in found & rows.keys()}
        if not mine:
            continue
        with Journal(output / JOURNAL / dataset / name) as journal:
            there = journal.rows.keys()
            journal.extend([row for name, row in mine.items() if name not in there])
            if (folder / PUBLISHED / dataset / name).exists():
                journal.publish(output / PUBLISHED / dataset / name)


def _differ(row: dict[str, Any], other: dict[str, Any]) -> bool:
    return any(row[name] != other[name] for name in ("outcome", *METRICS))


def _copy_beside(folder: Path, output: Path) -> None:
    """Copy pictures and descriptions of machines that are not there yet."""
    if _is_same(output, folder):
        return
    for top in _BESIDE:
        for path in (folder / top).rglob("*.json*"):
            target = output / path.relative_to(folder)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
