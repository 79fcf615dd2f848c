# Results: all rows in one table, then the page.


rule table:
    input:
        lambda wildcards: JOBS.outputs,
        # title and printed tables are no part of a trial, but of the page
        study=JOBS.study.as_posix(),
    output:
        table=f"{RESULTS}/trials.parquet",
        study=f"{RESULTS}/study.yaml",
        provenance=f"{RESULTS}/provenance.json",
        timelines=f"{RESULTS}/timelines.json",
    log:
        f"{RESULTS}/logs/table.log",
    resources:
        # two Snakemakes and the libraries; rows are read part by part
        mem_mb=lambda wildcards: 900 + JOBS.workload.n_trials // 2000,
        runtime=lambda wildcards: 15 + JOBS.workload.n_trials // 10_000,
    params:
        python=PYTHON,
        study=lambda wildcards, input: input.study,
    shell:
        "{params.python:q} -m harness.jobs "
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
    log:
        f"{RESULTS}/logs/report.log",
    resources:
        # 1 kB a row
        mem_mb=lambda wildcards: 900 + JOBS.workload.n_trials // 1000,
        runtime=lambda wildcards: 15 + JOBS.workload.n_trials // 10_000,
    params:
        python=PYTHON,
        study=config["study"],
    shell:
        "{params.python:q} -m harness.jobs "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "report {params.study:q} >{log:q} 2>&1"
