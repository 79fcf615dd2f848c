"""A job is watched by another process: its end is passed on, told and noted."""

import json
import signal
import subprocess
import sys
import time

import psutil
import pytest

from harness.jobs.usage import NOT_YET, PROCESS, Reserved, Usage, read_usage

WATCHED = """
import os, signal, sys, time
from harness.jobs.usage import Reserved, measured
from harness.jobs.watched import watched
from pathlib import Path

def note(started, code):
    measured("block", "a/b", Reserved(900, 5, 1), started, code).write(Path("results"))

watched(note)
"""


def run(tmp_path, work, group=None):
    command = [sys.executable, "-c", WATCHED + work]
    if group is not None:
        command = group.around(*command)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    return done, json.loads((tmp_path / "results/usage/block/a/b.json").read_text())


@pytest.mark.parametrize(("code", "ended"), [(0, "ok"), (3, "failed")])
def test_a_job_ends_as_its_work_does_and_leaves_what_it_took(tmp_path, code, ended):
    work = f"held = bytearray(200_000_000); time.sleep(0.2); sys.exit({code})"
    done, usage = run(tmp_path, work)
    assert done.returncode == code
    assert usage["ended"] == ended
    assert usage["reserved"] == {"mem_mb": 900, "minutes": 5, "cores": 1}
    assert usage["measured_by"] == PROCESS
    assert 200e6 < usage["peak_bytes"] < 300e6
    assert 0.2 <= usage["seconds"] < 20
    assert read_usage(tmp_path / "results")[0].reserved == Reserved(900, 5, 1)


def test_a_job_that_is_killed_says_so(tmp_path):
    done, usage = run(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == 128 + signal.SIGKILL
    assert done.stderr.startswith("harness: this job was killed by SIGKILL")
    assert usage["ended"] == "signal 9"


def test_a_job_that_dies_of_memory_names_the_limit(tmp_path, outer_group):
    work = "held = bytearray(500_000_000)\nfor i in range(0, 500_000_000, 4096): held[i] = 1"
    done, usage = run(tmp_path, work, outer_group)
    assert "harness: the limit of 400 MB of the memory cgroup " in done.stderr
    assert "and the kernel ended this job" in done.stderr
    assert usage["ended"] == "signal 9"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_watching_process_alone_ends_the_work(tmp_path, number):
    # whoever runs the tests may be deaf to it, as nohup makes its children
    heard = f"import signal\nsignal.signal({int(number)}, signal.SIG_DFL)\n"
    work = "print(os.getpid(), flush=True); time.sleep(60)"
    command = [sys.executable, "-c", heard + WATCHED + work]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    worker = int(process.stdout.readline())
    process.send_signal(number)
    assert process.wait(20) == 128 + number
    deadline = time.monotonic() + 10
    while psutil.pid_exists(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(worker)
    process.communicate()


def test_work_that_has_nearly_no_time_left_is_noted_while_it_runs(tmp_path):
    waiting = WATCHED.replace("watched(note)", "watched(note, 0.5)")
    command = [sys.executable, "-c", waiting + "time.sleep(60)"]
    process = subprocess.Popen(command, cwd=tmp_path)
    path = tmp_path / "results/usage/block/a/b.json"
    deadline = time.monotonic() + 20
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    (used,) = read_usage(tmp_path / "results")
    assert used.ended == NOT_YET
    assert used.seconds >= 0.5
    assert used.reserved.late_s == 0.9 * 5 * 60
    # what ends by itself says so
    done = subprocess.run([sys.executable, "-c", waiting + "time.sleep(0.8)"], cwd=tmp_path)
    assert done.returncode == 0
    assert [used.ended for used in read_usage(tmp_path / "results")] == ["ok"]


def test_usage_is_read_as_it_was_written(tmp_path):
    used = Usage("table", "", None, 1, PROCESS, 2.0, 0.5, "ok", "here")
    used.write(tmp_path)
    assert read_usage(tmp_path) == [used]
