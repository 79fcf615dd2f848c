"""The rows of all jobs in one table, with the study as run and where it comes from."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.datasets import Entry, Meta
from harness.errors import HarnessError
from harness.files import put_aside, write_whole
from harness.jobs.hosts import join_hosts
from harness.jobs.kept_splits import keep_splits
from harness.jobs.provenance import environment_info
from harness.jobs.timelines import join_timelines, write_json
from harness.planning.bundles import published
from harness.planning.job_files import study_bundles
from harness.planning.workload import Workload
from harness.records.batches import read_batches
from harness.records.columns import COLUMNS
from harness.records.table import writable_row
from harness.records.table_writer import rows_as_table, table_file

if TYPE_CHECKING:
    import pyarrow


def collect(workload: Workload) -> None:
    """Write `trials.parquet`, `study.yaml`, `provenance.json`, `timelines.json` and `splits/`.

    A data set and a method that do not go together are one row with outcome `infeasible`, so that
    nothing that the study names is missing from its table.

    Raises
    ------
    HarnessError
        If what jobs published lacks rows of their trials, naming each; they are put aside, so that
        the next run of the study makes them whole.
    """
    started: list[str] = []
    hosts: Counter[tuple[str, str]] = Counter()
    with table_file(workload.results / "trials.parquet") as table:
        for rows in _published_rows(workload):
            table.add(rows)
            started += filter(None, [_least(rows["started_at"])])
            hosts.update(_hosts(rows))
        table.add(rows_as_table(_rows_left_out(workload)))
    write_json(join_timelines(workload), workload.results / "timelines.json")
    keep_splits(workload)
    write_whole(workload.study.text, workload.results / "study.yaml")
    provenance = _provenance(workload, min(started, default=None))
    provenance["hosts"] = join_hosts(workload.results, hosts)
    write_whole(json.dumps(provenance, indent=1), workload.results / "provenance.json")


def _published_rows(workload: Workload) -> Iterator[pyarrow.Table]:
    """Read the rows of all jobs, many at a time; what they lack is told when all are read."""
    asked = (
        (published(workload, bundle), list(bundle.trials())) for bundle in study_bundles(workload)
    )
    short: dict[Path, str] = {}
    for batch in read_batches(asked):
        short |= batch.lacks
        if not short:
            yield batch.rows
    if short:
        told = (f"{lack}; {put_aside(path)}" for path, lack in short.items())
        raise HarnessError("\n".join(told))


def _rows_left_out(workload: Workload) -> list[dict[str, Any]]:
    return [
        writable_row(
            dict.fromkeys(COLUMNS)
            | {
                "study": workload.study.name,
                "dataset": pair.dataset,
                "method": pair.method,
                "outcome": "infeasible",
                "reason": pair.reason,
            }
        )
        for pair in workload.left_out
    ]


def _least(column: pyarrow.ChunkedArray) -> str | None:
    import pyarrow.compute

    return pyarrow.compute.min(column).as_py()


def _hosts(rows: pyarrow.Table) -> dict[tuple[str, str], int]:
    counts = rows.group_by(["host", "cpu"]).aggregate([([], "count_all")]).to_pylist()
    return {(found["host"] or "", found["cpu"] or ""): found["count_all"] for found in counts}


def _provenance(workload: Workload, started: str | None) -> dict[str, Any]:
    used = {block.method.name for block in workload.blocks}
    methods = [method for method in workload.index["methods"] if method["name"] in used]
    metas = {name: Meta.read_alone(workload.prepared(name)) for name in workload.datasets()}
    return {
        **environment_info(),
        "study": workload.study.name,
        "title": workload.study.settings.title,
        "command": shlex.join(["harness", "run", str(workload.study.path)]),
        "started_at": started,
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "plugins": [
            {
                "method": method["name"],
                "path": _portable(method["plugin_path"]),
                "sha256": method["plugin_sha256"],
                "reference": method["reference"],
            }
            for method in methods
        ],
        "metrics": {
            metric["name"]: {key: metric[key] for key in ("greater_is_better", "tasks")}
            for metric in workload.index["metrics"]
        },
        "datasets": [
            {
                "name": name,
                "sha256": meta.sha256,
                "n": meta.n,
                "d": meta.d,
                "task": meta.task,
                "citation": meta.citation,
                "licence": workload.catalog[name].licence,
                "unverified": _without_checksum(workload.catalog[name]),
                "stand_in_for": workload.catalog[name].stand_in_for,
            }
            for name, meta in metas.items()
        ],
    }


def _without_checksum(entry: Entry) -> str:
    """Name the files that were taken as they were, since no checksum is known of them."""
    known = (file.name for file in entry.every_file if not (file.sha256 or file.packed_sha256))
    return ", ".join(known)


def _portable(path: str) -> str:
    try:
        return Path(path).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path
