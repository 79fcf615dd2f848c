"""What confines trials, attacked: no label is read, no file altered, no process reached.

Every way is tried on every backend with the means that the harness itself would take. Where other
means let less through or more, the tests below say so.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from attack_target import NOTE
from attacks import NAMES

from harness.sandbox import backends, isolations

SERVER = Path(__file__).with_name("attack_server.py")
BACKENDS = [report.name for report in backends() if report.available]
MEANS = {report.name.split("-")[0]: report for report in isolations()}
VERSION = int(MEANS["landlock"].name.partition("-")[2] or 0)
WAYS_WITH_A_LIMIT = {"limit_the_runners_time", "limit_the_workers_files"}


class Worker:
    """An `attack_server`, started again when a trial has ended it."""

    def __init__(self, backend, means, folder):
        self.command = [sys.executable, str(SERVER), backend, means, str(folder)]
        self.deaths = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.isolation = json.loads(self.process.stdout.readline())["isolation"]

    def run(self, name):
        self.process.stdin.write(f"{NAMES.index(name)}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"outcome": "", "reason": "", "runner": False}
        if not answer["runner"]:
            self.process.wait(20)
            self.start()
        return answer

    def close(self):
        self.process.communicate(timeout=30)


def escape(answer):
    """Name what a trial got away with; empty if nothing."""
    if not answer["outcome"]:
        return "ended the worker"
    if not answer["runner"]:
        return "ended the runner"
    if "EscapedError" in answer["reason"]:
        return answer["reason"]
    if answer["altered"]:
        return f"altered {answer['altered']}"
    if answer["left"]:
        return f"left {answer['left']}"
    if answer.get("auc") is not None and not 0.35 < answer["auc"] < 0.65:
        return f"has an AUC of {answer['auc']}"
    return ""


def attack(backend, means, folder, names=NAMES):
    worker = Worker(backend, means, folder)
    try:
        found = {name: worker.run(name) for name in names}
    finally:
        worker.close()
    return worker, found


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_no_way_out_with_what_the_harness_takes(backend, tmp_path):
    if VERSION < 6:
        pytest.skip(f"Landlock {VERSION or 'is missing'}: signals are not denied")
    worker, found = attack(backend, "auto", tmp_path)
    escapes = {name: escape(answer) for name, answer in found.items() if escape(answer)}
    print(f"{len(found)} ways on {backend} with {worker.isolation}: {len(escapes)} escapes")
    assert escapes == {}
    refused = found["open_by_path"]
    assert refused["outcome"] == "error"
    assert "y.npy'" in refused["reason"]
    assert "a trial reads code and its own features" in refused["reason"]
    assert not Path("/tmp", NOTE).exists()
    assert not list(Path("/dev/shm").glob(f"{NOTE}*"))
