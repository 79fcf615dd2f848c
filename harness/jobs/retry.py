"""Removing rows of trials that did not end well, so that the next run takes them again."""

from __future__ import annotations

import fcntl
from collections.abc import Collection, Iterable
from pathlib import Path

from harness.errors import HarnessError
from harness.jobs.unfinished import Unfinished
from harness.planning.workload import Workload
from harness.records.journal import Journal
from harness.records.table import finished_rows, read_rows


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
        If a method is not in the study, or a worker runs trials of a block just now.
    """
    labels = {block.method.label for block in workload.blocks}
    unknown = sorted(set(methods) - labels)
    if unknown:
        known = ", ".join(sorted(labels))
        raise HarnessError(f"{workload.study.path}: no method {unknown[0]!r}; it has {known}")
    removed: dict[str, None] = {}
    for block in workload.blocks:
        if methods and block.method.label not in methods:
            continue
        journals, published = workload.journal(block).parent, workload.output(block).parent
        wanted = {f"{block.fingerprint}-{seed}" for seed in block.seeds}
        rows = finished_rows(journals, published)
        found = {key for key in wanted & rows.keys() if rows[key]["outcome"] in outcomes}
        if not found:
            continue
        _remove(found, sorted(journals.glob("*.jsonl")), sorted(published.glob("*.jsonl")))
        unfinished = Unfinished(workload.journal(block))
        for fingerprint in found:
            unfinished.end(fingerprint)
        removed |= dict.fromkeys(sorted(found))
    return list(removed)


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
    for path in published:
        # a block without all of its rows is not published: the next run makes it again
        if found & _fingerprints(path):
            path.unlink()


def _fingerprints(path: Path) -> set[str]:
    return {row["fingerprint"] for row in read_rows(path)}
