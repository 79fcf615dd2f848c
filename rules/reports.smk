# Results: all rows in one table, then the page.


rule table:
    input:
        lambda wildcards: JOBS.outputs,
        lambda wildcards: JOBS.left if STORAGE.is_used else [],
        lambda wildcards: JOBS.labels if STORAGE.is_used else [],
        # title and printed tables are no part of a trial, but of the page
        study=STUDY,
    output:
        table=f"{RESULTS}/trials.parquet",
        study=f"{RESULTS}/study.yaml",
        provenance=f"{RESULTS}/provenance.json",
        timelines=f"{RESULTS}/timelines.json",
        left=[f"{RESULTS}/left.zip"] if STORAGE.is_used else [],
    log:
        f"{RESULTS}/logs/table.log",
    resources:
        # two Snakemakes and the libraries; rows are read part by part
        mem_mb=lambda wildcards: 900 + JOBS.workload.n_trials // 2000,
        runtime=lambda wildcards: 15 + JOBS.workload.n_trials // 10_000,
    params:
        python=PYTHON,
        study=lambda wildcards: config["study"],
        folder=STORAGE.folder,
        leaves=lambda wildcards, output: leaves(output.left),
    shell:
        "{params.python:q} -m harness.jobs --folder {params.folder:q} {params.leaves:q} "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "table {params.study:q} >{log:q} 2>&1"


rule report:
    input:
        rules.table.output,
        rules.calibration.output,
    output:
        report(
            f"{RESULTS}/report.html",
            category="Report",
            labels={"study": JOBS.name},
        ),
        # not as a folder: the plugin for S3 keeps the answer that there is none
        left=[f"{RESULTS}/tables.zip"] if STORAGE.is_used else [],
    log:
        f"{RESULTS}/logs/report.log",
    resources:
        # 1 kB a row
        mem_mb=lambda wildcards: 900 + JOBS.workload.n_trials // 1000,
        runtime=lambda wildcards: 15 + JOBS.workload.n_trials // 10_000,
    params:
        python=PYTHON,
        study=config["study"],
        folder=STORAGE.folder,
        leaves=lambda wildcards, output: leaves(output.left),
    shell:
        "{params.python:q} -m harness.jobs --folder {params.folder:q} {params.leaves:q} "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "report {params.study:q} >{log:q} 2>&1"
