"""The keeper of a job: whose death is held against a trial, with real processes."""

import signal
import subprocess
import sys

import pytest

from harness.jobs.unfinished import MOST_WHOLE

JOB = """
import os, signal, sys, time
from pathlib import Path
from harness.errors import HarnessError
from harness.jobs.keeper import keep
from harness.jobs.unfinished import Unfinished

journal = Path("job.jsonl")
unfinished = Unfinished(journal)
try:
    keep(unfinished)
except HarnessError as error:
    sys.exit(str(error))
unfinished.settle()
if why := unfinished.blame("a-1"):
    unfinished.end("a-1")
    sys.exit(f"blamed: {why}")
unfinished.begin("a-1")
print("begun", flush=True)
"""


def job(folder, trial, **options):
    """Run a job whose one trial does something to its processes."""
    command = [sys.executable, "-c", JOB + trial]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60, **options
    )


def test_a_trial_that_kills_its_worker_is_begun_twice_and_blamed(tmp_path):
    done = job(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert done.stdout == "begun\n" * 2
    assert done.stderr == "blamed: its worker was ended twice while it ran\n"
    assert not (tmp_path / "job.running").exists()


def test_a_trial_that_kills_all_of_its_job_is_blamed_after_many_runs(tmp_path):
    trial = "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)"
    for _ in range(MOST_WHOLE):
        done = job(tmp_path, trial)
        assert done.returncode == -signal.SIGKILL
        assert done.stdout == "begun\n"
    done = job(tmp_path, trial)
    assert done.stdout == ""
    assert done.stderr.startswith(f"blamed: all processes of its job were ended {MOST_WHOLE}")


@pytest.mark.parametrize("ending", ["sys.exit('the disk is full')", "raise OSError(28, 'x')"])
def test_a_worker_that_ends_by_itself_is_no_trials_doing(tmp_path, ending):
    done = job(tmp_path, ending)
    assert done.returncode == 1
    assert not (tmp_path / "job.running").exists()


def test_a_job_that_is_ended_in_order_is_no_trials_doing(tmp_path):
    # whoever runs the tests may be deaf to it, as nohup makes its children
    heard = "import signal; signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
    trial = "os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)"
    command = [sys.executable, "-c", heard + JOB + trial]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert done.returncode == 128 + signal.SIGTERM
    assert not (tmp_path / "job.running").exists()


def test_a_worker_that_is_killed_before_any_trial_is_told(tmp_path):
    command = JOB.replace("unfinished.settle()", "os.kill(os.getpid(), signal.SIGTERM)")
    done = subprocess.run(
        [sys.executable, "-c", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == "the worker was killed by SIGTERM outside of any trial\n"


def test_a_worker_that_the_kernel_takes_for_want_of_memory_is_no_trials_doing(
    tmp_path, outer_group
):
    held = "held = bytearray(500_000_000)\nfor i in range(0, 500_000_000, 4096): held[i] = 1"
    work = JOB + "from harness.sandbox import prctl\nprctl.end_first('900')\n" + held
    done = subprocess.run(
        outer_group.around(sys.executable, "-c", work),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "the limit of 400 MB of the memory cgroup " in done.stderr
    assert "ended the worker of this trial: it has no row and is run again" in done.stderr
    assert not (tmp_path / "job.running").exists()
