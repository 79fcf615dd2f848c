# Trials: the scale is checked once, then jobs of many trials run, each trial under its limits.

from harness.jobs.allowed import allowed_minutes
from harness.study.budget import JOB_BYTES


rule calibration:
    output:
        f"{RESULTS}/calibration.json",
    log:
        f"{RESULTS}/logs/calibration.log",
    resources:
        # its largest allocation is 400 MB
        mem_mb=JOB_BYTES // 10**6 + 400,
        runtime=15,
    params:
        python=PYTHON,
        study=config["study"],
        folder=STORAGE.folder,
    shell:
        "{params.python:q} -m harness.jobs --folder {params.folder:q} "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "calibration {params.study:q} >{log:q} 2>&1"


rule bundle:
    input:
        lambda wildcards: JOBS.prepared(wildcards.bundle, PREPARED),
        calibration=ancient(f"{RESULTS}/calibration.json"),
    output:
        rows=f"{RESULTS}/rows/{{bundle}}.jsonl",
        left=[f"{RESULTS}/left/{{bundle}}.zip"] if STORAGE.is_used else [],
    log:
        f"{RESULTS}/logs/{{bundle}}.log",
    threads: lambda wildcards: JOBS.needs(wildcards.bundle)["threads"]
    resources:
        mem_mb=lambda wildcards: JOBS.needs(wildcards.bundle)["mem_mb"],
        runtime=lambda wildcards, attempt: allowed_minutes(
            JOBS, wildcards.bundle, attempt
        ),
    params:
        python=PYTHON,
        study=config["study"],
        folder=STORAGE.folder,
        leaves=lambda wildcards, output: leaves(output.left),
    shell:
        "{params.python:q} -m harness.jobs --folder {params.folder:q} {params.leaves:q} "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "bundle {params.study:q} {wildcards.bundle:q} >{log:q} 2>&1"
