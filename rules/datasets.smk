# Data sets: fetched, checked and written once as plain .npy, for every study.

from harness.planning.reserving import preparing_mb


rule dataset:
    output:
        [f"prepared/{{data}}/{name}" for name in PREPARED],
    log:
        "prepared/logs/{data}.log",
    retries: 1
    resources:
        mem_mb=lambda wildcards: preparing_mb(JOBS.workload, wildcards.data),
        runtime=120,
    params:
        python=PYTHON,
        study=config["study"],
        folder=STORAGE.folder,
    shell:
        "{params.python:q} -m harness.jobs --folder {params.folder:q} "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "dataset {params.study:q} {wildcards.data:q} >{log:q} 2>&1"
