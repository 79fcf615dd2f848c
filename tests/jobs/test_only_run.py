"""A study runs once at a time, whoever runs it."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.jobs.only_run import hold, only_run

HOLDS = """
import sys
from pathlib import Path
from harness.jobs.only_run import only_run
with only_run(Path("results/mine")):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_study_runs_once_at_a_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path.joinpath("results", "mine").relative_to(tmp_path)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "held\n"
    told = f"results/mine: the study runs already, in process {other.pid} on "
    with pytest.raises(HarnessError, match=told), only_run(folder):
        pass
    other.kill()
    other.communicate()
    for _ in range(2):  # nothing is left that would have to be removed
        with only_run(folder):
            pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").write_text("")
    told = f"{tmp_path}/results/mine: cannot be made: "
    with pytest.raises(HarnessError, match=told), only_run(tmp_path / "results" / "mine"):
        pass


def test_a_full_disk_is_told_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/mine").mkdir(parents=True)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
    try:
        with pytest.raises(HarnessError, match=r"results/mine/\.running: cannot be written: File"):
            hold(Path("results/mine"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


CHILD = """
from pathlib import Path
from harness.jobs.only_run import hold
hold(Path("results/mine"))
print("held")
"""


def test_what_a_run_starts_finds_its_own_lock(tmp_path, monkeypatch):
    """`harness run` holds the folder, and Snakemake, which it starts, would hold it too."""
    monkeypatch.chdir(tmp_path)
    with only_run(Path("results/mine")):
        child = subprocess.run(
            [sys.executable, "-c", CHILD], capture_output=True, text=True, check=False
        )
    assert child.stdout == "held\n", child.stderr
