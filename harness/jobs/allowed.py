"""How long a job may run: a guess at first, then all that its trials may take.

Where a job came to the end of its time, its finished trials are kept. It goes on when Snakemake
submits it again, and when the study is run again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.files import below
from harness.planning.workload import USAGE

if TYPE_CHECKING:
    from harness.planning.job_files import StudyJobs

RULE = "bundle"


def allowed_minutes(jobs: StudyJobs, bundle_id: str, attempt: int = 1) -> int:
    """Return the minutes that a scheduler should allow a job.

    Parameters
    ----------
    jobs : StudyJobs
    bundle_id : str
    attempt : int, default 1
        Counted by Snakemake within a run.

    Returns
    -------
    int
        What its trials hardly ever exceed, by earlier ones or a guess. From the second attempt
        on, and after a run in which that was too little, what their limits allow, but no more
        than a partition does.
    """
    needs = jobs.needs(bundle_id)
    # jobs that an earlier version wrote have one figure
    most = needs.get("most_minutes", needs["minutes"])
    if attempt > 1 or _was_too_short(jobs, bundle_id):
        return int(min(most, max(jobs.longest, needs["minutes"])))
    return int(needs["minutes"])


def _was_too_short(jobs: StudyJobs, bundle_id: str) -> bool:
    path = below(jobs.results, f"{USAGE}/{RULE}/{bundle_id}.json")
    if not path.is_file():
        return False
    # what it imports is more than all else that Snakemake reads of a job
    from harness.jobs.usage import read_job

    try:
        used = read_job(path)
    except HarnessError:
        return False
    if used.reserved is None or used.ended == "ok":
        return False
    return used.seconds >= used.reserved.late_s
