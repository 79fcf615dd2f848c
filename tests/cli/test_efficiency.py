"""What jobs were given and took, in a terminal of 80 columns."""

import json
import os
import pty
import subprocess
import sys

import pytest
import yaml
from click.testing import CliRunner

from harness.cli import main
from harness.jobs.usage import GROUP, NOT_YET, PROCESS, Reserved, Usage


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = {"datasets": ["wine"], "methods": ["svm"], "labeled": 20, "budgets": ["3MB"]}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content | {"seeds": 1}))
    return tmp_path


def written(folder, *jobs):
    for job in jobs:
        job.write(folder / "results" / "mine")


BLOCKS = [
    Usage("block", "a", Reserved(803, 65, 1), 400_000_000, GROUP, 30.0, 15.0, "ok", "n1"),
    Usage("block", "b", Reserved(803, 65, 1), 481_800_000, GROUP, 10.0, 5.0, "ok", "n2"),
    Usage("block", "c", Reserved(1200, 65, 2), 600_000_000, PROCESS, 20.0, 10.0, "failed", "n2"),
]


def test_jobs_that_had_the_same_are_one_line(study):
    written(study, *BLOCKS)
    told = CliRunner().invoke(main, ["efficiency", "mine.yaml"]).output.splitlines()
    line = " ".join(told[1].split())
    assert line == "block 2 803 MB 482 MB 60% 65 min 30 s 20 s 1 50%"
    assert told[2].split()[:4] == ["block", "1", "1.2", "GB"]
    assert told[2].split()[-2:] == ["2", "25%"]
    # 400 MB x 30 s + 481.8 x 10 + 600 x 20 of 803 x 40 + 1200 x 20; 30 s of 40 + 40
    # 60 s of 3 x 65 min
    assert told[3] == "they took 1% of the minutes that were reserved"
    assert told[4].startswith("while they ran, 51% of the memory and 38% of the cores")
    assert told[5].startswith("of 1 of 3 jobs only the largest process is known")
    assert told[6] == "1 failed; their logs say why"


def test_a_job_that_was_not_seen_to_end_is_told(study):
    given = Reserved(803, 10, 1)
    written(study, Usage("block", "a", given, 1, GROUP, 545.0, 5.0, NOT_YET, "n1"))
    told = CliRunner().invoke(main, ["efficiency", "mine.yaml"]).output.splitlines()
    assert told[2] == "they took 91% of the minutes that were reserved"
    assert told[-1] == "1 had used nearly all of their minutes when last seen"


def test_it_fits_80_columns(study):
    written(study, *BLOCKS)
    theirs, ours = pty.openpty()
    command = [sys.executable, "-m", "harness.cli", "efficiency", "mine.yaml"]
    environment = os.environ | {"COLUMNS": "80", "TERM": "dumb"}
    subprocess.run(command, stdout=ours, env=environment, check=True)
    os.close(ours)
    told = os.read(theirs, 100_000).decode().splitlines()
    os.close(theirs)
    assert told[0].split() == (
        ["rule", "jobs", "memory", "used", "share", "time", "took", "usually", "cores", "busy"]
    )
    assert max(map(len, told[:3])) <= 80


def test_programs_read_all_of_it(study):
    written(study, *BLOCKS)
    told = CliRunner().invoke(main, ["efficiency", "mine.yaml", "--json"]).output
    assert [job["job"] for job in json.loads(told)] == ["a", "b", "c"]


def test_a_study_that_was_not_run_is_told_so(study):
    result = CliRunner().invoke(main, ["efficiency", "mine.yaml"])
    assert result.exit_code == 1
    assert "no job of mine has left what it took: try: harness run mine.yaml" in result.output


def test_a_damaged_file_is_named(study):
    folder = study / "results" / "mine" / "usage"
    folder.mkdir(parents=True)
    (folder / "table.json").write_text("{}")
    result = CliRunner().invoke(main, ["efficiency", "mine.yaml"])
    assert result.exit_code == 1
    assert "usage/table.json: holds no usage of a job" in result.output
