"""Processes that trials are forked from have one-threaded BLAS from the start."""

import json
import os
import subprocess
import sys

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
