"""Snakemake's default storage: where a study's files are if its jobs share no file system.

With `--default-storage-provider`, Snakemake brings a job's inputs to a folder that stands for the
storage, and its outputs from there into the storage. A job of ours runs in that folder, and finds
in it all that it reads: its inputs, and the sources of the study.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.files import below
from harness.jobs.only_run import hold
from harness.jobs.sources import EARLIER, FILE, earlier_rows, pack, source_files, unpack
from harness.planning.job_files import StudyJobs
from harness.planning.workload import RESULTS, USAGE

LEFT = "left"
"""Folder of what jobs of trials leave besides their rows: usage, hosts, pictures, predictions."""

PACKED = ("left.zip", "tables.zip")
"""What the table and the report leave, in the folder of a study's results."""

_NOT_FOUND = re.compile(r"^Logfile (\S+) \(send to storage\) not found", re.MULTILINE)
"""How Snakemake misses the log of a failed job."""

BROUGHT_HOME = (
    "report.html",
    "trials.parquet",
    "study.yaml",
    "provenance.json",
    "timelines.json",
    "calibration.json",
)
"""Of a study's results: what commands such as `harness show` read."""


class DefaultStorage:
    """The default storage of a workflow, if it has one.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow

    Attributes
    ----------
    is_used : bool
        Whether there is one.
    folder : str
        Local folder that stands for it; the current one if there is none.
    """

    def __init__(self, workflow: Any) -> None:
        self._workflow = workflow
        settings = workflow.storage_settings
        self.is_used = settings.default_storage_provider is not None
        self._sees_sources = "SOURCES" in {usage.name for usage in settings.shared_fs_usage}
        self.folder = Path(workflow.inputfile(RESULTS.name)).parent.as_posix()

    def bring_sources(self, study: str) -> None:
        """Fetch what a job reads of its study, in the process of Snakemake that runs the job.

        Raises
        ------
        HarnessError
            If it cannot be had.
        """
        if not self.is_used or self._workflow.is_main_process:
            return
        results = RESULTS / Path(study).stem
        name = (results / FILE).as_posix()
        for file in (FILE, EARLIER):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, file)
                if self._fetch((results / file).as_posix(), path):
                    unpack(path, Path(self.folder))
                    if not self._sees_sources:
                        unpack(path)  # Snakemake reads the study too
                elif file == FILE:
                    message = f"{name}: is not in the storage; run the study again"
                    raise HarnessError(message)

    def send_sources(self, jobs: StudyJobs) -> None:
        """Store what the jobs of a study read, unless the storage has it.

        Rows of jobs that are no part of the study any more are fetched first: their trials may be.

        Raises
        ------
        HarnessError
            If a file is outside of the current folder, or another process runs the study.
        """
        if not self.is_used:
            return
        hold(jobs.results).close()
        others = jobs.written() - {bundle.id for bundle in jobs.bundles}
        for name in (f"{jobs.results.as_posix()}/rows/{other}.jsonl" for other in others):
            if not Path(name).exists():
                self._fetch(name, Path(name))
        self._send(jobs, FILE, source_files(jobs.workload, jobs.bundles))
        if any((jobs.results / "rows").rglob("*.jsonl")):
            asked = zip(jobs.bundles, jobs.outputs, strict=True)
            pending = [bundle for bundle, rows in asked if not self._has(rows)]
            rows = earlier_rows(jobs.workload, pending)
            if rows:
                self._send(jobs, EARLIER, (), rows)

    def _send(
        self,
        jobs: StudyJobs,
        file: str,
        paths: Iterable[Path],
        made: Mapping[Path, bytes] | None = None,
    ) -> None:
        """Store files as one; if it would be the same, what is stored stays as old as it is."""
        name = f"{jobs.results.as_posix()}/{file}"
        with tempfile.TemporaryDirectory() as folder:
            path, before = Path(folder, file), Path(folder, "before")
            pack(paths, path, made)
            if not self._fetch(name, before) or before.read_bytes() != path.read_bytes():
                stored = self._workflow.inputfile(name).storage_object
                stored.set_local_path(path)
                self._workflow.async_run(stored.managed_store())
            unpack(path, Path(self.folder))

    def study(self, jobs: StudyJobs) -> list[str]:
        """Return the file of which an edit has the table made again."""
        if not self.is_used:
            return [jobs.study.as_posix()]
        name = f"{jobs.results.as_posix()}/{FILE}"
        # a dry run before the first run finds none
        return [name] if not self._workflow.is_main_process or self._has(name) else []

    def bring_home(self, results: Path) -> None:
        """Fetch the results of a study into the current folder, as if its jobs had run here."""
        if not self.is_used:
            return
        for name in BROUGHT_HOME:
            self._fetch(f"{results.as_posix()}/{name}", results / name)
        for name in PACKED:
            path = results / name
            if self._fetch(path.as_posix(), path):
                unpack(path)
                path.unlink()

    def bring_logs(self, said: str) -> str:
        """Fetch the logs of failed jobs that Snakemake did not find here.

        Parameters
        ----------
        said : str
            All that Snakemake said.

        Returns
        -------
        str
            Each with its name, as Snakemake tells it where it finds one.
        """
        if not self.is_used:
            return ""
        prefix = f"{self._workflow.storage_settings.default_storage_prefix or ''}".rstrip("/")
        told, rule = [], "=" * 80
        for query in dict.fromkeys(_NOT_FOUND.findall(said)):
            name = query.removeprefix(prefix).lstrip("/")
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "log")
                there = self._fetch(name, path)
                text = path.read_text(encoding="utf-8", errors="replace") if there else ""
                if text.strip():  # a job that was lost with its machine said nothing
                    text = text.rstrip("\n")
                    told.append(f"Logfile {name}:\n{rule}\n{text}\n{rule}\n")
        return "".join(told)

    def _has(self, name: str) -> bool:
        found = self._workflow.inputfile(name).storage_object
        return bool(self._workflow.async_run(found.managed_exists()))

    def _fetch(self, name: str, path: Path) -> bool:
        """Bring a file or folder from the storage, over what is there; tell if it has one."""
        if not self._has(name):
            return False
        found = self._workflow.inputfile(name).storage_object
        found.set_local_path(path)
        self._workflow.async_run(found.managed_retrieve())
        return True


