"""Processes that trials are forked from have one-threaded BLAS from the start."""

import json
import os
import subprocess
import sys

import pytest

from harness.threads import THREAD_VARIABLES

PLUGIN = """
import os

raise RuntimeError("threads " + os.environ.get("OPENBLAS_NUM_THREADS", "unset"))
"""


def test_a_check_starts_with_one_thread(tmp_path):
    (tmp_path / "p.py").write_text(PLUGIN)
    environment = {k: v for k, v in os.environ.items() if k not in THREAD_VARIABLES}
    command = [sys.executable, "-m", "harness.cli", "check", str(tmp_path / "p.py"), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    (finding,) = json.loads(run.stdout)
    assert "threads 1" in finding["advice"]


@pytest.mark.parametrize("entry", ["harness.jobs.__main__", "harness.cli.main"])
def test_numpy_is_imported_after_the_number_of_threads_is_set(entry):
    code = f"import sys, {entry}; print([n for n in ('numpy', 'scipy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
