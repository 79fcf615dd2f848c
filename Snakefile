# The main job: all trials of one study, cut into jobs, then its table and report.
# snakemake --cores 8 [--config study=studies/quickstart.yaml]
import sys

from snakemake.utils import min_version, validate

from harness.errors import HarnessError
from harness.planning.job_files import StudyJobs

min_version("9.27")


ONLY_LOOKS = {"-n", "--dry-run", "--dryrun", "--lint"}

config.setdefault("study", "studies/quickstart.yaml")
validate(config, "rules/config.schema.yaml")

try:
    # a job on a cluster reads its own small file alone
    JOBS = StudyJobs(config["study"], lanes=workflow.nodes or workflow.cores or 1)
    if workflow.is_main_process:
        JOBS.bundles
        # not in `onstart`, which a module does not have
        if ONLY_LOOKS.isdisjoint(sys.argv):
            JOBS.write()
except HarnessError as error:
    sys.exit(f"harness: {error}")

RESULTS = JOBS.results.as_posix()
PYTHON = sys.executable


# pip installs all that the rules need (README.md); the image names the Python they were tested on
container: "docker://python:3.11"


wildcard_constraints:
    data=r"[A-Za-z0-9._+-]+",
    bundle=r"[^/]+/[^/]+",


include: "rules/datasets.smk"
include: "rules/trials.smk"
include: "rules/reports.smk"


# A limit on jobs started in a second, which is for clusters, has Snakemake look again each second
# for every job that has ended: a quarter of a core after 400 jobs, and rising with each.
onstart:
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    if (JOBS.results / "report.html").is_file():
        print(f"The report is {RESULTS}/report.html", file=sys.stderr)


rule all:
    default_target: True
    input:
        rules.report.output,
        # asked for by name: beside a report that is there, what it was made from is not missed
        rules.table.output,
        lambda wildcards: JOBS.outputs,
