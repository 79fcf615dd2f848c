"""A slice of the sweep of storage models: other shapes than those of the other tests.

`HARNESS_SWEEP_TRIALS` says how many of each method; the whole of it is
`benchmarks/storage_sweep.py`.
"""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
from registered import METHODS

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "storage_sweep.py"
TRIALS = os.environ.get("HARNESS_SWEEP_TRIALS", "1")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Return the lines of the sweep by method."""
    path = tmp_path_factory.mktemp("sweep") / "swept.csv"
    command = [sys.executable, SCRIPT, "--trials", TRIALS, "--seed", "7", "--csv", path]
    subprocess.run(command, check=True, capture_output=True)
    lines = {}
    with path.open() as stream:
        for line in csv.DictReader(stream):
            lines.setdefault(line["method"], []).append(line)
    return lines


@pytest.mark.parametrize("name", [method.name for method in METHODS])
def test_no_peak_is_above_its_plan(name, swept):
    for line in swept[name]:
        assert line["outcome"] in ("ok", "timeout"), line
        if line["outcome"] == "ok" and line["peak"]:
            assert int(line["peak"]) <= 1.002 * int(line["planned"]) + 25_000, line
