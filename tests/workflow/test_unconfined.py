"""Where nothing confines trials, what they do to the study is noticed, named and costs one row."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from project import ENVIRONMENT, PLUGINS

from harness.datasets import prepare
from harness.datasets.meta import content_sha256
from harness.planning.bundles import published
from harness.planning.job_files import study_bundles, write_jobs
from harness.planning.workload import load_workload
from harness.records.table import read_rows
from harness.trial.reach import ISOLATION

EXPECTED = {
    "kills-its-parent": ("crashed", "killed the process that runs trials, twice"),
    "stops-its-parent": ("crashed", "stopped the process that runs trials, twice"),
    "kills-the-worker": ("crashed", "its worker was ended twice"),
    "is-killed": ("crashed", "killed and run again, and ended so both times"),
    "alters-features": ("error", "altered the prepared data"),
    "alters-rows": ("error", "altered the rows of its job"),
    "behaves": ("ok", ""),
}


SEEDS = {"kills-the-worker": 2, "alters-rows": 2}
"""Where one seed does not tell; each worker that is replaced costs seconds."""


@pytest.fixture
def job(project, monkeypatch, method):
    """Run a job as Snakemake does, with nothing that confines its trials."""
    monkeypatch.chdir(project.folder)
    study = project.write(
        datasets=["breast_cancer"],
        methods=[method],
        labeled=40,
        budgets="100MB",
        seeds=SEEDS.get(method, 1),
        limits={"time": 20},
        plugins=[str(PLUGINS / "misbehaving.py")],
    )
    workload = load_workload(study)
    prepare(workload.catalog["breast_cancer"], workload.prepared("breast_cancer"))
    (bundle,) = bundles = study_bundles(workload)
    write_jobs(workload, bundles)

    def run():
        command = [sys.executable, "-m", "harness.jobs", "bundle", study, bundle.id]
        environment = {**ENVIRONMENT, ISOLATION: "none"}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return read_rows(published(workload, bundle))

    run.workload = workload
    return run


def in_folder(process):
    """Tell whether a process was started by the job: it works in the project's folder."""
    with contextlib.suppress(psutil.Error):
        return process.pid != os.getpid() and process.cwd() == str(Path.cwd())
    return False


@pytest.mark.slow
@pytest.mark.parametrize("method", EXPECTED)
def test_each_costs_its_own_rows_and_nothing_else(job, method):
    rows = job()
    outcome, reason = EXPECTED[method]
    assert sorted(row["seed"] for row in rows) == list(range(SEEDS.get(method, 1)))
    assert {row["isolation"] for row in rows} == {"none"}
    if method == "alters-rows":  # there is no other row yet that the first could alter
        rows = [row for row in rows if row["seed"] == max(r["seed"] for r in rows)]
    assert {row["outcome"] for row in rows} == {outcome}, [row["reason"] for row in rows]
    assert all(reason in row["reason"] for row in rows), [row["reason"] for row in rows]
    folder = job.workload.prepared("breast_cancer")
    meta = json.loads((folder / "meta.json").read_text())
    assert content_sha256(folder) == meta["sha256"]
    assert [process for process in psutil.process_iter() if in_folder(process)] == []
    assert not list(job.workload.results.rglob("*.running"))