def leaves(paths: Sequence[str]) -> list[str]:
    """Return the options with which a job packs what it leaves; none where no file is for it."""
    return ["--leaves", *paths] if paths else []


def left_files(results: Path, rule: str, which: str) -> list[Path]:
    """List what a job leaves besides its outputs.

    Parameters
    ----------
    results : Path
        The study's folder.
    rule, which : str
        The job; the table leaves what all others used, the splits and what trials predicted, the
        report its tables.
    """
    from harness.jobs.hosts import FOLDER as HOSTS
    from harness.records.prediction_files import ENDING
    from harness.records.prediction_files import FOLDER as PREDICTIONS

    if rule == "report":
        return sorted((results / "tables").iterdir())
    own = [below(results, f"{USAGE}/{rule}/{which}.json" if which else f"{USAGE}/{rule}.json")]
    if rule == "table":
        from harness.jobs.kept_splits import FOLDER as SPLITS

        used, splits = (results / USAGE).rglob("*.json"), (results / SPLITS).glob("*.npz")
        predicted = (results / PREDICTIONS).rglob(f"*{ENDING}")
        return [*sorted(used), *sorted(splits), *sorted(predicted)]
    beside = [
        below(results, f"timelines/{which}.jsonl"),
        below(results, f"{PREDICTIONS}/{which}{ENDING}"),
    ]
    return [*own, *beside, *sorted((results / HOSTS).glob("*.json"))]


def unpack_left(results: Path) -> None:
    """Unpack what jobs left, where the table is made; those that cannot be read are left out."""
    for path in sorted((results / LEFT).rglob("*.zip")):
        with suppress(HarnessError):
            unpack(path)
