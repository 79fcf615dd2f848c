"""Time `snakemake --dry-run` on a study of 100,000 trials in 1,000 jobs.

    python benchmarks/graph.py [--seeds 100] [--budgets 10]

Every job has the seeds of one data set, method, number of labels and budget. Prints wall and CPU
seconds of the whole process; the plugin index is warm, as it is for every run but the first.
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

from harness.planning.workload import load_workload
from harness.project import ROOT

STUDY = {
    "datasets": ["wine", "digits", "breast_cancer", "iris"],
    "methods": ["1nn", "svm", "linear-svm", "harmonic", "cmn"],
    "labeled": [20, 30, 40, 50, 60],
}


def main() -> None:
    """Write the study, warm the index, time the dry run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--budgets", type=int, default=10, help="how many")
    options = parser.parse_args()
    study = STUDY | {
        "budgets": [f"{10 * k}MB" for k in range(1, 1 + options.budgets)],
        "seeds": options.seeds,
        "seeds_per_job": options.seeds,
    }
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("graph.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
        workload = load_workload("graph.yaml")
        trials = sum(len(block.seeds) for block in workload.blocks)
        command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "all"]
        command += ["--snakefile", str(ROOT / "Snakefile"), "--cores", "1"]
        command += ["--profile", str(ROOT / "profiles" / "default")]
        command += ["--config", "study=graph.yaml"]
        before, started = os.times(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall, after = time.perf_counter() - started, os.times()
        cpu = after.children_user + after.children_system
        cpu -= before.children_user + before.children_system
        print(
            f"{trials} trials in {len(workload.blocks)} jobs: {wall:.1f} s wall, {cpu:.1f} s CPU"
        )
        os.chdir("/")


if __name__ == "__main__":
    main()
