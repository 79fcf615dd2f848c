"""Why jobs of a study failed."""

import importlib.util
import subprocess
import sys

import pytest

from harness.jobs.failures import failures

RULE = "=" * 80


def log_of(name, text):
    return f"Error in rule x:\nLogfile {name}:\n{RULE}\n{text}\n{RULE}\n"


def test_the_reasons_of_failed_jobs_are_told_once_each():
    nan = "harness: data set 'mine': NaN in row 3"
    two = "--- seed 0: crashed\nharness: first\nsecond line"
    trace = "Traceback:\n" + "".join(f"line {number}\n" for number in range(30)) + "KeyError: 3"
    said = (
        log_of("prepared/logs/mine.log", nan)
        + "Trying to restart job 4.\n"
        + log_of("prepared/logs/mine.log", nan)
        + "[Mon Nov 23] Finished job 5.\n" * 100
        + log_of("logs/two.log", two)
        + log_of("logs/trace.log", trace)
        + "[Mon Nov 23] Finished job 6.\n" * 100
    )
    first, second, third = failures(said)
    assert first == "prepared/logs/mine.log: data set 'mine': NaN in row 3"
    assert second == "logs/two.log: first\nsecond line"
    assert third.startswith("logs/trace.log: line 21\n")
    assert third.endswith("KeyError: 3")


@pytest.mark.parametrize(
    ("executor", "package"),
    [
        ("slurm", "'memory-budget-harness[slurm]'"),
        ("kubernetes", "snakemake-executor-plugin-kubernetes"),
    ],
)
def test_an_executor_that_is_not_installed_is_told_with_its_extra(executor, package):
    """Asked of Snakemake itself, whose words may change."""
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--executor", executor]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    if importlib.util.find_spec(f"snakemake_executor_plugin_{executor}"):
        pytest.skip(f"the executor {executor} is installed")
    assert failures(said) == [f"executor {executor!r} is not installed: pip install {package}"]


def test_many_failures_are_counted_and_none_is_the_end_of_what_was_said():
    many = failures("".join(log_of(f"{n}.log", f"harness: number {n}") for n in range(9)))
    assert many[4:] == ["4.log: number 4", "and 4 more failed jobs"]
    assert failures("a\n" * 90 + "disk full") == ["\n".join(["a"] * 9 + ["disk full"])]
