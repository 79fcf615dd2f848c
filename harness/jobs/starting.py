"""What the main Snakemake process of a study does before its first job, and after a failed one.

`harness run` and a plain `snakemake` come here alike. A dry run and the jobs themselves do not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from harness.errors import HarnessError
from harness.files import PART, not_in_future, remove_left
from harness.jobs.allowed import RULE
from harness.jobs.default_storage import DefaultStorage
from harness.jobs.failures import failures
from harness.jobs.only_run import hold
from harness.jobs.slurm import (
    LOGS,
    Need,
    cancel_left_over,
    longest_minutes,
    refuse_arrays,
    refuse_too_large,
    require_slurm,
)
from harness.planning.job_files import StudyJobs
from harness.planning.workload import PREPARED

_held: list[IO[str]] = []
"""The lock of the study that this process runs, until it ends."""


def start(workflow: Any, jobs: StudyJobs) -> None:
    """Make ready to run a study's jobs.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        With its jobs known and none of them started.
    jobs : StudyJobs
        Of the study.
    """
    try:
        _held.append(hold(jobs.results))
        jobs.write()
        remove_left([*jobs.results.rglob(f".*{PART}"), *PREPARED.glob(f".*{PART}")])
        not_in_future([*jobs.results.glob("*.json"), *jobs.results.glob("rows/**/*.jsonl")])
        not_in_future([*PREPARED.glob("*/meta.json"), jobs.study])
        if workflow.local_exec:
            # A limit on jobs started in a second, which is for clusters, has Snakemake look again
            # each second for every job that has ended: a quarter of a core after 400 jobs, and
            # rising with each.
            workflow.scheduler.job_rate_limiter = None
        executor = workflow.scheduler._executor
        if hasattr(executor, "slurm_logdir"):
            _start_slurm(workflow, executor, jobs)
    except HarnessError as error:
        sys.exit(f"harness: {error}")


def _start_slurm(workflow: Any, executor: Any, jobs: StudyJobs) -> None:
    require_slurm()
    jobs.longest = longest_minutes(need for need in _needs(workflow) if need.rule == RULE)
    for job in workflow.dag.needrun_jobs():
        job.attempt = job.attempt  # which has it ask for its resources again
    needs = _needs(workflow)
    refuse_too_large(set(needs))
    arrays = workflow.executor_settings.array_jobs
    if arrays:
        refuse_arrays(arrays, needs, workflow.resource_settings.nodes)
    if workflow.executor_settings.logdir is None:
        # The plugin removes empty folders at its end, those of another study's waiting jobs too.
        executor.slurm_logdir = (jobs.results / LOGS).absolute()
    left = cancel_left_over(executor.slurm_logdir)
    if left:
        many = "1 job" if left == 1 else f"{left} jobs"
        print(f"harness: cancelled {many} that an earlier run of the study left", file=sys.stderr)


def _needs(workflow: Any) -> list[Need]:
    """List what the jobs ask for."""
    needs = []
    for job in workflow.dag.needrun_jobs():
        if not job.is_local:
            asked = job.resources
            memory, minutes = (int(asked.get(name) or 0) for name in ("mem_mb", "runtime"))
            partition = str(asked.get("slurm_partition") or "")
            needs.append(Need(job.rule.name, memory, int(job.threads), minutes, partition))
    return needs


def tell_failures(logs: Sequence[str], storage: DefaultStorage) -> None:
    """Say at the end why jobs failed.

    Parameters
    ----------
    logs : sequence of str
        Snakemake's log files.
    storage : DefaultStorage
        Where logs of the jobs are, if not here.
    """
    said = "\n".join(Path(log).read_text(encoding="utf-8", errors="replace") for log in logs)
    brought = storage.bring_logs(said)
    if brought:
        print(brought, file=sys.stderr)
        said = f"{said}\n{brought}"
    print(*(f"harness: {reason}" for reason in failures(said)), sep="\n", file=sys.stderr)
