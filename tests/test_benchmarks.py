"""Every benchmark runs: the figures of the manual are theirs. Small and on bundled data here."""

import subprocess
import sys
from pathlib import Path

import forked
import pandas as pd
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
COMMANDS = [
    "anchor_graph.py --points 2000 --anchors 20 --budget 60MB",
    "adding.py --datasets iris diabetes-sklearn",
    "advice.py --metrics nmse",
    "job_cost.py --trials 2 --repeats 1",
    "budget.py digits 20 --points 1000",
    "clusk.py --points 200 --repeats 1",
    "defaults.py thresholds --methods svm --labeled 20 --points 100 --seeds 1",
    "defaults.py tuning --methods svm --labeled 20 --points 100 --seeds 1",
    "degrees.py --points 600 --features 20 --repeats 1",
    "exponents.py --scale 0.02 --repeats 1",
    "faults.py --trials 20 --per-job 10 --faults 1 --every 3",
    "few_labels.py s4vm n_candidates 5 --datasets breast_cancer --points 200 --seeds 1",
    "graph.py --seeds 2 --budgets 1 3",
    "hinge_smoothing.py digits --points 1000 --seeds 2",
    "item_types.py wine --points 178 --methods svm budget-svm",
    "sparse_agreement.py digits --points 400 --methods svm budget-svm",
    "kept_predictions.py --datasets breast_cancer --methods svm --seeds 1",
    "kmedoids.py digits --points 300 --landmarks 50 --seeds 1",
    "kernel_solvers.py --dataset digits --landmarks 100 --solvers falkon pcg-krr krr",
    "landmark_selectors.py --dataset digits --landmarks 10 --seeds 1",
    "landmark_selectors.py --examples 300 --landmarks 10 --seeds 1",
    "learned_storage.py --datasets iris --methods gaussian-nb --labeled 60 --test 40 --seeds 1",
    "measured.py --sizes 1 --backends auto",
    "model_costs.py --methods prior svm --repeats 1",
    "mssksc.py --points 3000 --features 20",
    "mutation.py harness/errors.py --tests tests/test_units.py --sample 1",
    "online_streams.py peak 3 --methods rbp fogd --sizes 20",
    "online_streams.py disk 3 --methods fogd sgd --sizes 20",
    "online_streams.py step --methods bsgd --points 500 --sizes 20",
    "overhead.py --cells 2 --seeds 2",
    "neighbors.py --points 1000 --features 20",
    "nysck.py breast_cancer:40 --budgets 2MB --paper",
    "nysck_variants.py breast_cancer:40 --landmarks 20 --seeds 1",
    "records.py --trials 1000 2000 --seeds 100 --jobs table show",
    "prepared_reading.py wine",
    "row_reading.py --rows 3000 --repeats 1",
    "storage_sweep.py --trials 1 --methods svm nysck prior",
    "sock.py breast_cancer:40 --budgets 2MB --steps 2 --seeds 1",
    "spectrum.py wine --medians 1",
    "surfaces.py --points 1500 --features 40 --cells 10",
    "svm_cache.py breast_cancer:100 --rows 2 32",
    "trial_cost.py --trials 3",
    "tsvm.py time --dataset breast_cancer --points 200 --labeled 40 --retrainings 2",
    "tsvm.py tuned breast_cancer --seeds 1 --forms switching --methods tsvm",
    "views.py --points 1000 --landmarks 20 --labeled 50",
]

# It boots another kernel in an emulator, with what no test installs.
UNTRIED = {"from_python.py", "kept_sample.py", "other_kernel.py", "page_load.py"}
"""An emulator and a browser; and a minute each of runs that tests/python/test_running.py and
tests/jobs/test_reproduce.py try.
"""


ANEW = {"mutation.py"}
"""It imports a copy of the package in place of the one that a fork has imported."""


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_it_prints_figures(command):
    name, *options = command.split()
    if name in ANEW:
        started = [sys.executable, name, *options]
        done = subprocess.run(started, cwd=FOLDER, capture_output=True, text=True, check=False)
    else:
        done = forked.script(name, *options, cwd=FOLDER)
    assert done.returncode == 0, done.stderr
    assert any(character.isdigit() for character in done.stdout)


def test_formulas_stand_beside_the_trials_of_a_study(tmp_path):
    counts = {"n_labeled": 400, "n_unlabeled": 1000, "n_features": 20, "n_classes": 2}
    row = {"plugin_method": "knn", "outcome": "ok", "size": None, "n_test": 0, **counts}
    pd.DataFrame([row | {"peak_bytes": 10**6}, row | {"outcome": "error"}]).to_parquet(
        tmp_path / "trials.parquet"
    )
    done = forked.script("shipped_storage.py", tmp_path / "trials.parquet", cwd=FOLDER)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("knn")[1].split()[:2] == ["True", "1"]


def test_none_is_left_out():
    tried = {command.split()[0] for command in COMMANDS}
    assert tried | UNTRIED | {"shipped_storage.py"} == {f.name for f in FOLDER.glob("*.py")}
