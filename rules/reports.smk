# Results: all rows in one table, then the page.

# two Snakemakes and the libraries, then 11 and 5 kB a row
TRIALS = WORKLOAD.n_trials


rule table:
    input:
        [WORKLOAD.output(block) for block in WORKLOAD.blocks],
        # title and printed tables are no part of a trial, but of the page
        study=WORKLOAD.study.path.as_posix(),
    output:
        table=f"{RESULTS}/trials.parquet",
        study=f"{RESULTS}/study.yaml",
        provenance=f"{RESULTS}/provenance.json",
        timelines=f"{RESULTS}/timelines.json",
    log:
        f"{RESULTS}/logs/table.log",
    resources:
        mem_mb=700 + 11 * TRIALS // 1000,
        runtime=15 + TRIALS // 10_000,
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
            labels={"study": WORKLOAD.study.name},
        ),
    log:
        f"{RESULTS}/logs/report.log",
    resources:
        mem_mb=700 + 5 * TRIALS // 1000,
        runtime=15 + TRIALS // 10_000,
    params:
        python=PYTHON,
        study=config["study"],
    shell:
        "{params.python:q} -m harness.jobs "
        "--reserved {resources.mem_mb} {resources.runtime} {threads} "
        "report {params.study:q} >{log:q} 2>&1"
