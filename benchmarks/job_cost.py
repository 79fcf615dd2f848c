"""CPU time that the harness adds to a trial: split, fork, limit, load, score, row.

    python benchmarks/job_cost.py [--trials 100] [--repeats 3]

Runs jobs of 1 and of 101 trials of a method that does nothing, as Snakemake runs them, and divides
the difference by 100. What a job costs once (importing scikit-learn, above all) is the first
figure.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from harness.datasets import prepare
from harness.planning.job_files import study_bundles, write_jobs
from harness.planning.workload import load_workload

PLUGIN = """
import numpy as np
from sklearn.base import BaseEstimator
from harness import Method, hookimpl

class Nothing(BaseEstimator):
    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return np.zeros(len(X))

@hookimpl
def harness_methods():
    yield Method("nothing", Nothing, storage=lambda shape, size: shape.data_bytes)
"""


def cpu_seconds(seeds: int) -> float:
    """Run a job of so many seeds; return the CPU seconds of all its processes."""
    study = f"cost{seeds}.yaml"
    content = {
        "datasets": ["breast_cancer"],
        "methods": ["nothing"],
        "labeled": 40,
        "budgets": "50MB",
        "seeds": seeds,
        "seeds_per_job": seeds,
        "plugins": "mine",
    }
    Path(study).write_text(yaml.safe_dump(content), encoding="utf-8")
    workload = load_workload(study)
    prepare(workload.catalog["breast_cancer"], workload.prepared("breast_cancer"))
    (bundle,) = bundles = study_bundles(workload)
    write_jobs(workload, bundles)
    before = os.times()
    command = [sys.executable, "-m", "harness.jobs", "bundle", study, bundle.id]
    subprocess.run(command, check=True)
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def main() -> None:
    """Print what each repeat measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(options.repeats):
            os.chdir(folder)
            place = Path(str(repeat))
            (place / "mine").mkdir(parents=True)
            (place / "mine" / "nothing.py").write_text(PLUGIN, encoding="utf-8")
            os.chdir(place)
            one, many = cpu_seconds(1), cpu_seconds(1 + options.trials)
            further = 1000 * (many - one) / options.trials
            print(f"a job of one {one:.2f} s; each further trial {further:.1f} ms")
        os.chdir("/")


if __name__ == "__main__":
    main()
