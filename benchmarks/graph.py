"""Time `snakemake --dry-run` on studies of up to a million trials.

    python benchmarks/graph.py [--seeds 5] [--budgets 40 400 4000]

A study of 20,000 trials has 4,000 cells of five seeds, one of two million 400,000. Prints for each
the jobs, the CPU seconds and the most memory of the whole process, and the exponent with which the
seconds grow. The plugin index is warm, as it is for every run but the first.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from harness.planning.job_files import StudyJobs
from harness.project import PROFILE, SNAKEFILE

STUDY = {
    "datasets": ["wine", "digits", "breast_cancer", "iris"],
    "methods": ["1nn", "svm", "linear-svm", "harmonic", "cmn"],
    "labeled": [20, 30, 40, 50, 60],
}

COMMAND = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "all", "--cores", "1"]


def main() -> None:
    """Write each study, warm the index, time the dry run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budgets", type=int, nargs="+", default=[20, 200, 2000], help="how many")
    options = parser.parse_args()
    command = [*COMMAND, "--snakefile", str(SNAKEFILE), "--profile", str(PROFILE)]
    command += ["--config", "study=graph.yaml"]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for count in options.budgets:
            budgets = [f"{100 + k}kB" for k in range(count)]
            study = STUDY | {"budgets": budgets, "seeds": options.seeds}
            Path("graph.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
            jobs = StudyJobs("graph.yaml")
            trials, made = jobs.workload.n_trials, len(jobs.bundles)
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            if status:
                sys.exit(f"snakemake ended with status {status}")
            cpu = usage.ru_utime + usage.ru_stime
            found.append((trials, cpu))
            print(f"{trials} trials in {made} jobs: {cpu:.1f} CPU s, {usage.ru_maxrss // 1000} MB")
        os.chdir("/")
    for (few, less), (many, more) in itertools.pairwise(found):
        exponent = math.log(more / less) / math.log(many / few)
        print(f"from {few} to {many} trials: CPU seconds grow with exponent {exponent:.2f}")


if __name__ == "__main__":
    main()
