"""Removing rows of trials that did not end well, so that the next run takes them again."""

from __future__ import annotations

import fcntl
from collections.abc import Collection, Iterable
from pathlib import Path

from harness.errors import HarnessError
from harness.files import below
from harness.jobs.unfinished import Unfinished
from harness.planning.workload import ROWS, Workload
from harness.records.journal import Journal
from harness.records.prediction_files import ENDING, FOLDER, remove_trials
from harness.records.table import read_rows


def retry(
    workload: Workload, outcomes: Collection[str], methods: Collection[str] = ()
) -> list[str]:
    """Remove the rows of some outcomes; every file of a study's rows keeps all others.

    Parameters
    ----------
    workload : Workload
    outcomes : collection of str
        Of the rows that are removed.
    methods : collection of str, default ()
        Their labels in the study; all by default.

    Returns
    -------
    list of str
        Fingerprints of the trials that have no row any more.

    Raises
    ------
    HarnessError
        If a method is not in the study, or a job runs some of its trials just now.
    """
    labels = {block.method.label for block in workload.blocks}
    unknown = sorted(set(methods) - labels)
    if unknown:
        known = ", ".join(sorted(labels))
        raise HarnessError(f"{workload.study.path}: no method {unknown[0]!r}; it has {known}")
    wanted = {
        trial: None
        for block in workload.blocks
        if not methods or block.method.label in methods
        for trial in block.trials
    }
    removed: list[str] = []
    for dataset in workload.datasets():
        rows = workload.finished_rows(dataset, wanted.keys())
        found = {key for key, row in rows.items() if row["outcome"] in outcomes}
        if found:
            journals, published = (below(workload.results, f"{kind}/{dataset}") for kind in ROWS)
            _remove(found, sorted(journals.rglob("*.jsonl")), sorted(published.rglob("*.jsonl")))
            for path in below(workload.results, f"{FOLDER}/{dataset}").rglob(f"*{ENDING}"):
                remove_trials(path, found)
        removed += (trial for trial in wanted if trial in found)
    return removed


def _remove(found: set[str], journals: Iterable[Path], published: Iterable[Path]) -> None:
    for path in journals:
        if not found & _fingerprints(path):
            continue
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise HarnessError(f"{path}: a worker runs its trials; wait or end it") from None
        with Journal(path) as journal:
            journal.drop(found)
        unfinished = Unfinished(path)
        for fingerprint in found:
            unfinished.end(fingerprint)
    for path in published:
        # what lacks rows is not published: the next run makes it again
        if found & _fingerprints(path):
            path.unlink()


def _fingerprints(path: Path) -> set[str]:
    return {row["fingerprint"] for row in read_rows(path)}
