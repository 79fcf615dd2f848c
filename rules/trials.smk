# Trials: the scale is checked once, then every block runs under its own limits.

WORKER_MB = 400


def block_of(wildcards):
    return WORKLOAD.block(wildcards.block)


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
        lambda wildcards: WORKLOAD.prepared(block_of(wildcards).dataset) / "meta.json",
        calibration=ancient(f"{RESULTS}/calibration.json"),
    output:
        f"{RESULTS}/blocks/{{block}}.jsonl",
    log:
        f"{RESULTS}/logs/{{block}}.log",
    threads: lambda wildcards: block_of(wildcards).grid.limits.threads
    resources:
        mem_mb=lambda wildcards: WORKER_MB + block_of(wildcards).memory_bytes // 10**6,
        runtime=lambda wildcards: block_of(wildcards).minutes,
    params:
        python=PYTHON,
        study=config["study"],
    shell:
        "{params.python:q} -m harness.jobs block {params.study:q} {wildcards.block:q} >{log:q} 2>&1"
