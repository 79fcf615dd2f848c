"""A study of a method that only guesses: what runs of it, which trials began, which have a row."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import yaml

from harness.project import PROFILE, SNAKEFILE

PLUGIN = """
import os, time
import numpy as np
from sklearn.base import BaseEstimator
from harness import Method, hookimpl

class Guesses(BaseEstimator):
    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return np.random.default_rng(self.random_state).random(len(X))

def tell(what, trial):
    line = f"{what} {trial.dataset}/{trial.budget}/{trial.seed} {time.time()}\\n"
    with open(os.environ["FAULTS_LOG"], "a") as file:
        file.write(line)

@hookimpl
def harness_methods():
    yield Method("guesses", Guesses, storage=lambda shape, size: shape.data_bytes)

@hookimpl
def harness_trial_started(trial):
    tell("began", trial)

@hookimpl
def harness_trial_finished(trial, record):
    tell("ended", trial)
"""

ROLES = ("watcher", "keeper", "worker", "runner", "trial")
SEEDS = 100
"""Of each cell; scores depend on nothing else."""


class Study:
    """A study in a folder, run by Snakemake with a mark in the environment of its processes."""

    def __init__(self, folder: Path, trials: int, per_job: int, cores: int) -> None:
        self.folder, self.cores = folder, cores
        self.log = folder.parent / f"{folder.name}.log"
        self.log.touch()
        self.token = f"FAULTS_MARK={secrets.token_hex(8)}"
        self.seen: dict[str, float] = {}
        self.lost: Counter[str] = Counter()
        self._read: dict[Path, tuple[int, int]] = {}
        mine = folder.parent / "mine"
        mine.mkdir(exist_ok=True)
        (mine / "guesses.py").write_text(PLUGIN, encoding="utf-8")
        seeds = min(SEEDS, trials)
        content = {
            "datasets": ["breast_cancer"],
            "methods": ["guesses"],
            "labeled": 40,
            "budgets": [f"{5000 + cell}kB" for cell in range(-(-trials // seeds))],
            "seeds": seeds,
            "seeds_per_job": min(per_job, seeds),
            "plugins": "../mine",
        }
        (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")

    def start(self) -> subprocess.Popen[bytes]:
        """Start what is missing of its table."""
        command = [sys.executable, "-m", "snakemake", "--cores", str(self.cores)]
        command += ["--snakefile", str(SNAKEFILE), "--profile", str(PROFILE)]
        command += ["--config", "study=study.yaml", "--until", "table"]
        name, _, value = self.token.partition("=")
        around = os.environ | {name: value, "FAULTS_LOG": str(self.log)}
        with self.log.with_suffix(".said").open("ab") as said:
            return subprocess.Popen(command, cwd=self.folder, env=around, stdout=said, stderr=said)

    def end(self) -> None:
        """Kill all that runs."""
        while left := self.processes():
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def processes(self) -> dict[int, tuple[str, str]]:
        """Return the role and the command of all that runs, by process."""
        lines: dict[int, tuple[int, str]] = {}
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, psutil.Error, ValueError):
                if self.token.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    process = psutil.Process(int(entry.name))
                    if process.status() != psutil.STATUS_ZOMBIE:
                        lines[process.pid] = process.ppid(), " ".join(process.cmdline())
        return {pid: (_role(pid, lines), lines[pid][1]) for pid in lines}

    def journals(self) -> list[Path]:
        """List the journals of its jobs."""
        return sorted((self.folder / "results/study/journal").rglob("*.jsonl"))

    def look(self) -> None:
        """Note which trials have a row, in what journals have grown by."""
        for path in self.journals():
            with contextlib.suppress(OSError), path.open("rb") as file:
                status = os.fstat(file.fileno())
                inode, start = self._read.get(path, (0, 0))
                if inode != status.st_ino or start > status.st_size:
                    start = 0
                file.seek(start)
                content = file.read()
                whole = content.rfind(b"\n") + 1
                self._read[path] = status.st_ino, start + whole
                for key in keys(content[:whole]):
                    self.seen.setdefault(key, time.time())

    def begun(self) -> dict[str, list[float]]:
        """Return when each trial began, in order."""
        found = collections.defaultdict(list)
        for line in self.log.read_text(encoding="utf-8").splitlines():
            what, key, at = line.split()
            if what == "began":
                found[key].append(float(at))
        return found


def _role(pid: int, lines: dict[int, tuple[int, str]]) -> str:
    parent, command = lines[pid]
    if "harness.jobs" not in command:
        return "Snakemake" if "-m snakemake" in command else "shell"
    if command.startswith(("/bin/bash", "/bin/sh", "bash", "sh")):
        return "shell"
    depth = 0
    while parent in lines and lines[parent][1] == command:
        parent, depth = lines[parent][0], depth + 1
    return ROLES[min(depth, len(ROLES) - 1)]


def keys(content: bytes) -> Iterator[str]:
    """Name the trials of all lines that are rows, as the plugin names them."""
    for line in content.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError):
            row = json.loads(line)
            yield f"{row['dataset']}/{row['budget']}/{row['seed']}"
