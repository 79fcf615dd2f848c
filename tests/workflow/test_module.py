"""The workflow as a Snakemake module of another workflow, in a folder elsewhere."""

import subprocess
import sys

import pytest
from project import ENVIRONMENT

SNAKEFILE = """
from harness.project import SNAKEFILE


configfile: "config.yaml"


module harness:
    snakefile:
        SNAKEFILE
    config:
        config["harness"]


use rule * from harness as harness_*


rule summary:
    default_target: True
    input:
        rules.harness_all.input,
        table=rules.harness_table.output.table,
    output:
        "summary.txt",
    shell:
        "wc -c {input.table:q} >{output:q}"
"""


@pytest.mark.slow
def test_a_module_runs_a_study_and_its_table_is_an_input(project):
    study = project.write(
        "two", datasets="wine", methods=["prior"], labeled=20, budgets="3MB", seeds=2
    )
    (project.folder / "config.yaml").write_text(f"harness: {{study: {study}}}\nmine: 1\n")
    (project.folder / "Snakefile").write_text(SNAKEFILE)
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2"],
        cwd=project.folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "rule harness_bundle:" in done.stderr
    assert project.rows("two")["outcome"].tolist() == ["ok", "ok"]
    table = project.folder / "results" / "two" / "trials.parquet"
    summary = (project.folder / "summary.txt").read_text()
    assert summary.split() == [str(table.stat().st_size), "results/two/trials.parquet"]
    assert (project.folder / "results" / "two" / "report.html").is_file()
