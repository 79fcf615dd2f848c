# The main job: every block of trials of one study, then its table and report.
# snakemake --cores 8 [--config study=studies/quickstart.yaml]
import sys

from snakemake.utils import min_version, validate

from harness.errors import HarnessError
from harness.planning.workload import load_workload

min_version("9.27")


config.setdefault("study", "studies/quickstart.yaml")
validate(config, "rules/config.schema.yaml")

try:
    WORKLOAD = load_workload(config["study"])
except HarnessError as error:
    sys.exit(f"harness: {error}")

RESULTS = WORKLOAD.results.as_posix()
PYTHON = sys.executable


# pip installs all that the rules need (README.md); the image names the Python they were tested on
container: "docker://python:3.11"


wildcard_constraints:
    data=r"[A-Za-z0-9._+-]+",
    block=r"[^/]+/[^/]+/[^/]+/[^/]+",


include: "rules/datasets.smk"
include: "rules/trials.smk"
include: "rules/reports.smk"


onstart:
    from harness.jobs.starting import start

    start(workflow, WORKLOAD)


onerror:
    from harness.jobs.starting import tell_failures

    tell_failures(log)


onsuccess:
    if (WORKLOAD.results / "report.html").is_file():
        print(f"The report is {RESULTS}/report.html", file=sys.stderr)


rule all:
    default_target: True
    input:
        rules.report.output,
        # asked for by name: beside a report that is there, what it was made from is not missed
        rules.table.output,
        [WORKLOAD.output(block) for block in WORKLOAD.blocks],
