"""What of a study's files cannot be used is put aside before a run, which then makes it anew.

Snakemake sees that a file is there and how old it is, not what it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from harness.datasets import Meta
from harness.errors import DamagedFileError, HarnessError
from harness.files import is_file, put_aside
from harness.planning.bundles import published
from harness.planning.job_files import study_bundles
from harness.planning.workload import Workload
from harness.records.table import rows_of_trials

TABLE = "trials.parquet"


def put_damaged_aside(workload: Workload) -> list[str]:
    """Look through what earlier runs left, and rename what cannot be used.

    Published rows that are older than the table are in it, and are not read again.

    Returns
    -------
    list of str
        A sentence for each file.
    """
    told = _rows(workload)
    for name in workload.datasets():
        folder = workload.prepared(name)
        if (folder / "meta.json").exists():
            told += _unless_whole(partial(Meta.read, folder))
    if is_file(workload.results / TABLE):
        told += _results(workload.results)
    return told


def _rows(workload: Workload) -> list[str]:
    table, told = workload.results / TABLE, []
    joined = table.stat().st_mtime_ns if is_file(table) else 0
    for bundle in study_bundles(workload):
        path = published(workload, bundle)
        if path.exists() and path.stat().st_mtime_ns > joined:
            _, lack = rows_of_trials(path, list(bundle.trials()))
            if lack:
                told.append(f"{lack}; {put_aside(path)}")
    return told


def _results(folder: Path) -> list[str]:
    from harness.report.results import read_results

    told: list[str] = []
    while found := _unless_whole(lambda: read_results(folder)):
        told += found
    return told


def _unless_whole(read: Callable[[], object]) -> list[str]:
    try:
        read()
    except DamagedFileError as error:
        return [f"{error.message}; {put_aside(error.path)}"]
    except HarnessError:  # nothing that a file of ours is to blame for
        return []
    return []
