"""The how-tos of docs/trackers.md, run as they stand, on results with every kind of outcome."""

import importlib.util
import json
import re
import subprocess
import sys

import pytest
from synthetic_trials import bad_endings, make_trials, write_results

import harness
from harness.project import ROOT
from harness.report import write_report

pytestmark = pytest.mark.slow

CODE = re.findall(r"(?ms)^```python\n(.*?)^```", (ROOT / "docs" / "trackers.md").read_text())
CELL = ["dataset", "n_labeled", "method", "budget"]


def run(tracker, folder, then=""):
    """Run the how-to of a tracker, and what is asked of it then; return what that prints."""
    if importlib.util.find_spec(tracker) is None:
        pytest.skip(f"{tracker} is not installed: pip install '.[trackers]'")
    (code,) = [code for code in CODE if f"import {tracker}" in code]
    assert len(code.splitlines()) <= 22
    command = [sys.executable, "-c", code + then]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def results(tmp_path):
    directory = write_results(tmp_path / "results" / "parts", make_trials(outcome=bad_endings))
    write_report(directory)
    return harness.Results(directory)


ASK_MLFLOW = """
import json
runs = mlflow.search_runs(experiment_names=["parts"], output_format="list")
client = mlflow.MlflowClient()
print(json.dumps([
    {
        "name": run.info.run_name,
        "params": run.data.params,
        "tags": run.data.tags,
        "auc": [[m.step, m.value] for m in client.get_metric_history(run.info.run_id, "auc")],
        "files": [file.path for file in client.list_artifacts(run.info.run_id)],
    }
    for run in runs
]))
"""


def test_mlflow_has_a_run_a_cell_and_the_report(results, tmp_path):
    runs = json.loads(run("mlflow", tmp_path, ASK_MLFLOW).splitlines()[-1])
    cells = results.trials.groupby(CELL)
    assert len(runs) == len(cells) + 1
    by_params = {tuple(run["params"].get(key) for key in CELL): run for run in runs}
    assert by_params[(None,) * 4]["files"] == ["report.html"]
    for asked, trials in cells:
        made = by_params[tuple(map(str, asked))]
        scored = trials[trials["auc"].notna()]
        expected = sorted(zip(scored["seed"], scored["auc"], strict=True))
        assert sorted(map(tuple, made["auc"])) == expected
        for outcome, count in trials["outcome"].value_counts().items():
            assert made["tags"][outcome] == str(count)


def test_wandb_offline_has_a_run_a_cell_and_the_report(results, tmp_path):
    run("wandb", tmp_path)
    files = list(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    written = [path.read_bytes() for path in files]
    cells = results.trials.groupby(CELL)
    assert len(files) == len(cells) + 1
    for (dataset, _, method, budget), trials in cells:
        (made,) = [
            text for text in written if f"{method} at {budget} on {dataset}".encode() in text
        ]
        assert made.count(b"auc") >= trials["auc"].notna().sum()
        assert all(outcome.encode() in made for outcome in trials["outcome"])
    assert sum(b"report.html" in text for text in written) == 1
