# Trials: the scale is checked once, then every block runs under its own limits.

WORKER_MB = 400


rule calibration:
    output:
        f"{RESULTS}/calibration.json",
    log:
        f"{RESULTS}/logs/calibration.log",
    resources:
        mem_mb=WORKER_MB + 800,
    params:
        python=PYTHON,
        study=config["study"],
    shell:
        "{params.python:q} -m harness.jobs calibration {params.study:q} {output:q} >{log:q} 2>&1"


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
        mem_mb=lambda wildcards: WORKER_MB
        + WORKLOAD.block(wildcards.block).memory_bytes // 10**6,
        runtime=lambda wildcards: WORKLOAD.block(wildcards.block).minutes,
    params:
        python=PYTHON,
        study=config["study"],
    shell:
        "{params.python:q} -m harness.jobs block {params.study:q} {wildcards.block:q} >{log:q} 2>&1"
