"""What only reads names, rows and figures does not wait for scikit-learn."""

import subprocess
import sys

import pytest

HEAVY = ("sklearn", "scipy.stats")


@pytest.mark.parametrize(
    "module",
    [
        "harness.cli.main",
        "harness.cli.progress",
        "harness.jobs.table",
        "harness.planning.job_files",
        "harness.report.page",
    ],
)
def test_it_imports_no_library_that_it_does_not_use(module):
    code = f"import sys, {module}; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
