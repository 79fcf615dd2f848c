"""What the workflow's jobs run: `python -m harness.jobs JOB STUDY ...`, one function a rule.

Before the job's name, `--folder DIR` says where to run it and `--reserved MB MINUTES CORES` what a
scheduler gave it. `--leaves FILE` has what it leaves besides its outputs packed into a file.

A mistake that a user can mend ends a job with one message in its log, not with a traceback.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from harness.errors import DamagedFileError, HarnessError
from harness.lean_process import import_scikit_learn, importing, leave
from harness.threads import one_thread

if TYPE_CHECKING:
    from harness.jobs.usage import Reserved


def dataset(study: str, directory: str) -> None:
    """Fetch, check and prepare one data set."""
    from harness.jobs.prepared import prepare_once
    from harness.planning.workload import load_workload

    workload = load_workload(study)
    entries = {workload.catalog[name].directory: name for name in workload.datasets()}
    if directory not in entries:
        message = f"{study}: no data set {directory!r}; its entry or its generator has changed"
        raise HarnessError(message)
    prepare_once(workload, entries[directory])


def calibration(study: str) -> None:
    """Measure known allocations as trials are measured."""
    from harness.files import write_whole
    from harness.planning.workload import load_workload
    from harness.sandbox import Sandbox, calibrate

    workload = load_workload(study)
    with Sandbox(workload.study.settings.enforcement) as sandbox:
        rows = calibrate(sandbox)
    write_whole(json.dumps(rows, indent=1), workload.results / "calibration.json")


def bundle(study: str, bundle_id: str) -> None:
    """Run the trials of one job, in a process that is replaced if a trial ends it."""
    from harness.jobs.keeper import keep
    from harness.jobs.unfinished import Unfinished
    from harness.planning.bundles import journal
    from harness.planning.job_files import load_job

    workload, wanted = load_job(study, bundle_id)
    unfinished = Unfinished(journal(workload, wanted))
    keep(unfinished)
    import_scikit_learn()
    with importing():
        from harness.jobs.bundle import run_bundle
        from harness.jobs.hosts import record_host

    run_bundle(workload, wanted, unfinished)
    record_host(workload.results)


def table(study: str) -> None:
    """Join the rows of all blocks."""
    from harness.jobs.default_storage import unpack_left
    from harness.jobs.table import collect
    from harness.planning.workload import load_workload

    workload = load_workload(study)
    unpack_left(workload.results)
    collect(workload)


def report(study: str) -> None:
    """Write the report and its tables."""
    from harness.planning.workload import load_workload
    from harness.plugin.registry import Registry
    from harness.report import write_report
    from harness.sandbox import heap

    # columns of a million rows come and go: what is freed goes back to the system at once
    heap.return_arrays()
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    workload = load_workload(study)
    wanted = {section["plugin_path"] for section in workload.index["report sections"]}
    registry = Registry.load(workload.study.plugin_folders, lambda s: s.location in wanted)
    write_report(
        workload.results, sections=[section for section, _ in registry.items("report sections")]
    )


OPTIONS = {"--folder": 1, "--reserved": 3, "--leaves": 1}
"""What may stand before the name of a job, and how many values each has."""

JOBS: dict[str, Callable[..., None]] = {
    job.__name__: job for job in (dataset, calibration, bundle, table, report)
}


def main() -> NoReturn:
    """Run the job that the arguments name, in a process that another one watches."""
    one_thread()  # before anything imports NumPy, and so in all that a job starts
    with importing():
        from harness.files import put_aside
        from harness.jobs.usage import Reserved
        from harness.jobs.watched import watched
        from harness.planning.workload import RESULTS
    options, (name, study, *arguments) = _options(sys.argv[1:])
    left = [Path(path).absolute() for path in options.get("--leaves", ())]
    os.chdir(options.get("--folder", ["."])[0])
    if name == "bundle":
        _enter_environment(
            options | {"--leaves": [str(path) for path in left]}, study, arguments[0]
        )
    reserved = Reserved(*map(int, options["--reserved"])) if "--reserved" in options else None
    job = f"{name} {arguments[0]}" if name in ("dataset", "bundle") else name
    late_s = reserved.late_s if reserved else None
    watched(partial(_note, job, RESULTS, study, reserved, left), late_s)
    try:
        JOBS[name](study, *arguments)
    except DamagedFileError as error:
        sys.exit(f"harness: {error.message}; {put_aside(error.path)}")
    except HarnessError as error:
        sys.exit(f"harness: {error}")
    except OSError as error:
        # a full disk, a folder that may not be written: nothing of ours to trace
        sys.exit(f"harness: {error.filename or 'a file'}: {error.strerror}; nothing was lost")
    leave()


def _enter_environment(options: dict[str, list[str]], study: str, bundle_id: str) -> None:
    """Go on in the environment of the job's plugins, if they have one of their own."""
    from harness.planning.job_files import job_requirements
    from harness.plugin.environments import enter

    try:
        needed = job_requirements(study, bundle_id)
        if needed:
            here = {key: values for key, values in options.items() if values}
            here["--folder"] = [str(Path.cwd())]
            told = [text for key, values in here.items() for text in (key, *values)]
            enter(needed, "harness.jobs", [*told, "bundle", study, bundle_id])
    except HarnessError as error:
        sys.exit(f"harness: {error}")


def _options(given: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Split what stands before the job's name from it; each option with all of its values."""
    options = {}
    while given[0] in OPTIONS:
        end = 1 + OPTIONS[given[0]]
        options[given[0]], given = given[1:end], given[end:]
    return options, given


def _note(
    job: str,
    results: Path,
    study: str,
    reserved: Reserved | None,
    left: list[Path],
    started: float,
    code: int | None,
) -> None:
    """Keep what a job took beside the study's results; no job fails for want of it."""
    from harness.files import below
    from harness.jobs.usage import measured

    rule, _, which = job.partition(" ")
    try:
        results = below(results, Path(study).stem)
        measured(rule, which, reserved, started, code).write(results)
        for path in left if code == 0 else ():
            from harness.jobs.default_storage import left_files
            from harness.jobs.sources import pack

            pack(left_files(results, rule, which), path)
    except HarnessError as error:
        print(f"harness: what this job took is not noted: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
