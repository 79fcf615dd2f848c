"""CPU time of a whole study beside its methods: from `snakemake` to the report, a trial's share.

    python benchmarks/overhead.py [--cells 60] [--seeds 20] [--cores 2] [--study quickstart]

Runs a study of a method that does nothing, or a study of one's own, in an empty folder. Prints the
CPU seconds of all processes, those of the trials' own processes (column `cpu_s`, with what the
sandbox does in them), and what is left for a trial. Last come scikit-learn's SVC in a plain loop,
on the same data and with the same metrics, for what an experiment costs that limits and isolates
nothing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from job_cost import PLUGIN

from harness.project import PROFILE, SNAKEFILE
from harness.records.table import read_table

LOOP = """
import sys, time
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
before = time.process_time()
for seed in range(int(sys.argv[1])):
    train, test = train_test_split(np.arange(len(y)), train_size=40, stratify=y, random_state=seed)
    model = SVC().fit(X[train], y[train])
    scores, labels = model.decision_function(X[test]), model.predict(X[test])
    roc_auc_score(y[test], scores)
    for metric in (accuracy_score, balanced_accuracy_score, f1_score):
        metric(y[test], labels)
print(time.process_time() - before, time.process_time())
"""


def cpu_of(command: list[str], **options: object) -> tuple[float, float]:
    """Run a command; return its CPU seconds, with those of all it starts, and its seconds."""
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, check=True, **options)  # type: ignore[call-overload]
    seconds, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system
    return cpu - before.children_user - before.children_system, seconds


def main() -> None:
    """Run a study and say where its time went."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--study", help="one that is there, instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        study = options.study or "nothing.yaml"
        if not options.study:
            Path("mine").mkdir()
            Path("mine/nothing.py").write_text(PLUGIN, encoding="utf-8")
            content = {
                "datasets": ["breast_cancer"],
                "methods": ["nothing"],
                "labeled": 40,
                "budgets": [f"{50 + cell}MB" for cell in range(options.cells)],
                "seeds": options.seeds,
                "plugins": "mine",
            }
            Path(study).write_text(yaml.safe_dump(content), encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", "--cores", str(options.cores)]
        command += ["--snakefile", str(SNAKEFILE), "--profile", str(PROFILE)]
        # the index of plugins is made once, before the first study of a folder
        plan = [sys.executable, "-m", "harness.cli", "plan", study]
        first, _ = cpu_of(plan, stdout=subprocess.DEVNULL)
        cpu, seconds = cpu_of([*command, "--config", f"study={study}"], stderr=subprocess.DEVNULL)
        table = read_table(Path("results") / Path(study).stem / "trials.parquet")
        own, trials = float(table["cpu_s"].sum()), len(table)
        print(f"{trials} trials: {cpu:.1f} CPU s, {seconds:.0f} s; index of plugins {first:.1f} s")
        print(
            f"in the trials' own processes {own:.1f} CPU s, {1000 * own / trials:.1f} ms a trial"
        )
        print(f"all else {cpu - own:.1f} CPU s, {1000 * (cpu - own) / trials:.1f} ms a trial")
        loop = [sys.executable, "-c", LOOP, str(trials)]
        done = subprocess.run(loop, check=True, capture_output=True, text=True)
        spent, whole = map(float, done.stdout.split())
        print(f"plain loop {whole:.1f} CPU s, {1000 * spent / trials:.1f} ms a trial")
        os.chdir("/")


if __name__ == "__main__":
    main()
