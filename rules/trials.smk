# Trials: the scale is checked once, then every block runs under its own limits.

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
    shell:
        "{params.python:q} -m harness.jobs "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "calibration {params.study:q} {output:q} >{log:q} 2>&1"


rule block:
    input:
        lambda wildcards: WORKLOAD.prepared_meta(wildcards.block),
        calibration=ancient(f"{RESULTS}/calibration.json"),
    output:
        f"{RESULTS}/blocks/{{block}}.jsonl",
    log:
        f"{RESULTS}/logs/{{block}}.log",
    threads: lambda wildcards: WORKLOAD.block(wildcards.block).grid.limits.threads
    resources:
        mem_mb=lambda wildcards: -(
            -WORKLOAD.memory_bytes(WORKLOAD.block(wildcards.block)) // 10**6
        ),
        runtime=lambda wildcards: WORKLOAD.minutes(WORKLOAD.block(wildcards.block)),
    params:
        python=PYTHON,
        study=config["study"],
    shell:
        "{params.python:q} -m harness.jobs "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "block {params.study:q} {wildcards.block:q} >{log:q} 2>&1"
