# The main job: all trials of one study, cut into jobs, then its table and report.
# snakemake --cores 8 [--config study=studies/quickstart.yaml]
import sys

from snakemake.settings.types import DeploymentMethod
from snakemake.utils import min_version, validate

from harness.errors import HarnessError
from harness.jobs.default_storage import DefaultStorage, leaves
from harness.planning.job_files import StudyJobs

min_version("9.27")


ONLY_LOOKS = {"-n", "--dry-run", "--dryrun", "--lint"}

config.setdefault("study", "studies/quickstart.yaml")
config.setdefault("image", "harness.sif")
validate(config, "rules/config.schema.yaml")

STORAGE = DefaultStorage(workflow)

try:
    STORAGE.bring_sources(config["study"])
    # a job on a cluster reads its own small file alone
    JOBS = StudyJobs(config["study"], lanes=workflow.nodes or workflow.cores or 1)
    if workflow.is_main_process:
        JOBS.bundles
        # not in `onstart` alone, which a module does not have; other jobs may be those of a run
        if ONLY_LOOKS.isdisjoint(sys.argv):
            JOBS.write(keep_others=True)
            STORAGE.send_sources(JOBS)
    STUDY = STORAGE.study(JOBS)
except HarnessError as error:
    sys.exit(f"harness: {error}")

RESULTS = JOBS.results.as_posix()
IN_IMAGE = DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method
PYTHON = "python3" if IN_IMAGE else sys.executable
# each file that a job needs or leaves is named where it goes through a storage
PREPARED = ["meta.json", *(["X.npy", "y.npy"] if STORAGE.is_used else [])]
SPARSE = ["X.npz" if name == "X.npy" else name for name in PREPARED]


# taken with `--sdm apptainer`: the project and all that it needs, made from the Dockerfile
container: config["image"]


wildcard_constraints:
    data=r"[A-Za-z0-9._+-]+",
    bundle=r"[^/]+/[^/]+",


include: "rules/datasets.smk"
include: "rules/trials.smk"
include: "rules/reports.smk"


onstart:
    from harness.jobs.starting import start

    start(workflow, JOBS)


onerror:
    from harness.jobs.starting import tell_failures

    tell_failures(log, STORAGE)


onsuccess:
    STORAGE.bring_home(JOBS.results)
    if (JOBS.results / "report.html").is_file():
        print(f"The report is {RESULTS}/report.html", file=sys.stderr)


rule all:
    default_target: True
    input:
        rules.report.output,
        # asked for by name: beside a report that is there, what it was made from is not missed
        rules.table.output,
        lambda wildcards: JOBS.outputs,
